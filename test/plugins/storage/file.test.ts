import { spawn } from 'node:child_process'
import fs, { existsSync, fstatSync } from 'node:fs'
import promises, { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { isWalletError, type WalletError } from '../../../kernel/base/errors.ts'
import { lockFolder } from '../../../plugins/storage/file/file-lock.ts'
import { fileStorage, openFileDisk } from '../../../plugins/storage/file/file-storage.ts'
import { fileCalls } from '../../../plugins/storage/file/file-store.ts'
import { testStoragePlugin } from '../../../testing/storage-suite.ts'

const roots: string[] = []
const makeRoot = async (): Promise<string> => {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-file-'))
  roots.push(root)
  return root
}
test.after.always(() => Promise.all(roots.map(root => rm(root, { recursive: true, force: true }))))

const places = new Map<number, Promise<string>>()
testStoragePlugin(
  test,
  async place => {
    const root = places.get(place) ?? makeRoot()
    places.set(place, root)
    return fileStorage(await root)
  },
  { pluginId: 'file' }
)

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

test('a path is a plain file with exactly our text, private to the user', async t => {
  const root = join(await makeRoot(), 'new', 'root')
  const disk = await openFileDisk(root)
  await disk.setText('logins/x.json', '{"ä":1}')
  t.is(await readFile(join(root, 'logins', 'x.json'), 'utf8'), '{"ä":1}')
  t.is(await modeOf(join(root, 'logins', 'x.json')), 0o600)
  t.is(await modeOf(join(root, 'logins')), 0o700)
  t.is(await modeOf(root), 0o700)
  t.is(await modeOf(join(root, 'lock')), 0o600)
  await disk.close?.()
  t.deepEqual((await readdir(root)).sort(), ['lock', 'logins'])
})

test('drafts that a crash left are removed at opening, and never listed', async t => {
  const root = await makeRoot()
  await mkdir(join(root, 'logins'))
  await writeFile(join(root, 'logins', 'x.json.1.~tmp'), '{"half')
  await writeFile(join(root, 'logins', 'x.json'), '{}')
  const disk = await openFileDisk(root)
  t.deepEqual(await disk.list(''), ['logins/x.json'])
  t.deepEqual(await readdir(join(root, 'logins')), ['x.json'])
  await disk.close?.()
})

test('a file that is no UTF-8 is kept under quarantine and reported, never read as empty', async t => {
  const root = await makeRoot()
  await mkdir(join(root, 'logins'))
  const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x00])
  await writeFile(join(root, 'logins', 'x.json'), bytes)
  const disk = await openFileDisk(root)
  const error = await t.throwsAsync(disk.getText('logins/x.json'))
  if (!isWalletError(error, 'CORRUPT_FILE')) return t.fail()
  t.is(error.details.path, 'logins/x.json')
  t.deepEqual(await readFile(join(root, error.details.keptAs ?? '')), bytes)
  t.is(await disk.getText('logins/x.json'), undefined)
  t.true(isWalletError(await t.throwsAsync(disk.getText(error.details.keptAs ?? '')), 'CORRUPT_FILE'))
  await disk.close?.()
})

test.serial('a write that comes while damage is looked at is not put aside with it', async t => {
  const root = await makeRoot()
  await writeFile(join(root, 'x.json'), Buffer.from([0x7b, 0xff]))
  const disk = await openFileDisk(root)
  const { readAll } = fileCalls
  let writing: Promise<void> | undefined
  fileCalls.readAll = async path => {
    const bytes = await readAll(path)
    writing ??= disk.setText('x.json', '{}')
    await writing
    return bytes
  }
  try {
    t.is(await disk.getText('x.json'), '{}')
  } finally {
    fileCalls.readAll = readAll
  }
  t.is(await disk.getText('x.json'), '{}')
  await writeFile(join(root, 'y.json'), Buffer.from([0x7b, 0xff]))
  const codes = await Promise.all(
    [1, 2, 3].map(() => disk.getText('y.json').catch(error => isWalletError(error) && error.code))
  )
  t.deepEqual(codes, ['CORRUPT_FILE', 'CORRUPT_FILE', 'CORRUPT_FILE'])
  await disk.close?.()
})

