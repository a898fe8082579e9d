import { scryptSync } from 'node:crypto'
import { makeNobleCrypto } from '../../kernel/crypto/noble-crypto.ts'
import type { Clock, CryptoPort } from '../../kernel/io/io.ts'
import { makeNodeCrypto } from './node-crypto.ts'

/**
 * Chooses the crypto backend of this process (architecture decision 15).
 *
 * Node's own, unless it fails the known answers: builds in FIPS mode lack primitives, and hooks may replace them.
 */
export const chooseCrypto = (wanted: 'native' | 'noble', clock: Clock): CryptoPort => {
  if (wanted === 'native') {
    const native = makeNodeCrypto()
    if (passesSelfTest(native, (data, salt) => scryptSync(data, salt, 32, { N: 16, r: 1, p: 1 })))
      return native
  }
  return makeNobleCrypto(clock)
}

/**
 * Returns true if a backend gives the published answers: FIPS 180 (SHA-256), RFC 4231 and RFC 2202 (HMAC),
 * NIST SP 800-38A F.2.5 (AES-256-CBC), RFC 7914 (scrypt, n 16, r 1, p 1) and RFC 4648 (encodings).
 *
 * Takes well under a millisecond. `scrypt` is the synchronous form of the backend's, for one tiny job.
 */
export const passesSelfTest = (
  crypto: CryptoPort,
  scrypt: (data: Uint8Array, salt: Uint8Array) => Uint8Array
): boolean => {
  try {
    return knownAnswers(crypto, scrypt).every(([given, expected]) => given === expected)
  } catch {
    return false
  }
}

type Answer = readonly [given: string, expected: string]

const knownAnswers = (
  crypto: CryptoPort,
  scrypt: (data: Uint8Array, salt: Uint8Array) => Uint8Array
): readonly Answer[] => {
  const { fromHex, toHex } = crypto
  const key = fromHex(AES_KEY)
  const iv = fromHex('000102030405060708090a0b0c0d0e0f')
  const encrypted = crypto.aesCbcEncrypt(key, iv, fromHex(AES_PLAIN))
  const empty = new Uint8Array(0)
  return [
    [toHex(crypto.sha256(fromHex('616263'))), SHA256_ABC],
    [toHex(crypto.hmacSha256(fromHex('4a656665'), fromHex(HMAC_TEXT))), HMAC_SHA256],
    [
      toHex(crypto.hmacSha1(fromHex('4a656665'), fromHex(HMAC_TEXT))),
      'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'
    ],
    [toHex(encrypted), AES_ENCRYPTED],
    [toHex(crypto.aesCbcDecrypt(key, iv, encrypted)), AES_PLAIN],
    [toHex(scrypt(empty, empty)), SCRYPT_EMPTY],
    [crypto.toBase64(fromHex('666f6f6261')), 'Zm9vYmE='],
    [toHex(crypto.fromBase64('Zm9vYmE=')), '666f6f6261']
  ]
}

const SHA256_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
const HMAC_TEXT = '7768617420646f2079612077616e7420666f72206e6f7468696e673f'
const HMAC_SHA256 = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
const AES_KEY = '603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4'
const AES_PLAIN = '6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51'
const AES_ENCRYPTED = 'f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d'
const SCRYPT_EMPTY = '77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442'
