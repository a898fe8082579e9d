import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import { EditCount } from '../../../kernel/sync/edit-count.ts'
import { covers } from '../../../kernel/sync/lineage.ts'
import { RepoBoxes } from '../../../kernel/sync/repo-boxes.ts'
import { isTombstonePath, Tombstones, tombstoneKey } from '../../../kernel/sync/tombstones.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf, type Device, dataKey, openDevice } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore, type SyncStore } from '../../helpers/sync-store.ts'

const PATH = 's.json'

/** Devices that have the same file. */
const devicesWith = async (store: SyncStore, text: string, count: number = 2): Promise<Device[]> => {
  const devices: Device[] = []
  for (let n = 0; n < count; n += 1) devices.push(await openDevice(store))
  const [first] = devices
  if (first !== undefined) await setText(first.repo, PATH, text)
  for (const device of devices) await device.sync()
  return devices
}

/** Runs a task when the next upload has left, before the server sees it. */
const beforeUpload = (store: SyncStore, task: () => Promise<unknown>): void => {
  store.fault = async ({ method }) => {
    if (method !== 'POST') return undefined
    store.fault = undefined
    await task()
    return undefined
  }
}

const settle = async (...devices: readonly Device[]): Promise<void> => {
  for (let round = 0; round < 3; round += 1) for (const device of devices) await device.sync()
}

const tombstonePaths = (store: SyncStore): string[] => [...store.files.keys()].filter(isTombstonePath)

const textsOf = (devices: readonly Device[]): Promise<unknown[]> =>
  Promise.all(devices.map(device => device.json(PATH)))

test('an edit concurrent with a deletion stays on every device, and nothing is reported', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1,"y":1}', 3)
  const [a, b, c] = devices as [Device, Device, Device]
  await setText(a.repo, PATH, '{"x":2,"y":1}')
  await deleteFile(b.repo, PATH)
  // B deletes what it has read; A's edit and C's reading of it come in between.
  beforeUpload(store, async () => {
    await a.sync()
    await c.sync()
  })
  await b.sync()
  t.false(store.files.has(PATH))
  await settle(a, b, c)
  t.deepEqual(await textsOf(devices), [
    { x: 2, y: 1 },
    { x: 2, y: 1 },
    { x: 2, y: 1 }
  ])
  for (const device of devices) {
    t.deepEqual(device.reports, [])
    t.deepEqual(await device.repo.list(''), [PATH])
    t.is(device.repo.pendingCount, 0)
  }
  t.is(a.repo.state.getSnapshot().mergedCount, 1)
  t.is(a.repo.state.getSnapshot().doubtfulCount, undefined)
})

test('a text that was deleted does not come back with an edit of another device that gave way to it', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await setText(b.repo, PATH, '"first"')
  for (const { clock } of [a, b]) await clock.advance(5000)
  await setText(a.repo, PATH, '"second"')
  await a.sync()
  await deleteFile(a.repo, PATH)
  await b.sync()
  t.is(await b.json(PATH), 'second')
  await settle(a, b)
  t.deepEqual(await textsOf([a, b]), [null, null])
  t.false(store.files.has(PATH))
})

test('what a deletion knew does not come back with an edit that undid it, on a device that had synced before both', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"y":1}', 3)
  const [a, b, c] = devices as [Device, Device, Device]
  await setText(a.repo, PATH, '{"x":1,"y":1}')
  await a.sync()
  await b.sync()
  await setText(c.repo, PATH, '{"y":2}')
  await deleteFile(b.repo, PATH)
  await b.sync()
  await c.sync()
  t.deepEqual(await c.json(PATH), { y: 2 })
  // Who deletes the file there has seen all of it.
  await deleteFile(c.repo, PATH)
  await a.sync()
  t.deepEqual(await a.json(PATH), { y: 2 })
  await settle(c, a, b)
  t.deepEqual(await textsOf(devices), [null, null, null])
  for (const device of devices) t.is(device.repo.pendingCount, 0)
})

