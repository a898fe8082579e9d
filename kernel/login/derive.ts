import { WalletError } from '../base/errors.ts'
import { secondsOf } from '../base/time.ts'
import { base32Of, parseBase32, utf8Of } from '../crypto/encoding.ts'
import { FIXED_SNRP, scryptText } from '../crypto/key-derivation.ts'
import { totp } from '../crypto/totp.ts'
import type { Io } from '../io/io.ts'
import type { Username } from '../types/ids.ts'
import type { Snrp } from '../types/keys.ts'

type CryptoIo = Pick<Io, 'crypto'>

/** A username and the password as typed. The username is normalised. */
export interface PasswordLogin {
  readonly username: Username
  readonly password: string
}

/**
 * Returns the one spelling of a username: lower case, white space collapsed, no space at the ends (protocol §1.5).
 *
 * @throws BAD_USERNAME for a character outside codes 32 to 126
 *
 * @example
 * ```ts
 * import { normalizeUsername } from 'holdfast'
 *
 * normalizeUsername('  Alice   Smith ') // 'alice smith'
 * ```
 */
export const normalizeUsername = (raw: string): Username => {
  const name = raw
    .toLowerCase()
    .replace(/[ \t\r\n\v\f]+/g, ' ')
    .replace(/^ /, '')
    .replace(/ $/, '')
  if (!/^[ -~]*$/.test(name)) throw new WalletError('BAD_USERNAME', {})
  return name
}

/** The user id of a normalised username (protocol §1.5). */
export const userIdOf = (io: CryptoIo, username: Username): Promise<Uint8Array> =>
  scryptText(io, username, FIXED_SNRP)

/** Derives the proof of a password for the server (protocol §1.5). */
export const passwordAuthOf = (io: CryptoIo, login: PasswordLogin): Promise<Uint8Array> =>
  scryptText(io, login.username + login.password, FIXED_SNRP)

/** The key that opens a login's password box. @throws WalletError SNRP_REFUSED */
export const passwordKeyOf = (io: CryptoIo, login: PasswordLogin, snrp: Snrp): Promise<Uint8Array> =>
  scryptText(io, login.username + login.password, snrp)

/** Derives the id of a PIN login on the server. `username`: of the root login, normalised; `undefined` if it has none. */
export const pin2IdOf = (io: CryptoIo, pin2Key: Uint8Array, username: Username | undefined): Uint8Array =>
  io.crypto.hmacSha256(pin2Key, username === undefined ? NO_USERNAME : utf8Of(username))

/** Derives the proof of a PIN for the server (protocol §1.5). */
export const pin2AuthOf = (io: CryptoIo, pin2Key: Uint8Array, pin: string): Uint8Array =>
  io.crypto.hmacSha256(pin2Key, utf8Of(pin))

/** Derives the id of a recovery login on the server. `username`: normalised (protocol §1.5). */
export const recovery2IdOf = (io: CryptoIo, recovery2Key: Uint8Array, username: Username): Uint8Array =>
  io.crypto.hmacSha256(recovery2Key, utf8Of(username))

/** Derives the proofs of recovery answers: byte for byte as typed, in the order of the questions (protocol §1.5). */
export const recovery2AuthOf = (
  io: CryptoIo,
  recovery2Key: Uint8Array,
  answers: readonly string[]
): Uint8Array[] => answers.map(answer => io.crypto.hmacSha256(recovery2Key, utf8Of(answer)))

const NO_USERNAME = new Uint8Array(1)

/**
 * The one spelling of a code key as typed, such as with `0` for `O`; undefined if it can make no codes
 * (protocol §1.1).
 */
export const normalizeOtpKey = (text: string): string | undefined => {
  try {
    const bytes = parseBase32(text)
    return bytes.length === 0 ? undefined : base32Of(bytes)
  } catch {
    return undefined
  }
}

/** A key that cannot be read makes no code; the server then says what is missing. */
export const otpCodeOf = (io: Io, otpKey: string | undefined): string | undefined => {
  if (otpKey === undefined) return undefined
  try {
    return totp(io, parseBase32(otpKey), secondsOf(io.clock.now()))
  } catch {
    return undefined
  }
}
