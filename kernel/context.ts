import type { Account, SharedAccount } from './account/account.ts'
import { openAccount } from './account/open.ts'
import { type RestoreOptions, restoreBackup } from './account/restore-backup.ts'
import { allowFlags, allowTexts, requireObject, requireTexts } from './base/arguments.ts'
import { compact } from './base/compact.ts'
import { WalletError } from './base/errors.ts'
import type { Readable } from './base/observable.ts'
import { type PauseOptions, PauseSwitch } from './base/pause-switch.ts'
import { Scheduler } from './base/scheduler.ts'
import { base58Of } from './crypto/encoding.ts'
import { RECOVERY } from './login/changes.ts'
import { normalizeUsername } from './login/derive.ts'
import type { Login } from './login/login.ts'
import { createLogin } from './login/methods/create.ts'
import type { EdgeLoginOptions, EdgeLoginRequest } from './login/methods/edge.ts'
import { loginWithKey } from './login/methods/key.ts'
import { checkPasswordRules, loginWithPassword, type PasswordRules } from './login/methods/password.ts'
import { loginWithPin } from './login/methods/pin.ts'
import {
  fetchRecoveryQuestions,
  listRecoveryQuestionChoices,
  loginWithRecovery
} from './login/methods/recovery.ts'
import { fetchLoginMessages, requestOtpReset, usernameAvailable } from './login/server.ts'
import { openStashes, type Stashes } from './login/stashes.ts'
import type { Services } from './plugins/services.ts'
import { RateService } from './rates/service.ts'
import type { SwapInfo } from './swap/approval.ts'
import { SYNC_PERIOD_MS, SyncLoop } from './sync/sync-loop.ts'
import { SyncServers } from './sync/sync-servers.ts'
import type { CurrencyInfo } from './types/currency.ts'
import type { MessageVerdict, SignedMessage } from './types/engine.ts'
import type { LocalLoginId, LoginId, PluginId } from './types/ids.ts'
import type { LocalUser, LoginMessage, RecoveryQuestionChoice } from './types/login.ts'
import type { ExchangeSnapshot, LoginSnapshot, PluginSnapshot } from './types/snapshots.ts'
import { verifyMessage } from './wallet/tools.ts'

/** A new account. Other devices find it by its username; without a username and a password it is a light account. */
export interface NewAccount {
  readonly username?: string
  /** Needs a username. Without one, only this device opens the account, until a password is set. */
  readonly password?: string
  /** Switches PIN login on for this device. */
  readonly pin?: string
  /** The date that this login counts as its own; the present by default. */
  readonly now?: Date
  /**
   * Makes the account on this device alone, without a login server; it can be backed up, and moved to a server later. By default
   * if the kernel has no login server. It cannot have a PIN.
   */
  readonly isDeviceOnly?: boolean
}

/** Identifies a user of this device. */
export type UserName = { readonly username: string } | { readonly loginId: LocalLoginId }

/** The options that take a login past two-factor or a CAPTCHA. */
export interface LoginHelp {
  /** Six digits. */
  readonly otp?: string
  /** The two-factor key, base32. */
  readonly otpKey?: string
  readonly challengeId?: string
  /** The date that this login counts as its own, as `lastLogin` of the user shows it; the present by default. */
  readonly now?: Date
}

/**
 * The users of this device and every way to log in (specification §1, §4).
 *
 * @example
 * ```ts
 * for (const { username, isPinLoginEnabled } of context.localUsers) console.log(username, isPinLoginEnabled)
 * const account = await context.loginWithPassword('alice', 'correct horse battery')
 * console.log(account.username, context.accounts.length)
 * ```
 */
export class Context implements Readable<readonly LocalUser[]> {
  readonly subscribe: Readable<readonly LocalUser[]>['subscribe']
  readonly getSnapshot: Readable<readonly LocalUser[]>['getSnapshot']
  /** Exchange rates, shared by all accounts of this device. */
  readonly rates: RateService
  readonly #services: Services
  readonly #stashes: Stashes
  readonly #syncLoop: SyncLoop
  readonly #scheduler: Scheduler
  readonly #pause: PauseSwitch
  /** By login id; from the moment an account begins to open until it has let go of its files. */
  readonly #accounts = new Map<string, OpenAccount>()
  readonly #logins = new Set<Promise<unknown>>()
  readonly #edgeLogins = new Set<EdgeLoginRequest<Account>>()
  #closing: Promise<void> | undefined