test.serial('a folder that an earlier process created but did not sync is made durable', async t => {
  const root = await makeRoot()
  await mkdir(join(root, 'repos', 'r'), { recursive: true })
  const disk = await openFileDisk(root)
  const synced = new Set<number>()
  const { fsync } = fileCalls
  fileCalls.fsync = async file => {
    synced.add(fstatSync(file).ino)
    await fsync(file)
  }
  try {
    await disk.setText('repos/r/x', '1')
  } finally {
    fileCalls.fsync = fsync
  }
  for (const folder of [root, join(root, 'repos'), join(root, 'repos', 'r')])
    t.true(synced.has((await stat(folder)).ino), folder)
  await disk.close?.()
})

test('a write that fails leaves the old text and no draft', async t => {
  const root = await makeRoot()
  const disk = await openFileDisk(root)
  await disk.setText('a', 'old')
  await mkdir(join(root, 'folder'))
  t.true(isWalletError(await t.throwsAsync(disk.setText('folder', 'x')), 'STORAGE_FAILED'))
  t.true(isWalletError(await t.throwsAsync(disk.setText('a/below-a-file', 'x')), 'STORAGE_FAILED'))
  t.is(await disk.getText('a'), 'old')
  t.deepEqual(await disk.list(''), ['a'])
  t.deepEqual((await readdir(root)).sort(), ['a', 'folder', 'lock'])
  await disk.close?.()
})

test('a folder that was removed under a running disk is made again', async t => {
  const root = await makeRoot()
  const disk = await openFileDisk(root)
  await disk.setText('a/b', '1')
  await rm(join(root, 'a'), { recursive: true })
  await disk.setText('a/b', '2').catch(() => disk.setText('a/b', '2'))
  t.is(await disk.getText('a/b'), '2')
  await disk.close?.()
})

test('the lock’s own path is no file of the disk', async t => {
  const disk = await openFileDisk(await makeRoot())
  t.true(isWalletError(await t.throwsAsync(disk.setText('lock', 'x')), 'PATH_REFUSED'))
  t.deepEqual(await disk.list(''), [])
  await disk.close?.()
})

test('a second opener waits, then fails and names the holder; after close it gets the folder', async t => {
  const root = await makeRoot()
  const first = await openFileDisk(root, { holder: 'holdfast send' })
  const began = performance.now()
  const error = await t.throwsAsync(openFileDisk(root, { waitMs: 120 }))
  t.true(performance.now() - began >= 115)
  t.true(isWalletError(error, 'STORAGE_LOCKED'))
  t.is(error?.message, `The data folder is in use by holdfast send (process ${process.pid})`)
  const waiting = openFileDisk(root, { waitMs: 60_000 })
  await sleep(20)
  await first.close?.()
  const second = await waiting
  await second.setText('a', '1')
  t.true(isWalletError(await t.throwsAsync(first.setText('a', '2')), 'STORAGE_FAILED'))
  await second.close?.()
})

test('a lock whose process is gone, is another one, or is torn, is taken over; one of another machine is not', async t => {
  const alive = { pid: process.pid, host: hostname(), holder: 'x', started: '', birth: 'boot:1' }
  const cases = [
    [JSON.stringify({ ...alive, pid: 2 ** 22 + 7 }), true],
    [JSON.stringify(alive), process.platform === 'linux'],
    ['{"pid":', true],
    [JSON.stringify({ ...alive, pid: 2 ** 22 + 7, host: 'elsewhere' }), false]
  ] as const
  for (const [lock, isTaken] of cases) {
    const root = await makeRoot()
    await writeFile(join(root, 'lock'), lock)
    const disk = await openFileDisk(root).catch((error: unknown) => {
      t.true(isWalletError(error, 'STORAGE_LOCKED'))
      return undefined
    })
    t.is(disk !== undefined, isTaken, lock)
    await disk?.close?.()
  }
})

test('a lock that keeps older versions out is taken over when its process is gone, and always is of another machine to them', async t => {
  const root = await makeRoot()
  const readLock = async (): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(join(root, 'lock'), 'utf8')) as Record<string, unknown>
  const disk = await openFileDisk(root, { holder: 'holdfast send' })
  const held = await readLock()
  t.like(held, { host: 'a later version of Holdfast', machine: hostname(), holder: 'holdfast send' })
  await disk.close?.()
  t.like(await readLock(), { host: 'a later version of Holdfast', isFree: true })
  // As after a crash.
  await writeFile(join(root, 'lock'), JSON.stringify({ ...held, pid: 2 ** 22 + 7 }))
  await (await openFileDisk(root)).close?.()
  await writeFile(join(root, 'lock'), JSON.stringify({ ...held, machine: 'elsewhere' }))
  await t.throwsAsync(openFileDisk(root), { code: 'STORAGE_LOCKED' })
})

