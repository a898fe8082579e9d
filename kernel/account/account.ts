import { requireObject, requireObjects, requireTexts } from '../base/arguments.ts'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { allSettledOrThrow } from '../base/mutex.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { PauseOptions, PauseSwitch } from '../base/pause-switch.ts'
import type { Poller } from '../base/poller.ts'
import type { Scheduler } from '../base/scheduler.ts'
import { base58Of, utf8Of } from '../crypto/encoding.ts'
import { requestKeys } from '../keys/key-gate.ts'
import type { Lobby } from '../login/lobby.ts'
import type { Login } from '../login/login.ts'
import type { Services } from '../plugins/services.ts'
import type { RateService } from '../rates/service.ts'
import { storeBelow } from '../repo/store/bulk.ts'
import { OrderIds } from '../swap/approval.ts'
import type { SwapOrders } from '../swap/orders.ts'
import type { SwapQuote } from '../swap/quote.ts'
import type { SwapOptions, SwapRequest } from '../swap/request.ts'
import type { QuoteRound } from '../swap/round.ts'
import { SwapService } from '../swap/service.ts'
import type { ActivationAsset } from '../types/engine.ts'
import type { LocalLoginId, PluginId, WalletId } from '../types/ids.ts'
import type { WalletKeys, WalletStatesChange } from '../types/keys.ts'
import type { AccountSnapshot, LoginSnapshot } from '../types/snapshots.ts'
import type { EventQueue } from '../wallet/events.ts'
import type { CurrencyWallet } from '../wallet/wallet.ts'
import {
  type ActivationQuestion,
  type ActivationQuote,
  type ActivationRequest,
  activateWallet,
  getActivationAssets
} from './activation.ts'
import { AccountLocation } from './backup.ts'
import { type NewWallet, type NewWalletOfType, WalletCreator } from './create-wallets.ts'
import { Credentials, loginMethodsOf } from './credentials.ts'
import type { CurrencyConfig } from './currency-config.ts'
import { DataStore } from './data-store.ts'
import { KeptFiles } from './kept-files.ts'
import { OpenWallets, type UnfinishedWallets, type WalletOpener, type WalletResult } from './open-wallets.ts'
import { ownAddressesIn } from './own-addresses.ts'
import { Policies } from './policies.ts'
import type { AccountRepos, OpenRepos, RepoStatus } from './repos.ts'
import type { AccountSettings, SwapConfig } from './settings.ts'
import type { SpendRules } from './spend-rules.ts'
import { WalletSplitter } from './split-wallet.ts'
import { TwoFactor } from './two-factor.ts'
import { WalletKeyViews } from './wallet-keys.ts'
import type { WalletList, WalletListing } from './wallet-list.ts'

/** What an account is made of; `openAccount` puts it together. */
export interface AccountOptions {
  readonly services: Services
  readonly login: Login
  /** Refreshes the login while the account is not paused. */
  readonly refresh: Poller
  readonly scheduler: Scheduler
  readonly events: EventQueue
  /** All repos that are open. */
  readonly repos: OpenRepos
  readonly accountRepos: AccountRepos
  readonly book: WalletList
  readonly settings: AccountSettings
  /** Settings of wallets whose creation was interrupted on this device. */
  readonly unfinished: UnfinishedWallets
  readonly opener: WalletOpener
  readonly pause: PauseSwitch
  /** Takes the rates that the wallets of the account need. */
  readonly rates: Pick<RateService, 'addHintSource' | 'findRoute' | 'refresh' | 'want'>
  /** The rules about its payments. */
  readonly rules: SpendRules
  /** Follows the orders of its swaps. */
  readonly orders: SwapOrders
  /** Called when everything is closed. */
  onClosed(): void
}

/**
 * An open account: its keys, files and wallets. All logins of this device to the account share it, as two copies
 * would overwrite each other. It closes with the last login.
 */
export class SharedAccount {
  readonly options: AccountOptions
  /** Identifies an account: the id of the root login, or a hash of it where that is hidden. */
  readonly id: string
  readonly wallets: OpenWallets
  readonly creator: WalletCreator
  readonly splitter: WalletSplitter
  /** Of the swaps of every login. */
  readonly orderIds: OrderIds
  readonly state: Observable<AccountSnapshot>
  readonly #accounts = new Set<Account>()
  readonly #credentials: Credentials
  readonly #unsubscribes: readonly (() => void)[]
  #closing: Promise<void> | undefined

