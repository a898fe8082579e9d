import { shellWord } from '../../../app/format/safe-text.ts'
import type { Account, Context } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { commandInProfile } from '../../grammar/command-line.ts'
import { DEVICE_ONLY } from '../../output/texts.ts'
import type { CommandResult } from '../../output/view.ts'
import { forgetCurrentAccount, readCurrentAccount, rememberAccount } from '../../profile/state-files.ts'
import { type Choice, promptChoice, promptText } from '../../secrets/prompt.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import {
  chooseMethod,
  type LoginTarget,
  logInBy,
  methodBySecret,
  type SecretMethod,
  targetOf
} from '../../session/log-in.ts'
import type { Session } from '../../session/session.ts'

/** Logs in with a secret of the account, or by the approval of another device, and makes it the current account. */
export const login: CommandRun = async (session, user) => {
  const wanted = session.text('with')
  if (wanted === 'edge' && user !== undefined) {
    throw new CliError('USAGE', 'The approving device chooses the account', {
      hint: 'Leave the username out.'
    })
  }
  if (wanted === 'edge') return byApproval(session)
  const context = await session.context()
  const name = await nameOfUser(session, user)
  const target = targetOf(context, { username: name }, name)
  const isFree = session.secrets.canPrompt && wanted === undefined
  const isOpen = isFree && (await methodBySecret(session.secrets)) === undefined
  const method = isOpen ? await chooseMethodByPrompt(session, target) : await chooseMethod(session, target)
  if (method === 'edge') return byApproval(session)
  return loggedIn(session, await logInBy(method, { session, context, target }))
}

const byApproval = async (session: Session): Promise<CommandResult | undefined> => {
  const { loginByApproval } = await import('./login-by-approval.ts')
  return loginByApproval(session)
}

const nameOfUser = async (session: Session, user: string | undefined): Promise<string> => {
  const current = readCurrentAccount(session.paths.session)
  const name = user ?? session.globals.account ?? current?.username ?? current?.loginId
  if (name !== undefined) return name
  if (session.secrets.canPrompt) return chooseUser(session, await session.context())
  throw new CliError('USAGE', 'Name the account: holdfast login <user>', {
    next: [
      { command: 'holdfast account list', why: 'see the accounts of this device' },
      { command: 'holdfast login --with edge', why: 'log in by approval of a logged-in device' }
    ]
  })
}

const loggedIn = (session: Session, account: Account): CommandResult => {
  session.keepAccount(account)
  rememberAccount(session.paths.session, account)
  const { id, username, loginMethod } = account
  const walletCount = account.listWallets().filter(({ isWallet, deleted }) => isWallet && !deleted).length
  return {
    data: { loginId: id, username: username ?? null, method: loginMethod, walletCount },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? id],
        ['logged in by', loginMethod],
        ['wallets', String(walletCount)]
      ]
    }
  }
}

/** Prompts for one of the accounts of this device, or for another name. @throws CliError INTERRUPTED */
const chooseUser = async ({ terminal }: Session, context: Context): Promise<string> => {
  const users = context.localUsers.map(({ loginId, username }) => ({
    text: username ?? `${loginId} (light)`,
    value: username ?? loginId
  }))
  if (users.length > 0) {
    const chosen = await promptChoice(terminal, 'Which account?', [
      ...users,
      { text: 'Another account', value: '' }
    ])
    if (chosen !== '') return chosen
  }
  return promptText(terminal, 'Username:')
}

/**
 * Prompts for one of the login methods that this device has for an account; the quickest comes first.
 *
 * @throws CliError INTERRUPTED
 */
const chooseMethodByPrompt = async (
  { terminal }: Session,
  target: LoginTarget
): Promise<SecretMethod | 'edge'> => {
  const choices = methodChoices(target)
  const chosen = await promptChoice(terminal, `How does ${target.name} log in?`, choices)
  return chosen as SecretMethod | 'edge'
}