  /** Reads the users of this device. */
  static async open(services: Services): Promise<Context> {
    const [stashes, rates] = await Promise.all([openStashes(services), RateService.open(services)])
    return new Context(services, stashes, rates)
  }

  private constructor(services: Services, stashes: Stashes, rates: RateService) {
    this.rates = rates
    this.#services = services
    this.#stashes = stashes
    const report = (error: unknown): void => services.report('sync', error)
    const { syncServers, infoServers } = services.config
    const servers = new SyncServers({ io: services.io, syncServers, infoServers, report })
    const exchanged = (exchange: ExchangeSnapshot): void => {
      for (const paths of [exchange.sent, exchange.received]) Object.freeze(paths)
      services.hooks.filesExchanged.call(Object.freeze(exchange))
    }
    this.#syncLoop = new SyncLoop({ io: services.io, servers, report, onExchange: exchanged })
    this.#scheduler = new Scheduler(services.io.clock)
    this.#pause = new PauseSwitch({ scheduler: this.#scheduler, key: 'pause' })
    this.#pause.subscribe(() => (this.isPaused ? this.#syncLoop.pause() : this.#syncLoop.resume()))
    this.#pause.subscribe(() => rates.changePaused(this.isPaused))
    this.subscribe = stashes.subscribe
    this.getSnapshot = () => stashes.localUsers()
  }

  /** The users that this device knows, last logged-in first. */
  get localUsers(): readonly LocalUser[] {
    return this.getSnapshot()
  }

  /** False for a kernel without a login server: its new accounts are on this device only. */
  get hasLoginServer(): boolean {
    return this.#services.config.authServer !== ''
  }

  /** The accounts that are logged in. */
  get accounts(): readonly Account[] {
    return [...this.#accounts.values()].flatMap(({ shared }) => shared?.accounts ?? [])
  }

  /** Every plugin that was added or announced, in the order of arrival: whether it was applied, and what is wrong if not. */
  get plugins(): readonly PluginSnapshot[] {
    return this.#services.plugins.snapshots
  }

  /** The currencies of the plugins that were applied: all of them once an account is open. */
  get currencies(): readonly CurrencyInfo[] {
    return this.#services.plugins.currencies
  }

  /** The swap plugins that were applied: all of them once an account is open. */
  get swapInfos(): readonly SwapInfo[] {
    return this.#services.plugins.swapPlugins.map(
      ({ id: pluginId, displayName, isDex = false, supportEmail }) => ({
        ...{ pluginId, displayName, isDex },
        ...compact({ supportEmail })
      })
    )
  }

  /** True if everything is paused. */
  get isPaused(): boolean {
    return this.#pause.getSnapshot().isPaused
  }

  /**
   * Stops or resumes all background work, now or later: engines, syncs, the refresh of logins. Explicit calls
   * still run.
   *
   * @throws OPTION_INVALID
   *
   * @example
   * ```ts
   * context.changePaused(true, { afterSeconds: 30 })
   * ```
   */
  changePaused(isPaused: boolean, options: PauseOptions = {}): void {
    this.#checkOpen()
    this.#pause.change(isPaused, options)
  }

  /**
   * Syncs each repo so often from now on: for an application that nobody looks at, so that hundreds of wallets cost little.
   * What is written here is uploaded within a second all the same, and engines go on as before.
   *
   * @param periodMs - from 30 s, which is the default, to one hour
   * @throws OPTION_INVALID
   *
   * @example
   * ```ts
   * declare const isHidden: boolean
   * context.changeSyncPeriod(isHidden ? 300_000 : 30_000)
   * ```
   */
  changeSyncPeriod(periodMs: number): void {
    this.#checkOpen()
    if (!(Number.isFinite(periodMs) && periodMs >= SYNC_PERIOD_MS && periodMs <= MAX_SYNC_PERIOD_MS))
      throw new WalletError('OPTION_INVALID', {
        option: 'periodMs',
        rule: 'is no time from 30 s to one hour'
      })
    this.#syncLoop.changePeriod(periodMs)
  }

