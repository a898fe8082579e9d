import {
  checkPath,
  type KeyRange,
  Mutex,
  type StoragePlugin,
  type Store,
  type StoreChange,
  textOfKey,
  WalletError
} from '../../kernel/plugin-api.ts'
import { openingErrorOf, storageErrorOf } from './storage-error.ts'

/** The part of a connection to PostgreSQL that a store needs: `Client` of the package `pg` has it. */
export interface PostgresClient {
  connect(): Promise<unknown>
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  on(event: 'end' | 'error', listener: () => void): unknown
  end(): Promise<void>
}

/** What the package `pg` exports. */
export interface PostgresPackage {
  readonly Client: new (options: {
    readonly connectionString: string
    readonly connectionTimeoutMillis: number
    readonly keepAlive: true
  }) => PostgresClient
}

/** Options of {@link openPostgresStore}. */
export interface PostgresOptions {
  /** The store in the database: several share one, and no two programs open the same. */
  readonly name: string
  /** Loads the package; its module is imported by name if this is left out, which a bundler cannot follow. */
  readonly load?: () => Promise<PostgresPackage>
}

/**
 * Opens a store in a PostgreSQL database by its address, such as `postgres://alice@127.0.0.1/wallets`. The package `pg` is not
 * installed with Holdfast: `npm install pg`.
 *
 * Its values are in the table `holdfast`, which is made if it is not there. A batch is one transaction, durable when it resolves. An
 * advisory lock of the session keeps other programs from the same name, so there must be no pooler of transactions in between. A lost connection is made again by the next call; if another program has
 * opened the store meanwhile, this one refuses everything.
 *
 * @throws STORAGE_LOCKED; STORAGE_FULL; STORAGE_FAILED, also if the package is not installed
 */
export const openPostgresStore = async (url: string, options: PostgresOptions): Promise<Store> => {
  const { name, load = loadPackage } = options
  const { Client } = await load()
  const store = new PostgresStore(
    () => new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, keepAlive: true }),
    checkPath(name)
  )
  try {
    await store.open()
    return store
  } catch (error) {
    await store.close().catch(() => {})
    throw openingErrorOf(url, error)
  }
}

/**
 * The storage plugin of {@link openPostgresStore}.
 *
 * @example
 * ```ts
 * import { postgresStorage } from 'holdfast/plugins/storage/postgres'
 *
 * const storage = postgresStorage('postgres://alice@127.0.0.1/wallets', { name: 'alice' }) // a plugin of createKernel
 * ```
 */
export const postgresStorage = (url: string, options: PostgresOptions): StoragePlugin => ({
  kind: 'storage',
  id: 'postgres',
  apply({ hooks }) {
    hooks.openStore.tapPromise('postgres', () => openPostgresStore(url, options))
  }
})

const PACKAGE = 'pg'
const CONNECT_MS = 10_000

const loadPackage = async (): Promise<PostgresPackage> => {
  // Not a constant for TypeScript and bundlers: whoever wants it installs it.
  const name: string = PACKAGE
  try {
    const loaded = (await import(name)) as PostgresPackage & { readonly default?: PostgresPackage }
    return loaded.default ?? loaded
  } catch (error) {
    const reason = `the package ${PACKAGE} cannot be loaded: npm install ${PACKAGE}`
    throw new WalletError('STORAGE_FAILED', { path: '', reason }, error)
  }
}

/** How many of a table's changes make a statement. */
const GROUP = 1000

class PostgresStore implements Store {
  readonly #connect: () => PostgresClient
  readonly #name: string
  /** One statement after another: a connection has one transaction at a time. */
  readonly #calls = new Mutex()
  #client: PostgresClient | undefined
  /** How often the store was opened, by any program; another number after a lost connection says that another has it. */
  #opening: string | undefined
  #isClosed = false

  constructor(connect: () => PostgresClient, name: string) {
    this.#connect = connect
    this.#name = name
  }

