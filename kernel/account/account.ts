import { base58Of, utf8Of } from '../crypto/encoding.ts'
import { WalletError } from '../errors/wallet-error.ts'
import type { AccountSnapshot, LoginSnapshot } from '../hooks/snapshots.ts'
import type { Scheduler } from '../io/scheduler.ts'
import { fetchLobby, type Lobby } from '../login/lobby/approve-login.ts'
import type { Login } from '../login/login.ts'
import type { Repo } from '../repo/repo.ts'
import type { Services } from '../services.ts'
import { Observable, type Readable } from '../state/observable.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { JsonObject } from '../types/json.ts'
import type { SecretWalletInfo, WalletStates } from '../types/keys.ts'
import type { CurrencyWallet } from '../wallet/currency-wallet.ts'
import type { EventQueue } from '../wallet/event-queue.ts'
import { checkFiatCode, DEFAULT_FIAT } from '../wallet/wallet-settings.ts'
import { createWalletInfo } from './create-wallet.ts'
import { Credentials } from './credentials.ts'
import { TwoFactor } from './two-factor.ts'
import type { StoredWalletStates } from './wallet-states.ts'

/** A wallet as the account lists it, without opening it. */
export interface WalletListing extends WalletStates {
  readonly walletId: string
  readonly type: string
  /** Undefined where no plugin knows the type. */
  readonly currencyInfo: CurrencyInfo | undefined
}

/** How a new wallet is to be. */
export interface NewWallet {
  readonly name?: string
  /** Such as `iso:USD`. */
  readonly fiatCurrencyCode?: string
  /** For the plugin, such as `{ format: 'bip86' }`. */
  readonly keyOptions?: JsonObject
}

/** What an account is made of; `openAccount` puts it together. */
export interface AccountParts {
  readonly services: Services
  readonly login: Login
  readonly loginMethod: LoginSnapshot['method']
  readonly repo: Repo
  readonly scheduler: Scheduler
  readonly events: EventQueue
  readonly states: ReadonlyMap<string, StoredWalletStates>
  /** `isNew`: made here and now, so that there is nothing to fetch first. */
  openWallet(
    info: SecretWalletInfo,
    isNew: boolean
  ): Promise<{ wallet: CurrencyWallet; close(): Promise<void> }>
  syncRepo(): Promise<void>
  /** Closes the repos and lets the context forget the account. */
  closed(): Promise<void>
}

interface OpenWallet {
  readonly wallet: CurrencyWallet
  close(): Promise<void>
}

/**
 * A logged-in account: its wallets and what it may do with its login (specification §6).
 *
 * Wallets open when they are first asked for, and stay open until the account closes.
 */
export class Account implements Readable<AccountSnapshot> {
  /** Tells accounts apart: the id of the root login, or a hash of it where that is hidden. */
  readonly id: string
  /** The ways in: password, PIN, recovery and username. */
  readonly credentials: Credentials
  /** One-time codes, and devices that wait to be let in. */
  readonly twoFactor: TwoFactor
  readonly subscribe: Readable<AccountSnapshot>['subscribe']
  readonly getSnapshot: Readable<AccountSnapshot>['getSnapshot']
  readonly #parts: AccountParts
  readonly #state: Observable<AccountSnapshot>
  readonly #wallets = new Map<string, Promise<OpenWallet>>()
  readonly #unsubscribe: () => void
  #loggingOut: Promise<void> | undefined

