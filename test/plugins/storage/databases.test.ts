import test from 'ava'
import { compact } from '../../../kernel/base/compact.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { openKeyvDisk } from '../../../plugins/storage/keyv-storage.ts'
import { openLevelStore } from '../../../plugins/storage/level.ts'
import { openPostgresStore } from '../../../plugins/storage/postgres.ts'

/** What the database of an adapter holds, of this disk and of others. */
const rows = new Map<string, unknown>()

/** An adapter whose iterator gives what those of databases give at worst: a key twice, or the end in place of a failure. */
class FakeAdapter {
  readonly opts = { dialect: 'fake', url: '' }
  readonly query = async (sql: string): Promise<unknown> => {
    if (sql !== 'SELECT key FROM holdfast') throw new Error(sql)
    if (FakeAdapter.failure !== undefined) throw FakeAdapter.failure
    return [...rows.keys()].map(key => ({ key }))
  }

  static failure: Error | undefined

  on(): this {
    return this
  }

  async get(key: string): Promise<unknown> {
    return rows.get(key)
  }

  async set(key: string, value: string): Promise<void> {
    rows.set(key, value)
    if (FakeAdapter.failure !== undefined) throw FakeAdapter.failure
  }

  async delete(key: string): Promise<boolean> {
    return rows.delete(key)
  }

  async *iterator(): AsyncGenerator<[unknown, unknown]> {
    for (const [count, [key, value]] of [...rows].entries()) {
      if (count > 0 && FakeAdapter.failure !== undefined) return
      yield [key, value]
      yield [key, value]
    }
  }
}

const load = async (): Promise<unknown> => ({ default: FakeAdapter })
const open = (url: string, name = 'alice') => openKeyvDisk(url, { name, isUnprotected: true, load })
const URLS = ['redis://localhost', 'sqlite://wallets']

test.beforeEach(() => rows.clear())

test.serial(
  'a path is listed once, and nothing of other names and of what else is in the database',
  async t => {
    for (const url of URLS) {
      rows.clear()
      const disk = await open(url)
      await disk.setText('logins/a', '1')
      await (await open(url, 'alice2')).setText('logins/b', '2')
      for (const key of ['alice', 'logins/c', '', 'bob:alice/logins/d', '*', "'; --"]) rows.set(key, 'odd')
      t.deepEqual(await disk.list(''), ['logins/a'], url)
      t.deepEqual(await disk.list('logins'), ['logins/a'], url)
    }
  }
)

test.serial('a list that the database breaks off is an error, never a shorter list', async t => {
  for (const url of URLS.slice(1)) {
    const disk = await open(url)
    for (const path of ['a', 'b', 'c']) await disk.setText(path, '1')
    FakeAdapter.failure = new Error('connection terminated')
    await t.throwsAsync(disk.list(''), { code: 'STORAGE_FAILED' }, url)
    FakeAdapter.failure = undefined
    t.deepEqual(await disk.list(''), ['a', 'b', 'c'])
  }
})

test.serial('a name with a slash is refused: it would be a folder in the disk of another name', async t => {
  const refusal = await t.throwsAsync(open('redis://localhost', 'alice/logins'), { code: 'OPTION_INVALID' })
  t.regex(refusal?.message ?? '', /slash/)
  for (const name of ['', '..', 'a b']) await t.throwsAsync(open('redis://localhost', name))
})

test.serial('a value that is no JSON of a text is damage', async t => {
  const disk = await open('redis://localhost')
  for (const value of ['null', '5', '{}', '"half', 7, true, Uint8Array.of(1)]) {
    rows.set('alice/a', value)
    await t.throwsAsync(disk.getText('a'), { code: 'CORRUPT_FILE' }, String(value))
  }
  rows.set('alice/a', null)
  t.is(await disk.getText('a'), undefined)
})

test.serial('a write whose answer does not come says that it may be saved', async t => {
  const disk = await open('redis://localhost')
  FakeAdapter.failure = new Error('connection terminated')
  const error = await t.throwsAsync(disk.setText('a', '1'))
  FakeAdapter.failure = undefined
  t.true(isWalletError(error, 'STORAGE_FAILED') && error.details.mayBeSaved === true)
  t.is(await disk.getText('a'), '1')
})