test('a deleted text stays if another app writes it meanwhile, or a device creates the file again', async t => {
  const made = makeSyncStore()
  await devicesWith(made, '{"x":1}', 1)
  for (const box of [boxOf('{"x":1}'), made.files.get(PATH) as Box]) {
    const store = makeSyncStore()
    const [a] = (await devicesWith(store, '{"x":1}', 1)) as [Device]
    await deleteFile(a.repo, PATH)
    store.put({ [PATH]: box })
    await settle(a)
    t.deepEqual(await a.json(PATH), { x: 1 })
    t.deepEqual(store.files.get(PATH), box)
  }
})

test('a deletion that knew the newest edit deletes it everywhere, and nothing is reported', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}', 3)
  const [a, b] = devices as [Device, Device, Device]
  await setText(a.repo, PATH, '{"x":2}')
  await a.sync()
  await b.sync()
  await deleteFile(b.repo, PATH)
  await settle(b, ...devices)
  t.deepEqual(await textsOf(devices), [null, null, null])
  for (const device of devices) t.deepEqual(device.reports, [])
})

test('a file that is deleted, created and deleted again is deleted, and an edit concurrent with that stays', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}')
  const [a, b] = devices as [Device, Device]
  for (const text of ['{"x":2}', '{"x":3}']) {
    await deleteFile(b.repo, PATH)
    await settle(b, a)
    t.deepEqual(await textsOf(devices), [null, null])
    await setText(a.repo, PATH, text)
    await settle(a, b)
    t.deepEqual(await textsOf(devices), [JSON.parse(text), JSON.parse(text)])
  }
  await setText(a.repo, PATH, '{"x":4}')
  await deleteFile(b.repo, PATH)
  beforeUpload(store, () => a.sync())
  await b.sync()
  await settle(a, b)
  t.deepEqual(await textsOf(devices), [{ x: 4 }, { x: 4 }])
})

test('a device that receives the deletion long after its edit keeps the edit', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}')
  const [a, b] = devices as [Device, Device]
  await setText(a.repo, PATH, '{"x":2}')
  await deleteFile(b.repo, PATH)
  beforeUpload(store, () => a.sync())
  await b.sync()
  await a.clock.advance(30 * 24 * 3600 * 1000)
  const later = await a.reopen()
  await settle(later, b)
  t.deepEqual(await textsOf([later, b]), [{ x: 2 }, { x: 2 }])
})

test('an edit whose answer was lost is not sent again when a deletion knew it', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}')
  const [a, b] = devices as [Device, Device]
  await setText(a.repo, PATH, '{"x":2}')
  store.beforeAnswer = () => Promise.reject(new Error('The line broke'))
  await t.throwsAsync(a.sync())
  store.beforeAnswer = undefined
  await b.sync()
  await deleteFile(b.repo, PATH)
  await settle(b, a)
  t.deepEqual(await textsOf(devices), [null, null])
  t.deepEqual(
    a.repo.keptFiles().map(({ keptId }) => a.repo.keptText(keptId)),
    ['{"x":2}']
  )
})

test('a deletion that is concurrent with another one still records the edits that it knew', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}', 3)
  const [a, b, c] = devices as [Device, Device, Device]
  await setText(a.repo, PATH, '{"x":2}')
  await deleteFile(b.repo, PATH)
  beforeUpload(store, async () => {
    await a.sync()
    await c.sync()
  })
  await b.sync()
  // A deletes what it knows, and C has the same version.
  await deleteFile(a.repo, PATH)
  await settle(a, c, b)
  t.deepEqual(await textsOf(devices), [null, null, null])
})

test('a device that sends again what was deleted meanwhile is answered with the deletion', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}')
  const [a, b] = devices as [Device, Device]
  const box = store.files.get(PATH) as Box
  await deleteFile(b.repo, PATH)
  await settle(b, a)
  store.put({ [PATH]: box })
  await settle(a, b)
  t.deepEqual(await textsOf(devices), [null, null])
  t.false(store.files.has(PATH))
})

