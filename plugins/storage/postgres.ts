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
import { pause, timers } from './timers.ts'

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
    readonly application_name: string
  }) => PostgresClient
}

/** Options of {@link openPostgresStore}. */
export interface PostgresOptions {
  /** The store in the database: several share one, and no two programs open the same. */
  readonly name: string
  /** Milliseconds to wait for another program that has the store; 0, the default, fails at once. */
  readonly waitMs?: number
  /** The name that a waiting program is shown, such as `holdfast send`. Never a secret. */
  readonly holder?: string
  /**
   * Milliseconds after which a connection that does not answer a statement is given up; 25,000 by default, so that a call ends before the
   * kernel gives it up.
   */
  readonly answerMs?: number
  /** Loads the package; its module is imported by name if this is left out, which a bundler cannot follow. */
  readonly load?: () => Promise<PostgresPackage>
}

/**
 * Opens a store in a PostgreSQL database by its address, such as `postgres://alice@127.0.0.1/wallets`. The package `pg` is not
 * installed with Holdfast: `npm install pg`.
 *
 * Its values are in the table `holdfast`, which is made if it is not there. A batch is one transaction, durable when it resolves. An
 * advisory lock of the session keeps other programs from the same name, so there must be no pooler of transactions in between. A lost connection, and one that does not answer, is made again by the next call, which
 * ends what the server may still have of it; if another program has opened the store meanwhile, this one refuses everything.
 *
 * @throws STORAGE_LOCKED; STORAGE_FULL; STORAGE_FAILED, also if the package is not installed
 */
