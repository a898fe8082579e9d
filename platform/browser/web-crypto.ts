/// <reference lib="dom" />
import { checkAesInput } from '../../kernel/crypto/aes-input.ts'
import type { AsyncCrypto } from '../../kernel/io/io.ts'

/**
 * The cryptography of the browser itself, which answers later.
 *
 * @param fallback - for AES keys of 24 bytes, which Chromium has not
 */
export const makeWebCrypto = (
  subtle: SubtleCrypto,
  fallback: { aesCbcDecrypt(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array }
): AsyncCrypto => ({
  sha256: async data => new Uint8Array(await subtle.digest('SHA-256', owned(data))),
  async aesCbcDecrypt(key, iv, data) {
    checkAesInput(key, iv, data)
    if (data.length === 0 || key.length === 24) return fallback.aesCbcDecrypt(key, iv, data)
    const padded = new Uint8Array(data.length + BLOCK)
    padded.set(data)
    const vector = iv.slice()
    const secret = await subtle.importKey('raw', owned(key), 'AES-CBC', false, ['encrypt', 'decrypt'])
    // It always wants padding: a block of it that follows on the last one.
    const padding = await subtle.encrypt(
      { name: 'AES-CBC', iv: padded.slice(-2 * BLOCK, -BLOCK) },
      secret,
      new Uint8Array(0)
    )
    padded.set(new Uint8Array(padding), data.length)
    return new Uint8Array(await subtle.decrypt({ name: 'AES-CBC', iv: vector }, secret, padded))
  }
})

const BLOCK = 16

/** The types of the DOM leave out memory that threads share; nothing here lies in such. */
const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => bytes as Uint8Array<ArrayBuffer>