test('a tombstone that the server has lost is sent again with the next deletion of the file', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}')
  const [a, b] = devices as [Device, Device]
  await deleteFile(b.repo, PATH)
  await b.sync()
  for (const path of tombstonePaths(store)) store.files.delete(path)
  // What is left is the tombstone of a deletion that knew nothing.
  store.put({ 'Deletions/other.json': JSON.parse(sealed(textWith({ ...good, edits: [] }))) as Box })
  await a.sync()
  t.true(store.files.has(PATH))
  await settle(b, a)
  t.deepEqual(await textsOf(devices), [null, null])
})

test('a deleted file that is restored from the kept texts stays', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}')
  const [a, b] = devices as [Device, Device]
  await deleteFile(b.repo, PATH)
  await settle(b, a)
  await a.repo.restoreKept(a.repo.keptFiles()[0]?.keptId ?? '')
  await settle(a, b)
  t.deepEqual(await textsOf(devices), [{ x: 1 }, { x: 1 }])
})

test('a null without a tombstone still deletes a file, and shortly after an edit that is reported', async t => {
  const store = makeSyncStore()
  const [a] = (await devicesWith(store, '{"x":1}')) as [Device]
  await setText(a.repo, PATH, '{"x":2}')
  await a.sync()
  store.put({ [PATH]: null })
  await a.sync()
  t.is(await a.json(PATH), null)
  t.is(a.reports.length, 1)
  t.is((a.reports[0] as WalletError).code, 'SYNC_CONFLICT')
  t.is(a.repo.state.getSnapshot().mergedCount, undefined)
  t.is(a.repo.state.getSnapshot().doubtfulCount, 1)
})

test('another app can delete a file that was deleted once and created again', async t => {
  const store = makeSyncStore()
  const devices = await devicesWith(store, '{"x":1}')
  const [a, b] = devices as [Device, Device]
  await deleteFile(b.repo, PATH)
  await settle(b, a)
  await setText(a.repo, PATH, '{"x":2}')
  await settle(a, b)
  store.put({ [PATH]: null })
  await settle(a, b)
  t.deepEqual(await textsOf(devices), [null, null])
  t.false(store.files.has(PATH))
  // It has not said that it knew of the edit.
  t.is((a.reports[0] as WalletError).code, 'SYNC_CONFLICT')
})

test('tombstones of a refused reply are kept when the reply comes again', async t => {
  const store = makeSyncStore()
  const [a, b] = (await devicesWith(store, '{"x":1}')) as [Device, Device]
  const others = Array.from({ length: 60 }, (_, n) => `f/${n}.json`)
  await b.repo.write({ texts: new Map(others.map(path => [path, '{}'])) })
  await settle(b, a)
  const files = Object.fromEntries(store.files)
  await deleteFile(b.repo, PATH)
  await b.sync()
  store.put(Object.fromEntries(others.map(path => [path, null])))
  await t.throwsAsync(a.sync(), { message: /would delete 60/ })
  t.deepEqual(await a.json(PATH), { x: 1 })
  store.put(files)
  await a.sync()
  const { repo } = await a.reopen()
  const paths: string[] = []
  for await (const { path } of repo.records()) paths.push(path)
  t.deepEqual(paths.filter(isTombstonePath), tombstonePaths(store))
})

test('tombstones that a full disk could not take are kept when they come again', async t => {
  const store = makeSyncStore()
  const [b] = (await devicesWith(store, '{"x":1}', 1)) as [Device]
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const a = await openDevice(store, { files, disk })
  await a.sync()
  await deleteFile(b.repo, PATH)
  await b.sync()
  disk.strike({ at: 1, kind: 'full' })
  await t.throwsAsync(a.sync(), { code: 'STORAGE_FULL' })
  t.true(disk.hasFired)
  await a.sync()
  const { repo } = await openDevice(store, { files })
  const paths: string[] = []
  for await (const { path } of repo.records()) paths.push(path)
  t.deepEqual(paths.filter(isTombstonePath), tombstonePaths(store))
})

