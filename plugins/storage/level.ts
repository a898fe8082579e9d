import {
  compact,
  isWalletError,
  type KeyRange,
  Mutex,
  type StoragePlugin,
  type Store,
  WalletError
} from '../../kernel/plugin-api.ts'
import { storageErrorOf } from './storage-error.ts'
import { pause, timers } from './timers.ts'

/** The part of a LevelDB database that a store needs: `ClassicLevel` of the package `classic-level` has it. */
export interface LevelDatabase {
  open(): Promise<void>
  getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]>
  batch(operations: LevelOperation[], options: { readonly sync: true }): Promise<void>
  keys(range: LevelRange): { all(): Promise<Uint8Array[]> }
  close(): Promise<void>
}

/** One change of a batch. */
export type LevelOperation =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Uint8Array }

/** Which keys to read. */
export interface LevelRange {
  readonly gt?: Uint8Array
  readonly lt?: Uint8Array
  readonly reverse: boolean
  readonly limit: number
}

/** What the package `classic-level` exports. */
export interface LevelPackage {
  readonly ClassicLevel: new (
    location: string,
    options: { readonly keyEncoding: 'view'; readonly valueEncoding: 'view' }
  ) => LevelDatabase
}

/** Options of {@link openLevelStore}. */
export interface LevelOptions {
  /** Milliseconds to wait for another process that has the folder; 0, the default, fails at once. */
  readonly waitMs?: number
  /** Loads the package; its module is imported by name if this is left out, which a bundler cannot follow. */
  readonly load?: () => Promise<LevelPackage>
}

/**
 * Opens a folder of this machine as a LevelDB database. The package `classic-level` is not installed with Holdfast:
 * `npm install classic-level`.
 *
 * Every batch is synced to the disk. After one that failed, the store takes no more until it is opened again; reads go on. LevelDB
 * itself keeps a second process out.
 *
 * @throws STORAGE_LOCKED; STORAGE_FULL; STORAGE_FAILED, also if the package is not installed
 */
export const openLevelStore = async (location: string, options: LevelOptions = {}): Promise<Store> => {
  const { load = loadPackage, waitMs = 0 } = options
  for (const end = timers.performance.now() + waitMs; ; await pause(POLL_MS)) {
    try {
      const { ClassicLevel } = await load()
      const database = new ClassicLevel(location, { keyEncoding: 'view', valueEncoding: 'view' })
      await database.open()
      return storeOf(database)
    } catch (thrown) {
      const error = levelErrorOf(thrown)
      if (error.code !== 'STORAGE_LOCKED' || timers.performance.now() >= end) throw error
    }
  }
}

/**
 * The storage plugin of {@link openLevelStore}.
 *
 * @example
 * ```ts
 * import { levelStorage } from 'holdfast/plugins/storage/level'
 *
 * const storage = levelStorage('/home/alice/wallet') // one of the plugins of createKernel
 * ```
 */
export const levelStorage = (location: string, options: LevelOptions = {}): StoragePlugin => ({
  kind: 'storage',
  id: 'level',
  apply({ hooks }) {
    hooks.openStore.tapPromise('level', () => openLevelStore(location, options))
  }
})

const PACKAGE = 'classic-level'
const POLL_MS = 50

const loadPackage = async (): Promise<LevelPackage> => {
  // Not a constant for TypeScript and bundlers: whoever wants it installs it.
  const name: string = PACKAGE
  try {
    return (await import(name)) as LevelPackage
  } catch (error) {
    const reason = `the package ${PACKAGE} cannot be loaded: npm install ${PACKAGE}`
    throw new WalletError('STORAGE_FAILED', { path: '', reason }, error)
  }
}

const storeOf = (database: LevelDatabase): Store => {
  // Its threads take batches in any order.
  const batches = new Mutex()
  let hasFailed = false
  const attempt = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task()
    } catch (error) {
      throw levelErrorOf(error)
    }
  }
  return {
    getMany: keys => attempt(async () => (await database.getMany([...keys])).map(plainBytes)),
    batch: changes =>
      batches.run(async () => {
        const operations: LevelOperation[] = changes.map(({ key, value }) =>
          value === undefined ? { type: 'del', key } : { type: 'put', key, value }
        )
        if (hasFailed) throw needsOpening()
        try {
          await database.batch(operations, { sync: true })
        } catch (error) {
          hasFailed = true
          if (isClosedError(error)) throw levelErrorOf(error)
          // Also for want of room: the record may be whole in the log by then, and count once the database is opened again.
          const reason = isFull(error) ? 'no room is left' : 'the batch was not confirmed'
          throw new WalletError('STORAGE_FAILED', { path: '', reason, mayBeSaved: true }, error)
        }
      }),
    keys: ({ after, before, reverse = false, limit }: KeyRange) =>
      attempt(async () => {
        const range = { reverse, limit, ...compact({ gt: after, lt: before }) }
        return (await database.keys(range).all()).map(key => new Uint8Array(key))
      }),
    async close() {
      await batches.settled()
      await attempt(() => database.close())
    }
  }
}

/** Buffers of Node have methods that differ from those of plain bytes. */
const plainBytes = (value: Uint8Array | undefined): Uint8Array | undefined =>
  value === undefined ? undefined : new Uint8Array(value.buffer, value.byteOffset, value.byteLength)

/**
 * A write that failed, as on a full disk, leaves half a record in the log of LevelDB. It takes and syncs batches after it, and reads none
 * of them when it is opened again after a crash. Opening it begins a new log.
 */
const needsOpening = (): WalletError =>
  new WalletError('STORAGE_FAILED', {
    path: '',
    reason: 'a write has failed: open the database again, once there is room'
  })

/** A closed database has not taken the batch. */
const isClosedError = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === 'LEVEL_DATABASE_NOT_OPEN'

const causesOf = (error: unknown): readonly unknown[] => [
  error,
  (error as { readonly cause?: unknown } | undefined)?.cause
]

const isFull = (error: unknown): boolean =>
  causesOf(error).some(cause => cause instanceof Error && /No space left|ENOSPC/.test(cause.message))

const levelErrorOf = (error: unknown): WalletError => {
  if (isWalletError(error)) return error
  const causes = causesOf(error)
  const codes = causes.map(cause => (cause as { readonly code?: unknown } | undefined)?.code)
  if (codes.includes('LEVEL_LOCKED')) return new WalletError('STORAGE_LOCKED', { holder: 'another process' })
  if (isFull(error)) return new WalletError('STORAGE_FULL', { path: '' }, error)
  return storageErrorOf('', error)
}