  /** Connects, and counts the opening. Called once. */
  open(): Promise<void> {
    return this.#attempt(async client => {
      const { rows } = await client.query(COUNT_OPENING, [this.#name])
      this.#opening = String((rows[0] as { readonly count: unknown }).count)
    })
  }

  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#attempt(async client => {
      const found = new Map<string, Uint8Array>()
      const { rows } = await client.query(
        'SELECT key, value FROM holdfast WHERE name = $1 AND key = ANY($2::bytea[])',
        [this.#name, keys]
      )
      for (const { key, value } of rows as readonly { key: Uint8Array; value: Uint8Array }[])
        found.set(textOfKey(key), plainBytes(value))
      return keys.map(key => found.get(textOfKey(key)))
    })
  }

  batch(changes: readonly StoreChange[]): Promise<void> {
    const last = new Map(changes.map(change => [textOfKey(change.key), change]))
    return this.#attempt(async client => {
      await client.query('BEGIN')
      try {
        // Behind a pooler a session's lock and settings could be those of another connection.
        await client.query('SET LOCAL synchronous_commit TO on')
        if (!(await this.#isStillOurs(client)))
          throw new WalletError('STORAGE_LOCKED', { holder: 'another program' })
        for (let start = 0; start < last.size; start += GROUP)
          await this.#change(client, [...last.values()].slice(start, start + GROUP))
      } catch (error) {
        // A connection that may still be within the transaction is given up, and with it the transaction.
        await client.query('ROLLBACK').catch(() => this.#drop(client))
        throw error
      }
      await client.query('COMMIT').catch((error: unknown) => {
        throw maybeSaved(error)
      })
    })
  }

  keys({ after, before, reverse = false, limit }: KeyRange): Promise<Uint8Array[]> {
    return this.#attempt(async client => {
      const { rows } = await client.query(
        `SELECT key FROM holdfast WHERE name = $1 AND ($2::bytea IS NULL OR key > $2) AND ($3::bytea IS NULL OR key < $3)
         ORDER BY key ${reverse ? 'DESC' : 'ASC'} LIMIT $4`,
        [this.#name, after ?? null, before ?? null, limit]
      )
      return (rows as readonly { key: Uint8Array }[]).map(({ key }) => plainBytes(key))
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#calls.settled()
    // The lock ends with the connection.
    await this.#client?.end().catch(() => {})
    this.#client = undefined
  }

  /** Ends a connection; the next call makes another one. */
  #drop(client: PostgresClient): void {
    if (this.#client === client) this.#client = undefined
    client.end().catch(() => {})
  }

  async #change(client: PostgresClient, changes: readonly StoreChange[]): Promise<void> {
    const written = changes.filter(({ value }) => value !== undefined)
    const deleted = changes.filter(({ value }) => value === undefined)
    if (written.length > 0)
      await client.query(UPSERT, [
        this.#name,
        written.map(({ key }) => key),
        written.map(({ value }) => value)
      ])
    if (deleted.length > 0)
      await client.query('DELETE FROM holdfast WHERE name = $1 AND key = ANY($2::bytea[])', [
        this.#name,
        deleted.map(({ key }) => key)
      ])
  }

  #attempt<T>(task: (client: PostgresClient) => Promise<T>): Promise<T> {
    return this.#calls.run(async () => {
      if (this.#isClosed) throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the store is closed' })
      try {
        return await task(await this.#connected())
      } catch (error) {
        throw storageErrorOf('', fullOf(error))
      }
    })
  }

  /** The connection, with the lock of this store. @throws STORAGE_LOCKED if another program has it, or has had it meanwhile */
  async #connected(): Promise<PostgresClient> {
    if (this.#client !== undefined) return this.#client
    const client = this.#connect()
    const lose = (): void => {
      if (this.#client === client) this.#client = undefined
    }
    client.on('error', lose)
    client.on('end', lose)
    try {
      await client.connect()
      await client.query('SET synchronous_commit TO on')
      // A client whose network has gone loses its lock in a minute or two, and not in two hours.
      for (const setting of ['idle TO 30', 'interval TO 10', 'count TO 3'])
        await client.query(`SET tcp_keepalives_${setting}`)
      for (const table of TABLES) await client.query(table)
      const { rows } = await client.query(LOCK, [this.#name])
      const isLocked = (rows[0] as { readonly held: unknown }).held === true
      if (!isLocked || !(await this.#isStillOurs(client)))
        throw new WalletError('STORAGE_LOCKED', { holder: 'another program' })
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    this.#client = client
    return client
  }

  async #isStillOurs(client: PostgresClient): Promise<boolean> {
    if (this.#opening === undefined) return true
    const { rows } = await client.query('SELECT count FROM holdfast_openings WHERE name = $1 FOR SHARE', [
      this.#name
    ])
    return String((rows[0] as { readonly count: unknown } | undefined)?.count) === this.#opening
  }
}

// In one transaction with a lock, since two programs that make a table at once disturb each other.
const TABLES: readonly string[] = [
  `DO $$ BEGIN PERFORM pg_advisory_xact_lock(hashtext('holdfast')); CREATE TABLE IF NOT EXISTS holdfast
   (name text NOT NULL, key bytea NOT NULL, value bytea NOT NULL, PRIMARY KEY (name, key)); CREATE TABLE IF NOT EXISTS
   holdfast_openings (name text PRIMARY KEY, count bigint NOT NULL); END $$`
]
const LOCK = "SELECT pg_try_advisory_lock(hashtext('holdfast store'), hashtext($1)) AS held"
const COUNT_OPENING = `INSERT INTO holdfast_openings (name, count) VALUES ($1, 1)
  ON CONFLICT (name) DO UPDATE SET count = holdfast_openings.count + 1 RETURNING count`
const UPSERT = `INSERT INTO holdfast (name, key, value) SELECT $1, key, value
  FROM unnest($2::bytea[], $3::bytea[]) AS given (key, value) ON CONFLICT (name, key) DO UPDATE SET value = excluded.value`

/** Buffers of Node have methods that differ from those of plain bytes. */
const plainBytes = (value: Uint8Array): Uint8Array =>
  new Uint8Array(value.buffer, value.byteOffset, value.byteLength)

/**
 * A commit without an answer may have happened, and after some answers, too: a server that shuts down, or cannot write its log,
 * may have it on the disk. These say that it has not: a violated rule, a conflict, an aborted transaction.
 */
const maybeSaved = (error: unknown): unknown =>
  /^(?:23[0-9A-Z]{3}|40001|40P01|25P02)$/.test(codeOf(error))
    ? error
    : new WalletError(
        'STORAGE_FAILED',
        { path: '', reason: 'the commit was not confirmed', mayBeSaved: true },
        error
      )

/** 53100 is the server's code for a full disk. */
const fullOf = (error: unknown): unknown =>
  codeOf(error) === '53100' ? new WalletError('STORAGE_FULL', { path: '' }, error) : error

const codeOf = (error: unknown): string =>
  String((error as { readonly code?: unknown } | undefined)?.code ?? '')
