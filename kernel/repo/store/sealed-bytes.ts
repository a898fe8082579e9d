import { openPacked, type PackedPayload, sealPacked } from '../../crypto/box.ts'
import type { ChunkCrypto } from './chunk.ts'

/** Seals bytes of a store into ASCII. */
export const sealBytes = ({ io, key }: ChunkCrypto, payload: PackedPayload): string =>
  key.use(secret => sealPacked(io, secret, payload))

/** The inverse of {@link sealBytes}; undefined for anything damaged. @throws TypeError after logout */
export const openBytes = async ({ io, key }: ChunkCrypto, text: string): Promise<Uint8Array | undefined> => {
  try {
    return await key.use(secret => openPacked(io, secret, text))
  } catch (error) {
    if (!key.isAlive) throw error
    return undefined
  }
}
