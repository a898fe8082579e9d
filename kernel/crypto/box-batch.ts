import type { Box } from '../types/keys.ts'
import { type BoxMark, checkedPayload, markIn, type OpenIo, payloadCheckedLater, type SealIo } from './box.ts'
import { BLOCK, inScratch, layOutBox, MAX_MARK, MOST_AROUND } from './box-layout.ts'
import { textOf } from './encoding.ts'

/** A text, and what is made of header and footer of its box. */
export interface MarkedText<T> {
  readonly text: string
  readonly mark: T
}

/**
 * Seals many texts at once: each as `sealText` would, in the one spelling of a box's JSON.
 *
 * One run of the cipher goes over all of them. Before each text stands a block of random bytes, and what the cipher makes of
 * that block is the initialisation vector of the box after it: uniform and not to be foretold, as CBC wants it.
 *
 * @param texts - each alone, or with what header and footer of its box begin with
 * @throws TypeError if a text holds a lone surrogate, or the key has not 16, 24 or 32 bytes
 */
export const sealTexts = (
  io: SealIo,
  key: Uint8Array,
  texts: readonly (string | MarkedText<BoxMark>)[]
): string[] => {
  const { crypto } = io
  const room = texts.reduce((sum, item) => sum + textIn(item).length * 3 + MOST_AROUND + MAX_MARK, 0)
  return inScratch(room, plain => {
    const ends: number[] = []
    let used = 0
    for (const item of texts) {
      const mark = typeof item === 'string' ? undefined : item.mark
      used = layOutBox({ io, plain, noise: 'random', mark }, used, (bytes, start) =>
        crypto.writeUtf8(textIn(item), bytes, start)
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

/** Opens many boxes at once: each as `openText` would, or undefined where that would throw. */
export const openTexts = (
  io: OpenIo,
  key: Uint8Array,
  boxes: readonly Box[]
): Promise<(string | undefined)[]> => openEach(io, key, { boxes, read: textOfPayload })

/** {@link openTexts}, and what `readMark` makes of each header and footer. */
export const openMarkedTexts = <T>(
  io: OpenIo,
  key: Uint8Array,
  { boxes, readMark }: { readonly boxes: readonly Box[]; readonly readMark: (mark: BoxMark) => T }
): Promise<(MarkedText<T> | undefined)[]> =>
  openEach(io, key, {
    boxes,
    read: (payload, plain) => ({ text: textOfPayload(payload), mark: readMark(markIn(plain)) })
  })

interface EachBox<T> {
  readonly boxes: readonly Box[]
  /** Makes something of a checked payload; what it throws makes it undefined. */
  readonly read: (payload: Uint8Array, plain: Uint8Array) => T
}

/**
 * CBC decrypts a block by the one before it, so that one run of the cipher does for all of them. The key is read before it
 * returns.
 */
const openEach = async <T>(
  io: OpenIo,
  key: Uint8Array,
  { boxes, read }: EachBox<T>
): Promise<(T | undefined)[]> => {
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
    const { async: later } = io.crypto
    if (later === undefined)
      return plains.map(view => view && orUndefined(() => read(checkedPayload(io.crypto, view), view)))
    const readLater = async (view: Uint8Array): Promise<T | undefined> => {
      const payload = await payloadCheckedLater(later, view).catch(() => undefined)
      return payload && orUndefined(() => read(payload, view))
    }
    return await Promise.all(plains.map(view => view && readLater(view)))
  } finally {
    plain.fill(0)
  }
}

const decrypted = ({ crypto }: OpenIo, key: Uint8Array, data: Uint8Array): Promise<Uint8Array> | Uint8Array =>
  (crypto.async ?? crypto).aesCbcDecrypt(key, new Uint8Array(BLOCK), data)

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

const textOfPayload = (payload: Uint8Array): string =>
  textOf(payload.at(-1) === 0 ? payload.subarray(0, -1) : payload)

const textIn = (item: string | MarkedText<unknown>): string => (typeof item === 'string' ? item : item.text)

const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}
