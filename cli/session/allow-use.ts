import { type Account, isWalletError, type OtherKeyUse, type OwnPassword } from '../../kernel/index.ts'
import type { Session } from './session.ts'

/**
 * Makes a call that uses keys. If the account has rules and none allows the use, the password does, once.
 *
 * @throws SIGN_REFUSED without a password or a prompt for it, PASSWORD, what the call throws
 */
export const allowingUse = async <T>(
  session: Session,
  use: OtherKeyUse,
  call: () => Promise<T>
): Promise<T> => {
  try {
    return await call()
  } catch (error) {
    if (!isWalletError(error, 'SIGN_REFUSED') || error.details.rule !== 'no rule') throw error
    const given = await session.secrets.given('password')
    if (given === undefined && !session.secrets.canPrompt) throw error
    const message = 'The rules of the account ask for its password:'
    const password = given ?? (await session.secrets.prompt('password', { message }))
    const { policies } = await session.account()
    await policies.allowOnce(use, password)
    return call()
  }
}

/**
 * The present password, which an account with rules needs for a change that could lead past them: with a new password or new
 * answers they could be loosened. Who has logged in with recovery answers or the login key needs none.
 *
 * @throws CliError PROMPT_IMPOSSIBLE, INTERRUPTED
 */
export const ownPassword = async (
  session: Session,
  { policies, credentials, loginMethod }: Account
): Promise<OwnPassword> => {
  const given = await session.secrets.given('password')
  if (given !== undefined) return { current: given }
  if (loginMethod === 'recovery' || loginMethod === 'key' || !credentials.hasPassword) return {}
  const { rules, pending, fault } = await policies.list()
  if (fault === undefined && rules.length + pending.length === 0) return {}
  const message = 'The account has rules. Its present password:'
  return { current: await session.secrets.prompt('password', { message }) }
}
