import { isRecord } from '../kernel/base/json.ts'
import { leaf, objectOf, optional, parse, text } from '../kernel/schema/shape.ts'
import type { Box } from '../kernel/types/keys.ts'
import { credential, isRepoPath, isWireBox, type RepoChanges, repoChanges, syncKey } from './fields.ts'
import {
  type AppInfo,
  appInfoShape,
  type Lobby,
  type LoginRecord,
  lobbyShape,
  loginRecordShape,
  type Shape
} from './login-record.ts'

/** `[path, revision, content]` of a saved file. */
export type SavedFile = readonly [path: string, revision: number, content: Box | null]

/**
 * One step of the history of a fake database: replaying all entries in order gives the same database.
 *
 * A fresh save is entries too: `repo` with its hashes, then its `files` in portions.
 */
export type DbEntry =
  | { readonly kind: 'login'; readonly record: LoginRecord }
  | { readonly kind: 'deletion'; readonly loginId: string }
  | { readonly kind: 'repo'; readonly key: string; readonly hashes: readonly (readonly [string, number])[] }
  | { readonly kind: 'files'; readonly key: string; readonly files: readonly SavedFile[] }
  | { readonly kind: 'commit'; readonly key: string; readonly changes: RepoChanges; readonly hash: string }
  | { readonly kind: 'lobby'; readonly id: string; readonly lobby: Lobby | null }
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
  readonly lobby?: Lobby | undefined
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

const optionalLobby = (): ReturnType<typeof optional<Lobby>> =>
  optional('lobby', (value): value is Lobby => isRecord(value) && isValid(lobbyShape, value))

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
