import type { KeyvStoreAdapter } from 'keyv'
import {
  checkPath,
  type Disk,
  isWalletError,
  parseJsonText,
  type StoragePlugin,
  WalletError
} from '../../kernel/plugin-api.ts'
import { keyvDisk, type ListingStore } from './keyv-disk.ts'
import { openingErrorOf, storageErrorOf, unconfirmed } from './storage-error.ts'

/** Options of {@link openKeyvDisk}. */
export interface KeyvStorageOptions {
  /** What the keys of this disk begin with, so that several share a database: one segment of a path, without a slash. */
  readonly name: string
  /**
   * Says that whoever calls knows two things: nothing keeps a second program from opening the same data, and the server decides when
   * a write is durable. Without it, nothing is opened.
   */
  readonly isUnprotected: true
  /** Loads the adapter; it is imported by name if this is left out, which a bundler cannot follow. */
  readonly load?: (name: string) => Promise<unknown>
}

interface AdapterKind {
  readonly package: string
  make(adapter: Adapter, url: string): KeyvStoreAdapter
  /** Reads all keys with one statement. Without it, the iterator of the adapter is used. */
  list?(database: KeyvStoreAdapter): Promise<unknown[]>
}

type Adapter = new (...options: unknown[]) => KeyvStoreAdapter

/** The time that a write waits for another program's, in milliseconds. */
const BUSY_MS = 20_000

/** A path has up to 1024 letters. */
const TABLE = { table: 'holdfast', keySize: 1200 }

/**
 * The iterators of these adapters read page after page. That of PostgreSQL ends as if there were no more when a page fails, and
 * that of SQLite counts rows, so that a deletion meanwhile hides another key.
 */
const keysOfTable = async (database: KeyvStoreAdapter): Promise<unknown[]> => {
  const { query } = database as unknown as { query(sql: string): Promise<readonly { key: unknown }[]> }
  return (await query(`SELECT key FROM ${TABLE.table}`)).map(({ key }) => key)
}

const redis: AdapterKind = {
  package: '@keyv/redis',
  make: (Redis, url) =>
    new Redis(
      // A call after a lost connection connects again.
      { url, socket: { connectTimeout: 10_000, reconnectStrategy: (count: number) => count < 3 && 100 } },
      { noNamespaceAffectsAll: true, throwOnErrors: true, throwOnConnectError: true }
    )
}

const sqlite: AdapterKind = {
  package: '@keyv/sqlite',
  list: keysOfTable,
  // Another profile may have its accounts in the same file; only one at a time writes.
  make: (Sqlite, uri) => new Sqlite({ uri, ...TABLE, busyTimeout: BUSY_MS })
}

/** The adapters by the scheme of their addresses. None is installed with Holdfast. */
const ADAPTERS: Readonly<Record<string, AdapterKind>> = {
  redis,
  rediss: redis,
  sqlite
}

/** The schemes of the addresses that {@link openKeyvDisk} takes. */
export const keyvSchemes: readonly string[] = Object.keys(ADAPTERS)

/**
 * Opens a database as a disk by its address, with the adapter of Keyv for it: `redis://`, `rediss://` or
 * `sqlite://`. The adapter is not installed with Holdfast, for example `npm install @keyv/redis`.
 *
 * SQLite makes each write durable as it is usually set up; Redis does only with `appendonly yes` and `appendfsync always`.
 *
 * @throws OPTION_INVALID for another address, a name with a slash, or without `isUnprotected`; STORAGE_FAILED, also if the adapter is not installed
 */
export const openKeyvDisk = async (url: string, options: KeyvStorageOptions): Promise<Disk> => {
  const { name, isUnprotected, load = loadPackage } = options
  const scheme = /^([a-z]+):/.exec(url)?.[1] ?? ''
  const adapter = Object.hasOwn(ADAPTERS, scheme) ? ADAPTERS[scheme] : undefined
  if (adapter === undefined)
    throw new WalletError('OPTION_INVALID', {
      option: 'url',
      rule: `begins with ${keyvSchemes.join('://, ')}://`
    })
  if (isUnprotected !== true)
    throw new WalletError('OPTION_INVALID', {
      option: 'isUnprotected',
      rule: 'must be true, since nothing keeps a second program from this database'
    })
  const prefix = `${checkPath(name)}/`
  if (name.includes('/'))
    throw new WalletError('OPTION_INVALID', {
      option: 'name',
      rule: 'must not have a slash: it would be a folder in the disk of another name'
    })
  const database = adapter.make(adapterIn(await load(adapter.package)), url)
  // Without a listener, what fails between two calls would end the process.
  database.on?.('error', () => {})
  const store = new NamedStore(database, {
    prefix,
    list: adapter.list ?? keysOfIterator
  })
  try {
    // A server that cannot be reached says so now.
    await store.get('client.json')
    return keyvDisk(store)
  } catch (error) {
    await store.disconnect().catch(() => {})
    throw openingErrorOf(url, error)
  }
}

