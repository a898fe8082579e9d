import { compact } from '../base/compact.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, parseJson } from '../base/json.ts'
import { Mutex } from '../base/mutex.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { Secret } from '../base/secret.ts'
import { secondsOf } from '../base/time.ts'
import { makeYielder } from '../base/yielder.ts'
import { legacyWalletInfo } from '../keys/quirks.ts'
import { hideWalletInfo, isWatchOnly, mergeWalletInfos } from '../keys/wallet-info.ts'
import type { Login } from '../login/login.ts'
import type { CurrencyFailure, PluginSet } from '../plugins/plugin-set.ts'
import type { Services } from '../plugins/services.ts'
import { parseLegacyWalletFile } from '../schema/account-files.ts'
import type { Repo } from '../sync/repo.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { WalletId } from '../types/ids.ts'
import type { SecretWalletInfo, WalletKeys, WalletStates, WalletStatesChange } from '../types/keys.ts'
import type { EngineSnapshot } from '../types/snapshots.ts'
import type { AccountRepos, OpenRepo } from './repos.ts'

/** A wallet, or another key of the account such as its repo, as the account lists it without opening it. */
export interface WalletListing extends WalletStates {
  readonly walletId: WalletId
  /** Such as `wallet:bitcoin`, or `account-repo:co.airbitz.wallet`. */
  readonly type: string
  /** False for account repos and the keys that applications keep: only wallets open. */
  readonly isWallet: boolean
  /** Present for a wallet that holds public keys alone: it shows and receives, and cannot pay. */
  readonly isWatchOnly?: true
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
  readonly walletIds: readonly WalletId[]
  /** Those that are not archived. */
  readonly activeWalletIds: readonly WalletId[]
  readonly archivedWalletIds: readonly WalletId[]
  readonly hiddenWalletIds: readonly WalletId[]
}

/** The places from which the wallets of an account are read. */
export interface WalletBookOptions {
  readonly services: Services
  readonly login: Login
  /** More of them may come, see {@link WalletList.addRepos}. */
  readonly accountRepos: Pick<AccountRepos, 'own' | 'all'>
}

/**
 * The wallets of an account with their states: from key boxes, from files of old clients, and from the account's
 * repo; read again whenever a login or a sync changes them (protocol §3.4, §4.3).
 */
export class WalletList implements Readable<WalletLists> {
  readonly #options: WalletBookOptions
  readonly #mutex = new Mutex()
  readonly #state: Observable<WalletLists>
  readonly #unsubscribes: (() => void)[]
  /** Of every list so far: an open wallet may still use those of an earlier one. */
  readonly #secrets = new Set<Secret<WalletKeys>>()
  #isClosed = false
  #legacy: readonly LegacyWallet[] = []
  #legacyStates: ReadonlyMap<WalletId, StoredWalletStates> = new Map()
  #states = new Map<WalletId, StoredWalletStates>()
  #infos: ReadonlyMap<WalletId, SecretWalletInfo> = new Map()
  #listings: readonly WalletListing[] = []
  /** The failed engine that was reported for each wallet without a plugin. */
  readonly #failed = new Map<WalletId, EngineSnapshot>()