test.serial('a database that has no room says so, and that nothing has changed', async t => {
  for (const [url, failure] of [
    ['redis://localhost', new Error("OOM command not allowed when used memory > 'maxmemory'.")],
    ['sqlite://wallets', Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })]
  ] as const) {
    const disk = await open(url)
    FakeAdapter.failure = failure
    await t.throwsAsync(disk.setText('a', '1'), { code: 'STORAGE_FULL' }, url)
    FakeAdapter.failure = undefined
  }
})

test.serial('a write that SQLite was too busy for does not say that it may be saved', async t => {
  const disk = await open('sqlite://wallets')
  FakeAdapter.failure = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
  const error = await t.throwsAsync(disk.setText('a', '1'))
  FakeAdapter.failure = undefined
  t.true(isWalletError(error, 'STORAGE_FAILED') && error.details.mayBeSaved === undefined)
})

test.serial(
  'a batch that LevelDB does not confirm may be saved, also for want of room, and one when closed is not',
  async t => {
    const failures = [
      [new Error('IO error: fdatasync: Input/output error'), 'STORAGE_FAILED', true],
      [new Error('IO error: No space left on device'), 'STORAGE_FAILED', true],
      [
        Object.assign(new Error('Database is not open'), { code: 'LEVEL_DATABASE_NOT_OPEN' }),
        'STORAGE_FAILED',
        undefined
      ]
    ] as const
    for (const [failure, code, mayBeSaved] of failures) {
      const database = { open: async () => {}, batch: () => Promise.reject(failure) }
      const load = async () => ({
        ClassicLevel: class {
          constructor() {
            Object.assign(this, database)
          }
        }
      })
      const store = await openLevelStore('folder', { load: load as never })
      const error = await t.throwsAsync(store.batch([]))
      t.true(isWalletError(error, code))
      t.is((error as { details?: { mayBeSaved?: true } }).details?.mayBeSaved, mayBeSaved)
    }
  }
)

test.serial(
  'after a batch that failed a LevelDB takes no more, and is read: it would forget what comes then',
  async t => {
    let count = 0
    const database = {
      open: async () => {},
      getMany: async () => [Uint8Array.of(1)],
      batch: async () => {
        count += 1
        if (count === 2) throw new Error('IO error: No space left on device')
      }
    }
    const ClassicLevel = class {
      constructor() {
        Object.assign(this, database)
      }
    }
    const store = await openLevelStore('folder', { load: async () => ({ ClassicLevel }) as never })
    await store.batch([])
    const failed = t.throwsAsync(store.batch([]), { code: 'STORAGE_FAILED', message: /no room/ })
    const next = t.throwsAsync(store.batch([]), {
      code: 'STORAGE_FAILED',
      message: /open the database again/
    })
    await Promise.all([failed, next])
    t.is(count, 2)
    t.deepEqual(await store.getMany([Uint8Array.of(7)]), [Uint8Array.of(1)])
  }
)

/** A connection that fails at one statement, and notes all of them. */
const fakePostgres = (failAt: string | readonly string[], failure: object, statements: string[] = []) => ({
  name: 'alice',
  load: async () => ({
    Client: class {
      async connect() {
        statements.push('connect')
      }
      on() {}
      async end() {}
      async query(text: string) {
        const statement = text.trim().split(/\s/)[0] ?? ''
        statements.push(statement)
        if ([failAt].flat().includes(statement) && statements.includes('BEGIN'))
          throw Object.assign(new Error('no'), failure)
        return { rows: [{ held: true, count: '1' }] }
      }
    }
  })
})

test.serial(
  'a batch that PostgreSQL does not confirm may be saved, and one that it refuses is not',
  async t => {
    const change = { key: Uint8Array.of(1), value: Uint8Array.of(2) }
    for (const [failAt, failure, code, mayBeSaved] of [
      ['COMMIT', { code: 'ECONNRESET' }, 'STORAGE_FAILED', true],
      ['COMMIT', {}, 'STORAGE_FAILED', true],
      ['COMMIT', { code: '40001' }, 'STORAGE_FAILED', undefined],
      ['COMMIT', { code: '53100' }, 'STORAGE_FAILED', true],
      ['COMMIT', { code: 'EPIPE' }, 'STORAGE_FAILED', true],
      ['COMMIT', { code: '57P01' }, 'STORAGE_FAILED', true],
      ['INSERT', { code: '53100' }, 'STORAGE_FULL', undefined],
      ['INSERT', { code: 'ECONNRESET' }, 'STORAGE_FAILED', undefined]
    ] as const) {
      const statements: string[] = []
      const store = await openPostgresStore('postgres://host', fakePostgres(failAt, failure, statements))
      const error = await t.throwsAsync(store.batch([change]))
      t.true(isWalletError(error, code), `${failAt} ${JSON.stringify(failure)}`)
      t.is((error as { details?: { mayBeSaved?: true } }).details?.mayBeSaved, mayBeSaved)
      if (failAt === 'INSERT')
        t.deepEqual(statements.slice(-5), ['BEGIN', 'SET', 'SELECT', 'INSERT', 'ROLLBACK'])
      await store.close()
      await t.throwsAsync(store.batch([change]), { code: 'STORAGE_FAILED', message: /closed/ })
    }
  }
)

