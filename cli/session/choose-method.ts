import type { SecretName } from '../secrets/secret-names.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { LoginParts, LoginTarget } from './login-target.ts'

/** A way to log in that a secret opens; an edge login is one of its own. */
export type SecretMethod = 'key' | 'password' | 'pin' | 'recovery'

/**
 * Chooses how to log in: as `--with` says, else by the secret that a flag brings, else by the PIN where this device
 * has one, else by the password, or by the login key of an account that has no name.
 *
 * @throws CliError PROMPT_IMPOSSIBLE if no secret came and nobody can be asked
 */
export const chooseMethod = async (session: LoginParts, target: LoginTarget): Promise<SecretMethod> => {
  const asked = session.text('with')
  if (asked !== undefined) return asked as SecretMethod
  const { secrets } = session
  const given = await methodBySecret(secrets)
  if (given !== undefined) return given
  const { local } = target
  const isLight = local !== undefined && local.username === undefined
  const hasPin = local?.isPinLoginEnabled === true
  if (!secrets.canAsk) {
    throw secrets.impossible(
      ...(hasPin ? (['pin'] as const) : []),
      ...(isLight ? (['login-key'] as const) : (['password'] as const))
    )
  }
  if (hasPin) return 'pin'
  return isLight ? 'key' : 'password'
}

/** The method of the first secret that a flag brings. */
export const methodBySecret = async (secrets: Secrets): Promise<SecretMethod | undefined> => {
  for (const [name, method] of BY_SECRET) if ((await secrets.given(name)) !== undefined) return method
  return undefined
}

const BY_SECRET: readonly (readonly [SecretName, SecretMethod])[] = [
  ['password', 'password'],
  ['pin', 'pin'],
  ['login-key', 'key'],
  ['recovery-key', 'recovery'],
  ['answers', 'recovery']
]
