import { equalBytes, utf8Of } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import type { Secret } from '../state/secret.ts'

/** What a key is for; a key of one kind never passes for one of the other. */
export type ProvenKeyUse = 'pin2Key' | 'recovery2Key'

/** A login, and the key that it is said to have. */
export interface SaidKey {
  readonly use: ProvenKeyUse
  readonly loginKey: Uint8Array
  readonly known: Secret<Uint8Array> | undefined
}

/**
 * The PIN or recovery key to seal a login key with: the known one if it proves that an owner of this login made it,
 * else a new one (docs/adr/0025-pin-and-recovery-keys-prove-themselves.md).
 *
 * Hazard: the key comes out of a box that a server sends. One who knows what is in another box of this login, such as
 * the proof of an earlier password, could send that box, and open what is sealed next.
 *
 * @returns 32 bytes, the caller's own: 16 of chance, and 16 that only who has the login key can make of them
 */
export const keepOrMakeKey = (
  io: Pick<Io, 'crypto' | 'random'>,
  { use, loginKey, known }: SaidKey
): Uint8Array => {
  const proven = known?.use(key => (isProven(io, key, { use, loginKey }) ? key.slice() : undefined))
  if (proven !== undefined) return proven
  const chance = io.random(CHANCE_BYTES)
  const key = new Uint8Array(KEY_BYTES)
  key.set(chance)
  key.set(proofOf(io, chance, { use, loginKey }), CHANCE_BYTES)
  return key
}

type Origin = Omit<SaidKey, 'known'>

const KEY_BYTES = 32
const CHANCE_BYTES = 16

const isProven = (io: Pick<Io, 'crypto'>, key: Uint8Array, origin: Origin): boolean =>
  key.length === KEY_BYTES &&
  equalBytes(key.subarray(CHANCE_BYTES), proofOf(io, key.subarray(0, CHANCE_BYTES), origin))

const proofOf = (io: Pick<Io, 'crypto'>, chance: Uint8Array, { use, loginKey }: Origin): Uint8Array => {
  const name = utf8Of(`holdfast ${use} `)
  const message = new Uint8Array(name.length + chance.length)
  message.set(name)
  message.set(chance, name.length)
  return io.crypto.hmacSha256(loginKey, message).subarray(0, KEY_BYTES - CHANCE_BYTES)
}