  constructor(options: AccountOptions) {
    const { services, login, book, opener, unfinished, pause } = options
    const { local } = options.accountRepos.own.repo
    this.options = options
    this.id = accountIdOf(services, login)
    this.wallets = new OpenWallets({ services, book, opener, quiet: options.rules.quiet })
    options.rules.payments.countWith(walletId => this.wallets.getToCount(walletId))
    const account = { services, login, book, wallets: this.wallets }
    this.creator = new WalletCreator({ ...account, unfinished })
    const { creator } = this
    this.splitter = new WalletSplitter({ ...account, creator, unfinished: storeBelow(local, 'split/') })
    this.orderIds = new OrderIds(storeBelow(local, 'order/'), services.io.clock)
    this.#credentials = new Credentials({ services, login, check: () => {}, logout: () => this.close() })
    this.state = new Observable<AccountSnapshot>(
      {
        accountId: this.id,
        ...compact({ username: login.username, isDeviceOnly: login.isDeviceOnly || undefined }),
        appId: login.appId,
        isLoggedIn: true,
        loginMethods: loginMethodsOf(this.#credentials, login),
        ...book.getSnapshot(),
        isPaused: pause.getSnapshot().isSet
      },
      snapshot => services.hooks.accountChanged.call(snapshot),
      error => services.report('account', error)
    )
    this.#unsubscribes = [
      options.rates.addHintSource(() => this.wallets.ratePairs()),
      login.subscribe(() => this.#onLogin()),
      // Another device may add a repo while this one is logged in.
      login.subscribe(() => services.inBackground('account', this.#openNewRepos())),
      book.subscribe(() => this.state.update(book.getSnapshot())),
      pause.subscribe(() => {
        this.state.update({ isPaused: pause.getSnapshot().isSet })
        this.#refreshUnlessPaused()
      })
    ]
    services.hooks.accountChanged.call(this.state.getSnapshot())
    this.#refreshUnlessPaused()
  }

  /** Those that are logged in. */
  get accounts(): readonly Account[] {
    return [...this.#accounts]
  }

  get isOpen(): boolean {
    return this.#closing === undefined
  }

  /** Makes the account of one login. @throws LOGGED_OUT once it closes */
  join(loginMethod: LoginSnapshot['method']): Account {
    if (!this.isOpen) throw new WalletError('LOGGED_OUT', {})
    const account = new Account(this, loginMethod)
    this.#accounts.add(account)
    return account
  }

  /** Ends one login; the last one closes the account. */
  async leave(account: Account): Promise<void> {
    this.#accounts.delete(account)
    if (this.#accounts.size === 0) await this.close()
  }

  /** Logs everyone out. */
  async logOutAll(): Promise<void> {
    await Promise.all(this.accounts.map(account => account.logout()))
  }

  /** Closes every wallet and forgets the keys. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes) unsubscribe()
    this.state.update({ isLoggedIn: false })
    const { scheduler, events, login, book, settings, orders, pause, refresh, repos } = this.options
    pause.close()
    const ending = Promise.all([settings.close(), orders.close()])
    await this.wallets.close()
    await ending
    events.close()
    scheduler.close()
    await book.close()
    login.close()
    await refresh.stop()
    await repos.close()
    this.options.onClosed()
  }

  async #openNewRepos(): Promise<void> {
    const { accountRepos, book } = this.options
    await book.addRepos(await accountRepos.openNew())
  }

  #refreshUnlessPaused(): void {
    const { pause, refresh, services } = this.options
    if (pause.getSnapshot().isPaused) services.inBackground('login', refresh.stop())
    else if (this.isOpen) refresh.start()
  }

  #onLogin(): void {
    const { login, repos } = this.options
    const { username, loginMethods, isDeviceOnly, ...rest } = this.state.getSnapshot()
    repos.changeDeviceOnly(login.isDeviceOnly)
    if (isDeviceOnly === true && !login.isDeviceOnly)
      this.state.set({ ...rest, ...compact({ username, loginMethods }) })
    if (login.username !== undefined && login.username !== username)
      this.state.update({ username: login.username })
    const present = loginMethodsOf(this.#credentials, login)
    if (present.join() !== loginMethods?.join()) this.state.update({ loginMethods: present })
  }
}

/**
 * A logged-in account: its wallets, settings and credentials (specification §6).
 *
 * Wallets open when they are first requested, and stay open until the account closes.
 *
 * @example
 * ```ts
 * for (const { walletId, type, isWallet } of account.listWallets()) console.log(walletId, type, isWallet)
 * const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
 * await account.logout()
 * ```
 */
export class Account implements Readable<AccountSnapshot> {
  /** Identifies the account: the id of the root login, or a hash of it where that is hidden. */
  readonly id: string
  /** The credentials: password, PIN, recovery and username. */
  readonly credentials: Credentials
  /** One-time codes, and devices that wait for approval. */
  readonly twoFactor: TwoFactor
  /** The rules about payments and other uses of keys. */
  readonly policies: Policies
  /** The keys of wallets, to be shown or exported. */
  readonly walletKeys: WalletKeyViews
  /**
   * The application's own synced texts.
   *
   * @example
   * ```ts
   * await account.dataStore.setItem('notes', '2026-11-25', 'Paid the rent')
   * for (const id of await account.dataStore.listItemIds('notes')) {
   *   console.log(id, await account.dataStore.getItem('notes', id))
   * }
   * ```
   */
  readonly dataStore: DataStore
  /** The orders of the account's swaps, and how far each one is. */
  readonly swapOrders: Pick<SwapOrders, 'find' | 'follow' | 'getSnapshot' | 'refresh' | 'subscribe'>
  /** The files that were deleted, replaced or damaged in the last 30 days; they can be restored. */
  readonly keptFiles: KeptFiles
  /** Where the account is kept: on this device only, or on a server; backups of it. */
  readonly location: AccountLocation
  /** The method by which this login was made. */
  readonly loginMethod: LoginSnapshot['method']
  readonly #shared: SharedAccount
  readonly #options: AccountOptions
  readonly #state: Observable<AccountSnapshot>
  readonly #wallets: OpenWallets
  readonly #swaps: SwapService
  readonly #unfollow: () => void
  #loggingOut: Promise<void> | undefined

  constructor(shared: SharedAccount, loginMethod: LoginSnapshot['method']) {
    const { options, wallets } = shared
    const { services, login, book, accountRepos } = options
    const { repo, hashOf } = accountRepos.own
    const check = (): void => this.#check()
    this.id = shared.id
    this.loginMethod = loginMethod
    this.#shared = shared
    this.#options = options
    this.#wallets = wallets
    this.credentials = new Credentials({
      ...{ services, login, loginMethod, rules: options.rules, check },
      logout: () => shared.logOutAll()
    })
    this.twoFactor = new TwoFactor({ services, login, check })
    const { repos, rules } = options
    this.location = new AccountLocation({ services, login, repos, rules, check })
    this.dataStore = new DataStore({ services, repo, hashOf })
    this.keptFiles = new KeptFiles({ services, repos, rules, check })
    this.policies = new Policies({ services, rules, credentials: this.credentials, check })
    this.walletKeys = new WalletKeyViews({ services, book, rules, check })
    this.swapOrders = options.orders
    this.#swaps = new SwapService({
      services,
      settings: options.settings,
      orderIds: shared.orderIds,
      orders: options.orders,
      findOwn: (pluginId, addresses) =>
        ownAddressesIn(
          services,
          { pluginId, addresses },
          {
            open: wallets.openOf(pluginId),
            all: book
              .list()
              .filter(({ isWallet, currencyInfo }) => isWallet && currencyInfo?.pluginId === pluginId)
              .map(({ walletId }) => walletId),
            publicKeysOf: walletId => this.walletKeys.getRawPublicKey(walletId)
          }
        )
    })
    const { state } = shared
    this.#state = new Observable<AccountSnapshot>(state.getSnapshot(), undefined, error =>
      services.report('account', error)
    )
    this.#unfollow = state.subscribe(() => this.#state.set(state.getSnapshot()))
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): AccountSnapshot => this.#state.getSnapshot()

  get username(): string | undefined {
    return this.getSnapshot().username
  }

  get isLoggedIn(): boolean {
    return this.getSnapshot().isLoggedIn
  }

  /** True if this device holds only the login of its app, and not the root's key (specification §6). */
  get isEdgeLogin(): boolean {
    return this.#options.login.isEdgeLogin
  }

  /** True if the account has no username yet. */
  get isLight(): boolean {
    return this.#options.login.username === undefined
  }

  /** Base58. @throws HIDDEN_KEYS (specification §6) */
  get rootLoginId(): LocalLoginId {
    this.#check()
    if (this.#options.services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    return this.#options.login.rootLoginId
  }

  /**
   * Lists every key of the account, in order: wallets, also deleted ones and those of unknown currencies, and keys that
   * are not wallets, such as account repos; `isWallet` is false for these.
   *
   * @example
   * ```ts
   * const shown = account.listWallets().filter(({ isWallet, deleted }) => isWallet && !deleted)
   * ```
   */
  listWallets(): readonly WalletListing[] {
    return this.#options.book.list()
  }

  /**
   * Changes whether wallets are archived, deleted or hidden, their order, and their origin; all changes or none are made.
   *
   * @param changes - by wallet id
   * @throws WALLET_ID_UNKNOWN, OPTION_INVALID, STORAGE_FULL, STORAGE_FAILED
   *
   * @example
   * ```ts
   * await account.changeWalletStates({ [wallet.id]: { archived: true } })
   * ```
   */
  async changeWalletStates(changes: Readonly<Record<string, WalletStatesChange>>): Promise<void> {
    this.#check()
    requireObject('changes', changes)
    await this.#options.book.changeStates(changes)
  }

  /**
   * Opens a wallet, or returns the one that is open, unchanged. With `isPaused` it begins paused: its files can be read,
   * and no request goes to its chain.
   *
   * @throws WALLET_ID_UNKNOWN, PLUGIN_FOR_TYPE, KEY_INTEGRITY, STORAGE_FAILED, SYNC_FAILED
   *
   * @example
   * ```ts
   * const [walletId] = account.getSnapshot().activeWalletIds
   * if (walletId !== undefined) console.log((await account.openWallet(walletId)).balanceOf(null))
   * ```
   */
  async openWallet(walletId: WalletId, options: { isPaused?: boolean } = {}): Promise<CurrencyWallet> {
    this.#check()
    requireTexts({ walletId })
    requireObject('options', options)
    const { isPaused = false } = options
    return this.#wallets.get(walletId, { isPaused })
  }

  /**
   * Returns a wallet that is open already, for screens that cannot wait. @throws WALLET_NOT_LOADED, WALLET_ID_UNKNOWN, LOGGED_OUT
   */
  wallet(walletId: WalletId): CurrencyWallet {
    this.#check()
    requireTexts({ walletId })
    return this.#wallets.loaded(walletId)
  }

  /**
   * Opens every active wallet in the background, a few at a time; one result each, in the account's order.
   *
   * @param isPaused - returns true for wallets that begin paused; one that is open already stays as it is
   *
   * @example
   * ```ts
   * for (const result of await account.openAllWallets()) {
   *   if (result.ok) console.log(result.wallet.name)
   *   else console.log(result.error)
   * }
   * ```
   */
  async openAllWallets(isPaused: (walletId: WalletId) => boolean = () => false): Promise<WalletResult[]> {
    this.#check()
    const { activeWalletIds } = this.getSnapshot()
    const items = activeWalletIds.map(walletId => ({ walletId, isPaused: isPaused(walletId) }))
    return this.#wallets.forEach(items, ({ walletId, ...begins }) => this.#wallets.get(walletId, begins))
  }

  /**
   * Creates a wallet and opens it; its keys are on the server before it opens.
   *
   * @throws PLUGIN_FOR_TYPE, FIAT_CODE, IMPORT_UNSUPPORTED, ENGINE_NO_KEY, KEY_INTEGRITY, NETWORK, …
   *
   * @example
   * ```ts
   * const options = { name: 'Savings', fiatCurrencyCode: 'iso:EUR' }
   * const wallet = await account.createCurrencyWallet('wallet:bitcoin', options)
   * ```
   */
  async createCurrencyWallet(type: string, options: NewWallet = {}): Promise<CurrencyWallet> {
    requireObject('options', options)
    const [result] = await this.createCurrencyWallets([{ ...options, type }])
    if (result?.ok === true) return result.wallet
    throw result?.error
  }

  /**
   * Adds keys of any type to the account, of a wallet or for use by an application, and returns their id.
   * Nothing is opened.
   *
   * @param keys - a missing data key or sync key is made; without any keys, the plugin of the type makes them
   * @throws OPTION_INVALID, PLUGIN_FOR_TYPE, ENGINE_NO_KEY, KEY_INTEGRITY, NETWORK, LOGGED_OUT, …
   *
   * @example
   * ```ts
   * const id = await account.createWallet('application:notes', { noteKey: io.crypto.toHex(io.random(32)) })
   * ```
   */
  async createWallet(type: string, keys?: WalletKeys): Promise<WalletId> {
    this.#check()
    return this.#shared.creator.addKeys({ type, ...compact({ keys }) })
  }

  /**
   * Creates many wallets with one request; one result each, in order. The failure of one does not affect the others.
   *
   * @example
   * ```ts
   * const results = await account.createCurrencyWallets([{ type: 'wallet:bitcoin' }, { type: 'wallet:litecoin' }])
   * ```
   */
  async createCurrencyWallets(wallets: readonly NewWalletOfType[]): Promise<WalletResult[]> {
    this.#check()
    requireObjects('wallets', wallets)
    return this.#shared.creator.createMany(wallets)
  }

  /**
   * Lists the types that a wallet can be split into and that are not in use. @throws WALLET_ID_INVALID, PLUGIN_FOR_TYPE
   */
  async listSplittableWalletTypes(walletId: WalletId): Promise<readonly string[]> {
    this.#check()
    requireTexts({ walletId })
    return this.#shared.splitter.listTypes(walletId)
  }

  /**
   * Uses the keys of a wallet on another chain, and returns the id of the wallet there; an archived or deleted one
   * comes back. A failed split can be repeated. Without a plugin for the type, the keys are there for other devices.
   *
   * @throws WALLET_ID_INVALID, WALLET_ALREADY_SPLIT, SPLIT_SEGWIT, WALLET_MISSING, NETWORK, …
   *
   * @example
   * ```ts
   * const [type] = await account.listSplittableWalletTypes(wallet.id)
   * if (type !== undefined) await account.splitWallet(wallet.id, type)
   * ```
   */
  async splitWallet(walletId: WalletId, type: string): Promise<WalletId> {
    this.#check()
    requireTexts({ walletId, type })
    return this.#shared.splitter.split(walletId, type)
  }

  /**
   * Returns the tokens and settings of a currency.
   *
   * @throws PLUGINS_MISSING without its plugin
   *
   * @example
   * ```ts
   * const { allTokens } = account.currencyConfig('bitcoin').getSnapshot()
   * ```
   */
  currencyConfig(pluginId: PluginId): CurrencyConfig {
    this.#check()
    requireTexts({ pluginId })
    return this.#options.settings.currencyConfig(pluginId)
  }

  /**
   * Returns the settings of a swap plugin.
   *
   * @throws PLUGINS_MISSING without it
   *
   * @example
   * ```ts
   * await account.swapConfig('changenow').changeEnabled(false)
   * ```
   */
  swapConfig(pluginId: PluginId): SwapConfig {
    this.#check()
    requireTexts({ pluginId })
    return this.#options.settings.swapConfig(pluginId)
  }

  /**
   * Returns the text that `loginWithKey` accepts on this device. A secret.
   *
   * @throws HIDDEN_KEYS, the objection of a policy
   */
  async getLoginKey(): Promise<string> {
    this.#check()
    if (this.#options.services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    await requestKeys(this.#options.services, this.#options.rules, { use: 'login key' })
    this.#check()
    return this.#options.login.rootLoginKeyBase58()
  }

  /**
   * Reads the request of another device, which can then be approved.
   *
   * @param lobbyId - base58, as the other device shows it
   * @throws LOBBY_NOT_FOUND, LOBBY_INTEGRITY, NETWORK
   *
   * @example
   * ```ts
   * const { loginRequest } = await account.fetchLobby('5JEbCbVkVWHbXUbCCbD4XfGqBGSRzj3Kb8m3Vn5qG4hY')
   * console.log(loginRequest?.displayName)
   * await loginRequest?.approve()
   * ```
   */
  async fetchLobby(lobbyId: string): Promise<Lobby> {
    this.#check()
    requireTexts({ lobbyId })
    this.#options.login.checkServer('login on another device')
    const { fetchLobby } = await import('../login/lobby.ts')
    this.#check()
    const { services, login, scheduler } = this.#options
    return fetchLobby(services, { login, scheduler, rules: this.#options.rules }, lobbyId)
  }

  /** Lists the sync state of the account and of each open wallet, and the traffic since they opened. */
  listRepos(): RepoStatus[] {
    this.#check()
    return this.#options.repos.list()
  }

  /**
   * Refreshes the login and syncs the account and every open wallet. @throws the first failure, after the others have ended
   */
  async sync(): Promise<void> {
    this.#check()
    const { login, accountRepos } = this.#options
    await allSettledOrThrow([
      login.refresh(),
      ...accountRepos.all.map(repo => repo.sync()),
      ...this.#wallets.open.map(wallet => wallet.sync())
    ])
    this.#check()
  }

  /**
   * Stops or starts every wallet and the refresh of the login, now or later; a wallet that was paused individually
   * stays paused.
   *
   * @throws ENGINE_FAILED after all were tried; OPTION_INVALID
   */
  async changePaused(isPaused: boolean, options: PauseOptions = {}): Promise<void> {
    this.#check()
    this.#options.pause.change(isPaused, options)
    await this.#wallets.pauseSettled()
  }

  /** Returns the assets that can pay to activate a wallet or its tokens. @throws WALLET_NOT_FOUND, NOT_SUPPORTED, … */
  async getActivationAssets(question: ActivationQuestion): Promise<readonly ActivationAsset[]> {
    this.#check()
    requireObject('question', question)
    return getActivationAssets({ book: this.#options.book, wallets: this.#wallets }, question)
  }

  /**
   * Returns the cost of activating a wallet or its tokens, to approve or to close.
   *
   * @throws WALLET_NOT_FOUND, NOT_SUPPORTED, …
   *
   * @example
   * ```ts
   * const quote = await account.activateWallet({ walletId: wallet.id })
   * console.log(quote.fromNativeAmount, quote.networkFee.nativeAmount)
   * await quote.approve()
   * ```
   */
  async activateWallet(request: ActivationRequest): Promise<ActivationQuote> {
    this.#check()
    requireObject('request', request)
    return activateWallet({ book: this.#options.book, wallets: this.#wallets }, request)
  }

  /**
   * Asks every enabled swap provider at once; each quote is shown when it comes. Close the round when it is no longer needed.
   *
   * @throws NO_SWAP_PROVIDERS, SAME_CURRENCY, NO_AMOUNT_SPECIFIED, AMOUNT_INVALID, OPTION_INVALID, TOKEN_NOT_FOUND
   *
   * @example
   * ```ts
   * import { type CurrencyWallet, nativeAmount } from 'holdfast'
   *
   * declare const litecoinWallet: CurrencyWallet
   * const from = { fromWallet: wallet, fromTokenId: null }
   * const to = { toWallet: litecoinWallet, toTokenId: null }
   * const round = account.openQuoteRound({ ...from, ...to, nativeAmount: nativeAmount('1000000'), quoteFor: 'from' })
   * for (const quote of await round.settled) console.log(quote.rank, quote.pluginId, quote.toNativeAmount)
   * round.close()
   * ```
   */
  openQuoteRound(request: SwapRequest, options: SwapOptions = {}): QuoteRound {
    this.#check()
    return this.#swaps.request(request, options)
  }

  /**
   * Fetches the quotes that come in time, best first; close each of them. @throws as {@link openQuoteRound}, or the best error
   */
  async fetchSwapQuotes(request: SwapRequest, options: SwapOptions = {}): Promise<readonly SwapQuote[]> {
    return this.openQuoteRound(request, options).settled
  }

  /** Fetches the best quote and closes the others. @throws as {@link fetchSwapQuotes} */
  async fetchSwapQuote(request: SwapRequest, options: SwapOptions = {}): Promise<SwapQuote> {
    this.#check()
    return this.#swaps.fetchBest(request, options)
  }

  /**
   * Ends this login. If it is the last one of the account on this device, every wallet closes and the keys are dropped;
   * wallets that another login has open stay open. A second call waits for the first.
   */
  logout(): Promise<void> {
    this.#loggingOut ??= this.#logout()
    return this.#loggingOut
  }

  async #logout(): Promise<void> {
    this.#unfollow()
    this.#state.update({ isLoggedIn: false })
    this.#swaps.close()
    await Promise.all([this.dataStore.close(), this.#shared.leave(this)])
  }

  #check(): void {
    if (!this.isLoggedIn) throw new WalletError('LOGGED_OUT', {})
  }
}

/** The id of a login's account; where keys are hidden, an id that does not reveal the login. */
export const accountIdOf = ({ config, io }: Services, { rootLoginId }: Pick<Login, 'rootLoginId'>): string =>
  config.hideKeys ? base58Of(io.crypto.sha256(utf8Of(rootLoginId)).subarray(0, 16)) : rootLoginId
