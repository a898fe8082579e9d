import test from 'ava'
import { isWalletError, WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import { openRepoStore } from '../../../kernel/repo/store/open-store.ts'
import { storeDisk } from '../../../kernel/store/store-disk.ts'
import { BULK, PREFIX } from '../../../kernel/sync/repo-record.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { makePluginStore } from '../../helpers/plugin-store.ts'
import { boxOf, type Device, dataKey, openDevice, repoId } from '../../helpers/repo-device.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeShakyDisk } from '../../helpers/shaky-disk.ts'
import { makeSyncStore, type SyncStore } from '../../helpers/sync-store.ts'

/** A disk whose writes wait while it is held, and then fail. */
const makeHeldDisk = (files = new Map<string, string>()) => {
  let held: Promise<void> | undefined
  let fail = (): void => {}
  const disk = makeFaultDisk(files)
  const setText: Disk['setText'] = async (path, text) => {
    if (held === undefined) return disk.setText(path, text)
    await held
    throw new WalletError('STORAGE_FULL', { path })
  }
  return {
    disk: { ...disk, setText },
    hold(): void {
      held = new Promise(resolve => {
        fail = resolve
      })
    },
    fail(): void {
      held = undefined
      fail()
    }
  }
}

/** Lets everything happen that waits for nothing else. */
const settle = async ({ clock }: Device): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await clock.turn()
}

const uploadsOf = (store: SyncStore): number => store.calls.filter(({ method }) => method === 'POST').length

test('a reply is not merged with a write that then fails', async t => {
  const store = makeSyncStore()
  const held = makeHeldDisk()
  const [a, b] = [await openDevice(store, { disk: held.disk }), await openDevice(store)]
  await setText(a.repo, 's.json', '{"x":0}')
  await a.sync()
  await b.sync()
  await setText(b.repo, 's.json', '{"x":2}')
  await b.sync()
  held.hold()
  const write = t.throwsAsync(setText(a.repo, 's.json', '{"x":0,"y":1}'), { code: 'STORAGE_FULL' })
  const syncing = a.sync()
  await settle(a)
  held.fail()
  await write
  await syncing
  t.deepEqual(await a.json('s.json'), { x: 2 })
  t.is(a.repo.pendingCount, 0)
})

test('a write is sent once it is durable, and never if it fails', async t => {
  const store = makeSyncStore()
  const held = makeHeldDisk()
  const device = await openDevice(store, { disk: held.disk })
  let write: Promise<unknown> | undefined
  const stop = device.repo.onServerChange(() => {
    held.hold()
    write = t.throwsAsync(setText(device.repo, 'f', '1'), { code: 'STORAGE_FULL' })
  })
  store.put({ theirs: boxOf('1') })
  const syncing = device.sync()
  await settle(device)
  t.truthy(write)
  t.is(uploadsOf(store), 0)
  stop()
  held.fail()
  await write
  t.deepEqual(await syncing, { sent: [], changed: ['theirs'] })
  t.is(uploadsOf(store), 0)
  await setText(device.repo, 'f', '2')
  t.deepEqual((await device.sync()).sent, ['f'])
})

test('nothing is sent while a failed write may be on the disk all the same', async t => {
  const store = makeSyncStore()
  const files = new Map<string, string>()
  const disk = makeShakyDisk(files, 1)
  const device = await openDevice(store, { disk })
  await setText(device.repo, 'f', '1')
  await device.sync()
  const before = uploadsOf(store)
  await setText(device.repo, 'g', '1')
  let write: Promise<unknown> | undefined
  const stop = device.repo.onServerChange(() => {
    disk.fail({ call: 'set', at: 1, arrives: true })
    disk.fail({ call: 'delete', at: 1, arrives: false })
    write = t.throwsAsync(setText(device.repo, 'f', '2'), { code: 'STORAGE_FAILED' })
  })
  store.put({ theirs: boxOf('1') })
  await t.throwsAsync(device.sync(), { code: 'STORAGE_FAILED' })
  await write
  stop()
  t.is(uploadsOf(store), before)
  t.deepEqual((await device.sync()).sent, ['g'])
  t.is(await (await openDevice(store, { files: new Map(files) })).repo.getText('f'), '1')
})

