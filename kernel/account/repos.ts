import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, tryJsonText } from '../base/json.ts'
import { fileHashOf, repoIdOf } from '../keys/ids.ts'
import { OLD_ACCOUNT_REPO_TYPES } from '../keys/quirks.ts'
import { destroyRepoKeys, type RepoKeys, repoKeysOf } from '../keys/wallet-info.ts'
import type { Login } from '../login/login.ts'
import type { Services } from '../plugins/services.ts'
import { openRepo } from '../sync/open-repo.ts'
import type { Repo } from '../sync/repo.ts'
import type { RepoState } from '../sync/repo-state.ts'
import type { RepoTraffic, SyncLoop } from '../sync/sync-loop.ts'
import type { FileHash, WalletId } from '../types/ids.ts'
import type { SecretWalletInfo, WalletKeys } from '../types/keys.ts'
import type { RepoSnapshot } from '../types/snapshots.ts'

/** The first sync of a repo that this device has never synced. */
export type FirstSync =
  /** It is fetched, and cannot be opened if that fails. */
  | 'needed'
  /** It is fetched; if that fails, it is reported, and the sync loop tries again. */
  | 'tried'
  /** Its keys were made here and now, so that there is nothing to fetch. */
  | 'empty'
  /** It is not synced, not even later: for a short look at what is here. */
  | 'none'

/** A repo in the sync loop, and the way to end both and forget its keys. */
export interface OpenRepo {
  readonly repo: Repo
  /** The base58 name that hides a text from the server (protocol §1.7). @throws LOGGED_OUT after `close` */
  hashOf(text: string): FileHash
  /** Exchanges its files now. @throws SYNC_FAILED, … */
  sync(): Promise<void>
  close(): Promise<void>
}

/** The sync state and the traffic of a repo of an account. */
export interface RepoStatus extends RepoSnapshot, RepoTraffic {
  /** The wallet that it belongs to; or the account, under its own wallet info's id. */
  readonly ownerId: WalletId
  /** Such as `wallet:bitcoin`; anything else is an account. */
  readonly type: string
}

/** The repos that one account has open. */
export class OpenRepos {
  readonly syncLoop: SyncLoop
  readonly #services: Services
  /** By repo id, from the moment a repo begins to open until it has let go of its files. */
  readonly #open = new Map<string, Promise<OpenRepo>>()
  readonly #owners = new Map<Repo, Owner>()
  readonly #accountId: string
  /** By repo id, while {@link forEach} visits them: resolved when a visit is over. */
  readonly #visits = new Map<string, Promise<void>>()
  /** Those of them that are visits to a repo of another owner, which closes after them. */
  readonly #guests = new Map<string, Promise<void>>()
  /** By repo id, from the moment a repo begins to close until it has. */
  readonly #endings = new Map<string, Promise<void>>()
  #isDeviceOnly = false
  #isClosed = false

  constructor(
    services: Services,
    { syncLoop, accountId }: { readonly syncLoop: SyncLoop; readonly accountId: string }
  ) {
    this.#services = services
    this.syncLoop = syncLoop
    this.#accountId = accountId
  }

