import type { LaterCrypto } from '../io/io.ts'
import type { Box } from '../types/keys.ts'
import { checkedPayload, type OpenIo, payloadCheckedLater, type SealIo } from './box.ts'
import { BLOCK, inScratch, layOutBox, MOST_AROUND } from './box-layout.ts'
import { textOf } from './encoding.ts'

/**
 * Seals many texts at once: each as `sealText` would, in the one spelling of a box's JSON.
 *
 * One run of the cipher goes over all of them. Before each text stands a block of random bytes, and what the cipher makes of
 * that block is the initialisation vector of the box after it: uniform and not to be foretold, as CBC wants it.
 *
 * @throws TypeError if a text holds a lone surrogate, or the key has not 16, 24 or 32 bytes
 */
export const sealTexts = (io: SealIo, key: Uint8Array, texts: readonly string[]): string[] => {
  const { crypto } = io
  const room = texts.reduce((sum, text) => sum + text.length * 3 + MOST_AROUND, 0)
  return inScratch(room, plain => {
    const ends: number[] = []
    let used = 0
    for (const text of texts) {
      used = layOutBox({ io, plain, noise: 'random' }, used, (bytes, start) =>
        crypto.writeUtf8(text, bytes, start)
      )
      ends.push(used)
    }
    const data = crypto.aesCbcEncrypt(key, io.random(BLOCK), plain.subarray(0, used))
    let start = 0
    const result = ends.map(end => {
      const iv = crypto.toHex(data.subarray(start, start + BLOCK))
      const base64 = crypto.toBase64(data.subarray(start + BLOCK, end))
      start = end
      return `{"encryptionType":0,"iv_hex":"${iv}","data_base64":"${base64}"}`
    })
    return { used, result }
  })
}

/**
 * Opens many boxes at once: each as `openText` would, or undefined where that would throw.
 *
 * CBC decrypts a block by the one before it, so that one run of the cipher does for all of them. The key is read before it
 * returns.
 */
export const openTexts = async (
  io: OpenIo,
  key: Uint8Array,
  boxes: readonly Box[]
): Promise<(string | undefined)[]> => {
  const parts = boxes.map(box => bytesOf(io, box))
  const length = parts.reduce((sum, part) => sum + (part === undefined ? 0 : BLOCK + part.data.length), 0)
  const joined = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    if (part === undefined) continue
    joined.set(part.iv, at)
    joined.set(part.data, at + BLOCK)
    at += BLOCK + part.data.length
  }
  const plain = await decrypted(io, key, joined)
  try {
    let start = 0
    const plains = parts.map(part => {
      if (part === undefined) return undefined
      const end = start + BLOCK + part.data.length
      const view = plain.subarray(start + BLOCK, end)
      start = end
      return view
    })
    const { later } = io.crypto
    if (later === undefined) return plains.map(view => view && textIn(() => checkedPayload(io.crypto, view)))
    return await Promise.all(plains.map(view => view && textLaterIn(later, view)))
  } finally {
    plain.fill(0)
  }
}

const decrypted = ({ crypto }: OpenIo, key: Uint8Array, data: Uint8Array): Promise<Uint8Array> | Uint8Array =>
  (crypto.later ?? crypto).aesCbcDecrypt(key, new Uint8Array(BLOCK), data)

interface BoxBytes {
  readonly iv: Uint8Array
  readonly data: Uint8Array
}

const bytesOf = ({ crypto }: OpenIo, { encryptionType, iv_hex, data_base64 }: Box): BoxBytes | undefined => {
  if (encryptionType !== 0) return undefined
  try {
    const iv = crypto.fromHex(iv_hex)
    const data = crypto.fromBase64(data_base64)
    return iv.length === BLOCK && data.length > 0 && data.length % BLOCK === 0 ? { iv, data } : undefined
  } catch {
    return undefined
  }
}

const textIn = (read: () => Uint8Array): string | undefined => {
  try {
    const payload = read()
    return textOf(payload.at(-1) === 0 ? payload.subarray(0, -1) : payload)
  } catch {
    return undefined
  }
}

const textLaterIn = async (later: LaterCrypto, plain: Uint8Array): Promise<string | undefined> => {
  try {
    const payload = await payloadCheckedLater(later, plain)
    return textIn(() => payload)
  } catch {
    return undefined
  }
}
