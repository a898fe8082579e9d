import { openBox, sealBox } from '../../crypto/box.ts'
import type { ChunkCrypto } from './chunk.ts'

/** Seals bytes into ASCII: a box of the wire, spelt as its 32 hex digits of IV and then its base64. */
export const sealBytes = ({ io, key }: ChunkCrypto, bytes: Uint8Array): string => {
  const { iv_hex, data_base64 } = key.use(secret => sealBox(io, secret, bytes))
  return iv_hex + data_base64
}

/** The inverse of {@link sealBytes}; undefined for anything damaged. @throws TypeError after logout */
export const openBytes = ({ io, key }: ChunkCrypto, text: string): Uint8Array | undefined => {
  const box = { encryptionType: 0, iv_hex: text.slice(0, IV_LENGTH), data_base64: text.slice(IV_LENGTH) }
  try {
    return key.use(secret => openBox(io, secret, box))
  } catch (error) {
    if (!key.isAlive) throw error
    return undefined
  }
}

const IV_LENGTH = 32