export const openPostgresStore = async (url: string, options: PostgresOptions): Promise<Store> => {
  const { name, load = loadPackage, holder = 'holdfast', waitMs = 0, answerMs = ANSWER_MS } = options
  const { Client } = await load()
  const client = { connectionString: url, connectionTimeoutMillis: CONNECT_MS, keepAlive: true } as const
  const connect = (): PostgresClient => new Client({ ...client, application_name: holder })
  const store = new PostgresStore({ connect, name: checkPath(name), waitMs, answerMs })
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
const ANSWER_MS = 25_000
const POLL_MS = 100
/** What the server needs at most to end a session of ours that it was told to end. */
const RELEASE_MS = 5000

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

/** How many of a table's changes make a statement, and how many bytes: a slow line brings them before the answer is due. */
const GROUP = 1000
const GROUP_BYTES = 1_000_000

function* groupsOf(changes: Iterable<StoreChange>): Generator<readonly StoreChange[]> {
  let group: StoreChange[] = []
  let bytes = 0
  for (const change of changes) {
    const size = change.key.length + (change.value?.length ?? 0)
    if (group.length > 0 && (group.length === GROUP || bytes + size > GROUP_BYTES)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(change)
    bytes += size
  }
  if (group.length > 0) yield group
}

interface ConnectOptions extends Required<Pick<PostgresOptions, 'answerMs' | 'name' | 'waitMs'>> {
  connect(): PostgresClient
}

class PostgresStore implements Store {
  readonly #options: ConnectOptions
  readonly #name: string
  /** One statement after another: a connection has one transaction at a time. */
  readonly #calls = new Mutex()
  #client: PostgresClient | undefined
  /** How often the store was opened, by any program; another number after a lost connection says that another has it. */
  #opening: string | undefined
  /** The session of the last connection, by its process and its start. */
  #session: readonly unknown[] | undefined
  #isClosed = false

  constructor(options: ConnectOptions) {
    this.#options = options
    this.#name = options.name
  }

  /** Connects, and counts the opening. Called once. */
  open(): Promise<void> {
    return this.#attempt(async client => {
      const [row] = await this.#query(client, COUNT_OPENING, [this.#name])
      this.#opening = String(row?.count)
    })
  }

  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#attempt(async client => {
      const found = new Map<string, Uint8Array>()
      const rows = await this.#query(
        client,
        'SELECT key, value FROM holdfast WHERE name = $1 AND key = ANY($2::bytea[])',
        [this.#name, keys]
      )
      for (const { key, value } of rows as unknown as readonly { key: Uint8Array; value: Uint8Array }[])
        found.set(textOfKey(key), plainBytes(value))
      return keys.map(key => found.get(textOfKey(key)))
    })
  }

  batch(changes: readonly StoreChange[]): Promise<void> {
    const last = new Map(changes.map(change => [textOfKey(change.key), change]))
    return this.#attempt(async client => {
      await this.#query(client, 'BEGIN')
      try {
        // Behind a pooler a session's lock and settings could be those of another connection.
        await this.#query(client, 'SET LOCAL synchronous_commit TO on')
        if (!(await this.#isStillOurs(client))) throw new WalletError('STORAGE_LOCKED', { holder: OTHER })
        for (const group of groupsOf(last.values())) await this.#change(client, group)
      } catch (error) {
        // A connection that may still be within the transaction is given up, and with it the transaction.
        await this.#query(client, 'ROLLBACK').catch(() => this.#drop(client))
        throw error
      }
      await this.#query(client, 'COMMIT').catch((error: unknown) => {
        throw maybeSaved(error)
      })
    })
  }

  keys({ after, before, reverse = false, limit }: KeyRange): Promise<Uint8Array[]> {
    return this.#attempt(async client => {
      const rows = await this.#query(
        client,
        `SELECT key FROM holdfast WHERE name = $1 AND ($2::bytea IS NULL OR key > $2) AND ($3::bytea IS NULL OR key < $3)
         ORDER BY key ${reverse ? 'DESC' : 'ASC'} LIMIT $4`,
        [this.#name, after ?? null, before ?? null, limit]
      )
      return (rows as unknown as readonly { key: Uint8Array }[]).map(({ key }) => plainBytes(key))
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#calls.settled()
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    // The lock would end with the connection, but the end of one whose network has gone is waited for long.
    await this.#query(client, 'SELECT pg_advisory_unlock_all()')
      .then(() => client.end())
      .catch(() => {})
  }

  /** Sends a statement, and gives the connection up if no answer comes: then the statement fails. */
  async #query(
    client: PostgresClient,
    text: string,
    values?: readonly unknown[]
  ): Promise<readonly Record<string, unknown>[]> {
    const timer = timers.setTimeout(() => this.#drop(client), this.#options.answerMs)
    try {
      return (await client.query(text, values)).rows as readonly Record<string, unknown>[]
    } finally {
      timers.clearTimeout(timer)
    }
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
      await this.#query(client, UPSERT, [
        this.#name,
        written.map(({ key }) => key),
        written.map(({ value }) => value)
      ])
    if (deleted.length > 0)
      await this.#query(client, 'DELETE FROM holdfast WHERE name = $1 AND key = ANY($2::bytea[])', [
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
    const client = this.#options.connect()
    const lose = (): void => {
      if (this.#client === client) this.#client = undefined
    }
    client.on('error', lose)
    client.on('end', lose)
    try {
      await client.connect()
      await this.#query(client, 'SET synchronous_commit TO on')
      // A client whose network has gone loses its lock in a minute or two, and not in two hours.
      for (const setting of ['idle TO 30', 'interval TO 10', 'count TO 3'])
        await this.#query(client, `SET tcp_keepalives_${setting}`)
      for (const table of TABLES) await this.#query(client, table)
      await this.#lock(client)
      if (!(await this.#isStillOurs(client))) throw new WalletError('STORAGE_LOCKED', { holder: OTHER })
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    this.#client = client
    return client
  }

  /** Waits for the lock of this store. The server may still have an older session of ours, which is ended. */
  async #lock(client: PostgresClient): Promise<void> {
    if (this.#session !== undefined) await this.#query(client, END_SESSION, [this.#name, ...this.#session])
    const waitMs = this.#session === undefined ? this.#options.waitMs : RELEASE_MS
    for (const end = timers.performance.now() + waitMs; ; await pause(POLL_MS)) {
      const [row] = await this.#query(client, LOCK, [this.#name])
      if (row?.held === true) break
      if (timers.performance.now() < end) continue
      const [other] = await this.#query(client, HOLDER, [this.#name])
      throw new WalletError('STORAGE_LOCKED', { holder: String(other?.holder || OTHER) })
    }
    const [session] = await this.#query(client, SESSION)
    this.#session = [session?.pid, session?.start]
  }

  async #isStillOurs(client: PostgresClient): Promise<boolean> {
    if (this.#opening === undefined) return true
    const sql = 'SELECT count FROM holdfast_openings WHERE name = $1 FOR SHARE'
    const [row] = await this.#query(client, sql, [this.#name])
    return String(row?.count) === this.#opening
  }
}

const OTHER = 'another program'

// In one transaction with a lock, since two programs that make a table at once disturb each other.
const TABLES: readonly string[] = [
  `DO $$ BEGIN PERFORM pg_advisory_xact_lock(hashtext('holdfast')); CREATE TABLE IF NOT EXISTS holdfast
   (name text NOT NULL, key bytea NOT NULL, value bytea NOT NULL, PRIMARY KEY (name, key)); CREATE TABLE IF NOT EXISTS
   holdfast_openings (name text PRIMARY KEY, count bigint NOT NULL); END $$`
]
const LOCK = "SELECT pg_try_advisory_lock(hashtext('holdfast store'), hashtext($1)) AS held"
const SESSION =
  'SELECT pid, extract(epoch FROM backend_start)::text AS start FROM pg_stat_activity WHERE pid = pg_backend_pid()'
/** The lock of a store. The server shows keys of locks as numbers without a sign. */
const STORE_LOCK = `locktype = 'advisory' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid::bigint = hashtext('holdfast store')::bigint & 4294967295 AND objid::bigint = hashtext($1)::bigint & 4294967295`
// A pooler may have given the session to somebody else, or to this very connection: only one that has our lock is ended.
const END_SESSION = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $2 AND pid <> pg_backend_pid()
  AND extract(epoch FROM backend_start)::text = $3 AND pid IN (SELECT pid FROM pg_locks WHERE ${STORE_LOCK})`
const HOLDER = `SELECT application_name AS holder FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE ${STORE_LOCK}`
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
