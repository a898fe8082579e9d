import {
  type Account,
  type Context,
  compact,
  type NewAccount,
  normalizeUsername,
  WalletError
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { DEVICE_ONLY, localTime, secretJson, secretText } from '../../output/texts.ts'
import type { CellLike } from '../../output/view.ts'
import { forgetCurrentAccount, readCurrentAccount, rememberAccount } from '../../profile/state-files.ts'
import { newPassword, pinProblem } from '../../secrets/new-secrets.ts'
import type { SecretQuestion } from '../../secrets/prompt.ts'
import { allowingUse } from '../../session/allow-use.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm, confirmTyped } from '../../session/confirm.ts'
import { targetOf } from '../../session/log-in.ts'
import { makeChange, nameOf, refreshedAccount } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Makes an account, with a username and password or, with `--light`, with neither, and logs in to it. */
export const accountCreate: CommandRun = async (session, user) => {
  const isLight = session.isOn('light')
  if (isLight === (user !== undefined)) {
    throw new CliError('USAGE', isLight ? 'A light account has no username' : 'Name the new account', {
      hint: 'Give a username, or --light for an account without one.'
    })
  }
  const context = await session.context()
  const isDeviceOnly = session.isOn('local') || !context.hasLoginServer
  if (isLight && isDeviceOnly) {
    throw new CliError('USAGE', 'A light account needs a login server, which checks its PIN', {
      hint: 'Name the account; it gets a password then.'
    })
  }
  const request: NewAccount = isLight
    ? await lightAccount(session)
    : { ...(await namedAccount(session, context, user ?? '', isDeviceOnly)), isDeviceOnly }
  const account = session.keepAccount(
    await session.withProgress('Creating the account', () => context.createAccount(request))
  )
  const { id, username } = account
  rememberAccount(session.paths.session, account)
  if (isDeviceOnly) session.statusLine.info(DEVICE_ONLY_ADVICE)
  return {
    data: {
      loginId: id,
      username: username ?? null,
      light: isLight,
      pinEnabled: request.pin !== undefined,
      deviceOnly: isDeviceOnly
    },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? id],
        ['kept', isDeviceOnly ? DEVICE_ONLY : 'on this device and the login server'],
        ['PIN', request.pin === undefined ? 'none' : 'on this device']
      ]
    }
  }
}

const DEVICE_ONLY_ADVICE =
  'This account is on this device only, and lost with it unless you back it up: holdfast account backup <file>'

const namedAccount = async (
  session: Session,
  context: Context,
  user: string,
  isDeviceOnly: boolean
): Promise<NewAccount> => {
  // A name that cannot be is found out before a password is typed.
  const username = normalizeUsername(user)
  const password = await newPassword(session, context, 'password')
  // A login server checks PINs; one that was given is refused with the reason.
  if (isDeviceOnly) return { username, password, ...compact({ pin: await session.secrets.given('pin') }) }
  const pin = await pinOf(session, {
    message: `${PIN_QUESTION} (empty: none):`,
    check: text => (text === '' ? undefined : pinProblem(text))
  })
  return { username, password, ...compact({ pin: pin || undefined }) }
}

/** Without a name there is no password, so nothing but the PIN would open the account a second time. */
const lightAccount = async (session: Session): Promise<NewAccount> => {
  const pin = await pinOf(session, { message: `${PIN_QUESTION}:`, check: pinProblem })
  if (pin === '') throw session.secrets.promptImpossible('pin')
  return { pin }
}

const PIN_QUESTION = 'PIN, four digits or more'

/** Returns the PIN of a flag, or prompts for one; '' without a terminal. */
const pinOf = async ({ secrets }: Session, question: SecretQuestion): Promise<string> => {
  const given = await secrets.given('pin')
  if (given !== undefined) return given
  return secrets.canPrompt ? secrets.prompt('pin', question) : ''
}