  private constructor(options: WalletBookOptions) {
    this.#options = options
    const { login, services, accountRepos } = options
    this.#state = new Observable<WalletLists>(
      listsOf([]),
      () => {},
      error => services.report('account', error)
    )
    this.#unsubscribes = [login.subscribe(() => this.#onLogin())]
    this.#follow(accountRepos.all)
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): WalletLists => this.#state.getSnapshot()

  /** Reads the wallets of an account. */
  static async open(options: WalletBookOptions): Promise<WalletList> {
    const book = new WalletList(options)
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
  get(walletId: WalletId): SecretWalletInfo {
    const info = this.find(walletId)
    if (info === undefined) throw new WalletError('WALLET_ID_UNKNOWN', { walletId })
    return info
  }

  /** A wallet by its id, or undefined. @throws LOGGED_OUT after `close` */
  find(walletId: WalletId): SecretWalletInfo | undefined {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
    return this.#infos.get(walletId)
  }

  /** Returns true if a wallet exists and is neither archived nor deleted. */
  isActive(walletId: WalletId): boolean {
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
      const changed = await writeWalletStates(this.#options.accountRepos.own, all)
      for (const [walletId, states] of changed) this.#states.set(walletId, states)
      if (changed.size > 0) this.#show()
    })
  }

  /** Forgets the keys, once what is being read or written is done. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const unsubscribe of this.#unsubscribes) unsubscribe()
    await this.#mutex.run(async () => {})
    const { hooks } = this.#options.services
    for (const snapshot of this.#failed.values())
      hooks.engineChanged.call(Object.freeze({ ...snapshot, state: 'stopped' }))
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
    if (isOurs) this.#options.services.inBackground('wallet states', this.#read())
  }

  #read(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#isClosed) return
      const { services, accountRepos } = this.#options
      const [states, ...legacy] = await Promise.all([
        readWalletStates(services, accountRepos.own),
        ...accountRepos.all.map(({ repo }) => readLegacyWallets(services, repo))
      ])
      this.#states = states
      this.#legacy = legacy.flat()
      this.#legacyStates = new Map(this.#legacy.map(({ info, states }) => [info.id, states]))
      this.#merge()
      this.#show()
    })
  }

  #merge(): void {
    const { services, login } = this.#options
    const { io, report } = services
    const all = [...this.#legacy.map(({ info }) => info), ...login.walletInfos]
    const merged = mergeWalletInfos(io, all, error => report('account', error))
    for (const { keys } of [...all, ...merged]) this.#secrets.add(keys)
    this.#infos = new Map(merged.map(info => [info.id, info]))
  }

  #show(): void {
    this.#listings = Object.freeze(this.#listingsNow())
    for (const listing of this.#listings) this.#notifyFailure(listing)
    const lists = listsOf(this.#listings)
    if (!isSameLists(lists, this.getSnapshot())) this.#state.set(lists)
  }

  /** Reports a wallet without its plugin once, as a failed engine. */
  #notifyFailure({ walletId, failure, archived, deleted }: WalletListing): void {
    if (failure === undefined || archived || deleted || this.#failed.has(walletId)) return
    const { hooks, io } = this.#options.services
    const snapshot: EngineSnapshot = Object.freeze({
      ...{ walletId, pluginId: failure.pluginId, state: 'failed', isPaused: false, syncRatio: 0 },
      ...{ blockHeight: 0, since: secondsOf(io.clock.now()) },
      ...{ failure: failure.reason, errorCode: 'PLUGIN_FOR_TYPE' }
    } satisfies EngineSnapshot)
    this.#failed.set(walletId, snapshot)
    hooks.engineChanged.call(snapshot)
  }

  #listingsNow(): WalletListing[] {
    const { plugins } = this.#options.services
    return [...this.#infos.values()]
      .map(({ id, type, appIds, keys }) => ({
        walletId: id,
        type,
        isWallet: type.startsWith('wallet:'),
        ...compact({ isWatchOnly: isWatchOnly({ keys }) || undefined }),
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

  #statesOf(walletId: WalletId): StoredWalletStates {
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

/** The states of one wallet in an account's repo; absent fields have their defaults elsewhere. */
type StoredWalletStates = Partial<WalletStates>

/** The default states of a wallet. */
const DEFAULT_STATES: Pick<WalletStates, 'archived' | 'deleted' | 'hidden'> = {
  archived: false,
  deleted: false,
  hidden: false
}

/** The folder of the account's repo that holds a file for each wallet. */
const STATES_FOLDER = 'Keys'

/**
 * Reads what the account remembers of its wallets, by wallet id (protocol §3.4 `Keys/`).
 *
 * A file that cannot be read is kept and handed to `report`. Where two files are about one wallet, the one that bears
 * its name counts.
 */
const readWalletStates = async (
  { io, report }: Pick<Services, 'io' | 'report'>,
  { repo, hashOf }: OpenRepo
): Promise<Map<WalletId, StoredWalletStates>> => {
  const states = new Map<WalletId, StoredWalletStates>()
  const pause = makeYielder(io.clock)
  for (const path of await repo.list(STATES_FOLDER)) {
    try {
      const file = await readFile(repo, path)
      if (file === undefined) continue
      // A hash for each of many files would take longer than reading them.
      const isFirst = !states.has(file.id)
      if (isFirst || path === pathOf(hashOf, file.id)) states.set(file.id, knownFieldsOf(file))
    } catch (error) {
      report('account', error)
    }
    await pause()
  }
  return states
}

/** A wallet, what the account knows of it, and what is to change. */
export interface WalletChange {
  readonly walletId: WalletId
  readonly known: StoredWalletStates
  readonly change: WalletStatesChange
}

/**
 * Writes the changes that change something, all or nothing; what other clients keep in the files stays.
 *
 * @returns what the account now knows of the wallets that changed
 * @throws OPTION_INVALID, STORAGE_FULL, STORAGE_FAILED
 */
const writeWalletStates = async (
  { repo, hashOf }: OpenRepo,
  changes: readonly WalletChange[]
): Promise<ReadonlyMap<WalletId, StoredWalletStates>> => {
  const wanted = changes
    .map(({ walletId, known, change }) => ({ walletId, known, news: newsOf(known, change) }))
    .filter(({ news }) => news.length > 0)
    .map(each => ({ ...each, path: pathOf(hashOf, each.walletId) }))
  if (wanted.length === 0) return new Map()
  for (;;) {
    const states = new Map<WalletId, StoredWalletStates>()
    const texts = new Map<string, string>()
    const present = await readableTexts(
      repo,
      wanted.map(({ path }) => path)
    )
    for (const { walletId, known, news, path } of wanted) {
      // The file may be newer than what is known: a sync has just brought it.
      const fields = { ...(fileIn(present.get(path)) ?? known), ...Object.fromEntries(news), id: walletId }
      const file = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
      states.set(walletId, knownFieldsOf(file))
      texts.set(path, JSON.stringify(file))
    }
    const { isStale } = await repo.write({ texts, expect: present })
    if (!isStale) return states
  }
}

/** The texts of files by path. Those whose boxes do not open, which was reported when the account opened, are left out. */
const readableTexts = async (
  repo: Repo,
  paths: readonly string[]
): Promise<ReadonlyMap<string, string | undefined>> => {
  const texts = new Map<string, string | undefined>()
  for (const path of paths) {
    try {
      texts.set(path, await repo.getText(path))
    } catch (error) {
      if (!isWalletError(error, 'CORRUPT_FILE')) throw error
    }
  }
  return texts
}

const pathOf = (hashOf: OpenRepo['hashOf'], walletId: WalletId): string =>
  `${STATES_FOLDER}/${hashOf(walletId)}.json`

type StatesFile = Record<string, unknown> & { readonly id: WalletId }

const readFile = async (repo: OpenRepo['repo'], path: string): Promise<StatesFile | undefined> => {
  const text = await repo.getText(path)
  return text === undefined ? undefined : parseFile(text)
}

const parseFile = (text: string): StatesFile => {
  const value = parseJson(text, 'wallet states')
  if (isRecord(value) && typeof value.id === 'string') return value as StatesFile
  throw new WalletError('BAD_REPLY', { source: 'wallet states', path: 'id', rule: 'is missing' })
}

const fileIn = (text: string | undefined): StatesFile | undefined => {
  try {
    return text === undefined ? undefined : parseFile(text)
  } catch {
    return undefined
  }
}

const isBoolean = (value: unknown): boolean => typeof value === 'boolean'

const FIELDS: readonly (readonly [keyof WalletStates, (value: unknown) => boolean, string])[] = [
  ['archived', isBoolean, 'must be true or false'],
  ['deleted', isBoolean, 'must be true or false'],
  ['hidden', isBoolean, 'must be true or false'],
  ['sortIndex', Number.isFinite, 'must be a number'],
  ['migratedFromWalletId', value => typeof value === 'string', 'must be a wallet id or null']
]

const knownFieldsOf = (file: Record<string, unknown>): StoredWalletStates =>
  Object.fromEntries(
    FIELDS.filter(([name, isValid]) => isValid(file[name])).map(([name]) => [name, file[name]])
  )

/** Checks a change of a wallet's states. @throws OPTION_INVALID */
export const checkStatesChange = (change: WalletStatesChange): void => {
  for (const [name, isValid, rule] of FIELDS) {
    const value = change[name]
    const isForgotten = name === 'migratedFromWalletId' && value === null
    if (value !== undefined && !isForgotten && !isValid(value))
      throw new WalletError('OPTION_INVALID', { option: name, rule })
  }
}

/** The fields that a change makes another. @throws OPTION_INVALID */
const newsOf = (known: StoredWalletStates, change: WalletStatesChange): [string, unknown][] => {
  checkStatesChange(change)
  const present = { ...DEFAULT_STATES, ...known }
  return FIELDS.map(([name]): [keyof WalletStates, unknown] => [name, change[name]]).filter(
    ([name, value]) => value !== undefined && (present[name] ?? null) !== value
  )
}

/** A wallet that only a file of an old account repo names, and what the file says of its place. */
interface LegacyWallet {
  readonly info: SecretWalletInfo
  readonly states: StoredWalletStates
}

/** The folder of the account's repo that the first clients kept their wallets in. */
const LEGACY_FOLDER = 'Wallets'

/**
 * Reads the wallets of the first clients, all of them Bitcoin (protocol §3.4). The files are only ever read.
 *
 * A file that cannot be read is left as it is and handed to `report`.
 */
const readLegacyWallets = async (
  { io, config, report }: Pick<Services, 'io' | 'config' | 'report'>,
  repo: Repo
): Promise<LegacyWallet[]> => {
  const wallets: LegacyWallet[] = []
  const pause = makeYielder(io.clock)
  for (const path of await repo.list(LEGACY_FOLDER)) {
    try {
      const text = await repo.getText(path)
      if (text === undefined) continue
      const file = parseLegacyWalletFile(parseJson(text, 'legacy wallet file'))
      wallets.push({
        info: hideWalletInfo(legacyWalletInfo(io, file), config.appId),
        states: { archived: file.Archived ?? false, sortIndex: file.SortIndex ?? 0 }
      })
    } catch (error) {
      report('account', error)
    }
    await pause()
  }
  return wallets
}
