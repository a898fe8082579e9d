import { WalletError } from '../../kernel/base/errors.ts'
import { isRecord } from '../../kernel/base/json.ts'
import type { CryptoPort } from '../../kernel/io/io.ts'
import { leaf, objectOf, optional, parse, text } from '../../kernel/schema/shape.ts'
import type { Box } from '../../kernel/types/keys.ts'
import {
  type AppInfo,
  appInfoShape,
  type LobbyRecord,
  type LoginRecord,
  lobbyShape,
  loginRecordShape
} from './login-record.ts'
import { RepoHistory } from './repo-history.ts'
import {
  credential,
  isRepoPath,
  isWireBox,
  type RepoChanges,
  repoChanges,
  type Shape,
  syncKey
} from './shapes.ts'

/** The limits of a fake database; beyond them, requests are refused and nothing is lost. */
export const DB_LIMITS = {
  logins: 10_000,
  repos: 20_000,
  lobbies: 1000,
  keyBoxes: 10_000,
  apps: 1000
} as const

/** The ids by which a login can be found besides its own. */
export type LoginIndex = 'userId' | 'pin2Id' | 'recovery2Id'

/**
 * Everything the fake servers remember: logins, repos, lobbies and apps.
 *
 * The listener gets each change as an entry, in order, so that it can be saved; `apply` restores entries.
 * Records are never changed in place.
 */
