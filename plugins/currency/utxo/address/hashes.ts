import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** SHA-256 twice: transaction ids, block hashes, Merkle nodes. */
export const sha256Twice = (data: Uint8Array): Uint8Array => sha256(sha256(data))

/** RIPEMD-160 of SHA-256: key and script hashes. */
export const hash160 = (data: Uint8Array): Uint8Array => ripemd160(sha256(data))