test('a repo without deletions has no tombstones, and a deletion that never left needs none', async t => {
  const store = makeSyncStore()
  const [a] = (await devicesWith(store, '{"x":1}')) as [Device]
  await setText(a.repo, 't.json', '{}')
  await deleteFile(a.repo, 't.json')
  await a.sync()
  t.deepEqual([...store.files.keys()], [PATH])
})

test('tombstones are sent with the deletion, are no files of the repo, and are not shown on a new device', async t => {
  const store = makeSyncStore()
  const [a] = (await devicesWith(store, '{"x":1}')) as [Device]
  await setText(a.repo, 't.json', '{}')
  await a.sync()
  await deleteFile(a.repo, PATH)
  const { sent } = await a.sync()
  const [path = ''] = tombstonePaths(store)
  t.deepEqual(store.calls.at(-1)?.paths.toSorted(), [path, PATH].toSorted())
  t.deepEqual(sent, [PATH])
  const fresh = await openDevice(store)
  const { changed } = await fresh.sync()
  t.deepEqual(changed, ['t.json'])
  for (const { repo } of [a, fresh]) {
    t.deepEqual(await repo.list(''), ['t.json'])
    t.is(await repo.getText(path), undefined)
  }
})

test('many deletions leave few files of tombstones, and the first is still known', async t => {
  const store = makeSyncStore()
  const [a, b] = (await devicesWith(store, '{"x":1}')) as [Device, Device]
  const others = Array.from({ length: 40 }, (_, n) => `f/${n}.json`)
  await b.repo.write({ texts: new Map(others.map(path => [path, '{}'])) })
  await settle(a, b)
  await setText(a.repo, PATH, '{"x":2}')
  await deleteFile(b.repo, PATH)
  beforeUpload(store, () => a.sync())
  await b.sync()
  for (const path of others) {
    await deleteFile(b.repo, path)
    await b.sync()
    t.true(tombstonePaths(store).length <= 16)
  }
  const late = await openDevice(store)
  await settle(late, a, b)
  for (const { repo } of [a, b, late]) {
    t.deepEqual(await repo.list(''), [PATH])
    t.is(await repo.getText(PATH), '{"x":2}')
  }
})

const io = makeRepoIo()
const boxes = new RepoBoxes(io, new Secret(dataKey.slice()))
const empty = { entries: () => [][Symbol.iterator]() }
const tombstones = (): Tombstones => new Tombstones({ io, store: empty as never, boxes })
const sealed = (text: string): string => boxes.seal(text, { lineage: new Map(), stamps: new Map() })
const good = { path: PATH, at: 1, edits: [['0123456789ab', 5]] }
const textWith = (...deletions: readonly unknown[]): string => JSON.stringify({ deletions })

test('only a box that is sealed for tombstones and contains nothing else counts as tombstones', t => {
  const bad: readonly string[] = [
    ...['', '[]', '{}', 'null', '{"deletions":{}}', textWith(null), textWith(good, 1)],
    textWith({ ...good, path: '../x' }),
    textWith({ ...good, path: 7 }),
    textWith({ ...good, at: 'x' }),
    textWith({ ...good, edits: [['0123456789ab', 1.5]] }),
    textWith({ ...good, edits: [['0123456789AB', 1]] }),
    textWith({ ...good, edits: [['0123456789ab']] }),
    textWith({ ...good, edits: {} }),
    textWith({ ...good, edits: [null] }),
    textWith({ ...good, edits: [{ ...good.edits[0], length: 2 }] }),
    textWith(good).replace('"at":1', '"at":1e999'),
    textWith(...Array.from({ length: 1001 }, () => good))
  ]
  const edited = boxes.seal(textWith(good), new EditCount(io).next(undefined, []))
  const others = [edited, JSON.stringify(boxOf(textWith(good))), '{"encryptionType":0}']
  for (const box of [...bad.map(sealed), ...others]) {
    const known = tombstones()
    t.is(known.ingest({ sent: new Map(), changes: new Map([['Deletions/a.json', box]]) }).writes.size, 0)
    t.deepEqual(known.of(PATH), [])
  }
  const known = tombstones()
  t.is(
    known.ingest({ sent: new Map(), changes: new Map([['Deletions/a.json', sealed(textWith(good))]]) }).writes
      .size,
    1
  )
  t.deepEqual(known.of(PATH), [new Map([['0123456789ab', 5]])])
  t.deepEqual(known.of('t.json'), [])
})