  constructor(parts: AccountParts) {
    const { services, login } = parts
    this.#parts = parts
    this.id = services.config.hideKeys ? hashedIdOf(services, login.rootLoginId) : login.rootLoginId
    this.credentials = new Credentials({ services, login, logout: () => this.logout() })
    this.twoFactor = new TwoFactor({ services, login })
    this.#state = new Observable<AccountSnapshot>(
      {
        accountId: this.id,
        ...(login.username === undefined ? {} : { username: login.username }),
        appId: login.appId,
        isLoggedIn: true,
        walletIds: this.#walletIds(),
        isPaused: false
      },
      snapshot => services.hooks.accountChanged.call(snapshot),
      error => services.report('account', error)
    )
    this.subscribe = this.#state.subscribe
    this.getSnapshot = this.#state.getSnapshot
    this.#unsubscribe = login.subscribe(() => this.#onLogin())
    services.hooks.accountChanged.call(this.getSnapshot())
  }

  get username(): string | undefined {
    return this.getSnapshot().username
  }

  get isLoggedIn(): boolean {
    return this.getSnapshot().isLoggedIn
  }

  /** Which way led in. */
  get loginMethod(): LoginSnapshot['method'] {
    return this.#parts.loginMethod
  }

  /** Whether this device holds the login of its app alone, and not the root's key (specification §6). */
  get isEdgeLogin(): boolean {
    return this.#parts.login.isEdgeLogin
  }

  /** Whether the account has no username yet. */
  get isLight(): boolean {
    return this.#parts.login.username === undefined
  }

  /** Base58. @throws HIDDEN_KEYS (specification §6) */
  get rootLoginId(): string {
    this.#check()
    if (this.#parts.services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    return this.#parts.login.rootLoginId
  }

  /** Every wallet of the account, in order; deleted ones and those of unknown currencies too. */
  listWallets(): WalletListing[] {
    const { services, states } = this.#parts
    const infos = this.#walletInfos()
    return infos
      .map(({ id, type }) => ({
        walletId: id,
        type,
        currencyInfo: services.plugins.findByWalletType(type),
        archived: false,
        deleted: false,
        hidden: false,
        sortIndex: infos.length,
        ...states.get(id)
      }))
      .sort((a, b) => a.sortIndex - b.sortIndex)
  }

  /**
   * Opens a wallet, or gives the one that is open.
   *
   * @throws WALLET_ID_UNKNOWN, PLUGIN_FOR_TYPE, STORAGE_FAILED, SYNC_FAILED
   */
  async openWallet(walletId: string): Promise<CurrencyWallet> {
    this.#check()
    const { wallet } = await (this.#wallets.get(walletId) ?? this.#open(walletId))
    this.#check()
    return wallet
  }

  /** Makes a wallet with new keys; its keys are safe on the server before it opens. @throws PLUGIN_FOR_TYPE, FIAT_CODE */
  async createCurrencyWallet(type: string, options: NewWallet = {}): Promise<CurrencyWallet> {
    this.#check()
    const { services, login } = this.#parts
    const { name, fiatCurrencyCode = DEFAULT_FIAT, keyOptions } = options
    checkFiatCode(fiatCurrencyCode)
    const info = await createWalletInfo(services, type, keyOptions)
    await login.addWalletInfos([info])
    const { wallet } = await (this.#wallets.get(info.id) ?? this.#open(info.id, true))
    if (name !== undefined) await wallet.rename(name)
    await wallet.setFiatCurrencyCode(fiatCurrencyCode)
    return wallet
  }

  /** The text that `loginWithKey` takes on this device. A secret. @throws HIDDEN_KEYS */
  getLoginKey(): string {
    this.#check()
    if (this.#parts.services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    return this.#parts.login.rootLoginKeyBase58()
  }

  /** All keys of a wallet. Secrets. @throws HIDDEN_KEYS, WALLET_ID_UNKNOWN */
  getRawPrivateKey(walletId: string): JsonObject {
    this.#check()
    if (this.#parts.services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    const info = this.#walletInfos().find(({ id }) => id === walletId)
    if (info === undefined) throw new WalletError('WALLET_ID_UNKNOWN', { walletId })
    return info.keys.use(keys => ({ ...keys }))
  }

  /**
   * Reads what another device asks for; its login request can then be approved.
   *
   * @param lobbyId - base58, as the other device shows it
   * @throws LOBBY_NOT_FOUND, LOBBY_INTEGRITY, NETWORK
   */
  async fetchLobby(lobbyId: string): Promise<Lobby> {
    this.#check()
    const { services, login, scheduler } = this.#parts
    return fetchLobby(services, { login, scheduler }, lobbyId)
  }

  /** Fetches the login anew and exchanges the files of the account and of every open wallet. */
  async sync(): Promise<void> {
    this.#check()
    const open = await Promise.all([...this.#wallets.values()].map(async opening => (await opening).wallet))
    await Promise.all([
      this.#parts.login.refresh(),
      this.#parts.syncRepo(),
      ...open.map(wallet => wallet.sync())
    ])
    this.#check()
    this.#state.update({ walletIds: this.#walletIds() })
  }

  /** Stops or starts every open wallet, and those that open later. @throws ENGINE_FAILED after all were tried */
  async changePaused(isPaused: boolean): Promise<void> {
    this.#check()
    this.#state.update({ isPaused })
    const changing = [...this.#wallets.values()].map(async opening =>
      (await opening).wallet.changePaused(isPaused)
    )
    for (const result of await Promise.allSettled(changing)) {
      if (result.status === 'rejected') throw result.reason
    }
  }

  /** Closes every wallet and forgets the keys. A second call waits for the first. */
  logout(): Promise<void> {
    this.#loggingOut ??= this.#logout()
    return this.#loggingOut
  }

  async #logout(): Promise<void> {
    this.#unsubscribe()
    this.#state.update({ isLoggedIn: false })
    const { services, scheduler, events, login } = this.#parts
    const closing = [...this.#wallets.values()].map(async opening => (await opening).close())
    for (const result of await Promise.allSettled(closing)) {
      if (result.status === 'rejected') services.report('closing a wallet', result.reason)
    }
    events.close()
    scheduler.close()
    login.close()
    await this.#parts.closed()
  }

  async #open(walletId: string, isNew = false): Promise<OpenWallet> {
    const info = this.#walletInfos().find(({ id }) => id === walletId)
    if (info === undefined) throw new WalletError('WALLET_ID_UNKNOWN', { walletId })
    const opening = this.#parts.openWallet(info, isNew)
    this.#wallets.set(walletId, opening)
    opening.catch(() => this.#wallets.delete(walletId))
    return opening
  }

  #walletInfos(): readonly SecretWalletInfo[] {
    return this.#parts.login.walletInfos.filter(({ type }) => type.startsWith('wallet:'))
  }

  #walletIds(): readonly string[] {
    return Object.freeze(this.#walletInfos().map(({ id }) => id))
  }

  #onLogin(): void {
    const walletIds = this.#walletIds()
    const { username } = this.#parts.login
    const known = this.getSnapshot()
    if (username !== undefined && username !== known.username) this.#state.update({ username })
    if (walletIds.join() !== known.walletIds.join()) this.#state.update({ walletIds })
  }

  #check(): void {
    if (!this.isLoggedIn) throw new WalletError('LOGGED_OUT', {})
  }
}

const hashedIdOf = ({ io }: Services, loginId: string): string =>
  base58Of(io.crypto.sha256(utf8Of(loginId)).subarray(0, 16))
