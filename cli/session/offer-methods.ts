import type { Context } from '../../kernel/index.ts'
import { type Choice, promptChoice, promptText } from '../secrets/prompt.ts'
import type { Session } from '../session.ts'
import type { SecretMethod } from './choose-method.ts'
import type { LoginTarget } from './login-target.ts'

/** Has a person choose among the accounts of this device, or name another one. @throws CliError INTERRUPTED */
export const offerUsers = async ({ terminal }: Session, context: Context): Promise<string> => {
  const users = context.localUsers.map(({ loginId, username }) => ({
    text: username ?? `${loginId} (light)`,
    value: username ?? loginId
  }))
  if (users.length > 0) {
    const chosen = await promptChoice(terminal, 'Who logs in?', [
      ...users,
      { text: 'Another account', value: '' }
    ])
    if (chosen !== '') return chosen
  }
  return promptText(terminal, 'Username:')
}

/**
 * Has a person choose among the ways to log in that are open to an account here; the first is the handiest.
 *
 * @throws CliError INTERRUPTED
 */
export const offerMethods = async (
  { terminal }: Session,
  target: LoginTarget
): Promise<SecretMethod | 'edge'> => {
  const choices = waysOf(target)
  const chosen = await promptChoice(terminal, `How does ${target.name} log in?`, choices)
  return chosen as SecretMethod | 'edge'
}

const waysOf = ({ local }: LoginTarget): readonly Choice[] => {
  const hasName = local === undefined || local.username !== undefined
  return [
    ...(local?.isPinLoginEnabled === true ? [{ text: 'PIN of this device', value: 'pin' }] : []),
    ...(hasName ? [{ text: 'Password', value: 'password' }] : []),
    ...(hasName ? [{ text: 'Recovery answers', value: 'recovery' }] : []),
    ...(local?.isKeyLoginEnabled === true ? [{ text: 'Login key', value: 'key' }] : []),
    { text: 'Approval by a device that is logged in', value: 'edge' }
  ]
}
