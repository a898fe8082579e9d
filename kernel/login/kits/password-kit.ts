import { WalletError } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'
import { sealBox } from '../../crypto/box.ts'
import { isWellFormed } from '../../crypto/encoding.ts'
import { FIXED_SNRP, makeSnrp, type SnrpOptions } from '../../crypto/key-derivation.ts'
import type { Io } from '../../io/io.ts'
import type { LoginTree } from '../../types/login.ts'
import { passwordAuthOf, passwordKeyOf } from '../derive.ts'
import type { KeyedLogin } from './keys-kit.ts'
import type { LoginKit } from './login-kit.ts'

/** A new password. `username`: normalised. */
export interface NewPassword {
  readonly username: string
  readonly password: Secret<string>
  /** How costly guessing shall be; fit for this device when absent. */
  readonly snrp?: SnrpOptions | undefined
}

/**
 * Checks a password that somebody chose.
 *
 * @throws PASSWORD_TOO_WEAK for text that has no bytes
 */
export const checkNewPassword = (password: string): void => {
  if (isWellFormed(password)) return
  throw new WalletError('PASSWORD_TOO_WEAK', { problems: ['holds half a character'] })
}

/** Sets the password of a root login (protocol §1.5, §2.4). Takes about two seconds by design. */
export const makePasswordKit = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  { loginId, loginKey }: KeyedLogin,
  { username, password, snrp }: NewPassword
): Promise<LoginKit> => {
  const authJob = password.use(text => passwordAuthOf(io, { username, password: text }))
  const passwordKeySnrp = await makeSnrp(io, snrp)
  const keyJob = password.use(text => passwordKeyOf(io, { username, password: text }, passwordKeySnrp))
  const [passwordAuth, passwordKey] = await Promise.all([authJob, keyJob])
  const passwordBox = sealBox(io, passwordKey, loginKey)
  const passwordAuthBox = sealBox(io, loginKey, passwordAuth)
  passwordKey.fill(0)
  const proof = io.crypto.toBase64(passwordAuth)
  passwordAuth.fill(0)
  return {
    loginId,
    serverMethod: 'POST',
    serverPath: PATH,
    serverBody: {
      passwordAuth: proof,
      passwordAuthBox: { ...passwordAuthBox },
      // The server wants to see it, and everybody uses the fixed one (protocol §1.5).
      passwordAuthSnrp: { ...FIXED_SNRP },
      passwordBox: { ...passwordBox },
      passwordKeySnrp: { ...passwordKeySnrp }
    },
    stash: { passwordAuthBox, passwordBox, passwordKeySnrp }
  }
}

/** Takes the password of a login away (protocol §4.8). A login without a `loginAuth` keeps what it has to open with. */
export const makePasswordRemovalKit = ({ loginId, loginAuth }: LoginTree): LoginKit => ({
  loginId,
  serverMethod: 'DELETE',
  serverPath: PATH,
  stash: {
    passwordBox: undefined,
    passwordAuthSnrp: undefined,
    passwordKeySnrp: undefined,
    ...(loginAuth === undefined ? {} : { passwordAuthBox: undefined })
  }
})

const PATH = '/v2/login/password'