test('while openers take a free folder one after another, its lock is there at each moment', async t => {
  const root = await makeRoot()
  await (await openFileDisk(root)).close?.()
  let isEnd = false
  let looks = 0
  const look = async (): Promise<void> => {
    for (; !isEnd; looks += 1) {
      t.true(existsSync(join(root, 'lock')))
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  const looking = look()
  for (let round = 0; round < 30; round += 1) {
    const results = await Promise.allSettled([openFileDisk(root), openFileDisk(root)])
    for (const result of results) {
      if (result.status === 'fulfilled') await result.value.close?.()
      else t.notRegex(String(result.reason), /later version/, 'the holder is no free lock')
    }
  }
  isEnd = true
  await looking
  t.true(looks > 30)
})

test.serial('a folder is free for others after a release on a full disk, too', async t => {
  const root = await makeRoot()
  const { writeFileSync } = fs
  const disk = await openFileDisk(root)
  fs.writeFileSync = () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  syncBuiltinESMExports()
  try {
    await disk.close?.()
  } finally {
    fs.writeFileSync = writeFileSync
    syncBuiltinESMExports()
  }
  await (await openFileDisk(root)).close?.()
  t.deepEqual(await readdir(root), ['lock'])
})

test('of many openers exactly one gets a stale lock, and the others fail because it is held', async t => {
  for (let round = 0; round < 60; round += 1) {
    const root = await makeRoot()
    await writeFile(join(root, 'lock'), '{"pid":')
    // One process in two has died in the middle of taking it over.
    if (round % 2 === 0) await writeFile(join(root, 'lock.guard.~tmp'), '{"pid":')
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => openFileDisk(root)))
    const held = results.filter(result => result.status === 'fulfilled')
    t.is(held.length, 1, `${round}`)
    for (const result of results)
      if (result.status === 'rejected') t.true(isWalletError(result.reason, 'STORAGE_LOCKED'))
    for (const { value } of held) await value.close?.()
    t.deepEqual(await readdir(root), ['lock'])
  }
})

test.serial(
  'taking over a stale lock leaves the guard file of another process that does the same',
  async t => {
    const stale = '{"pid":'
    const live = JSON.stringify({ pid: process.pid, host: hostname(), holder: 'x', started: '', birth: '' })
    const { readFile: plainRead, rm: plainRemove } = promises
    t.teardown(() => {
      Object.assign(promises, { readFile: plainRead, rm: plainRemove })
      syncBuiltinESMExports()
    })
    // The other comes when a stale guard was just read, or when its own guard was lost.
    for (const isGuarded of [true, false]) {
      const root = await makeRoot()
      const guard = join(root, 'lock.guard.~tmp')
      await writeFile(join(root, 'lock'), stale)
      if (isGuarded) await writeFile(guard, stale)
      let came = 0
      const come = async (): Promise<void> => {
        came += 1
        await writeFile(guard, live)
      }
      Object.assign(promises, {
        async readFile(path: string, encoding: BufferEncoding) {
          const text = await plainRead(path, encoding)
          if (isGuarded && path === guard && came === 0) await come()
          return text
        },
        async rm(path: string, options: object) {
          await plainRemove(path, options)
          // The draft of the guard goes when the guard is there.
          if (!isGuarded && path.startsWith(`${guard}.`)) await come()
        }
      })
      syncBuiltinESMExports()
      const lock = await lockFolder(root).catch((error: unknown) => {
        t.true(isWalletError(error, 'STORAGE_LOCKED'))
        return undefined
      })
      t.is(came, 1)
      t.is(await plainRead(guard, 'utf8').catch(() => 'removed'), live)
      t.is(lock === undefined, isGuarded)
      await lock?.release()
    }
  }
)

test.serial('a write whose name the disk does not confirm fails, and says that it may be saved', async t => {
  const disk = await openFileDisk(await makeRoot())
  await disk.setText('logins/a.json', 'old')
  const { fsync } = fileCalls
  let count = 0
  fileCalls.fsync = async file => {
    count += 1
    if (count > 1) throw Object.assign(new Error('i/o error'), { code: 'EIO' })
    await fsync(file)
  }
  try {
    const error = await t.throwsAsync<WalletError<'STORAGE_FAILED'>>(disk.setText('logins/a.json', 'new'))
    t.deepEqual(error?.details, { path: 'logins/a.json', reason: 'EIO', mayBeSaved: true })
    count = 1
    const before = await t.throwsAsync<WalletError<'STORAGE_FAILED'>>(disk.setText('logins/a.json', 'newest'))
    t.deepEqual(error && before?.details, { path: 'logins/a.json', reason: 'EIO' })
  } finally {
    fileCalls.fsync = fsync
  }
  t.is(await disk.getText('logins/a.json'), 'new')
  await disk.close?.()
})

