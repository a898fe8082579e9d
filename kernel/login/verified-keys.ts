import type { Secret } from '../base/secret.ts'
import { openBox } from '../crypto/box.ts'
import { equalBytes, utf8Of } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import type { Box } from '../types/keys.ts'
import type { BoxOrTrue, LoginPayload } from '../types/login.ts'
import type { SecretCache } from './secret-cache.ts'

/** The use of a key; a key of one kind never passes for one of the other. */
export type VerifiedKeyUse = 'pin2Key' | 'recovery2Key'

/** A login, and the key that it is said to have. */
export interface ClaimedKey {
  readonly use: VerifiedKeyUse
  readonly loginKey: Uint8Array
  readonly known: Secret<Uint8Array> | undefined
}

/**
 * The PIN or recovery key to seal a login key with: the known one if it is proven that an owner of this login made
 * it, else a new one (docs/adr/0025-pin-and-recovery-keys-prove-themselves.md).
 *
 * Hazard: the key comes out of a box that a server sends. One who knows what is in another box of this login, such as
 * the proof of an earlier password, could send that box, and open what is sealed next.
 *
 * @returns 32 bytes, the caller's own: 16 of chance, and 16 that only who has the login key can make of them
 */
export const keepOrMakeKey = (
  io: Pick<Io, 'crypto' | 'random'>,
  { use, loginKey, known }: ClaimedKey
): Uint8Array => {
  const isKept =
    known !== undefined && (verified.has(known) || known.use(key => isOwn(io, key, { use, loginKey })))
  if (isKept) return known.use(key => key.slice())
  const randomPart = io.random(RANDOM_BYTES)
  const key = new Uint8Array(KEY_BYTES)
  key.set(randomPart)
  key.set(proofOf(io, randomPart, { use, loginKey }), RANDOM_BYTES)
  return key
}

/**
 * Notes the PIN and recovery keys of a reply that the very login key is sealed with, which only an owner can have done.
 *
 * Servers may answer `true` in the place of that box; then the reply proves nothing.
 */
export const recordVerifiedKeys = (
  io: Pick<Io, 'crypto'>,
  secrets: SecretCache,
  { payload, loginKey }: { readonly payload: LoginPayload; readonly loginKey: Secret<Uint8Array> }
): void => {
  const note = (keyBox: Box | undefined, box: BoxOrTrue | undefined): void => {
    if (keyBox === undefined || box === undefined || box === true) return
    const { toBase64, fromBase64 } = io.crypto
    const text = loginKey.use(key => toBase64(openBox(io, key, keyBox)))
    const sealed = openBox(io, fromBase64(text), box)
    if (loginKey.use(key => equalBytes(key, sealed))) verified.add(secrets.fromText('key', text, fromBase64))
    sealed.fill(0)
  }
  try {
    note(payload.pin2KeyBox, payload.pin2Box)
    note(payload.recovery2KeyBox, payload.recovery2Box)
    for (const child of payload.children ?? []) {
      if (child.parentBox === undefined) continue
      recordVerifiedKeys(io, secrets, {
        payload: child,
        loginKey: secrets.openBytes(loginKey, child.parentBox)
      })
    }
  } catch {
    // What does not open proves nothing.
  }
}

/** Secrets by identity: an account that closes takes what was seen of it along. */
const verified = new WeakSet<Secret<Uint8Array>>()

type KeyOwner = Omit<ClaimedKey, 'known'>

const KEY_BYTES = 32
const RANDOM_BYTES = 16

const isOwn = (io: Pick<Io, 'crypto'>, key: Uint8Array, origin: KeyOwner): boolean =>
  key.length === KEY_BYTES &&
  equalBytes(key.subarray(RANDOM_BYTES), proofOf(io, key.subarray(0, RANDOM_BYTES), origin))

const proofOf = (io: Pick<Io, 'crypto'>, randomPart: Uint8Array, { use, loginKey }: KeyOwner): Uint8Array => {
  const name = utf8Of(`holdfast ${use} `)
  const message = new Uint8Array(name.length + randomPart.length)
  message.set(name)
  message.set(randomPart, name.length)
  return io.crypto.hmacSha256(loginKey, message).subarray(0, KEY_BYTES - RANDOM_BYTES)
}