test.serial('a connection to PostgreSQL that may be left within a transaction is given up', async t => {
  const statements: string[] = []
  const failing = fakePostgres(['INSERT', 'ROLLBACK'], { code: 'ECONNRESET' }, statements)
  const store = await openPostgresStore('postgres://host', failing)
  await t.throwsAsync(store.batch([{ key: Uint8Array.of(1), value: Uint8Array.of(2) }]))
  await store.batch([])
  t.is(statements.filter(statement => statement === 'connect').length, 2)
  await store.close()
})

/** A connection that answers no statement after the given one, until it is ended. */
const silentPostgres = (silentFrom: string, statements: string[]) => ({
  name: 'alice',
  answerMs: 40,
  load: async () => ({
    Client: class {
      #fail: (error: Error) => void = () => {}
      async connect() {
        statements.push('connect')
      }
      on() {}
      async end() {
        this.#fail(new Error('Connection terminated'))
      }
      async query(text: string) {
        const statement = text.trim().split(/\s/)[0] ?? ''
        statements.push(statement)
        const isFirst = statements.filter(each => each === 'connect').length === 1
        if (isFirst && statements.includes('BEGIN') && statement === silentFrom)
          return new Promise<never>((_, reject) => {
            this.#fail = reject
          })
        return { rows: [{ held: true, count: '1' }] }
      }
    }
  })
})

test.serial(
  'a connection to PostgreSQL that does not answer is given up, and the next call makes another',
  async t => {
    for (const [silentFrom, mayBeSaved] of [
      ['BEGIN', undefined],
      ['INSERT', undefined],
      ['COMMIT', true]
    ] as const) {
      const statements: string[] = []
      const store = await openPostgresStore('postgres://host', silentPostgres(silentFrom, statements))
      const change = { key: Uint8Array.of(1), value: Uint8Array.of(2) }
      const error = await t.throwsAsync(store.batch([change]), { code: 'STORAGE_FAILED' }, silentFrom)
      t.is((error as { details?: { mayBeSaved?: true } }).details?.mayBeSaved, mayBeSaved)
      await store.batch([change])
      t.is(statements.filter(statement => statement === 'connect').length, 2)
      await store.close()
    }
  }
)

test.serial(
  'a store that another program has is waited for as long as is asked, in PostgreSQL and LevelDB',
  async t => {
    let isHeld = true
    const postgres = async () => ({
      Client: class {
        async connect() {}
        on() {}
        async end() {}
        async query(text: string) {
          const holder = text.includes('application_name') ? { holder: 'holdfast send (process 7)' } : {}
          return { rows: [{ held: !isHeld, count: '1', ...holder }] }
        }
      }
    })
    const level = async () => ({
      ClassicLevel: class {
        async open() {
          if (isHeld) throw Object.assign(new Error('locked'), { code: 'LEVEL_LOCKED' })
        }
        async close() {}
      }
    })
    const openers = [
      (waitMs?: number) =>
        openPostgresStore('postgres://host', { name: 'a', load: postgres, ...compact({ waitMs }) }),
      (waitMs?: number) => openLevelStore('folder', { load: level as never, ...compact({ waitMs }) })
    ]
    const holders = ['holdfast send (process 7)', 'another process']
    for (const [i, open] of openers.entries()) {
      isHeld = true
      for (const waitMs of [undefined, 150]) {
        const error = await t.throwsAsync(open(waitMs), { code: 'STORAGE_LOCKED' })
        t.is(error?.message, `The data folder is in use by ${holders[i]}`)
      }
      const waiting = open(10_000)
      setTimeout(() => {
        isHeld = false
      }, 200)
      await (await waiting).close()
    }
  }
)
