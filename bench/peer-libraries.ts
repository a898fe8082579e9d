import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Box } from '../kernel/types/keys.ts'

/** Sealing and opening a box of the deployed format with nothing but the libraries that the peer names. */
export interface LibraryBoxes {
  seal(key: Uint8Array, text: string): string
  open(key: Uint8Array, text: string): string
}

interface AesJs {
  readonly ModeOfOperation: {
    readonly cbc: new (
      key: Uint8Array,
      iv: Uint8Array
    ) => { encrypt(data: Uint8Array): Uint8Array; decrypt(data: Uint8Array): Uint8Array }
  }
}

interface HashJs {
  sha256(): { update(data: Uint8Array): { digest(): number[] } }
}

interface Rfc4648 {
  readonly base16: Codec
  readonly base64: Codec
}

interface Codec {
  stringify(data: Uint8Array): string
  parse(text: string): Uint8Array
}

/**
 * The format of protocol §1.3 over aes-js, hash.js and rfc4648, in the versions that the installed peer depends on.
 *
 * Written for this comparison from the protocol alone, with as few copies as ours: the least that these libraries
 * cost, less than the peer itself takes.
 */
export const loadLibraryBoxes = (peerFolder: string, random: (count: number) => Uint8Array): LibraryBoxes => {
  const load = createRequire(join(peerFolder, 'node_modules/edge-core-js/package.json'))
  const aes = load('aes-js') as AesJs
  const hash = load('hash.js') as HashJs
  const { base16, base64 } = load('rfc4648') as Rfc4648
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  return {
    seal(key, text) {
      const plain = layOut(encoder.encode(text), random, data => hash.sha256().update(data).digest())
      const iv = random(16)
      const data = new aes.ModeOfOperation.cbc(key, iv).encrypt(plain)
      const box: Box = {
        encryptionType: 0,
        iv_hex: base16.stringify(iv),
        data_base64: base64.stringify(data)
      }
      return JSON.stringify(box)
    },
    open(key, text) {
      const { iv_hex: iv, data_base64: data } = JSON.parse(text) as Box
      const plain = new aes.ModeOfOperation.cbc(key, base16.parse(iv)).decrypt(base64.parse(data))
      const start = (plain[0] ?? 0) + 5
      const end = start + new DataView(plain.buffer, plain.byteOffset).getUint32(start - 4)
      const checksum = end + 1 + (plain[end] ?? 0)
      const digest = hash.sha256().update(plain.subarray(0, checksum)).digest()
      if (!digest.every((byte, i) => byte === plain[checksum + i])) throw new Error('Wrong checksum')
      return decoder.decode(plain.subarray(start, end))
    }
  }
}

const layOut = (
  payload: Uint8Array,
  random: (count: number) => Uint8Array,
  sha256: (data: Uint8Array) => ArrayLike<number>
): Uint8Array => {
  const [first = 0, last = 0] = random(2)
  const header = random(first & 0x1f)
  const footer = random(last & 0x1f)
  const start = header.length + 5
  const end = start + payload.length
  const checksum = end + 1 + footer.length
  const length = ((checksum + 32) & -16) + 16
  const plain = new Uint8Array(length)
  plain[0] = header.length
  plain.set(header, 1)
  new DataView(plain.buffer).setUint32(start - 4, payload.length)
  plain.set(payload, start)
  plain[end] = footer.length
  plain.set(footer, end + 1)
  plain.set(sha256(plain.subarray(0, checksum)), checksum)
  plain.fill(length - checksum - 32, checksum + 32)
  return plain
}