/**
 * The storage plugin of {@link openKeyvDisk}.
 *
 * @example
 * ```ts
 * import { keyvStorage } from 'holdfast/plugins/storage/keyv-storage'
 *
 * const storage = keyvStorage('redis://127.0.0.1:6379', { name: 'alice', isUnprotected: true })
 * ```
 */
export const keyvStorage = (url: string, options: KeyvStorageOptions): StoragePlugin => ({
  kind: 'storage',
  id: 'keyv',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('keyv', () => openKeyvDisk(url, options))
  }
})

const keysOfIterator = async (database: KeyvStoreAdapter): Promise<unknown[]> => {
  if (database.iterator === undefined)
    throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the store cannot list its keys' })
  const keys: unknown[] = []
  for await (const [key] of database.iterator(undefined)) keys.push(key)
  return keys
}

/** The class that a package exports as its default, by either kind of module. */
const adapterIn = (loaded: unknown): Adapter => {
  const { default: exported } = loaded as { readonly default: Adapter & { readonly default?: Adapter } }
  return typeof exported === 'function' ? exported : (exported as { default: Adapter }).default
}

const loadPackage = async (name: string): Promise<unknown> => {
  try {
    return await import(name)
  } catch (error) {
    const reason = `the package ${name} cannot be loaded: npm install ${name}`
    throw new WalletError('STORAGE_FAILED', { path: '', reason }, error)
  }
}

/** The failure of a write. SQLite that was busy has not begun with it. */
const failedWrite = (key: string, error: unknown): WalletError => {
  const failure = storageErrorOf(key, error)
  const isBusy = isWalletError(failure, 'STORAGE_FAILED') && failure.details.reason === 'SQLITE_BUSY'
  return isBusy ? failure : unconfirmed(failure)
}

/**
 * The part of a database whose keys begin with a name. Values are JSON of the text, since not every database keeps every
 * letter.
 */
class NamedStore implements ListingStore {
  readonly opts = { dialect: 'named', url: '' }
  namespace?: string | undefined
  readonly #database: KeyvStoreAdapter
  readonly #prefix: string
  readonly #list: (database: KeyvStoreAdapter) => Promise<unknown[]>
  /** The last write of each key: a pool of connections would make them in any order. */
  readonly #writes = new Map<string, Promise<unknown>>()

  constructor(
    database: KeyvStoreAdapter,
    options: {
      readonly prefix: string
      readonly list: (database: KeyvStoreAdapter) => Promise<unknown[]>
    }
  ) {
    this.#database = database
    this.#prefix = options.prefix
    this.#list = options.list
  }

  on(): this {
    return this
  }

  async get<Value>(key: string): Promise<Value | undefined> {
    const value: unknown = await this.#database.get(this.#prefix + key)
    if (value === undefined || value === null) return undefined
    const corrupt = (cause?: unknown): WalletError =>
      new WalletError('CORRUPT_FILE', { path: key, rule: 'it is no text' }, cause)
    let text: unknown
    try {
      text = parseJsonText(String(value), { maxDepth: 1 })
    } catch (error) {
      throw corrupt(error)
    }
    // The JSON of null would be taken for no file.
    if (typeof text !== 'string') throw corrupt()
    return text as Value
  }

  set(key: string, value: string): Promise<boolean> {
    return this.#inOrder(key, async () => {
      try {
        await this.#database.set(this.#prefix + key, JSON.stringify(value))
      } catch (error) {
        // The connection may have ended before the answer only.
        throw failedWrite(key, error)
      }
      return true
    })
  }

  delete(key: string): Promise<boolean> {
    return this.#inOrder(key, async () => {
      try {
        return await this.#database.delete(this.#prefix + key)
      } catch (error) {
        throw failedWrite(key, error)
      }
    })
  }

  async clear(): Promise<void> {
    for (const key of await this.list('')) await this.delete(key)
  }

  async list(prefix: string): Promise<string[]> {
    // Redis may give a key twice.
    const keys = new Set<string>()
    for (const key of await this.#list(this.#database))
      if (typeof key === 'string' && key.startsWith(this.#prefix + prefix))
        keys.add(key.slice(this.#prefix.length))
    return [...keys]
  }

  async disconnect(): Promise<void> {
    await this.#database.disconnect?.()
  }

  #inOrder<T>(key: string, write: () => Promise<T>): Promise<T> {
    const written = (this.#writes.get(key) ?? Promise.resolve()).then(write, write)
    this.#writes.set(key, written)
    const forget = (): void => {
      if (this.#writes.get(key) === written) this.#writes.delete(key)
    }
    written.then(forget, forget)
    return written
  }
}
