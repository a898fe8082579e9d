import { cbc } from '@noble/ciphers/aes.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { scryptAsync } from '@noble/hashes/scrypt.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { Mutex } from '../base/mutex.ts'
import type { Clock, CryptoPort } from '../io/io.ts'
import { checkAesInput } from './aes-input.ts'
import { base64Of, parseBase64, writeUtf8 } from './encoding.ts'

/**
 * The cryptographic primitives in plain JavaScript, for platforms that have no faster ones.
 *
 * Scrypt jobs run one after another, each in slices, with a turn of the event loop in between.
 */
export const makeNobleCrypto = (clock: Pick<Clock, 'turn'>): CryptoPort => {
  const mutex = new Mutex()
  return {
    name: 'noble',
    scrypt: async (data, salt, cost, length) => {
      const ownData = data.slice()
      const ownSalt = salt.slice()
      try {
        return await mutex.run(async () => {
          await clock.turn()
          const { n: N, r, p } = cost
          return scryptAsync(ownData, ownSalt, { N, r, p, dkLen: length, asyncTick: SLICE_MS })
        })
      } finally {
        ownData.fill(0)
      }
    },
    sha256: data => sha256(data),
    hmacSha256: (key, data) => hmac(sha256, key, data),
    hmacSha1: (key, data) => hmac(sha1, key, data),
    aesCbcEncrypt: (key, iv, data) => {
      checkAesInput(key, iv, data)
      return data.length === 0 ? new Uint8Array(0) : cbc(key, iv, NO_PADDING).encrypt(data)
    },
    aesCbcDecrypt: (key, iv, data) => {
      checkAesInput(key, iv, data)
      return data.length === 0 ? new Uint8Array(0) : cbc(key, iv, NO_PADDING).decrypt(data)
    },
    toBase64: base64Of,
    fromBase64: parseBase64,
    toHex: data => bytesToHex(data),
    fromHex: parseHex,
    writeUtf8
  }
}

const SLICE_MS = 5

const NO_PADDING = { disablePadding: true }

/** The library quotes what it could not read, which may be a secret. */
const parseHex = (text: string): Uint8Array => {
  try {
    return hexToBytes(text)
  } catch {
    throw new TypeError('This is no hexadecimal text')
  }
}