const methodChoices = ({ local }: LoginTarget): readonly Choice[] => {
  const hasName = local === undefined || local.username !== undefined
  const isDeviceOnly = local?.isDeviceOnly === true
  return [
    ...(local?.isPinLoginEnabled === true ? [{ text: 'PIN of this device', value: 'pin' }] : []),
    ...(hasName ? [{ text: 'Password', value: 'password' }] : []),
    ...(hasName && !isDeviceOnly ? [{ text: 'Recovery answers', value: 'recovery' }] : []),
    ...(local?.isKeyLoginEnabled === true ? [{ text: 'Login key', value: 'key' }] : []),
    ...(isDeviceOnly ? [] : [{ text: 'Approval by a logged-in device', value: 'edge' }])
  ]
}

/** Logs the current account out; its data stays on this device. One that only its login key opens again needs a confirmation. */
export const logout: CommandRun = async (session, user) => {
  const { session: state } = session.paths
  const current = readCurrentAccount(state)
  const isCurrent =
    user === undefined || user === current?.loginId || user.trim().toLowerCase() === current?.username
  if (current === undefined || !isCurrent) {
    throw new CliError(
      'NOT_LOGGED_IN',
      `${user ?? 'No account'} is ${user === undefined ? '' : 'not '}logged in`
    )
  }
  const name = current.username ?? current.loginId
  const { localUsers } = await session.context()
  const local = localUsers.find(({ loginId }) => loginId === current.loginId)
  const hasPin = local?.isPinLoginEnabled === true
  // A light account exists on this device only, and has no name to log in with elsewhere.
  const isLost = current.username === undefined && current.isEdgeLogin !== true && !hasPin
  const lost = `This light account has no PIN: only its login key opens it again (${commandInProfile(session.globals, 'account key --reveal')})`
  if (isLost) {
    // While the key can still be shown.
    session.statusLine.warn(lost)
    await confirm(session, {
      question: `Log out of ${name}?`,
      summary: { loginId: current.loginId, pinEnabled: false, opensWith: 'login-key' }
    })
  }
  await session.releaseAccount(current.loginId)
  forgetCurrentAccount(state)
  return {
    data: { loginId: current.loginId, username: current.username ?? null, pinEnabled: hasPin },
    warnings: isLost && session.globals.json ? [lost] : [],
    view: {
      kind: 'text',
      lines: [
        `${name} is logged out; its data stays on this device`,
        `Log in again with: holdfast login ${shellWord(name)}${hasPin ? ' --with pin' : isLost ? ' --with key' : ''}`
      ]
    }
  }
}

/** Shows the current account and how it logged in; needs no secret. */
export const whoami: CommandRun = async session => {
  const current = readCurrentAccount(session.paths.session)
  if (current === undefined) {
    throw new CliError('NOT_LOGGED_IN', 'No account is logged in on this device', {
      next: [{ command: 'holdfast login <user>', why: 'log in to an account' }]
    })
  }
  const { loginId, username, method, appId, isEdgeLogin = false } = current
  const context = await session.context()
  const local = context.localUsers.find(user => user.loginId === loginId)
  const isLight = username === undefined
  return {
    data: {
      loginId,
      username: username ?? null,
      method: method ?? null,
      appId: appId ?? null,
      edgeLogin: isEdgeLogin,
      light: isLight,
      pinEnabled: local?.isPinLoginEnabled ?? false,
      deviceOnly: local?.isDeviceOnly ?? false,
      keyEnabled: local?.isKeyLoginEnabled ?? false
    },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? '(light, without a username)'],
        ['login id', loginId],
        ['logged in by', method ?? 'unknown'],
        ['app', appId === undefined || appId === '' ? 'the whole account' : appId],
        ['edge login', isEdgeLogin ? 'yes: approved only for its app' : 'no'],
        ['PIN', local?.isPinLoginEnabled === true ? 'on' : 'off'],
        ['kept', local?.isDeviceOnly === true ? DEVICE_ONLY : 'on this device and the login server']
      ]
    }
  }
}