/** Lists the accounts that this device knows, last logged-in first. */
export const accountList: CommandRun = async session => {
  const context = await session.context()
  const current = readCurrentAccount(session.paths.session)
  const users = context.localUsers
  return {
    data: {
      accounts: users.map(
        ({
          loginId,
          username,
          lastLogin,
          isPinLoginEnabled,
          isKeyLoginEnabled,
          voucherId,
          isDeviceOnly
        }) => ({
          loginId,
          username: username ?? null,
          lastLogin: lastLogin?.toISOString() ?? null,
          pinEnabled: isPinLoginEnabled,
          keyEnabled: isKeyLoginEnabled,
          voucherId: voucherId ?? null,
          deviceOnly: isDeviceOnly ?? false,
          current: loginId === current?.loginId
        })
      )
    },
    view: {
      kind: 'table',
      columns: [
        { title: 'USERNAME' },
        { title: 'LOGIN ID', canShrink: true },
        { title: 'PIN' },
        { title: 'LAST LOGIN' },
        { title: 'KEPT' },
        { title: 'STATE' }
      ],
      rows: users.map(({ loginId, username, lastLogin, isPinLoginEnabled, voucherId, isDeviceOnly }) => [
        username ?? '(light)',
        loginId,
        isPinLoginEnabled ? 'on' : 'off',
        lastLogin === undefined ? '' : localTime(lastLogin),
        isDeviceOnly === true ? DEVICE_ONLY : 'server',
        stateOf(loginId === current?.loginId, voucherId)
      ]),
      empty: 'This device knows no account yet. Create one with: holdfast account create <user>'
    }
  }
}

const stateOf = (isCurrent: boolean, voucherId: string | undefined): CellLike => {
  if (isCurrent) return { text: 'current', tone: 'good' }
  return voucherId === undefined ? '' : { text: 'requested', tone: 'warn' }
}

/** Shows the account and what is set up for it; its secrets with `--reveal`. */
export const accountShow: CommandRun = async session => {
  const { account, warnings } = await refreshedAccount(session)
  const { id, username, loginMethod, isEdgeLogin, isLight, credentials, twoFactor } = account
  const { appId } = account.getSnapshot()
  const { isEnabled, otpResetDate, pendingVouchers } = twoFactor.status
  const otpKey = isEnabled ? twoFactor.getOtpKey() : undefined
  const recoveryKey = credentials.hasRecovery ? credentials.getRecoveryKey() : undefined
  return {
    data: {
      loginId: id,
      username: username ?? null,
      method: loginMethod,
      appId,
      deviceOnly: account.location.isDeviceOnly,
      edgeLogin: isEdgeLogin,
      light: isLight,
      password: credentials.hasPassword,
      pinEnabled: credentials.isPinLoginEnabled,
      twoFactor: isEnabled,
      otpResetDate: otpResetDate?.toISOString() ?? null,
      pendingVouchers: pendingVouchers.length,
      recovery: recoveryKey !== undefined,
      rootLoginId: secretJson(session, account.rootLoginId),
      otpKey: secretJson(session, otpKey),
      recoveryKey: secretJson(session, recoveryKey)
    },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? '(light, without a username)'],
        ['kept', account.location.isDeviceOnly ? DEVICE_ONLY : 'on this device and the login server'],
        ['app', appId === '' ? 'the whole account' : appId],
        ['logged in by', isEdgeLogin ? `${loginMethod}, only for its app` : loginMethod],
        ['password', credentials.hasPassword ? 'on' : 'off'],
        ['login by PIN', credentials.isPinLoginEnabled ? 'on' : 'off'],
        ['recovery', recoveryKey === undefined ? 'off' : 'on'],
        ['two-factor', isEnabled ? 'on' : 'off'],
        ...(otpResetDate === undefined
          ? []
          : [['two-factor reset at', { text: localTime(otpResetDate), tone: 'warn' } as const] as const]),
        ['waiting devices', String(pendingVouchers.length)],
        ['root login id', secretText(session, account.rootLoginId)],
        ['two-factor key', secretText(session, otpKey)],
        ['recovery key', secretText(session, recoveryKey)]
      ]
    },
    warnings
  }
}