  /**
   * Returns true if a username is free.
   *
   * @throws BAD_USERNAME, USERNAME_INVALID for an empty one, NETWORK
   *
   * @example
   * ```ts
   * if (await context.usernameAvailable('alice')) await context.createAccount({ username: 'alice', pin: '2468' })
   * ```
   */
  async usernameAvailable(username: string): Promise<boolean> {
    this.#checkOpen()
    requireTexts({ username })
    const name = normalizeUsername(username)
    if (name === '') throw new WalletError('USERNAME_INVALID', {})
    return usernameAvailable(this.#services, name)
  }

  /**
   * Checks a new password against the rules, without a request (specification §5).
   *
   * @example
   * ```ts
   * const { passed, secondsToCrack } = context.checkPasswordRules('correct horse battery')
   * ```
   */
  checkPasswordRules(password: string): PasswordRules {
    requireTexts({ password })
    return checkPasswordRules(password)
  }

  /**
   * Verifies the signature of a text by the key of an address; needs no account.
   *
   * @param pluginId - the currency of the address
   * @throws NOT_SUPPORTED, ADDRESS_INVALID, OPTION_INVALID, PLUGIN_FAILED
   *
   * @example
   * ```ts
   * declare const signature: string
   * const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
   * const verdict = await context.verifyMessage('bitcoin', { message: 'I am Alice', address, signature })
   * console.log(verdict === 'valid')
   * ```
   */
  async verifyMessage(pluginId: PluginId, signed: SignedMessage): Promise<MessageVerdict> {
    this.#checkOpen()
    await this.#services.plugins.ready()
    return verifyMessage(this.#services, pluginId, signed)
  }

  /**
   * Creates an account and logs in to it.
   *
   * @throws ACCOUNT_EXISTS, BAD_USERNAME, USERNAME_REQUIRED, OPTION_INVALID
   * @throws DEVICE_ONLY for a PIN of an account that has no login server; ACCOUNT_ON_DEVICE if such an account has the username
   *
   * @example
   * ```ts
   * const account = await context.createAccount({ username: 'alice', password: 'correct horse battery', pin: '2468' })
   * ```
   */
  createAccount(account: NewAccount): Promise<Account> {
    const { authServer, passwordSnrp } = this.#services.config
    const snrp = passwordSnrp === undefined ? {} : { snrp: passwordSnrp }
    return this.#open('create', () => {
      requireObject('account', account)
      const { username, password, pin, now, isDeviceOnly = authServer === '' } = account
      allowTexts({ username, password, pin })
      allowFlags({ isDeviceOnly })
      checkNow(now)
      const options = { username, password, pin, now, isDeviceOnly, ...snrp }
      return createLogin(this.#services, this.#stashes, options)
    })
  }

  /**
   * Logs in with a password, without the network if this device knows the account.
   *
   * @throws PASSWORD, ACCOUNT_NOT_FOUND, OTP, NETWORK
   *
   * @example
   * ```ts
   * const account = await context.loginWithPassword('alice', 'correct horse battery', { otp: '123456' })
   * ```
   */
  loginWithPassword(username: string, password: string, help: LoginHelp = {}): Promise<Account> {
    return this.#open('password', () => {
      requireTexts({ username, password })
      const options = { username, password, ...checkHelp(help) }
      return loginWithPassword(this.#services, this.#stashes, options)
    })
  }

