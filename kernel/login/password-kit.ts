import { sealBox } from '../crypto/box.ts'
import { FIXED_SNRP, makeSnrp, type SnrpOptions } from '../crypto/snrp.ts'
import type { Io } from '../io/io.ts'
import type { Secret } from '../state/secret.ts'
import { passwordAuthOf, passwordKeyOf } from './derive.ts'
import type { KeyedLogin } from './keys-kit.ts'
import type { LoginKit } from './login-kit.ts'

/** A new password. `username`: normalised. */
export interface NewPassword {
  readonly username: string
  readonly password: Secret<string>
  /** How costly guessing shall be; fit for this device when absent. */
  readonly snrp?: SnrpOptions
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
  return {
    loginId,
    serverMethod: 'POST',
    serverPath: '/v2/login/password',
    serverBody: {
      passwordAuth: io.crypto.toBase64(passwordAuth),
      passwordAuthBox: { ...passwordAuthBox },
      // The server wants to see it, and everybody uses the fixed one (protocol §1.5).
      passwordAuthSnrp: { ...FIXED_SNRP },
      passwordBox: { ...passwordBox },
      passwordKeySnrp: { ...passwordKeySnrp }
    },
    stash: { passwordAuthBox, passwordBox, passwordKeySnrp }
  }
}