/** Checks if a username is available, and prints its normalized spelling. */
export const accountAvailable: CommandRun = async (session, user = '') => {
  const username = normalizeUsername(user)
  const context = await session.context()
  const isAvailable = await session.withProgress('Looking up the name', () => context.usernameAvailable(user))
  return {
    data: { username, available: isAvailable },
    view: {
      kind: 'text',
      lines: [isAvailable ? `"${username}" is free` : `"${username}" is taken`]
    }
  }
}

/** Removes an account from this device; the account itself is untouched. */
export const accountForget: CommandRun = async (session, user = '') => {
  const context = await session.context()
  const { local, name } = targetOf(context, { username: user }, user)
  if (local === undefined) throw new WalletError('USER_NOT_ON_DEVICE', {})
  const { loginId, username = null, isDeviceOnly = false } = local
  if (loginId === readCurrentAccount(session.paths.session)?.loginId)
    throw new WalletError('USER_LOGGED_IN', {})
  if (session.globals.dryRun)
    return resultOf(`${name} would be removed from this device`, { loginId, username })
  const summary = { loginId, username, deviceOnly: isDeviceOnly }
  if (isDeviceOnly) {
    await confirmTyped(session, {
      question: `${name} is on this device only: without a backup its wallets and their coins are lost. Remove it?`,
      name,
      summary
    })
  } else {
    await confirm(session, {
      question: `Remove ${name} from this device? Without its password it cannot be opened here again.`,
      summary
    })
  }
  await session.releaseAccount(loginId)
  await context.forgetAccount({ loginId }, { losesAccount: isDeviceOnly })
  if (readCurrentAccount(session.paths.session)?.loginId === loginId)
    forgetCurrentAccount(session.paths.session)
  return resultOf(`${name} is removed from this device`, { loginId, username })
}

const resultOf = (line: string, data: { readonly loginId: string; readonly username: string | null }) => ({
  data,
  view: { kind: 'text', lines: [line] } as const
})

/** Deletes the account from the server and this device, for good. */
export const accountDelete: CommandRun = async session => {
  const account = await session.account()
  const { id, username = null } = account
  const name = nameOf(account)
  const walletCount = account.listWallets().filter(({ isWallet, deleted }) => isWallet && !deleted).length
  if (!session.globals.dryRun) {
    await confirmTyped(session, {
      question: `Delete ${name} with its ${walletCount} wallet(s) permanently? Coins in them are lost with their keys.`,
      name,
      summary: { loginId: id, username, walletCount }
    })
  }
  const result = await makeChange(session, {
    doing: 'Deleting the account',
    done: `${name} is deleted`,
    data: { loginId: id, username, deleted: true },
    call: () => account.credentials.deleteRemoteAccount()
  })
  const state = session.paths.session
  if (!session.globals.dryRun && readCurrentAccount(state)?.loginId === id) forgetCurrentAccount(state)
  return result
}

/** Shows the key that logs in on this device without any other secret, with `--reveal`. */
export const accountKey: CommandRun = async session => {
  const account = await session.account()
  const loginKey = await allowingUse(session, 'login key', () => account.getLoginKey())
  return {
    data: { loginKey: secretJson(session, loginKey) },
    view: { kind: 'record', fields: [['login key', secretText(session, loginKey)]] }
  }
}

/** Gives the account another username; a light account gets its first, with a password. */
export const usernameSet: CommandRun = async (session, typed = '') => {
  const username = normalizeUsername(typed)
  const account = await session.account()
  const password = await passwordFor(session, account)
  const before = account.username ?? null
  const result = await makeChange(session, {
    doing: 'Changing the username',
    done: `${before ?? 'The light account'} is now called ${username}`,
    data: { before, username },
    call: () => account.credentials.changeUsername({ username, ...compact({ password }) })
  })
  session.adoptAccount(account)
  if (!session.globals.dryRun) rememberAccount(session.paths.session, account)
  return result
}

/** The first password of a light account; else the one that there is, which the new name is a part of. */
const passwordFor = async (session: Session, account: Account): Promise<string | undefined> => {
  const { credentials, username } = account
  if (username === undefined) return newPassword(session, await session.context())
  if (!credentials.hasPassword) return undefined
  return (
    (await session.secrets.given('password')) ??
    session.secrets.prompt('password', { message: `Password of ${username}:` })
  )
}