test('a tombstone is found behind six hundred other paths, joins known ones, and no other file is taken for one', t => {
  const known = tombstones()
  const box = sealed(textWith(good))
  const others = Array.from({ length: 300 }, (_, n) => [`f/${n}.json`, box] as const)
  const gone = Array.from({ length: 300 }, (_, n) => [`Deletions/${n}.json`, null] as const)
  const first = known.ingest({
    sent: new Map(),
    changes: new Map([...others, ...gone, ['Deletions/a.json', box]])
  })
  t.deepEqual([...first.writes.keys()], [tombstoneKey('Deletions/a.json')])
  t.is(known.of(PATH).length, 1)
  const later = sealed(textWith({ ...good, edits: [['ba9876543210', 7]] }))
  known.ingest({ sent: new Map(), changes: new Map([['Deletions/b.json', later]]) })
  t.deepEqual(known.of(PATH), [new Map([['0123456789ab', 5]]), new Map([['ba9876543210', 7]])])
})

test('a stored tombstone that is damaged hides no other one', t => {
  const entries: [string, string][] = [
    [tombstoneKey('Deletions/a.json'), 'rubbish'],
    [tombstoneKey('Deletions/b.json'), sealed(textWith(good))]
  ]
  const known = new Tombstones({ io, store: { entries: () => entries[Symbol.iterator]() } as never, boxes })
  t.is(known.of(PATH).length, 1)
  t.deepEqual(known.of('other'), [])
})

test('what went up from here is kept also if no reply repeats it, and only what others deleted is named', t => {
  const [own, theirs] = ['own', 'theirs'].map(path => sealed(textWith({ ...good, path }))) as [string, string]
  const known = tombstones()
  const sent = new Map([['Deletions/own.json', own]])
  const { writes, named } = known.ingest({ sent: new Map(), changes: new Map(), tombstones: sent })
  t.deepEqual([...writes.keys()], [tombstoneKey('Deletions/own.json')])
  t.deepEqual([...named], [])
  t.is(known.of('own').length, 1)
  const changes = new Map([...sent, ['Deletions/theirs.json', theirs]])
  t.deepEqual([...known.ingest({ sent: new Map(), changes, tombstones: sent }).named], ['theirs'])
})

test('of the deletions of one file those stay that knew what no later one knew', t => {
  const known = tombstones()
  const of = (session: string, count: number): Map<string, number> => new Map([[session.repeat(12), count]])
  const deletions = [of('a', 1), of('b', 1), of('a', 3), of('b', 2), of('a', 2)].map((lineage, at) => ({
    ...{ path: PATH, lineage, at }
  }))
  known.ingest({ sent: new Map(), changes: known.seal(deletions, 0) })
  t.deepEqual(known.of(PATH), [of('a', 2), of('b', 2), of('a', 3)])
})

test('a file of tombstones is never replaced under its name', t => {
  const known = tombstones()
  const take = (box: string | null): number =>
    known.ingest({ sent: new Map(), changes: new Map([['Deletions/a.json', box]]) }).writes.size
  take(sealed(textWith(good)))
  t.is(take(sealed(textWith())), 0)
  t.is(known.of(PATH).length, 1)
  t.is(take(null), 1)
  t.is(known.of(PATH).length, 0)
})

