import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import type { Plugin } from '../../../kernel/index.ts'
import type { StoragePlugin, Store } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { keyvStorage, openKeyvDisk } from '../../../plugins/storage/keyv-storage.ts'
import { levelStorage } from '../../../plugins/storage/level.ts'
import { openPostgresStore, postgresStorage } from '../../../plugins/storage/postgres.ts'
import { testStoragePlugin } from '../../../testing/storage-suite.ts'
import { homeFor, type Ran } from '../../helpers/command-line.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { runInProcess } from '../../helpers/in-process.ts'
import { loadLevel, loadPackage, loadPostgres, sqliteUrl } from '../../helpers/media.ts'
import { installNpmFolder } from '../../helpers/npm-folder.ts'
import { surviveRestart } from '../../helpers/storage-story.ts'
import { missingServer, startPostgres, startRedis } from './servers.ts'
import { ADDED_KINDS, type AddedKind, makeTestMedia, missingKind } from './test-media.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-stores-'))
const media = makeTestMedia(test)
test.after.always(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

/** The storage plugins that need what is not installed with the wallet; each opens a place again by its name. */
const kinds: Readonly<Record<AddedKind, (place: string) => Promise<StoragePlugin>>> = {
  level: async place => levelStorage(join(folder, place), { load: loadLevel }),
  postgres: async place => postgresAt(await media.url('postgres'), place),
  redis: async place =>
    keyvStorage(await media.url('redis'), { name: place, isUnprotected: true, load: loadPackage }),
  sqlite: async place =>
    keyvStorage(sqliteUrl(join(folder, 'wallets.db')), {
      name: place,
      isUnprotected: true,
      load: loadPackage
    })
}

for (const kind of ADDED_KINDS) {
  const open = kinds[kind]
  const missing = missingKind(kind)
  if (missing !== undefined) {
    test(`${kind} is examined where what it needs is installed`, t => {
      t.log(missing)
      // The headers of Node come with some installations of it, and no package brings them.
      if (kind === 'sqlite') t.pass()
      else t.not(process.env.HOLDFAST_CI, '1')
    })
    continue
  }
  testStoragePlugin(test, place => open(`suite-${place}`), { pluginId: kind })

  test(`an account, a payment and its note are there after a restart without a network, with ${kind}`, t =>
    surviveRestart(t, () => open('device')))
}

test('a second process is refused the database of LevelDB that a first one has open', async t => {
  const place = join(folder, 'shared')
  const { lock } = await installNpmFolder('test/nodes/stores/adapters')
  const program = fileURLToPath(new URL('./level-holder.js', import.meta.url))
  const child = fork(program, [lock, place], { execArgv: [] })
  await once(child, 'message')
  const world = makeFakeWorld({ io: makeNodeIo() })
  const storage = levelStorage(place, { load: loadLevel })
  await t.throwsAsync(openDevice(world, { storage }), { code: 'STORAGE_LOCKED' })
  const waiting = openDevice(world, { storage: levelStorage(place, { load: loadLevel, waitMs: 20_000 }) })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const kernel = await waiting
  await kernel.close()
  await world.close()
})

const postgresAt = (url: string, name: string): StoragePlugin =>
  postgresStorage(url, { name, load: loadPostgres })

/** Passes connections on to a server of this machine until they are frozen: then nothing comes of them, and no end. */
const startSilentProxy = async (port: number) => {
  const pairs: (readonly [Socket, Socket])[] = []
  const proxy = createServer(near => {
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {})
    near.pipe(far)
    far.pipe(near)
    pairs.push([near, far])
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    port: (proxy.address() as AddressInfo).port,
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause()
        far.unpipe(near).pause()
      }
    },
    stop() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      proxy.close()
    }
  }
}