test('a file that does not open can be deleted, here and on the server', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ bad: { ...boxOf('2'), iv_hex: '00'.repeat(16) } })
  await device.sync()
  await deleteFile(device.repo, 'bad')
  t.deepEqual((await device.sync()).sent, ['bad'])
  t.deepEqual([...store.files.keys()], [])
})

test('the revision of a write is that of the repo, and an equal text has none', async t => {
  const { repo } = await openDevice(makeSyncStore())
  const write = () => repo.write({ texts: new Map([['f', '1']]) })
  const { revision } = await write()
  t.is(typeof revision, 'number')
  t.is(repo.revision, revision ?? -1)
  t.deepEqual(await write(), { isStale: false, revision: undefined })
  t.is(repo.revision, revision ?? -1)
})

test('an edit of a file that waits already is no news for those who watch the state', async t => {
  const { repo } = await openDevice(makeSyncStore())
  let notices = 0
  repo.state.subscribe(() => {
    notices += 1
  })
  await setText(repo, 'f', '1')
  t.is(notices, 1)
  await setText(repo, 'f', '2')
  t.is(notices, 1)
})

test('old and misplaced files of one reply count together as what the server took back', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store, { belongsAt: (_path, { theirs }) => theirs !== 'elsewhere' })
  await setText(device.repo, 'a', '1')
  await setText(device.repo, 'b', '1')
  await device.sync()
  const old = store.files.get('b') ?? null
  await setText(device.repo, 'b', '2')
  await device.sync()
  store.put({ a: boxOf('elsewhere'), b: old })
  await device.sync()
  t.is(device.repo.state.getSnapshot().rolledBackFiles, 2)
  t.deepEqual(
    device.reports.flatMap(error => (isWalletError(error, 'SYNC_OLD_STATE') ? [error.details.files] : [])),
    [2]
  )
  t.deepEqual(await device.repo.getTexts(['a', 'b']), ['1', '2'])
})

for (const [byte, refused] of [
  [0, 5],
  [16, 20],
  [240, 6]
] as const) {
  test(`chance decides which files of a first download are opened at once: ${byte} of 256`, async t => {
    const store = makeSyncStore()
    const { random } = (await openDevice(store)).io
    const device = await openDevice(store, {
      random: count => (count === 1 ? Uint8Array.of(byte) : random(count))
    })
    const bad = { ...boxOf('1'), iv_hex: '00'.repeat(16) }
    store.put(Object.fromEntries(Array.from({ length: 220 }, (_, n) => [`f${n}`, bad])))
    await device.sync()
    t.deepEqual(
      device.reports.flatMap(error => (isWalletError(error, 'REPO_LIMIT') ? [error.details.count] : [])),
      [refused]
    )
  })
}

test('what a file was before is forgotten a day later, with the next sync that changes something', async t => {
  const files = new Map<string, string>()
  const device = await openDevice(makeSyncStore(), { files })
  await setText(device.repo, 'first', '1')
  await device.sync()
  await device.clock.advance(25 * 3_600_000)
  await setText(device.repo, 'second', '1')
  await device.sync()
  await device.repo.close()
  const folder = `repos/${repoId}`
  const disk = makeFaultDisk(files)
  const store = await openRepoStore({
    ...{ io: device.io, disk, folder, bulk: BULK, paths: await disk.list(folder) },
    key: new Secret(dataKey.slice()),
    report: error => t.fail(`${error}`)
  })
  t.deepEqual(
    [...store.entries(PREFIX.past)].map(([key]) => key.slice(PREFIX.past.length)),
    ['second']
  )
})

test('a change whose answer the storage lost goes up once it can be read again, if it was made', async t => {
  const medium = makePluginStore()
  const server = makeSyncStore()
  const device = await openDevice(server, { disk: storeDisk(medium) })
  await setText(device.repo, 'first', 'x')
  await device.sync()
  medium.fate = 'lost but made'
  medium.keysFailure = new Error('The database is gone')
  await t.throwsAsync(setText(device.repo, 'note', 'mine'), { code: 'STORAGE_FAILED' })
  medium.fate = 'made'
  medium.keysFailure = undefined
  await setText(device.repo, 'other', 'x')
  t.is(await device.repo.getText('note'), 'mine')
  t.is(device.repo.pendingCount, 2)
  await device.sync()
  const another = await openDevice(server)
  await another.sync()
  t.is(await another.repo.getText('note'), 'mine')
})