test('tombstones do not keep the reply in memory that they came with', t => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const known = tombstones()
  const usedAfter = (task: () => void): number => {
    collect()
    const before = process.memoryUsage().heapUsed
    task()
    collect()
    return process.memoryUsage().heapUsed - before
  }
  const writes: ReadonlyMap<string, string | null>[] = []
  const used = usedAfter(() => {
    const [path, box] = ['Deletions/0011223344556677.json', sealed(textWith(good))]
    const reply = JSON.stringify(['x'.repeat(20_000_000), path, JSON.parse(box)])
    const at = reply.indexOf(path)
    const changes = new Map([[reply.slice(at, at + path.length), reply.slice(reply.indexOf(box), -1)]])
    writes.push(known.ingest({ sent: new Map(), changes }).writes)
  })
  t.is(writes[0]?.size, 1)
  t.is(known.of(PATH).length, 1)
  t.true(used < 5_000_000, `${used} bytes`)
})

test('only some boxes of a reply full of false tombstones are opened', t => {
  let opened = 0
  const open = (): undefined => {
    opened += 1
    return undefined
  }
  const known = new Tombstones({ io, store: empty as never, boxes: { ...boxes, open } as never })
  const names = Array.from({ length: 10_000 }, (_, n) => `Deletions/${n}.json`)
  known.ingest({ sent: new Map(), changes: new Map(names.map(name => [name, '{}'])) })
  t.true(opened > 16 && opened <= 200, `${opened} opened`)
})

test('a deletion that knew the edits of more sessions than it has room for knows them all', t => {
  const known = tombstones()
  const sessions = Array.from({ length: 100 }, (_, n) => [`aaaaaaaa${1001 + 2 * n}`, 200 - n] as const)
  const lineage = new Map(sessions)
  known.ingest({ sent: new Map(), changes: known.seal([{ path: PATH, at: 1, lineage }], 1000) })
  const [read] = known.of(PATH)
  t.true(read !== undefined && read.size <= 64)
  t.true(covers(read ?? new Map(), lineage))
})

test('merged tombstones are the newest thousand of the last 90 days, without those that another one covers', t => {
  const known = tombstones()
  const day = 24 * 3600
  const now = 1000 * day
  const lineage = (count: number): Map<string, number> => new Map([['0123456789ab', count]])
  const take = (sent: ReadonlyMap<string, string | null>): void => {
    known.ingest({ sent: new Map(), changes: sent })
  }
  for (let n = 0; n < 16; n += 1) {
    const at = n === 0 ? now - 91 * day : now - 100 + n
    const many = Array.from({ length: n === 1 ? 1 : 90 }, (_, i) => ({
      path: `${n}/${i}`,
      at,
      lineage: lineage(1)
    }))
    take(known.seal(many, at * 1000))
  }
  const last = { path: '1/0', at: now, lineage: lineage(2) }
  const sent = known.seal([last], now * 1000)
  t.is([...sent.values()].filter(box => box === null).length, 16)
  take(sent)
  t.deepEqual(known.of('0/0'), [])
  t.deepEqual(known.of('1/0'), [lineage(2)])
  t.is(known.of('15/0').length, 1)
  t.is(known.of('2/0').length, 0, 'beyond a thousand')
  t.is(known.seal([last], now * 1000).size, 1, 'it is said once more')
})

test('a file of tombstones has those of one upload, until sixteen files are merged', t => {
  const known = tombstones()
  const lineage = new Map([['0123456789ab', 1]])
  const namesIn = (sent: ReadonlyMap<string, string | null>): string[] =>
    [...sent.values()].flatMap(box => {
      const { deletions } = JSON.parse((box && boxes.open(box)?.text) ?? '{"deletions":[]}')
      return (deletions as { path: string }[]).map(({ path }) => path)
    })
  t.is(known.seal([], 0).size, 0)
  for (let n = 0; n < 17; n += 1) {
    const sent = known.seal([{ path: `${n}`, at: n, lineage }], n * 1000)
    const all = Array.from({ length: 17 }, (_, i) => `${16 - i}`)
    t.deepEqual(namesIn(sent), n < 16 ? [`${n}`] : all)
    t.is(sent.size, n < 16 ? 1 : 17)
    known.ingest({ sent: new Map(), changes: sent })
  }
  const next = known.seal([{ path: 'next', at: 17, lineage }], 17_000)
  t.deepEqual(namesIn(next), ['next'])
})