if (missingServer('postgres') === undefined) {
  test('a connection to PostgreSQL whose network has gone without a word is given up, and its session ended', async t => {
    const server = await startPostgres()
    t.teardown(() => server.stop())
    const url = new URL(server.url)
    const proxy = await startSilentProxy(Number(url.port))
    t.teardown(() => proxy.stop())
    url.port = `${proxy.port}`
    // The server of a busy machine answers a commit within this time, and far below the two hours of the system.
    const options = { name: 'a', load: loadPostgres, answerMs: 5000 }
    const store = await openPostgresStore(url.href, options)
    const [key, value] = [Uint8Array.of(1), Uint8Array.of(2)]
    await store.batch([{ key, value }])
    for (let round = 0; round < 2; round += 1) {
      proxy.freeze()
      const began = performance.now()
      t.is(await codeOf(store.batch([{ key, value: Uint8Array.of(3) }])), 'STORAGE_FAILED')
      t.true(performance.now() - began < 60_000)
      // The server has the old session still, with its lock.
      await store.batch([{ key, value: Uint8Array.of(4) }])
      t.deepEqual(await store.getMany([key]), [Uint8Array.of(4)])
    }
    proxy.freeze()
    const began = performance.now()
    await store.close()
    t.true(performance.now() - began < 60_000)
  })

  test('a second program waits for a store in PostgreSQL, and is told who has it', async t => {
    const server = await startPostgres()
    t.teardown(() => server.stop())
    const options = { name: 'a', load: loadPostgres, holder: 'holdfast send (process 7)' }
    const first = await openPostgresStore(server.url, options)
    const refusal = await t.throwsAsync(openPostgresStore(server.url, { ...options, waitMs: 300 }))
    t.is(refusal?.message, 'The data folder is in use by holdfast send (process 7)')
    const waiting = openPostgresStore(server.url, { ...options, waitMs: 20_000 })
    await first.close()
    await (await waiting).close()
  })
}

if (missingServer('postgres') === undefined)
  test('a store in PostgreSQL is refused while another program has it, and to one that lost it to another meanwhile', async t => {
    const server = await startPostgres()
    t.teardown(() => server.stop())
    const open = (name: string): Promise<Store> => openPostgresStore(server.url, { name, load: loadPostgres })
    const [first, other] = [await open('a'), await open('b')]
    await t.throwsAsync(open('a'), { code: 'STORAGE_LOCKED' })
    const [key, value] = [Uint8Array.of(1), Uint8Array.of(2)]
    await first.batch([{ key, value }])
    t.deepEqual(await other.getMany([key]), [undefined])
    await server.kill()
    await server.start()
    const second = await open('a')
    await second.batch([{ key, value: Uint8Array.of(3) }])
    await waitFor(async () => (await codeOf(first.batch([{ key, value }]))) === 'STORAGE_LOCKED')
    await second.close()
    // Whatever the second has written, the first does not know.
    t.is(await codeOf(first.batch([{ key, value }])), 'STORAGE_LOCKED')
    t.deepEqual(await (await open('a')).getMany([key]), [Uint8Array.of(3)])
  })

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'none',
    (error: { readonly code?: unknown }) => error.code
  )

for (const [kind, start, plugin] of [
  [
    'redis',
    startRedis,
    (url: string) => keyvStorage(url, { name: 'crash', isUnprotected: true, load: loadPackage })
  ],
  ['postgres', startPostgres, (url: string) => postgresAt(url, 'crash')]
] as const) {
  if (missingServer(kind) !== undefined) continue
  test(`what ${kind} has acknowledged survives its crash, and a wallet goes on once it is back`, async t => {
    const server = await start()
    t.teardown(() => server.stop())
    const storage = (): Plugin => plugin(server.url)
    const world = makeFakeWorld({ io: makeNodeIo() })
    const first = await openDevice(world, { storage: storage() })
    const account = await first.context.createAccount({
      username: 'alice',
      password: 'correct horse battery'
    })
    await account.dataStore.setItem('shop', 'item', 'kept')
    await server.kill()
    await t.throwsAsync(account.dataStore.setItem('shop', 'item', 'lost'), { code: 'STORAGE_FAILED' })
    await server.start()
    await waitFor(async () => {
      try {
        await account.dataStore.setItem('shop', 'later', 'kept, too')
        return true
      } catch {
        return false
      }
    })
    await first.close()
    const second = await openDevice(world, { storage: storage() })
    const again = await second.context.loginWithPassword('alice', 'correct horse battery')
    t.is(await again.dataStore.getItem('shop', 'item'), 'kept')
    t.is(await again.dataStore.getItem('shop', 'later'), 'kept, too')
    await second.close()
    await world.close()
  })
}