  /**
   * Opens the repo of a wallet or of an account.
   *
   * @throws KEY_INTEGRITY if its keys are damaged, or are those of a repo that is open: two would overwrite each other
   * @throws SYNC_FAILED if it was never synced here and no server answers; STORAGE_FAILED, LOGGED_OUT
   */
  async open(info: SecretWalletInfo, firstSync: FirstSync): Promise<OpenRepo> {
    this.#check()
    const keys = repoKeysOf(this.#services.io, info)
    const repoId = keys.syncKey.use(key => repoIdOf(this.#services.io, key))
    if (firstSync !== 'none') {
      for (let visit = this.#visits.get(repoId); visit !== undefined; visit = this.#visits.get(repoId))
        await visit
    }
    if (this.#open.has(repoId)) {
      destroyRepoKeys(keys)
      throw new WalletError('KEY_INTEGRITY', { rule: 'two wallets have one sync key' })
    }
    const opening = this.#openSynced({ io: this.#services.io, repoId, owner: info, keys }, firstSync)
    this.#open.set(repoId, opening)
    const opened = await opening
    if (!this.#isClosed) {
      const { repo } = opened
      this.#owners.set(repo, info)
      const hasMoved = repo.state.getSnapshot().isDeviceOnly === true && !this.#isDeviceOnly
      if (hasMoved && firstSync !== 'none') {
        repo.keepHere(false)
        this.syncLoop.add(repo)
      }
      return opened
    }
    await opened.close()
    throw new WalletError('LOGGED_OUT', {})
  }

  /** Syncs no repo while the account is on this device only, and all of them from when it is not. */
  changeDeviceOnly(isDeviceOnly: boolean): void {
    if (this.#isDeviceOnly === isDeviceOnly) return
    this.#isDeviceOnly = isDeviceOnly
    for (const repo of this.#owners.keys()) {
      repo.keepHere(isDeviceOnly)
      if (isDeviceOnly) this.syncLoop.remove(repo)
      else this.syncLoop.add(repo)
    }
  }

  /**
   * Visits the repo of each wallet info, one after another. One that is not open is opened for it, without a sync; who wants to open
   * it meanwhile, or to visit it, waits; who wants to close one that is visited waits, too. Keys without a repo are left out.
   */
  async forEach(infos: readonly SecretWalletInfo[], visit: (repo: Repo) => Promise<void>): Promise<void> {
    for (const info of infos) {
      if (!info.keys.use(hasRepo)) continue
      const keys = repoKeysOf(this.#services.io, info)
      const repoId = keys.syncKey.use(key => repoIdOf(this.#services.io, key))
      destroyRepoKeys(keys)
      await this.#visitAlone(info, repoId, visit)
    }
  }

  async #visitAlone(
    info: SecretWalletInfo,
    repoId: string,
    visit: (repo: Repo) => Promise<void>
  ): Promise<void> {
    const inTheWay = (): Promise<void> | undefined => this.#visits.get(repoId) ?? this.#endings.get(repoId)
    for (let other = inTheWay(); other !== undefined; other = inTheWay()) await other
    const known = this.#open.get(repoId)
    const visiting =
      known === undefined ? this.#openAndVisit(info, visit) : known.then(({ repo }) => visit(repo))
    const end = visiting.catch(() => {})
    this.#visits.set(repoId, end)
    if (known !== undefined) this.#guests.set(repoId, end)
    try {
      await visiting
    } finally {
      this.#visits.delete(repoId)
      this.#guests.delete(repoId)
    }
  }

  async #openAndVisit(info: SecretWalletInfo, visit: (repo: Repo) => Promise<void>): Promise<void> {
    const opened = await this.open(info, 'none')
    try {
      await visit(opened.repo)
    } finally {
      await opened.close()
    }
  }

  /** Each open repo with its owner. */
  entries(): IterableIterator<[Repo, Pick<SecretWalletInfo, 'id' | 'type'>]> {
    return this.#owners.entries()
  }

  /** Lists each open repo with its sync state and traffic. */
  list(): RepoStatus[] {
    return [...this.#owners].map(([repo, owner]) => ({
      ownerId: owner.id,
      type: owner.type,
      ...this.#snapshotOf(repo.state.getSnapshot(), owner, true),
      ...this.syncLoop.trafficOf(repo)
    }))
  }

  /** Closes the open repos; one that is still opening is closed as soon as it is open. */
  async close(): Promise<void> {
    this.#isClosed = true
    const closing = [...this.#open.values()].map(async opening => (await opening).close())
    for (const result of await Promise.allSettled(closing)) {
      if (result.status === 'rejected') this.#services.report('closing a repo', result.reason)
    }
  }

  async #openSynced(identity: RepoIdentity, firstSync: FirstSync): Promise<OpenRepo> {
    const { io, repoId, owner, keys } = identity
    const { disk, report } = this.#services
    let repo: Repo | undefined
    try {
      repo = await openRepo({
        ...{ io, disk, repoId, ...keys },
        belongsAt: (path, texts) =>
          belongsAt(text => keys.dataKey.use(key => fileHashOf(io, key, text)), path, texts),
        report: error => report(`repo ${repoId.slice(0, 8)}`, error),
        onState: state => this.#notify(state, owner, true)
      })
      if (this.#isDeviceOnly) repo.keepHere(true)
      this.#notify(repo.state.getSnapshot(), owner, true)
      if (!this.#isDeviceOnly && firstSync !== 'none') {
        if (repo.state.getSnapshot().lastSync === 0) await this.#syncFirst(repo, firstSync)
        this.syncLoop.add(repo)
      }
      return new SyncedRepo(this, repo, identity)
    } catch (error) {
      await runAll([() => repo?.close(), () => this.#forget(identity)]).catch(failure =>
        report('closing a repo', failure)
      )
      if (repo !== undefined) this.#notify(repo.state.getSnapshot(), owner, false)
      throw error
    }
  }

  /** Takes a repo out of the sync loop, closes it and forgets its keys; the repo itself calls it, once. */
  end(repo: Repo, identity: RepoIdentity): Promise<void> {
    const { repoId } = identity
    const ending = runAll([
      () => this.syncLoop.remove(repo),
      () => void this.#owners.delete(repo),
      () => this.#guests.get(repoId),
      () => repo.close(),
      () => this.#forget(identity),
      () => this.#notify(repo.state.getSnapshot(), identity.owner, false)
    ])
    const over = (): void => void this.#endings.delete(repoId)
    this.#endings.set(repoId, ending.then(over, over))
    return ending
  }

  #forget({ repoId, keys }: RepoIdentity): void {
    this.#open.delete(repoId)
    destroyRepoKeys(keys)
  }

  #notify(state: RepoState, owner: Owner, isOpen: boolean): void {
    this.#services.hooks.repoChanged.call(Object.freeze(this.#snapshotOf(state, owner, isOpen)))
  }

  #snapshotOf(state: RepoState, { id, type }: Owner, isOpen: boolean): RepoSnapshot {
    const walletId = type.startsWith('wallet:') ? { walletId: id } : {}
    return { ...state, accountId: this.#accountId, ...walletId, isOpen }
  }

  async #syncFirst(repo: Repo, firstSync: FirstSync): Promise<void> {
    if (firstSync === 'empty') return repo.beginEmpty()
    try {
      await this.syncLoop.syncNow(repo)
    } catch (error) {
      if (firstSync === 'needed') throw error
      this.#services.report('account', error)
    }
  }

  #check(): void {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
  }
}

const hasRepo = ({ dataKey, syncKey }: WalletKeys): boolean => dataKey !== undefined && syncKey !== undefined

/** Whose a repo is. */
type Owner = Pick<SecretWalletInfo, 'id' | 'type'>

interface RepoIdentity {
  readonly io: Services['io']
  readonly repoId: string
  readonly owner: Owner
  readonly keys: RepoKeys
}

/** A class and no object of functions: there are hundreds. */
class SyncedRepo implements OpenRepo {
  readonly repo: Repo
  readonly #repos: OpenRepos
  readonly #identity: RepoIdentity
  #ending: Promise<void> | undefined

  constructor(repos: OpenRepos, repo: Repo, identity: RepoIdentity) {
    this.#repos = repos
    this.repo = repo
    this.#identity = identity
  }

  readonly hashOf = (text: string): FileHash => {
    const { io, keys } = this.#identity
    if (!keys.dataKey.isAlive) throw new WalletError('LOGGED_OUT', {})
    return keys.dataKey.use(key => fileHashOf(io, key, text))
  }

  async sync(): Promise<void> {
    await this.#repos.syncLoop.syncNow(this.repo)
  }

  close(): Promise<void> {
    this.#ending ??= this.#repos.end(this.repo, this.#identity)
    return this.#ending
  }
}

/** The account whose repos are opened, and where. */
export interface AccountReposOptions {
  readonly services: Services
  readonly login: Login
  readonly repos: OpenRepos
  /** It was just made, so that there is nothing to fetch first. */
  readonly isNew: boolean
}

/** The repos of the account itself: its own first, then the older ones that may still hold wallets (protocol §3.4). */
export class AccountRepos {
  readonly #options: AccountReposOptions
  /** The types that hold wallets of the account. */
  readonly #types: readonly string[]
  /** The ids of those that were tried. */
  readonly #begun: Set<string>
  #all: readonly OpenRepo[] = []

  private constructor(options: AccountReposOptions, own: SecretWalletInfo) {
    const isRoot = options.services.config.appId === ''
    this.#options = options
    this.#types = [own.type, ...(isRoot ? OLD_ACCOUNT_REPO_TYPES : [])]
    this.#begun = new Set([own.id])
  }

  /** Makes sure of the account's repo, and opens it and the older ones. @throws as {@link OpenRepos.open}, of its own */
  static async open(options: AccountReposOptions): Promise<AccountRepos> {
    const info = await options.login.ensureAccountRepo()
    const accountRepos = new AccountRepos(options, info)
    const [own, others] = await Promise.all([
      options.repos.open(info, options.isNew ? 'empty' : 'needed'),
      accountRepos.#openOlder()
    ])
    accountRepos.#all = [own, ...others]
    return accountRepos
  }

  /** The account's own repo, which holds its settings. */
  get own(): OpenRepo {
    return this.#all[0] as OpenRepo
  }

  /** It and the older ones. */
  get all(): readonly OpenRepo[] {
    return this.#all
  }

  /** Opens those that the login has got since, and gives them. What fails is reported, and tried with the next login. */
  async openNew(): Promise<readonly OpenRepo[]> {
    const added = await this.#openOlder()
    this.#all = [...this.#all, ...added]
    return added
  }

  async #openOlder(): Promise<readonly OpenRepo[]> {
    const { services, login, repos } = this.#options
    const isWanted = ({ id, type }: SecretWalletInfo): boolean =>
      !this.#begun.has(id) && this.#types.includes(type)
    const opening = login.walletInfos.filter(isWanted).map(async info => {
      this.#begun.add(info.id)
      try {
        return await repos.open(info, 'tried')
      } catch (error) {
        if (!isWalletError(error, 'LOGGED_OUT')) services.report('account', error)
        return undefined
      }
    })
    const opened = await Promise.all(opening)
    return opened.filter(repo => repo !== undefined)
  }
}

/** One after another; a failure keeps none of the others from running, and is thrown then. */
const runAll = async (tasks: readonly (() => void | Promise<void> | undefined)[]): Promise<void> => {
  const failures: unknown[] = []
  for (const task of tasks) {
    try {
      await task()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** The identity and the shape of one kind of repo file, with their checks. */
interface FileKind {
  readonly path: RegExp
  /** Returns true for a value that a file of this kind can hold. */
  isShape(value: unknown): boolean
  /** The text whose hash names the file, and how the path carries it. Left out where nothing in the file names it. */
  readonly identity?: { readonly field: readonly string[]; nameIn(path: string): string | undefined }
  /** Returns true for a path that some clients number, and whose number they give to something else later. */
  isNumbered?(path: string): boolean
}

/**
 * Returns true if the text that a server has for a path of an account's or a wallet's repo belongs there (protocol §3.4, §3.5).
 *
 * A file that names what it is about must go on naming that, or what its path is the hash of; others must keep the shape of
 * their kind. Where the present text has another shape already, and for paths of other apps, everything belongs.
 *
 * @param hashOf - the repo's file-name hash
 */
export const belongsAt = (
  hashOf: (text: string) => FileHash,
  path: string,
  { theirs, present }: { readonly theirs: string; readonly present: string }
): boolean => {
  const kind = KINDS.find(({ path: pattern }) => pattern.test(path))
  if (kind === undefined) return true
  const own = tryJsonText(present)
  if (!kind.isShape(own)) return true
  const value = tryJsonText(theirs)
  if (!kind.isShape(value)) return false
  if (kind.identity === undefined || kind.isNumbered?.(path) === true) return true
  const { field, nameIn } = kind.identity
  const [identity, ownIdentity] = [textAt(value, field), textAt(own, field)]
  if (identity === undefined || identity === ownIdentity) return true
  return hashOf(identity) === nameIn(path)
}

/** The last part of a path without its ending. */
const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.json$/, '')

const hasText = (value: unknown, ...field: readonly string[]): boolean => textAt(value, field) !== undefined

const textAt = (value: unknown, field: readonly string[]): string | undefined => {
  let found = value
  for (const name of field) found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined
  return typeof found === 'string' ? found : undefined
}

const hasField = (value: unknown, ...names: readonly string[]): boolean =>
  isRecord(value) && names.some(name => Object.hasOwn(value, name))

const KINDS: readonly FileKind[] = [
  {
    path: /^transaction\//,
    isShape: value => hasText(value, 'txid'),
    identity: { field: ['txid'], nameIn: path => /-([1-9A-HJ-NP-Za-km-z]+)\.json$/.exec(path)?.[1] }
  },
  {
    path: /^Transactions\//,
    isShape: value => hasText(value, 'state', 'malleableTxId'),
    identity: { field: ['state', 'malleableTxId'], nameIn: () => undefined }
  },
  {
    path: /^Addresses\//,
    isShape: value => hasText(value, 'address'),
    identity: { field: ['address'], nameIn: fileName },
    isNumbered: path => /^\d{1,9}$/.test(fileName(path))
  },
  {
    path: /^Keys\//,
    isShape: value => hasText(value, 'id') && !hasField(value, 'data', 'walletName'),
    identity: { field: ['id'], nameIn: fileName }
  },
  {
    path: /^Plugins\/[^/]+\/Name\.json$/,
    isShape: value => hasText(value, 'name') && !hasField(value, 'data'),
    identity: { field: ['name'], nameIn: path => path.split('/')[1] }
  },
  {
    path: /^Plugins\/[^/]+\/[^/]+$/,
    isShape: value => hasText(value, 'key') && hasText(value, 'data'),
    identity: { field: ['key'], nameIn: fileName }
  },
  {
    path: /^Wallets\//,
    isShape: value => hasText(value, 'MK'),
    identity: { field: ['MK'], nameIn: () => undefined }
  },
  { path: /^WalletName\.json$/, isShape: value => hasField(value, 'walletName') },
  { path: /^Currency\.json$/, isShape: value => hasField(value, 'fiat', 'num') },
  { path: /^Tokens\.json$/, isShape: value => hasField(value, 'enabledTokenIds') },
  { path: /^EnabledTokens\.json$/, isShape: value => Array.isArray(value) },
  { path: /^PluginSettings\.json$/, isShape: value => hasField(value, 'userSettings', 'swapSettings') },
  { path: /^Policies\.json$/, isShape: value => isRecord(value) && isRecord(value.rules) },
  { path: /^CustomTokens\.json$/, isShape: value => isRecord(value) && isRecord(value.customTokens) }
]
