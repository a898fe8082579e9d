import { WalletError } from '../base/errors.ts'
import { Mutex } from '../base/mutex.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { Secret } from '../base/secret.ts'
import { secondsOf } from '../base/time.ts'
import { mergeWalletInfos } from '../keys/wallet-info.ts'
import type { Login } from '../login/login.ts'
import type { CurrencyFailure, PluginSet } from '../plugins/plugin-set.ts'
import type { Services } from '../plugins/services.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { SecretWalletInfo, WalletKeys, WalletStates, WalletStatesChange } from '../types/keys.ts'
import type { EngineSnapshot } from '../types/snapshots.ts'
import { LEGACY_FOLDER, type LegacyWallet, readLegacyWallets } from './legacy-wallets.ts'
import type { OpenRepo } from './open-repos.ts'
import {
  DEFAULT_STATES,
  readWalletStates,
  STATES_FOLDER,
  type StoredWalletStates,
  writeWalletStates
} from './wallet-states.ts'

/** A wallet, or another key of the account such as its repo, as the account lists it without opening it. */
export interface WalletListing extends WalletStates {
  readonly walletId: string
  /** Such as `wallet:bitcoin`, or `account-repo:co.airbitz.wallet`. */
  readonly type: string
  /** False for account repos and the keys that applications keep: only wallets open. */
  readonly isWallet: boolean
  /** Every app of the login tree that holds this wallet. */
  readonly appIds: readonly string[]
  /** The one that owns it. */
  readonly appId: string
  /** Undefined where no plugin knows the type. */
  readonly currencyInfo: CurrencyInfo | undefined
  /** Why not, where its plugin failed: the sentence that it threw. */
  readonly failure?: CurrencyFailure
}

/** The ids of the wallets that an application shows, each list in the account's order (protocol §4.9). */
export interface WalletLists {
  /** Of known currencies and not deleted. */
  readonly walletIds: readonly string[]
  /** Those that are not archived. */
  readonly activeWalletIds: readonly string[]
  readonly archivedWalletIds: readonly string[]
  readonly hiddenWalletIds: readonly string[]
}

/** What a book of wallets is read from. */
export interface WalletBookParts {
  readonly services: Services
  readonly login: Login
  /** The account's own repo first, then older ones; more may come, and are told by {@link WalletBook.addRepos}. */
  readonly accountRepos: readonly [OpenRepo, ...OpenRepo[]]
}

/**
 * Which wallets an account has, and what it remembers of them: from key boxes, from files of old clients, and from
 * the account's repo; read anew whenever a login or a sync changes them (protocol §3.4, §4.3).
 */
export class WalletBook implements Readable<WalletLists> {
  readonly #parts: WalletBookParts
  readonly #mutex = new Mutex()
  readonly #state: Observable<WalletLists>
  readonly #unsubscribes: (() => void)[]
  /** Of every list so far: an open wallet may still use those of an earlier one. */
  readonly #secrets = new Set<Secret<WalletKeys>>()
  #isClosed = false
  #legacy: readonly LegacyWallet[] = []
  #legacyStates: ReadonlyMap<string, StoredWalletStates> = new Map()
  #states = new Map<string, StoredWalletStates>()
  #infos: ReadonlyMap<string, SecretWalletInfo> = new Map()
  #listings: readonly WalletListing[] = []
  /** Wallets of which it was told that their plugin failed. */
  readonly #failed = new Map<string, EngineSnapshot>()