test('a process that exits in the middle of a write leaves its lock, which the next opener takes over', async t => {
  const root = await makeRoot()
  const module = (path: string): string =>
    new URL(`../../../plugins/storage/file/${path}`, import.meta.url).href
  const code = `
    import { fileCalls } from '${module('file-store.js')}'
    import { openFileDisk } from '${module('file-storage.js')}'
    const disk = await openFileDisk(process.argv[1])
    fileCalls.fsync = async () => process.exit()
    await disk.setText('logins/a.json', 'late')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, root], { stdio: 'inherit' })
  await new Promise(resolve => child.once('exit', resolve))
  t.true(existsSync(join(root, 'lock')))
  const disk = await openFileDisk(root)
  t.is(await disk.getText('logins/a.json'), undefined)
  await disk.close?.()
  t.true((await readFile(join(root, 'lock'), 'utf8')).includes('"isFree":true'))
})

test('a process killed with SIGKILL during a write leaves whole files, the newest acknowledged text, and no lock', async t => {
  const root = await makeRoot()
  const writer = fileURLToPath(new URL('../../helpers/disk-writer.js', import.meta.url))
  let total = 0
  for (let round = 0; round < 5; round += 1) {
    const child = spawn(process.execPath, [writer, root], { stdio: ['ignore', 'pipe', 'inherit'] })
    let reported = ''
    child.stdout.on('data', (data: Buffer) => {
      reported += data.toString()
    })
    const exited = new Promise(resolve => child.once('exit', resolve))
    for (let i = 0; i < 1500 && !reported.includes('\n'); i += 1) await sleep(20)
    await sleep(30 + round * 17)
    t.true(isWalletError(await t.throwsAsync(openFileDisk(root)), 'STORAGE_LOCKED'))
    child.kill('SIGKILL')
    await exited
    const acknowledged = Number(reported.trimEnd().split('\n').at(-1))
    total += acknowledged
    const disk = await openFileDisk(root)
    for (const path of await disk.list('')) {
      const { count, filler } = JSON.parse((await disk.getText(path)) ?? '') as {
        count: number
        filler: string
      }
      t.is(filler, String(count).repeat(20_000), path)
      if (path === 'logins/one.json') t.true(count >= acknowledged, `${count} < ${acknowledged}`)
    }
    t.deepEqual(
      (await readdir(join(root, 'many'))).filter(name => name.includes('~')),
      []
    )
    await disk.close?.()
  }
  t.true(total > 20, `only ${total} writes were made before the kills`)
})

test.serial(
  'a file is durable before it gets its name, and writes at one time share the fsync of their folder',
  async t => {
    const root = await makeRoot()
    const disk = await openFileDisk(root)
    const { fsync } = fileCalls
    const synced = { files: 0, folders: 0 }
    let wasNamed = false
    fileCalls.fsync = async file => {
      const info = fstatSync(file)
      if (info.isDirectory()) synced.folders += 1
      else if (info.size > 0) {
        synced.files += 1
        wasNamed ||= synced.files === 1 && existsSync(join(root, 'a', 'first'))
      }
      return fsync(file)
    }
    t.teardown(() => {
      fileCalls.fsync = fsync
    })
    await disk.setText('a/first', 'x')
    t.is(synced.files, 1, 'with its text in it')
    t.false(wasNamed)
    const before = synced.folders
    t.true(before >= 2, 'the folder and its own name in the root')
    await disk.setText('a/second', 'x')
    t.is(synced.folders, before + 1)
    await Promise.all(Array.from({ length: 60 }, (_, at) => disk.setText(`a/${at}`, 'x')))
    t.is(synced.files, 62)
    t.true(
      synced.folders > before + 1 && synced.folders < before + 31,
      `${synced.folders - before} for 61 files`
    )
    const beforeDeletion = synced.folders
    await disk.delete('a/first')
    t.is(synced.folders, beforeDeletion + 1)
    await disk.close?.()
  }
)
