import { checkedPayload, type OpenIo, payloadCheckedLater, type SealIo } from './box.ts'
import { BLOCK, inScratch, layOutBox, MOST_AROUND, type WritePayload } from './box-layout.ts'

/** Bytes that are written where they are sealed. */
export interface PackedPayload {
  /** The most bytes that may be written. */
  readonly room: number
  /** Writes from `start` on, a multiple of 8, and gives where the payload ends. */
  readonly write: WritePayload
}

/**
 * Seals a large payload into base64: the vector of its box, and the data.
 *
 * It is a box of the wire in another spelling, for what stays on this device; nothing is copied before it is encrypted, and the
 * length of the payload shows.
 */
export const sealPacked = (io: SealIo, key: Uint8Array, { room, write }: PackedPayload): string =>
  inScratch(room + MOST_AROUND, plain => {
    const used = layOutBox({ io, plain, noise: 'aligned' }, 0, write)
    const data = io.crypto.aesCbcEncrypt(key, io.random(BLOCK), plain.subarray(0, used))
    return { used, result: io.crypto.toBase64(data) }
  })

/**
 * The inverse of {@link sealPacked}; the bytes begin their buffer. The key is read before it returns.
 *
 * @throws WalletError INVALID_CHECKSUM, INVALID_PADDING; TypeError
 */
export const openPacked = async ({ crypto }: OpenIo, key: Uint8Array, text: string): Promise<Uint8Array> => {
  const { async: later } = crypto
  const data = crypto.fromBase64(text)
  const plain = await (later ?? crypto).aesCbcDecrypt(key, data.subarray(0, BLOCK), data.subarray(BLOCK))
  try {
    const payload =
      later === undefined ? checkedPayload(crypto, plain) : await payloadCheckedLater(later, plain)
    return payload.slice()
  } finally {
    plain.fill(0)
  }
}