test('one file of tombstones is never too long to be read, and holds those of 90 days to the second', t => {
  const at = 200 * 24 * 3600
  const edits = Array.from({ length: 60 }, (_, i) => [`0123456789${10 + i}`, 1_700_000_000] as const)
  for (const [name, lineage] of [
    [`${'l'.repeat(199)}/`.repeat(3), new Map(edits.slice(0, 1))],
    ['many/', new Map(edits)]
  ] as const) {
    const known = tombstones()
    const many = Array.from({ length: 900 }, (_, i) => ({ path: `${name}${i}`, at: at - i, lineage }))
    known.ingest({ sent: new Map(), changes: known.seal(many, at * 1000) })
    t.deepEqual(known.of(`${name}0`), [lineage])
    t.deepEqual(known.of(`${name}899`), [])
  }
  const known = tombstones()
  const ages = [0, 90 * 24 * 3600, 90 * 24 * 3600 + 1]
  const lineage = new Map(edits.slice(0, 1))
  const aged = ages.map(age => ({ path: `${age}`, at: at - age, lineage }))
  known.ingest({ sent: new Map(), changes: known.seal(aged, at * 1000 + 999) })
  t.deepEqual(
    ages.map(age => known.of(`${age}`).length),
    [1, 1, 0]
  )
})

test('a device that has forgotten its place deletes what another deleted meanwhile, and does not send it again', async t => {
  const store = makeSyncStore()
  const [a, b] = (await devicesWith(store, '{"x":1}')) as [Device, Device]
  await setText(a.repo, 'other.json', '{"z":1}')
  await a.sync()
  await b.sync()
  await a.repo.forgetServer()
  await deleteFile(b.repo, PATH)
  await b.sync()
  await a.sync()
  t.deepEqual(await textsOf([a, b]), [null, null])
  t.deepEqual(
    a.repo.keptFiles().map(({ path }) => path),
    [PATH]
  )
  // What was written again since is no deleted one.
  await a.repo.forgetServer()
  await setText(b.repo, PATH, '{"y":1}')
  await settle(b, a)
  t.deepEqual(await textsOf([a, b]), [{ y: 1 }, { y: 1 }])
  t.deepEqual(await a.json('other.json'), { z: 1 })
  t.deepEqual([...a.reports, ...b.reports], [])
})

test('a server that lost files and still has tombstones of earlier ones gets the later ones again', async t => {
  const store = makeSyncStore()
  const [a, b] = (await devicesWith(store, '{"x":1}')) as [Device, Device]
  await deleteFile(b.repo, PATH)
  await settle(b, a)
  await setText(a.repo, PATH, '{"y":1}')
  await settle(a, b)
  store.put({ [PATH]: null })
  await a.repo.forgetServer()
  await settle(a, b)
  t.deepEqual(await textsOf([a, b]), [{ y: 1 }, { y: 1 }])
})

test('an edit whose answer was lost, and that another device saw and deleted, is not sent again', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await setText(a.repo, PATH, '{"x":1}')
  store.beforeAnswer = () => Promise.reject(new Error('gone'))
  await t.throwsAsync(a.sync())
  store.beforeAnswer = undefined
  await b.sync()
  await deleteFile(b.repo, PATH)
  await b.sync()
  await a.sync()
  t.is(await a.json(PATH), null)
  t.false(store.files.has(PATH))
  t.deepEqual([...a.reports, ...b.reports], [])
})
