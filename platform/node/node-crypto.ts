import { createCipheriv, createDecipheriv, createHmac, hash, scrypt } from 'node:crypto'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { Mutex } from '../../kernel/base/mutex.ts'
import { checkAesInput } from '../../kernel/crypto/aes-input.ts'
import { writeUtf8 } from '../../kernel/crypto/encoding.ts'
import type { CryptoPort, ScryptCost } from '../../kernel/io/io.ts'

/**
 * The cryptographic primitives of OpenSSL, as Node has them.
 *
 * Scrypt runs on Node's threads; jobs that need 16 MiB or more run one after another, so that memory stays
 * bounded and the benchmark of protocol §1.4 measures one job alone.
 */
export const makeNodeCrypto = (): CryptoPort => {
  const mutex = new Mutex()
  return {
    name: 'node',
    scrypt: (data, salt, cost, length) => {
      const job = (): Promise<Uint8Array> => runScrypt({ data, salt, cost, length })
      return 128 * cost.n * cost.r < LARGE_JOB ? job() : mutex.run(job)
    },
    sha256: data => bytesIn(hash('sha256', data, 'binary')),
    hmacSha256: (key, data) => bytesIn(createHmac('sha256', key).update(data).digest('binary')),
    hmacSha1: (key, data) => bytesIn(createHmac('sha1', key).update(data).digest('binary')),
    aesCbcEncrypt: (key, iv, data) => {
      checkAesInput(key, iv, data)
      return viewOf(
        createCipheriv(`aes-${key.length * 8}-cbc`, key, iv)
          .setAutoPadding(false)
          .update(data)
      )
    },
    aesCbcDecrypt: (key, iv, data) => {
      checkAesInput(key, iv, data)
      return viewOf(
        createDecipheriv(`aes-${key.length * 8}-cbc`, key, iv)
          .setAutoPadding(false)
          .update(data)
      )
    },
    toBase64: data => bufferOf(data).toString('base64'),
    fromBase64: text => {
      const bytes = decoded(text, 'base64', Math.floor(text.length / 4) * 3)
      if (!isBase64Of(bytes, text)) throw new TypeError('This is no base64 text')
      return viewOf(bytes)
    },
    toHex: data => (data.length < LONG_HEX ? bytesToHex(data) : bufferOf(data).toString('hex')),
    fromHex: parseHex,
    writeUtf8: (text, bytes, start) => {
      const { written } = encoder.encodeInto(text, bytes.subarray(start))
      // Each letter was a byte: there is no half character, which the encoder would let pass.
      return written === text.length ? start + written : writeUtf8(text, bytes, start)
    }
  }
}

const encoder = new TextEncoder()

const LARGE_JOB = 16 * 1024 * 1024

/** Below this many bytes JavaScript is quicker than the way into Node: 0.1 against 0.9 µs for an IV. */
const LONG_HEX = 64

interface ScryptJob {
  readonly data: Uint8Array
  readonly salt: Uint8Array
  readonly cost: ScryptCost
  readonly length: number
}

const runScrypt = ({ data, salt, cost, length }: ScryptJob): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const { n: N, r, p } = cost
    const maxmem = 128 * r * (N + p + 2) + 1024 * 1024
    scrypt(data, salt, length, { N, r, p, maxmem }, (error, key) => {
      if (error === null) resolve(viewOf(key))
      else reject(error)
    })
  })

/** Digests come as a letter a byte: a buffer has memory outside of the heap, and costs as much as the digest itself. */
const bytesIn = (letters: string): Uint8Array => {
  const bytes = new Uint8Array(letters.length)
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i)
  return bytes
}

/** A plain view of the same bytes: `Buffer` is a Uint8Array whose `slice` shares memory. */
const viewOf = (bytes: Buffer): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const parseHex = (text: string): Uint8Array => {
  if (text.length < 2 * LONG_HEX) return parseShortHex(text)
  const bytes = decoded(text, 'hex', Math.floor(text.length / 2))
  if (bytes.toString('hex') !== text.toLowerCase()) throw new TypeError('This is no hexadecimal text')
  return viewOf(bytes)
}

/** The library quotes what it could not read, which may be a secret. */
const parseShortHex = (text: string): Uint8Array => {
  try {
    return hexToBytes(text)
  } catch {
    throw new TypeError('This is no hexadecimal text')
  }
}

/**
 * Returns true if a text is the base64 of the bytes that were read from it.
 *
 * The decoder also takes `-` and `_`, cuts characters to their low byte, and skips what is none of its own, which then
 * misses. To spell the bytes again and compare would take three times as long as the reading.
 */
const isBase64Of = (bytes: Buffer, text: string): boolean => {
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='))
  const isWhole = bytes.length === (text.length / 4) * 3 - padding
  const isAscii = Buffer.byteLength(text) === text.length
  const lastStart = bytes.length - ((bytes.length + 2) % 3) - 1
  return (
    isWhole &&
    isAscii &&
    !text.includes('-') &&
    !text.includes('_') &&
    (padding === 0 || bytes.toString('base64', lastStart) === text.slice(-4))
  )
}

/** Node's decoders skip what they cannot read; the caller compares the way back. Never in Node's shared pool. */
const decoded = (text: string, encoding: 'base64' | 'hex', capacity: number): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(capacity)
  return bytes.subarray(0, bytes.write(text, encoding))
}