  private constructor(parts: WalletBookParts) {
    this.#parts = parts
    const { login, services, accountRepos } = parts
    this.#state = new Observable<WalletLists>(
      listsOf([]),
      () => {},
      error => services.report('account', error)
    )
    this.#unsubscribes = [login.subscribe(() => this.#onLogin())]
    this.#follow(accountRepos)
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): WalletLists => this.#state.getSnapshot()

  /** Reads the wallets of an account. */
  static async open(parts: WalletBookParts): Promise<WalletBook> {
    const book = new WalletBook(parts)
    await book.#read()
    return book
  }

  /** Reads the wallets in account repos that were opened since. */
  async addRepos(added: readonly OpenRepo[]): Promise<void> {
    if (added.length === 0 || this.#isClosed) return
    this.#follow(added)
    await this.#read()
  }

  /** Every key of the account, in order: wallets, deleted ones and those of unknown currencies too, and other keys. */
  list(): readonly WalletListing[] {
    return this.#listings
  }

  /** A wallet by its id. @throws WALLET_ID_UNKNOWN, LOGGED_OUT after `close` */
  get(walletId: string): SecretWalletInfo {
    const info = this.find(walletId)
    if (info === undefined) throw new WalletError('WALLET_ID_UNKNOWN', { walletId })
    return info
  }

  /** A wallet by its id, or undefined. @throws LOGGED_OUT after `close` */
  find(walletId: string): SecretWalletInfo | undefined {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
    return this.#infos.get(walletId)
  }

  /** Whether a wallet is there and neither archived nor deleted. */
  isActive(walletId: string): boolean {
    const { archived, deleted } = { ...DEFAULT_STATES, ...this.#statesOf(walletId) }
    return this.#infos.has(walletId) && !archived && !deleted
  }

  /**
   * Changes what the account remembers of its wallets, for all or for none, durable when it resolves. What stays as it
   * was is not written.
   *
   * @param changes - by wallet id
   * @throws WALLET_ID_UNKNOWN, OPTION_INVALID, STORAGE_FULL, STORAGE_FAILED
   */
  changeStates(changes: Readonly<Record<string, WalletStatesChange>>): Promise<void> {
    const wanted = Object.entries(changes).map(([walletId, change]) => ({ walletId, change: { ...change } }))
    return this.#mutex.run(async () => {
      const all = wanted.map(({ walletId, change }) => {
        this.get(walletId)
        return { walletId, known: this.#statesOf(walletId), change }
      })
      const changed = await writeWalletStates(this.#parts.accountRepos[0], all)
      for (const [walletId, states] of changed) this.#states.set(walletId, states)
      if (changed.size > 0) this.#show()
    })
  }

  /** Forgets the keys, once what is being read or written is done. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const unsubscribe of this.#unsubscribes) unsubscribe()
    await this.#mutex.run(async () => {})
    const { hooks } = this.#parts.services
    for (const told of this.#failed.values())
      hooks.engineChanged.call(Object.freeze({ ...told, state: 'stopped' }))
    for (const secret of this.#secrets) secret.destroy()
  }

  #follow(repos: readonly OpenRepo[]): void {
    for (const { repo } of repos) this.#unsubscribes.push(repo.onServerChange(paths => this.#onFiles(paths)))
  }

  #onLogin(): void {
    this.#merge()
    this.#show()
  }

  #onFiles(paths: readonly string[]): void {
    const isOurs = paths.some(
      path => path.startsWith(`${STATES_FOLDER}/`) || path.startsWith(`${LEGACY_FOLDER}/`)
    )
    if (isOurs) this.#parts.services.inBackground('wallet states', this.#read())
  }

  #read(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#isClosed) return
      const { services, accountRepos } = this.#parts
      const [states, ...legacy] = await Promise.all([
        readWalletStates(services, accountRepos[0]),
        ...accountRepos.map(({ repo }) => readLegacyWallets(services, repo))
      ])
      this.#states = states
      this.#legacy = legacy.flat()
      this.#legacyStates = new Map(this.#legacy.map(({ info, states }) => [info.id, states]))
      this.#merge()
      this.#show()
    })
  }

  #merge(): void {
    const { services, login } = this.#parts
    const { io, report } = services
    const all = [...this.#legacy.map(({ info }) => info), ...login.walletInfos]
    const merged = mergeWalletInfos(io, all, error => report('account', error))
    for (const { keys } of [...all, ...merged]) this.#secrets.add(keys)
    this.#infos = new Map(merged.map(info => [info.id, info]))
  }

  #show(): void {
    this.#listings = Object.freeze(this.#listingsNow())
    for (const listing of this.#listings) this.#tellFailure(listing)
    const lists = listsOf(this.#listings)
    if (!isSameLists(lists, this.getSnapshot())) this.#state.set(lists)
  }

  /** A wallet without its plugin has no engine that could say so: it is told once, as a failed one. */
  #tellFailure({ walletId, failure, archived, deleted }: WalletListing): void {
    if (failure === undefined || archived || deleted || this.#failed.has(walletId)) return
    const { hooks, io } = this.#parts.services
    const told: EngineSnapshot = Object.freeze({
      ...{ walletId, pluginId: failure.pluginId, state: 'failed', isPaused: false, syncRatio: 0 },
      ...{ blockHeight: 0, since: secondsOf(io.clock.now()) },
      ...{ failure: failure.reason, errorCode: 'PLUGIN_FOR_TYPE' }
    } satisfies EngineSnapshot)
    this.#failed.set(walletId, told)
    hooks.engineChanged.call(told)
  }

  #listingsNow(): WalletListing[] {
    const { plugins } = this.#parts.services
    return [...this.#infos.values()]
      .map(({ id, type, appIds }) => ({
        walletId: id,
        type,
        isWallet: type.startsWith('wallet:'),
        appIds,
        appId: appIds.at(-1) ?? '',
        currencyInfo: plugins.findByWalletType(type),
        ...failureOf(plugins, type),
        ...DEFAULT_STATES,
        sortIndex: this.#infos.size,
        ...this.#statesOf(id)
      }))
      .sort((left, right) => left.sortIndex - right.sortIndex)
  }

  #statesOf(walletId: string): StoredWalletStates {
    return { ...this.#legacyStates.get(walletId), ...this.#states.get(walletId) }
  }
}

const failureOf = (plugins: PluginSet, walletType: string): Pick<WalletListing, 'failure'> => {
  const failure = plugins.failureOf(walletType)
  return failure === undefined ? {} : { failure }
}

const listsOf = (listings: readonly WalletListing[]): WalletLists => {
  const known = listings.filter(
    ({ isWallet, deleted, currencyInfo }) => isWallet && !deleted && currencyInfo !== undefined
  )
  const idsOf = (test: (listing: WalletListing) => boolean): readonly string[] =>
    Object.freeze(known.filter(test).map(({ walletId }) => walletId))
  return {
    walletIds: idsOf(() => true),
    activeWalletIds: idsOf(({ archived }) => !archived),
    archivedWalletIds: idsOf(({ archived }) => archived),
    hiddenWalletIds: idsOf(({ hidden }) => hidden)
  }
}

const isSameLists = (left: WalletLists, right: WalletLists): boolean =>
  (Object.keys(left) as (keyof WalletLists)[]).every(
    name => left[name].length === right[name].length && left[name].every((id, at) => id === right[name][at])
  )
