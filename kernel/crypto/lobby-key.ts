import { secp256k1 } from '@noble/curves/secp256k1.js'
import { WalletError } from '../base/errors.ts'
import type { Io } from '../io/io.ts'
import { base58Of, equalBytes, parseBase58, utf8Of } from './encoding.ts'

type CryptoIo = Pick<Io, 'crypto'>

/** The key pair of one side of a lobby, made for one request or one reply. */
export interface LobbyKeys {
  /** 32 bytes; overwritten by the code that made it. */
  readonly privateKey: Uint8Array
  /** 33 bytes, a compressed point. */
  readonly publicKey: Uint8Array
}

/** Makes the key pair of a request or a reply (protocol §1.9). */
export const makeLobbyKeys = (io: Pick<Io, 'random'>): LobbyKeys => {
  // Of 2^128 draws, about one is no key.
  let privateKey = io.random(32)
  while (!secp256k1.utils.isValidSecretKey(privateKey)) privateKey = io.random(32)
  return { privateKey, publicKey: secp256k1.getPublicKey(privateKey) }
}

/** The base58 name of the lobby of a request: it follows from the request's public key (protocol §1.9). */
export const lobbyIdOf = (io: CryptoIo, publicKey: Uint8Array): string => base58Of(idBytesOf(io, publicKey))

/**
 * Makes sure that a request is the one that its lobby is named after, so that a server cannot put another there.
 *
 * The deployed client accepts a shortened id; here all 10 bytes count (protocol §8 no. 29).
 *
 * @throws LOBBY_INTEGRITY
 */
export const checkLobbyId = (io: CryptoIo, lobbyId: string, publicKey: Uint8Array): void => {
  if (!equalBytes(bytesOf(lobbyId), idBytesOf(io, publicKey))) throw new WalletError('LOBBY_INTEGRITY', {})
}

/**
 * The key that only the two sides of a lobby can make (protocol §1.9).
 *
 * @param privateKey - of this side
 * @param publicKey - of the other side
 * @throws LOBBY_INTEGRITY if the public key is no point of the curve
 */
export const lobbyBoxKeyOf = (io: CryptoIo, privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array => {
  const secret = sharedPointOf(privateKey, publicKey)
  const x = secret.subarray(1)
  // The deployed system drops the leading zero bytes of the coordinate, which one pair in 256 has.
  const digits = x.subarray(x.findIndex(byte => byte !== 0))
  const message = Uint8Array.of(0, 0, 0, 1, ...digits)
  try {
    return io.crypto.hmacSha256(utf8Of('dataKey'), message)
  } finally {
    secret.fill(0)
    message.fill(0)
  }
}

const ID_BYTES = 10

const idBytesOf = ({ crypto }: CryptoIo, publicKey: Uint8Array): Uint8Array =>
  crypto.sha256(crypto.sha256(publicKey)).slice(0, ID_BYTES)

/** Returns the bytes of a lobby id; for text that is no base58 none, which equal no id. */
const bytesOf = (lobbyId: string): Uint8Array => {
  try {
    return parseBase58(lobbyId)
  } catch {
    return new Uint8Array(0)
  }
}

/** A compressed point: one byte of sign, then the 32 of the coordinate. */
const sharedPointOf = (privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array => {
  try {
    return secp256k1.getSharedSecret(privateKey, publicKey)
  } catch (error) {
    throw new WalletError('LOBBY_INTEGRITY', {}, error)
  }
}
