import { type Account, WalletError } from '../../kernel/index.ts'
import { trimmed } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import { about, type Field, id, inputError, type Nothing, nothing, object, optional, text } from './schema.ts'
import { type ActionHost, type ActionServices, accountOf } from './services.ts'

/** An account, by its id. */
export interface AccountRef {
  readonly accountId: string
}

/** The texts of a new account. Without a username it is a light account, which only this device opens. */
interface NewAccount {
  readonly username?: string
  readonly password?: string
  readonly pin?: string
}

/** The account to open: by its username, or one of this device by its id and PIN. */
interface LoginRequest extends NewAccount {
  readonly loginId?: string
}

/** An account of this device, with the password that allows its move. */
interface MoveRequest extends AccountRef {
  readonly password: string
}

/** Actions about accounts. */
export interface AccountActions {
  readonly 'account.create': { readonly in: NewAccount; readonly out: AccountRef }
  readonly 'account.login': { readonly in: LoginRequest; readonly out: AccountRef }
  readonly 'account.logout': { readonly in: AccountRef; readonly out: Nothing }
  readonly 'account.move': { readonly in: MoveRequest; readonly out: Nothing }
}

/** The field of an {@link AccountRef}. */
export const accountRef: Field<AccountRef> = object<AccountRef>({
  accountId: about(id, 'The id of an open account')
})
const username = optional(about(text(100), 'The username'))
// A password may be anything that can be typed.
const secret = text(1000)
const password = optional(about(secret, 'The password'))
const pin = optional(about(secret, 'The PIN of this device'))

const NO_SECRETS = { none: 'secrets are typed by a person and never pass through a program' }

/** Creates, opens and leaves accounts. */
export const accountActions: DeclarationsOf<AccountActions> = {
  'account.create': {
    title: 'Create an account',
    summary: 'Creates an account and logs in to it.',
    effect: 'changes',
    input: object<NewAccount>({ username, password, pin }),
    output: accountRef,
    run: async (services, account) => openWallets(services, await services.context.createAccount(account)),
    commandLine: ({ username: name }) =>
      name === undefined
        ? { words: ['account', 'create'], flags: { light: true } }
        : { words: ['account', 'create', trimmed(name)] },
    faces: {
      cli: {
        command: 'account create',
        own: 'it keeps the account open in the agent, and types no secret into an action'
      },
      panel: 'account-bar',
      mcp: NO_SECRETS
    }
  },
  'account.login': {
    title: 'Log in',
    summary: 'Opens an account by its password or PIN, and its wallets.',
    effect: 'changes',
    input: object<LoginRequest>({
      username,
      loginId: optional(about(id, 'The id of an account of this device')),
      password,
      pin
    }),
    output: accountRef,
    run: async (services, input) => openWallets(services, await logIn(services, input)),
    commandLine: ({ username: name, loginId, pin: typedPin }) => ({
      words: ['login', trimmed(name ?? loginId ?? '')],
      flags: { with: typedPin === undefined ? 'password' : 'pin' }
    }),
    faces: {
      cli: {
        command: 'login',
        own: 'it has every method of login, and opens a wallet only when a command needs it'
      },
      panel: 'account-bar',
      mcp: NO_SECRETS
    }
  },
  'account.logout': {
    title: 'Log out',
    summary: 'Closes an account and its wallets; its drafts and quotes are declined.',
    effect: 'changes',
    input: accountRef,
    output: nothing,
    async run(services, { accountId }) {
      const account = accountOf(services, accountId)
      declineAll(services, account)
      await account.logout()
      return {}
    },
    commandLine: ({ accountId }, names) => ({ words: ['logout', trimmed(names.userOf(accountId))] }),
    faces: {
      cli: { command: 'logout', own: 'it ends what the agent keeps, also an account that is not open' },
      panel: 'account-bar',
      mcp: { none: 'the session belongs to the person who opened it' }
    }
  },
  'account.move': {
    title: 'Move an account to the login server',
    summary:
      'Makes an account of this device on the login server, with everything in it, so that other devices can log in to it.',
    effect: 'changes',
    input: object<MoveRequest>({
      accountId: about(id, 'The id of an open account'),
      password: about(secret, 'Its password')
    }),
    output: nothing,
    async run(services, { accountId, password: typed }) {
      const account = accountOf(services, accountId)
      if (!(await account.credentials.checkPassword(typed))) throw new WalletError('PASSWORD', {})
      await account.location.moveToServer()
      return {}
    },
    commandLine: ({ accountId }, names) => ({
      words: ['account', 'move-to-server'],
      flags: { account: names.accountFlagOf(accountId) }
    }),
    faces: {
      cli: {
        command: 'account move-to-server',
        own: 'it logs in anew in place of a check of the password, and says whether the account was there already'
      },
      panel: 'device-account',
      mcp: NO_SECRETS
    }
  }
}

const logIn = (
  { context }: ActionHost,
  { username: name, loginId, password: typed, pin: typedPin }: LoginRequest
): Promise<Account> => {
  if (name === undefined && (loginId === undefined || typedPin === undefined))
    throw inputError(
      'username',
      'A login needs a username, or the id of an account of this device with its PIN'
    )
  if (name !== undefined && typed !== undefined && typedPin === undefined)
    return context.loginWithPassword(name, typed)
  if (typedPin !== undefined && typed === undefined)
    return context.loginWithPIN(
      name === undefined ? { loginId: loginId ?? '' } : { username: name },
      typedPin
    )
  throw inputError('password', 'A login needs either the password or the PIN')
}

/** Wallets open when they are first asked for; here that is now. The engine of each reports its progress. */
const openWallets = ({ pausedWallets }: ActionHost, account: Account): AccountRef => {
  void account.openAllWallets(walletId => pausedWallets?.has(walletId) === true).catch(() => {})
  return { accountId: account.id }
}

/** Declines the drafts of an account that is about to be closed, and closes its rounds of quotes. */
const declineAll = ({ spends, swaps, rounds }: ActionServices, { id: accountId }: Account): void => {
  spends.discardWhere(({ account }) => account.id === accountId)
  swaps.discardWhere(draft => draft.accountId === accountId)
  rounds.closeOfAccount(accountId)
}