export class FakeDb {
  readonly #crypto: Pick<CryptoPort, 'sha256'>
  readonly #logins = new Map<string, LoginRecord>()
  readonly #children = new Map<string, string[]>()
  readonly #indexes: Record<LoginIndex, Map<string, string>> = {
    userId: new Map(),
    pin2Id: new Map(),
    recovery2Id: new Map()
  }
  readonly #repos = new Map<string, RepoHistory>()
  readonly #lobbies = new Map<string, LobbyRecord>()
  readonly #apps = new Map<string, AppInfo>()
  #listener: (entry: DbEntry) => void = () => {}

  constructor(crypto: Pick<CryptoPort, 'sha256'>) {
    this.#crypto = crypto
  }

  /** Calls one listener after every later change. */
  onChange(listener: (entry: DbEntry) => void): void {
    this.#listener = listener
  }

  /** The number of records of each kind. */
  get counts(): { readonly logins: number; readonly repos: number; readonly lobbies: number } {
    return { logins: this.#logins.size, repos: this.#repos.size, lobbies: this.#lobbies.size }
  }

  login(loginId: string): LoginRecord | undefined {
    return this.#logins.get(loginId)
  }

  /** The login that has this id. A userId also names an old login without one, by its loginId (protocol §2.10). */
  findLogin(index: LoginIndex, id: string): LoginRecord | undefined {
    const loginId = this.#indexes[index].get(id)
    if (loginId !== undefined) return this.#logins.get(loginId)
    if (index !== 'userId') return undefined
    const record = this.#logins.get(id)
    return record?.userId === undefined ? record : undefined
  }

  /** The logins below one, in the order they were made. */
  childrenOf(loginId: string): readonly LoginRecord[] {
    const ids = this.#children.get(loginId) ?? []
    return ids.map(id => this.#logins.get(id)).filter(record => record !== undefined)
  }

  /** Adds or replaces a login. */
  saveLogin(record: LoginRecord): void {
    this.#placeLogin(record)
    this.#listener({ kind: 'login', record })
  }

  /** The top logins, in the order they were made. */
  roots(): readonly LoginRecord[] {
    return [...this.#logins.values()].filter(({ parentId }) => parentId === undefined)
  }

  /** Removes a login and all below it. Its repos stay: the database does not know whose they are. */
  deleteLogin(loginId: string): void {
    this.#removeLogin(loginId)
    this.#listener({ kind: 'deletion', loginId })
  }

  repo(key: string): RepoHistory | undefined {
    return this.#repos.get(key.toLowerCase())
  }

  /** Makes empty repos for the keys that have none; an existing one is left as it is (protocol §8, 17). */
  createRepos(keys: readonly string[]): void {
    for (const key of keys.map(text => text.toLowerCase())) {
      if (this.#repos.has(key)) continue
      this.#repos.set(key, new RepoHistory(key, this.#crypto))
      this.#listener({ kind: 'repo', key, hashes: [] })
    }
  }

  /** Writes changes into a repo that exists. */
  commit(key: string, changes: RepoChanges): void {
    const hash = this.#repoOf(key).commit(changes)
    this.#listener({ kind: 'commit', key: key.toLowerCase(), changes, hash })
  }

  lobby(id: string): LobbyRecord | undefined {
    return this.#lobbies.get(id)
  }

  /** Adds, replaces or, with null, removes a lobby. */
  saveLobby(id: string, lobby: LobbyRecord | null): void {
    if (lobby === null) this.#lobbies.delete(id)
    else this.#lobbies.set(id, lobby)
    this.#listener({ kind: 'lobby', id, lobby })
  }

  /** Removes the lobbies that ended by `now`, in milliseconds. */
  forgetLobbies(now: number): void {
    for (const [id, lobby] of this.#lobbies) if (lobby.expires <= now) this.saveLobby(id, null)
  }

  app(appId: string): AppInfo | undefined {
    return this.#apps.get(appId)
  }

  /**
   * Registers an app with the info server or, with null, removes one.
   *
   * @throws RangeError if there are {@link DB_LIMITS}.apps already
   */
  saveApp(appId: string, app: AppInfo | null): void {
    if (this.#apps.size >= DB_LIMITS.apps && !this.#apps.has(appId)) throw new RangeError('Too many apps')
    this.#placeApp(appId, app)
    this.#listener({ kind: 'app', appId, app })
  }

  /** The entries that make this database again. */
  *entries(): Generator<DbEntry> {
    for (const record of this.#logins.values()) yield { kind: 'login', record }
    for (const [key, repo] of this.#repos) {
      yield { kind: 'repo', key, hashes: repo.revision === 0 ? [] : repo.hashes }
      let files: SavedFile[] = []
      for (const [path, { revision, content }] of repo.files) {
        files.push([path, revision, content])
        if (files.length < PORTION) continue
        yield { kind: 'files', key, files }
        files = []
      }
      if (files.length > 0) yield { kind: 'files', key, files }
    }
    for (const [id, lobby] of this.#lobbies) yield { kind: 'lobby', id, lobby }
    for (const [appId, app] of this.#apps) yield { kind: 'app', appId, app }
  }

  /**
   * Restores a checked entry, without a call of the listener.
   *
   * @throws BAD_REPLY if it does not fit what came before
   */
  apply(entry: DbEntry): void {
    if (entry.kind === 'login') this.#placeLogin(entry.record)
    else if (entry.kind === 'deletion') this.#removeLogin(entry.loginId)
    else if (entry.kind === 'app') this.#placeApp(entry.appId, entry.app)
    else if (entry.kind === 'lobby') {
      if (entry.lobby === null) this.#lobbies.delete(entry.id)
      else this.#lobbies.set(entry.id, entry.lobby)
    } else if (entry.kind === 'repo') {
      if (this.#repos.has(entry.key)) misfit('makes a repo twice')
      const repo = new RepoHistory(entry.key, this.#crypto)
      repo.restoreHashes(entry.hashes)
      this.#repos.set(entry.key, repo)
    } else if (entry.kind === 'files') {
      const repo = this.#repoOf(entry.key)
      for (const [path, revision, content] of entry.files) {
        if (revision > repo.revision) misfit('has a file of a later revision')
        repo.restoreFile(path, { revision, content })
      }
    } else if (this.#repoOf(entry.key).commit(entry.changes) !== entry.hash) misfit('has another hash')
  }

  #repoOf(key: string): RepoHistory {
    return this.#repos.get(key.toLowerCase()) ?? misfit('names a repo that is not there')
  }

  #placeApp(appId: string, app: AppInfo | null): void {
    if (app === null) this.#apps.delete(appId)
    else this.#apps.set(appId, app)
  }

  #removeLogin(loginId: string): void {
    const record = this.#logins.get(loginId) ?? misfit('deletes a login that is not there')
    for (const id of this.#children.get(loginId) ?? []) this.#removeLogin(id)
    for (const index of INDEXES) {
      const id = record[index]
      if (id !== undefined) this.#indexes[index].delete(id)
    }
    const { parentId } = record
    const siblings = parentId === undefined ? undefined : this.#children.get(parentId)
    if (parentId !== undefined && siblings !== undefined) {
      this.#children.set(
        parentId,
        siblings.filter(id => id !== loginId)
      )
    }
    this.#children.delete(loginId)
    this.#logins.delete(loginId)
  }

  #placeLogin(record: LoginRecord): void {
    const { loginId, parentId } = record
    const old = this.#logins.get(loginId)
    if (old?.parentId !== parentId && old !== undefined) misfit('moves a login')
    for (const index of INDEXES) {
      const id = record[index]
      const owner = id === undefined ? undefined : this.#indexes[index].get(id)
      if (owner !== undefined && owner !== loginId) misfit(`uses a ${index} twice`)
    }
    if (old === undefined && parentId !== undefined) {
      if (!this.#logins.has(parentId)) misfit('names a login that is not there')
      this.#children.set(parentId, [...(this.#children.get(parentId) ?? []), loginId])
    }
    for (const index of INDEXES) {
      const before = old?.[index]
      const id = record[index]
      if (before !== undefined) this.#indexes[index].delete(before)
      if (id !== undefined) this.#indexes[index].set(id, loginId)
    }
    this.#logins.set(loginId, record)
  }
}

const PORTION = 200

const INDEXES: readonly LoginIndex[] = ['userId', 'pin2Id', 'recovery2Id']

const misfit = (rule: string): never => {
  throw new WalletError('BAD_REPLY', { source: 'saved entry', path: '', rule })
}

/** `[path, revision, content]` of a saved file. */
type SavedFile = readonly [path: string, revision: number, content: Box | null]

/**
 * One step of the history of a fake database: replaying all entries in order gives the same database.
 *
 * A fresh save is entries too: `repo` with its hashes, then its `files` in portions.
 */
type DbEntry =
  | { readonly kind: 'login'; readonly record: LoginRecord }
  | { readonly kind: 'deletion'; readonly loginId: string }
  | { readonly kind: 'repo'; readonly key: string; readonly hashes: readonly (readonly [string, number])[] }
  | { readonly kind: 'files'; readonly key: string; readonly files: readonly SavedFile[] }
  | { readonly kind: 'commit'; readonly key: string; readonly changes: RepoChanges; readonly hash: string }
  | { readonly kind: 'lobby'; readonly id: string; readonly lobby: LobbyRecord | null }
  | { readonly kind: 'app'; readonly appId: string; readonly app: AppInfo | null }

/**
 * Checks one saved entry.
 *
 * @throws BAD_REPLY if it has any other shape
 */
export const parseDbEntry = (value: unknown): DbEntry => {
  const { kind } = parse(kindShape, value, 'saved entry')
  const fields = parse(shapes[kind], value, 'saved entry')
  const { record, loginId, key, hashes, files, changes, hash, id, lobby, appId, app } = fields
  const checked: Record<DbEntry['kind'], unknown> = {
    login: { kind, record },
    deletion: { kind, loginId },
    repo: { kind, key: key?.toLowerCase(), hashes },
    files: { kind, key: key?.toLowerCase(), files },
    commit: { kind, key: key?.toLowerCase(), changes, hash },
    lobby: { kind, id, lobby: lobby ?? null },
    app: { kind, appId, app: app ?? null }
  }
  return checked[kind] as DbEntry
}

interface Fields {
  readonly record?: LoginRecord
  readonly loginId?: string
  readonly key?: string
  readonly hashes?: readonly (readonly [string, number])[]
  readonly files?: readonly SavedFile[]
  readonly changes?: RepoChanges
  readonly hash?: string
  readonly id?: string
  readonly lobby?: LobbyRecord | undefined
  readonly appId?: string
  readonly app?: AppInfo | undefined
}

const KINDS: ReadonlySet<unknown> = new Set(['login', 'deletion', 'repo', 'files', 'commit', 'lobby', 'app'])

const isKind = (value: unknown): value is DbEntry['kind'] => KINDS.has(value)

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{40}$/.test(value)

const isHashes = (value: unknown): value is [string, number][] =>
  Array.isArray(value) &&
  value.every(item => Array.isArray(item) && item.length === 2 && isHash(item[0]) && isCount(item[1]))

const isFiles = (value: unknown): value is SavedFile[] =>
  Array.isArray(value) &&
  value.every(
    item =>
      Array.isArray(item) &&
      item.length === 3 &&
      typeof item[0] === 'string' &&
      isRepoPath(item[0]) &&
      isCount(item[1]) &&
      (item[2] === null || isWireBox(item[2]))
  )

const kindShape: Shape<{ kind: DbEntry['kind'] }> = objectOf<{ kind: DbEntry['kind'] }>({
  kind: leaf('entry kind', isKind)
})

const optionalLobby = (): ReturnType<typeof optional<LobbyRecord>> =>
  optional('lobby', (value): value is LobbyRecord => isRecord(value) && isValid(lobbyShape, value))

const optionalApp = (): ReturnType<typeof optional<AppInfo>> =>
  optional('app', (value): value is AppInfo => isRecord(value) && isValid(appInfoShape, value))

const isValid = <T>(shape: Shape<T>, value: unknown): boolean => {
  try {
    parse(shape, value, 'saved entry')
    return true
  } catch {
    return false
  }
}

const shapes: Record<DbEntry['kind'], Shape<Fields>> = {
  login: objectOf<Fields>({ record: loginRecordShape } as never),
  deletion: objectOf<Fields>({ loginId: credential() } as never),
  repo: objectOf<Fields>({ key: syncKey(), hashes: leaf('hashes', isHashes) } as never),
  files: objectOf<Fields>({ key: syncKey(), files: leaf('files', isFiles) } as never),
  commit: objectOf<Fields>({ key: syncKey(), changes: repoChanges(), hash: leaf('hash', isHash) } as never),
  lobby: objectOf<Fields>({ id: text(), lobby: optionalLobby() } as never),
  app: objectOf<Fields>({ appId: text(), app: optionalApp() } as never)
}