  /**
   * Logs in with the PIN of this device.
   *
   * @throws PIN_NOT_ENABLED, USER_NOT_ON_DEVICE, PASSWORD, NETWORK
   *
   * @example
   * ```ts
   * const account = await context.loginWithPIN({ username: 'alice' }, '2468')
   * ```
   */
  loginWithPIN(user: UserName, pin: string, help: LoginHelp = {}): Promise<Account> {
    return this.#open('pin', () => {
      requireTexts({ pin })
      const options = { ...checkUser(user), pin, ...checkHelp(help) }
      return loginWithPin(this.#services, this.#stashes, options)
    })
  }

  /**
   * Logs in with the key of {@link Account.getLoginKey}, without the network.
   *
   * @throws USER_NOT_ON_DEVICE
   *
   * @example
   * ```ts
   * const loginKey = await account.getLoginKey()
   * await account.logout()
   * const again = await context.loginWithKey({ username: 'alice' }, loginKey)
   * ```
   */
  loginWithKey(user: UserName, loginKey: string, { now }: Pick<LoginHelp, 'now'> = {}): Promise<Account> {
    return this.#open('key', () => {
      requireTexts({ loginKey })
      checkNow(now)
      return loginWithKey(this.#services, this.#stashes, { ...checkUser(user), loginKey, now })
    })
  }

  /**
   * Logs in with recovery answers, online, on any device.
   *
   * @param recoveryKey - base58, from `changeRecovery` or from {@link LocalUser}
   * @throws PASSWORD, ACCOUNT_NOT_FOUND, RECOVERY_USERNAME_REQUIRED, OPTION_INVALID, OTP, NETWORK
   *
   * @example
   * ```ts
   * const recoveryKey = account.credentials.getRecoveryKey()
   * const questions = await context.fetchRecovery2Questions(recoveryKey, 'alice')
   * const recovered = await context.loginWithRecovery2(recoveryKey, 'alice', ['Rex', '12 Elm Street'])
   * ```
   */
  loginWithRecovery2(
    recoveryKey: string,
    username: string,
    answers: readonly string[],
    help: LoginHelp = {}
  ): Promise<Account> {
    return this.#open('recovery', () => {
      requireTexts({ recoveryKey, username })
      const options = { recoveryKey, username, answers, ...checkHelp(help) }
      return loginWithRecovery(this.#services, this.#stashes, options)
    })
  }

  /** Fetches the recovery questions of an account. @throws ACCOUNT_NOT_FOUND, RECOVERY_QUESTIONS_MISSING, DEVICE_ONLY, NETWORK, … */
  async fetchRecovery2Questions(recoveryKey: string, username: string): Promise<readonly string[]> {
    this.#checkOpen()
    requireTexts({ recoveryKey, username })
    this.#checkServer(username, RECOVERY)
    return fetchRecoveryQuestions(this.#services, { recoveryKey, username })
  }

  /** Fetches the recovery questions that the server suggests. @throws NETWORK, BAD_REPLY */
  async listRecoveryQuestionChoices(): Promise<readonly RecoveryQuestionChoice[]> {
    this.#checkOpen()
    return listRecoveryQuestionChoices(this.#services)
  }

  /**
   * Requests that the two-factor of an account is switched off, for an owner who lost the key; returns the date.
   *
   * @param resetToken - of the OTP error of a login
   * @throws PASSWORD for a wrong token, ACCOUNT_NOT_FOUND, DEVICE_ONLY, NETWORK, …
   *
   * @example
   * ```ts
   * import { isWalletError } from 'holdfast'
   *
   * try {
   *   await context.loginWithPassword('alice', 'correct horse battery')
   * } catch (error) {
   *   if (!isWalletError(error, 'OTP') || error.details.resetToken === undefined) throw error
   *   console.log(await context.requestOtpReset('alice', error.details.resetToken))
   * }
   * ```
   */
  async requestOtpReset(username: string, resetToken: string): Promise<Date> {
    this.#checkOpen()
    requireTexts({ username, resetToken })
    this.#checkServer(username, 'two-factor')
    return requestOtpReset(this.#services, { username, resetToken })
  }

  /**
   * Fetches news for every user of this device: devices that wait for approval, pending resets. @throws NETWORK, BAD_REPLY
   */
  async fetchLoginMessages(): Promise<readonly LoginMessage[]> {
    this.#checkOpen()
    return fetchLoginMessages(this.#services, this.#stashes.list())
  }

  /**
   * Asks another device to let this one in to its account; that device must learn the `lobbyId`, for example by a QR code.
   *
   * @throws NETWORK if the request does not reach the server
   *
   * @example
   * ```ts
   * const request = await context.requestEdgeLogin()
   * console.log(`On the other device: holdfast lobby approve ${request.lobbyId}`)
   * const account = await request.account
   * ```
   */
  async requestEdgeLogin(options: EdgeLoginOptions = {}): Promise<EdgeLoginRequest<Account>> {
    this.#checkOpen()
    requireObject('options', options)
    // Loaded when it is needed: the curve takes longer than any other part to set up.
    const { requestEdgeLogin } = await import('./login/methods/edge.ts')
    this.#checkOpen()
    const request = await requestEdgeLogin(this.#services, this.#stashes, {
      ...options,
      open: (login, isWanted) => this.#openHanded(login, isWanted)
    })
    const forget = (): void => void this.#edgeLogins.delete(request)
    this.#edgeLogins.add(request)
    request.account.then(forget, forget)
    if (this.#closing !== undefined) request.cancel()
    this.#checkOpen()
    return request
  }

  /**
   * Restores an account from a backup, beside the others of this device; it can log in then. Takes as long as a login by
   * password.
   *
   * Nothing is changed if the text or the password is wrong. A restore that was cut off shows no account, and is completed by
   * another one.
   *
   * @param backup - the text of {@link AccountLocation.makeBackup}
   * @throws PASSWORD for a wrong one; BACKUP_INVALID for a text that is damaged, cut or altered
   * @throws ACCOUNT_ON_DEVICE if the account is here, so that it has to be forgotten first, or if another one has its username
   * @throws OPTION_INVALID, STORAGE_FULL, STORAGE_FAILED
   *
   * @example
   * ```ts
   * declare const backup: string
   * const { loginId } = await context.restoreAccount(backup, { password: 'correct horse battery' })
   * console.log(context.localUsers.some(user => user.loginId === loginId))
   * ```
   */
  async restoreAccount(backup: string, options: RestoreOptions): Promise<LocalUser> {
    this.#checkOpen()
    requireObject('options', options)
    const { password } = options
    requireTexts({ backup, password })
    const sessionEnd = (loginId: LoginId): Promise<void> => this.#sessionEnd(loginId)
    const restoring = restoreBackup(this.#services, this.#stashes, { backup, password, sessionEnd })
    this.#logins.add(restoring)
    try {
      return await restoring
    } finally {
      this.#logins.delete(restoring)
    }
  }

  /**
   * Removes a user from this device; the account itself is untouched. One of this device only is lost then, but for a backup.
   *
   * @param options - `losesAccount`: needed for an account of this device only
   * @throws USER_LOGGED_IN, USER_NOT_ON_DEVICE, DEVICE_ONLY
   *
   * @example
   * ```ts
   * await context.forgetAccount({ username: 'alice' })
   * ```
   */
  async forgetAccount(user: UserName, options: { readonly losesAccount?: boolean } = {}): Promise<void> {
    this.#checkOpen()
    requireObject('options', options)
    const { losesAccount } = options
    allowFlags({ losesAccount })
    const wanted = checkUser(user)
    const isMeant = ({ loginId, username }: LocalUser): boolean =>
      'loginId' in wanted ? loginId === wanted.loginId : username === normalizeUsername(wanted.username)
    const found = this.localUsers.find(isMeant)
    if (found === undefined) throw new WalletError('USER_NOT_ON_DEVICE', {})
    if (found.isDeviceOnly === true && losesAccount !== true)
      throw new WalletError('DEVICE_ONLY', { what: 'an account that is forgotten and comes back' })
    await this.#stashes.remove(found.loginId)
  }

  /** Logs out every account, also those that are still opening. Later calls fail with CONTEXT_CLOSED. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const request of [...this.#edgeLogins]) request.cancel()
    const ends = await Promise.allSettled(this.accounts.map(account => account.logout()))
    for (const end of ends) if (end.status === 'rejected') this.#services.report('logging out', end.reason)
    await Promise.allSettled(this.#logins)
    // Also those whose last login is just ending: they still use the disk.
    await Promise.allSettled([...this.#accounts.values()].map(({ shared }) => shared?.close()))
    await this.rates.close()
    this.#syncLoop.close()
    this.#scheduler.close()
  }

  async #open(method: LoginSnapshot['method'], login: () => Promise<Login>): Promise<Account> {
    this.#checkOpen()
    await this.#services.plugins.ready()
    this.#checkOpen()
    const opening = this.#logIn(method, login)
    this.#logins.add(opening)
    try {
      return await opening
    } finally {
      this.#logins.delete(opening)
    }
  }

  async #openHanded(login: Login, isWanted: () => boolean): Promise<Account> {
    try {
      const account = await this.#open('edge', async () => login)
      if (!isWanted()) await account.logout()
      return account
    } catch (error) {
      login.close()
      throw error
    }
  }

  async #logIn(method: LoginSnapshot['method'], login: () => Promise<Login>): Promise<Account> {
    const opened = await login()
    const account = await this.#accountOf(opened, method)
    if (this.#closing === undefined) return account
    await account.logout()
    throw new WalletError('CONTEXT_CLOSED', {})
  }

  /**
   * The account of a login, an object of its own. What is open already is shared: two over the same files would
   * overwrite each other.
   */
  async #accountOf(login: Login, loginMethod: LoginSnapshot['method']): Promise<Account> {
    const id = login.rootLoginId
    for (let known = this.#accounts.get(id); known !== undefined; known = this.#accounts.get(id)) {
      const shared = await known.opening.catch(() => undefined)
      if (shared?.isOpen === true) {
        login.close()
        return shared.join(loginMethod)
      }
      await shared?.close()
    }
    const opening = openAccount({
      services: this.#services,
      login,
      syncLoop: this.#syncLoop,
      isNew: loginMethod === 'create',
      paused: this.#pause,
      rates: this.rates,
      onClosed: () => void this.#accounts.delete(id)
    })
    const entry: OpenAccount = { opening, shared: undefined }
    this.#accounts.set(id, entry)
    try {
      const shared = await opening
      entry.shared = shared
      return shared.join(loginMethod)
    } catch (error) {
      this.#accounts.delete(id)
      throw error
    }
  }

  /** Waits until an account that is logged out, or forgotten, has closed its repos. `loginId`: base64. */
  async #sessionEnd(loginId: LoginId): Promise<void> {
    if (this.#stashes.isOpen(loginId)) return
    const { crypto } = this.#services.io
    const entry = this.#accounts.get(base58Of(crypto.fromBase64(loginId)))
    const ending = await entry?.opening.catch(() => undefined)
    await ending?.close()
  }

  /** Asks no server about the account of this device that has a username. @throws DEVICE_ONLY, BAD_USERNAME */
  #checkServer(username: string, what: string): void {
    const stash = this.#stashes.find({ username: normalizeUsername(username) })
    if (stash?.deviceOnly !== undefined) throw new WalletError('DEVICE_ONLY', { what })
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new WalletError('CONTEXT_CLOSED', {})
  }
}

/** Names of users come out of lists and settings, where one may be missing. @throws OPTION_INVALID */
const checkUser = (user: UserName): UserName => {
  requireObject('user', user)
  const { loginId } = user as { readonly loginId?: unknown }
  if (loginId === undefined) requireTexts({ username: (user as { readonly username?: unknown }).username })
  else requireTexts({ loginId })
  return user
}

/** @throws OPTION_INVALID */
const checkHelp = (help: LoginHelp): LoginHelp => {
  requireObject('help', help)
  const { otp, otpKey, challengeId, now } = help
  allowTexts({ otp, otpKey, challengeId })
  checkNow(now)
  return help
}

const checkNow = (now: unknown): void => {
  if (now === undefined || (now instanceof Date && !Number.isNaN(now.getTime()))) return
  throw new WalletError('OPTION_INVALID', { option: 'now', rule: 'is no date' })
}

const MAX_SYNC_PERIOD_MS = 3_600_000

interface OpenAccount {
  readonly opening: Promise<SharedAccount>
  shared: SharedAccount | undefined
}