if (missingKind('sqlite') === undefined)
  test('a write to SQLite waits while another program writes to the same file', async t => {
    const file = join(folder, 'shared.db')
    const disk = await openKeyvDisk(sqliteUrl(file), { name: 'a', isUnprotected: true, load: loadPackage })
    await loadPackage('@keyv/sqlite')
    const { default: sqlite3 } = (await loadPackage('sqlite3')) as { readonly default: SqlitePackage }
    const other = new sqlite3.Database(file)
    const run = (sql: string): Promise<void> =>
      new Promise((resolve, reject) => other.exec(sql, error => (error === null ? resolve() : reject(error))))
    await run('BEGIN IMMEDIATE')
    const writing = disk.setText('x', '1')
    await sleep(3000)
    await run('COMMIT')
    await writing
    t.is(await disk.getText('x'), '1')
    await disk.close?.()
    other.close()
  })

/** The part of the package `sqlite3` that a test needs. */
interface SqlitePackage {
  readonly Database: new (
    file: string
  ) => { exec(sql: string, done: (error: Error | null) => void): void; close(): void }
}

test('the command line keeps accounts in LevelDB and PostgreSQL, and in Redis and SQLite once their owner says that no other program uses them', async t => {
  const home = homeFor(t)
  const { lock } = await installNpmFolder('test/nodes/stores/adapters')
  const config = join(home, 'config', 'default')
  mkdirSync(config, { recursive: true })
  symlinkSync(join(lock, '../node_modules'), join(config, 'node_modules'))
  const run = async (words: string): Promise<Ran['json']['data']> => {
    const input = JSON.stringify({ password: 'Correct Horse 1' })
    const { code, json, stdout } = await runInProcess([...words.split(' '), '--json'], { home, input })
    t.is(code, 0, stdout)
    return json.data
  }
  const urls = [pathToFileURL(join(home, 'wallets')).href.replace('file:', 'level:')]
  for (const kind of ['postgres', 'redis'] as const)
    if (missingServer(kind) === undefined) urls.push(await media.url(kind))
  if (missingKind('sqlite') === undefined) {
    await loadPackage('@keyv/sqlite')
    urls.push(sqliteUrl(join(home, 'wallets.db')))
  }
  for (const [count, url] of urls.entries()) {
    const flag = /^(?:redis|sqlite):/.test(url) ? ' --unprotected' : ''
    await run(`profile store default ${url}${flag}`)
    t.deepEqual((await run('account list')).accounts, [])
    await run(`account create alice${count} --secrets-stdin`)
    await run('wallets create bitcoin --name Savings --secrets-stdin')
    t.is((await run('wallets list --secrets-stdin')).wallets[0].name, 'Savings')
  }
})

test('an address that nothing can open, or without its adapter, says what to do', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const name = 'a'
  const refused = async (storage: Plugin): Promise<string> =>
    String((await t.throwsAsync(openDevice(world, { storage })))?.message)
  t.regex(
    await refused(keyvStorage('mysql://localhost', { name, isUnprotected: true })),
    /redis:\/\/.*sqlite:\/\//
  )
  t.regex(await refused(keyvStorage('redis://localhost', { name } as never)), /isUnprotected must be true/)
  t.regex(
    await refused(keyvStorage('redis://localhost', { name, isUnprotected: true })),
    /npm install @keyv\/redis/
  )
  t.regex(await refused(levelStorage(join(folder, 'none'))), /npm install classic-level/)
  const nowhere = keyvStorage('redis://127.0.0.1:1', { name, isUnprotected: true, load: loadPackage })
  t.regex(await refused(nowhere), /the database at 127\.0\.0\.1:1 cannot be opened/)
  t.regex(await refused(postgresStorage('postgres://localhost', { name })), /npm install pg/)
  for (const opening of [
    openPostgresStore('postgres://alice:canary@127.0.0.1:1/none', { name, load: loadPostgres }),
    openPostgresStore('postgres://alice:canary@[/none', { name, load: loadPostgres }),
    openKeyvDisk('redis://alice:canary@127.0.0.1:1', { name, isUnprotected: true, load: loadPackage })
  ]) {
    const error = await t.throwsAsync(opening)
    t.false(inspect(error, { depth: 9, showHidden: true }).includes('canary'))
  }
  await world.close()
})
