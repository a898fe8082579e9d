import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { openRepoStore } from '../../../kernel/repo/store/open-store.ts'
import { type AppliedReply, MAX_FEW } from '../../../kernel/sync/apply-reply.ts'
import {
  checkDeletions,
  deletionsLeftOut,
  partsOf,
  planForgetting,
  planHash,
  planHealing,
  planReply,
  planStatus,
  type ReplyContext
} from '../../../kernel/sync/reply-plan.ts'
import type { RepoFiles } from '../../../kernel/sync/repo-files.ts'
import { BULK } from '../../../kernel/sync/repo-record.ts'
import { parseStatus } from '../../../kernel/sync/repo-state.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf, type Device, dataKey, openDevice, repoId } from '../../helpers/repo-device.ts'
import { setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'

const DAY_MS = 24 * 3600 * 1000

/** What the store of a device holds below a prefix. */
const entriesOf = async ({ io, files, repo }: Device, prefix: string): Promise<[string, string][]> => {
  await repo.close()
  const folder = `repos/${repoId}`
  const disk = makeFaultDisk(files)
  const place = { io, disk, folder, key: new Secret(dataKey.slice()), report() {}, bulk: BULK }
  const store = await openRepoStore({ ...place, paths: await disk.list(folder) })
  const entries = [...store.entries(prefix)].map(([key, text]) => [key.slice(prefix.length), text] as const)
  await store.close()
  return entries.map(([key, text]) => [key, text])
}

/** Writes entries into the store of a device that is closed. */
const writeEntries = async ({ io, files }: Device, entries: ReadonlyMap<string, string>): Promise<void> => {
  const folder = `repos/${repoId}`
  const disk = makeFaultDisk(files)
  const place = { io, disk, folder, key: new Secret(dataKey.slice()), report() {}, bulk: BULK }
  const store = await openRepoStore({ ...place, paths: await disk.list(folder) })
  await store.write(entries)
  await store.close()
}

/** The paths of the deleted files that a device keeps aside. */
const keptAside = async (device: Device): Promise<string[]> =>
  (await entriesOf(device, 'q/')).map(([key]) => key.slice(16)).sort()

const numbered = (count: number, box: ReturnType<typeof boxOf> | null) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, box] as const))

test('a file that the server deletes is kept for 30 days', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ early: boxOf('1'), late: boxOf('2'), stays: boxOf('3') })
  await device.sync()
  store.put({ early: null })
  await device.sync()
  await device.clock.advance(29 * DAY_MS)
  store.put({ late: null })
  await device.sync()
  t.deepEqual(await keptAside(device), ['early', 'late'])
  const again = await openDevice(store, { files: device.files })
  await again.clock.advance(31 * DAY_MS)
  store.put({ stays: null })
  await again.sync()
  t.deepEqual(await keptAside(again), ['late', 'stays'])
})

test('a file that comes alone is remembered as new, and one of many or of a whole repo is not', async t => {
  const newAfter = async (count: number): Promise<number> => {
    const store = makeSyncStore()
    const device = await openDevice(store)
    store.put({ first: boxOf('0') })
    await device.sync()
    store.put(numbered(count, boxOf('1')))
    await device.sync()
    return (await entriesOf(device, 'v/')).filter(([path]) => path !== 'first').length
  }
  t.is(await newAfter(1), 1)
  t.is(await newAfter(MAX_FEW), MAX_FEW)
  t.is(await newAfter(MAX_FEW + 1), 0)
  const fresh = await openDevice(makeSyncStore())
  await fresh.sync()
  t.deepEqual(await entriesOf(fresh, 'v/'), [])
})

test('the newest thousand deleted files are kept', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({
    ...numbered(60, boxOf('1')),
    ...Object.fromEntries(bulk(1100).map(path => [path, boxOf('2')]))
  })
  await device.sync()
  const left = bulk(1100)
  for (let at = 0; at < 1040; at += 40) {
    await device.clock.advance(1000)
    store.put(Object.fromEntries(left.slice(at, at + 40).map(path => [path, null])))
    await device.sync()
  }
  const kept = await keptAside(device)
  t.is(kept.length, 1000)
  t.deepEqual(kept, left.slice(40, 1040).sort())
})

const bulk = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `g${String(at).padStart(4, '0')}`)

test('the first and the last text of a file that is replaced repeatedly are kept', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ other: boxOf('other'), often: boxOf('first') })
  await device.sync()
  store.put({ other: boxOf('other now') })
  for (let time = 0; time < 310; time += 1) {
    await device.clock.advance(1000)
    store.put({ often: boxOf(`${time} ${'x'.repeat(20_000)}`) })
    await device.sync()
  }
  const kept = device.repo.keptFiles()
  t.true(kept.length > 100 && kept.length < 300, `${kept.length}`)
  const texts = kept.map(({ keptId }) => device.repo.keptText(keptId)?.split(' ')[0])
  t.deepEqual(texts.slice(0, 2), ['308', '307'])
  t.deepEqual(new Set(texts.slice(-2)), new Set(['first', 'other']))
})

test('files that were edited here do not count as deletions, however many the server deletes', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put(numbered(60, boxOf('1')))
  await device.sync()
  await device.repo.write({ texts: new Map(Object.keys(numbered(60, null)).map(path => [path, 'edited'])) })
  store.put(numbered(60, null))
  await device.sync()
  t.is(store.files.size, 60)
  t.is(device.repo.pendingCount, 0)
})

/** A device whose store has a file for each write, or one for all. */
const damagedStores = [
  { name: 'one of many files', isClosed: false, length: 10, places: [0.5] },
  { name: 'one place of its one file', isClosed: true, length: 40_000, places: [0.1, 0.3, 0.5, 0.7, 0.9] },
  { name: 'one place and the end of its one file', isClosed: true, length: 40_000, places: [0, 0.2, 0.6] }
] as const

for (const { name, isClosed, length, places } of damagedStores) {
  test(`after damage in ${name}, a store agrees with the server and keeps every file that still opens`, async t => {
    const build = async () => {
      const store = makeSyncStore()
      const device = await openDevice(store)
      for (let at = 0; at < 4; at += 1) {
        await setText(device.repo, `f${at}`, `synced ${at}`.padEnd(length))
        await device.sync()
        await setText(device.repo, `g${at}`, `waits ${at}`.padEnd(length))
      }
      if (isClosed) await device.repo.close()
      return { store, files: new Map(device.files) }
    }
    const { files: whole } = await build()
    for (let part = 0; part < whole.size * places.length; part += 1) {
      const { store, files } = await build()
      const path = [...files.keys()][Math.floor(part / places.length)] ?? ''
      const text = files.get(path) ?? ''
      const damaged = [...text]
      damaged[Math.floor(text.length * (places[part % places.length] ?? 0))] = '*'
      if (name.includes('end')) damaged[text.length - 40] = '*'
      files.set(path, damaged.join(''))
      const device = await openDevice(store, { files })
      const before = await device.repo.list('')
      await device.sync()
      t.is(device.repo.pendingCount, 0, `${path} ${part}`)
      const after = await device.repo.list('')
      for (const file of before) t.true(after.includes(file), `${file} after damage to ${path}`)
      const other = await openDevice(store)
      await other.sync()
      t.deepEqual(await other.repo.list(''), after, `${path} ${part}`)
      // The damage is over: nothing is fetched or sent anew.
      const calls = store.calls.length
      await device.sync()
      t.is(store.calls.length, calls + 1, path)
      t.true(store.calls.at(-1)?.url.endsWith(device.repo.state.getSnapshot().lastHash ?? '?'), path)
    }
  })
}

test('after damage, everything that a complete reply lacks is sent again, and only a complete reply ends the repair', async t => {
  const missing: number[] = []
  const statusAfter = async (status: object, reply: Partial<AppliedReply>) => {
    const place = {
      reply: { sent: new Map(), changes: new Map([['there', 'box']]), ...reply },
      store: { get: () => JSON.stringify(status) },
      files: {
        pending: new Set(['waits', 'lost']),
        list: async () => ['lacks', 'there', 'waits'],
        wasDeleted: () => false,
        read: async (paths: string[]) => paths.map(path => ({ path, isLost: path === 'lost' }))
      },
      now: 5000
    }
    const writes = new Map<string, string>()
    missing.push(await planHealing(place as unknown as ReplyContext, writes))
    planStatus(place as unknown as ReplyContext, writes)
    return Object.fromEntries(writes)
  }
  const again = { 'c/lacks': 'again', 'c/lost': null }
  const damaged = { lastSync: 0, isDamaged: true }
  const whole = { isComplete: true, hash: 'h' }
  t.deepEqual(await statusAfter(damaged, whole), { ...again, s: '{"lastSync":5,"lastHash":"h"}' })
  t.deepEqual(await statusAfter(damaged, { hash: 'h' }), {
    s: '{"lastSync":5,"isDamaged":true}'
  })
  const known = { lastSync: 4, lastHash: 'h' }
  t.deepEqual(await statusAfter({ ...known, isDamaged: true }, whole), {
    ...again,
    s: '{"lastSync":5,"lastHash":"h"}'
  })
  t.deepEqual(await statusAfter(known, whole), again, 'the time alone is not worth a write')
  t.deepEqual(await statusAfter(known, { hash: 'i' }), { s: '{"lastSync":5,"lastHash":"i"}' })
  // A first download lacks nothing: what is here was fetched by it.
  t.deepEqual(await statusAfter({}, whole), { s: '{"lastSync":5,"lastHash":"h"}' })
  t.deepEqual(missing, [0, 0, 0, 1, 0, 0], 'what this device has lost itself is no old state of the server')
})

test('past versions are dropped after a day, or after four minutes beyond a hundred, and rarely searched for', t => {
  const now = 1_000_000_000
  const forgottenOf = (
    ages: readonly number[],
    { sinceMs = 10_000, writes = new Map([['any', 'x']]) } = {}
  ) => {
    const names = ages.map((_, n) => `f${n}`)
    const entries = new Map(names.map((name, n) => [`v/${name}`, `${now - (ages[n] ?? 0)}[null]`]))
    const files = { past: new Set(names), forgotAt: now - sinceMs }
    const before = writes.size
    const place = { store: { get: (key: string) => entries.get(key) }, files, now }
    planForgetting(place as unknown as ReplyContext, writes)
    t.is(files.forgotAt === now, sinceMs >= 10_000 && ages.length > 0 && (before > 0 || ages.length > 100))
    return [...writes].filter(([, text]) => text === null).map(([key]) => key)
  }
  const ages = [0, 5 * 60_000, DAY_MS, DAY_MS + 1]
  t.deepEqual(forgottenOf(ages), ['v/f3'])
  t.deepEqual(forgottenOf(ages, { sinceMs: 9_999 }), [])
  t.deepEqual(forgottenOf(ages, { writes: new Map() }), [], 'nothing is written for that alone')
  t.deepEqual(forgottenOf(ages, { writes: new Map([['v/f3', '5[]']]) }), [], 'it is written anew')
  t.deepEqual(forgottenOf([]), [])
  const hundred = Array.from({ length: 100 }, () => DAY_MS + 1)
  t.deepEqual(forgottenOf(hundred, { writes: new Map() }), [], 'a hundred are few')
  t.is(forgottenOf(hundred).length, 100)
  const many = Array.from({ length: 101 }, (_, n) => (n < 2 ? 4 * 60_000 + n : 0))
  t.deepEqual(forgottenOf(many, { writes: new Map() }), ['v/f1'])
  t.deepEqual(forgottenOf(many.slice(0, 100)), [])
})

test('a reply that deletes more than fifty files and a tenth of all is refused as a whole', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put(numbered(60, boxOf('1')))
  await device.sync()
  const some = (count: number) => Object.fromEntries(Object.entries(numbered(60, null)).slice(0, count))
  store.put({ ...some(51), new: boxOf('2') })
  await t.throwsAsync(device.sync(), { code: 'SYNC_FAILED', message: /would delete 51 of 60 files/ })
  t.is((await device.repo.list('')).length, 60)
  store.put({ f0: boxOf('1') })
  await device.sync()
  t.is((await device.repo.list('')).length, 11)
})

test('files that this device deleted, edited or never had do not count as deletions of a reply', async t => {
  const reply = (count: number, sent = 0) => {
    const changes = new Map(Array.from({ length: count }, (_, n) => [`f${n}`, null] as const))
    return { changes, sent: new Map([...changes.keys()].slice(0, sent).map(path => [path, {}])) }
  }
  const refuses = async (of: ReturnType<typeof reply>, { total = 100, edited = 0, missing = 0 } = {}) => {
    const files = {
      count: async () => total,
      read: async (paths: string[]) =>
        paths.map((path, n) => ({
          path,
          data: n < missing ? undefined : 'box',
          pending: n >= paths.length - edited ? { box: 'b', base: 'a', sent: [] } : undefined
        }))
    }
    return checkDeletions(files as unknown as RepoFiles, of as unknown as AppliedReply).then(
      () => false,
      () => true
    )
  }
  t.true(await refuses(reply(51)))
  t.false(await refuses(reply(50)))
  t.false(await refuses(reply(51, 1)))
  t.false(await refuses(reply(51), { edited: 1 }))
  t.false(await refuses(reply(51), { missing: 1 }))
  t.false(await refuses(reply(51), { total: 510 }))
  t.true(await refuses(reply(51), { total: 509 }))
})

test('the arrival of a new file is recorded if it came with at most 24 others and not with a first download', async t => {
  for (const count of [25, 26]) {
    const store = makeSyncStore()
    const device = await openDevice(store)
    store.put({ early: boxOf('1') })
    await device.sync()
    store.put(numbered(count, boxOf('2')))
    await device.sync()
    const now = device.clock.now()
    const expected = count === 25 ? Object.keys(numbered(25, null)).map(path => [path, `${now}[null]`]) : []
    t.deepEqual((await entriesOf(device, 'v/')).sort(), expected.sort())
  }
})

test('a file that came with many others and is replaced within two minutes counts as possibly new', async t => {
  const start = 1_700_000_000_000
  for (const [skipped, isNew] of [
    [0, true],
    [119_999, true],
    [120_000, false],
    [-119_999, true],
    [-120_000, false]
  ] as const) {
    let now = start
    const store = makeSyncStore()
    const device = await openDevice(store, { now: () => now })
    await device.sync()
    store.put(numbered(30, boxOf('1')))
    await device.sync()
    now += skipped
    const before = await device.repo.getBox('f7')
    store.put({ f7: boxOf('2') })
    await device.sync()
    const list = isNew ? `null,${before}` : before
    t.deepEqual(await entriesOf(device, 'v/'), [['f7', `${now}[${list}]`]], String(skipped))
  }
})

test('an earlier server state counts as old, and the next sync fetches everything unless the reply was complete', t => {
  const writesOf = (
    { hash, isComplete }: { hash?: string; isComplete?: boolean },
    { seen, status }: { seen?: string; status: object }
  ) => {
    const entries = new Map([['s', JSON.stringify(status)]])
    if (seen !== undefined) entries.set('h', seen)
    const reply = {
      sent: new Map(),
      changes: new Map(),
      ...(hash && { hash }),
      ...(isComplete && { isComplete })
    }
    const place = { reply, store: { get: (key: string) => entries.get(key) } }
    const writes = new Map<string, string>()
    const isOld = planHash(place as unknown as ReplyContext, writes)
    return { isOld, ...Object.fromEntries(writes) }
  }
  const known = { seen: 'a b c', status: { lastSync: 4, lastHash: 'c' } }
  t.deepEqual(writesOf({}, known), { isOld: false })
  t.deepEqual(writesOf({ hash: 'c' }, known), { isOld: false })
  t.deepEqual(writesOf({ hash: 'd' }, known), { isOld: false, h: 'a b c d' })
  t.deepEqual(writesOf({ hash: 'a' }, known), { isOld: true, h: 'b c a', s: '{"lastSync":4}' })
  t.deepEqual(writesOf({ hash: 'a', isComplete: true }, known), { isOld: true, h: 'b c a' })
  const forgotten = { seen: 'a b c', status: { lastSync: 4, isDamaged: true } }
  t.deepEqual(writesOf({ hash: 'c' }, forgotten), { isOld: false, h: 'a b c' })
  t.deepEqual(writesOf({ hash: 'b' }, forgotten), {
    isOld: true,
    h: 'a c b',
    s: '{"lastSync":4,"isDamaged":true}'
  })
  t.deepEqual(writesOf({ hash: '0'.repeat(40) }, { status: {} }), { isOld: false, h: '0'.repeat(16) })
  const many = Array.from({ length: 16 }, (_, n) => `h${n}`)
  const { h } = writesOf({ hash: 'new' }, { seen: many.join(' '), status: {} }) as { h?: string }
  t.deepEqual(h?.split(' '), [...many.slice(1), 'new'])
})

test('versions that can no longer be a base are dropped with a later reply', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  for (const text of ['1', '2', '3']) {
    await setText(device.repo, 'f', text)
    await device.sync()
  }
  await device.clock.advance(DAY_MS + 1)
  store.put({ other: boxOf('x') })
  await device.sync()
  const kept = await entriesOf(device, 'v/')
  t.deepEqual(
    kept.map(([path]) => path),
    ['other']
  )
})

test('a change whose text was lost here ends when the server has a text of the file', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  await setText(device.repo, 'other', '1')
  await device.sync()
  await device.repo.close()
  await writeEntries(device, new Map([['c/lost', 'again']]))
  const again = await openDevice(store, { files: device.files })
  t.is(again.repo.pendingCount, 1)
  store.put({ lost: boxOf('theirs') })
  store.calls.length = 0
  await again.sync()
  t.is(again.repo.pendingCount, 0)
  t.is(await again.repo.getText('lost'), 'theirs')
  t.deepEqual(
    store.calls.map(({ method }) => method),
    ['GET']
  )
})

test('a reply is planned with pauses between its files', async t => {
  let now = 0
  let pauses = 0
  const clock = {
    monotonic: () => {
      now += 1000
      return now
    },
    turn: async () => {
      pauses += 1
    }
  }
  const paths = Array.from({ length: 100 }, (_, n) => `f${n}`)
  const context = {
    ...{ clock, now: 0, random: () => 0, report: (error: unknown) => t.fail(`${error}`) },
    reply: { sent: new Map(), changes: new Map(paths.map(path => [path, path])) },
    store: { get: () => undefined, *entries() {} },
    boxes: { open: () => undefined, canOpen: () => true },
    files: {
      read: async () => paths.map(path => ({ path, data: undefined, pending: undefined, isLost: false })),
      put: () => undefined
    }
  }
  const plan = await planReply(context as unknown as ReplyContext, paths)
  t.deepEqual(plan.changed, paths)
  t.is(pauses, 100)
})

test('a reply is applied in parts of about four megabytes, without what stands beside files', t => {
  const large = 'x'.repeat(1_500_000)
  const changes = new Map<string, string | null>(Array.from({ length: 10 }, (_, n) => [`f${n}`, large]))
  const sent = new Map([['f0', { box: large, base: null, sent: [] }]])
  const parts = partsOf({ sent, changes: new Map([...changes, ['Deletions/aa.json', large]]) })
  t.deepEqual(parts.flat(), [...changes.keys()])
  t.deepEqual(
    parts.map(part => part.length),
    [4, 3, 3]
  )
  t.deepEqual(partsOf({ sent: new Map(), changes: new Map() }), [[]])
})

test('what a deletion names is deleted by a complete reply without it, and not by one of news', t => {
  const named = new Set(['gone', 'there', 'sent'])
  const sent = new Map([['sent', { box: null, base: 'b', sent: [] }]])
  const reply = { sent, changes: new Map([['there', 'box']]) }
  t.deepEqual(deletionsLeftOut({ ...reply, isComplete: true }, named), ['gone'])
  t.deepEqual(deletionsLeftOut({ ...reply, isComplete: false }, named), [])
  t.deepEqual(deletionsLeftOut(reply, named), [])
})

test('remembered deletions are pruned by a reply that deletes a file, and by no other', async t => {
  for (const [theirs, expected] of [
    [null, 1],
    ['other', 0]
  ] as const) {
    let pruned = 0
    const file = { path: 'f', isLost: false, data: 'box', pending: undefined }
    const files = {
      filledAt: Number.NEGATIVE_INFINITY,
      read: async () => [file],
      put: () => {},
      pruneDeletions: () => {
        pruned += 1
      }
    }
    const context = {
      ...{ files, now: 0, report: () => {}, random: () => 1 },
      reply: { sent: new Map(), changes: new Map([['f', theirs]]) },
      store: { get: () => undefined, *entries() {} },
      boxes: { open: () => undefined, canOpen: () => true },
      clock: { monotonic: () => 0, turn: async () => {} }
    }
    const plan = await planReply(context as unknown as ReplyContext, ['f'])
    t.deepEqual([plan.changed, pruned], [['f'], expected])
  }
})

test('what a complete reply lacks is sent again if it is not the first, and what was deleted here is not', async t => {
  const healed = async (status: object, isComplete: boolean) => {
    const written: [string, unknown][] = []
    const files = {
      pending: new Set(['waiting']),
      list: async () => ['deleted', 'lacking', 'there', 'waiting'],
      wasDeleted: (path: string) => path === 'deleted',
      put: (_: unknown, path: string, box: unknown) => written.push([path, box]),
      read: async () => [
        { path: 'waiting', isLost: false },
        { path: 'lost', isLost: true }
      ]
    }
    const reply = { sent: new Map(), changes: new Map([['there', 'box']]), isComplete }
    const writes = new Map<string, string | null>()
    const store = { get: () => JSON.stringify(status) }
    const count = await planHealing({ reply, files, store } as unknown as ReplyContext, writes)
    return { count, written, writes: [...writes] }
  }
  const nothing = { count: 0, written: [], writes: [] }
  const all = {
    written: [['deleted', null]],
    writes: [
      ['c/lacking', 'again'],
      ['c/lost', null]
    ]
  }
  t.like(await healed({ lastSync: 1 }, true), { count: 1 })
  const { writes, ...rest } = await healed({ lastSync: 1 }, true)
  t.deepEqual(rest, { count: 1, written: all.written as never })
  t.deepEqual(
    writes.map(([key]) => key),
    all.writes.map(([key]) => key)
  )
  t.is((await healed({ lastSync: 0, isDamaged: true }, true)).count, 0, 'the server was not at fault')
  t.is((await healed({ lastSync: 0, isDamaged: true }, true)).writes.length, 2)
  t.deepEqual(await healed({ lastSync: 1 }, false), nothing)
  t.deepEqual(await healed({ lastSync: 0 }, true), nothing, 'the first reply lacks nothing that was there')
})

test('the state of the server is noted with the first sync and with each new one, and with damage none until it is healed', t => {
  const noted = (status: object, reply: object): unknown => {
    const writes = new Map<string, string>()
    const store = { get: () => JSON.stringify(status) }
    const whole = { sent: new Map(), changes: new Map(), ...reply }
    planStatus({ reply: whole, store, now: 5_000_000 } as unknown as ReplyContext, writes)
    const text = writes.get('s')
    return text === undefined ? undefined : JSON.parse(text)
  }
  const known = { lastSync: 4, lastHash: 'ab' }
  const damaged = { lastSync: 4, isDamaged: true }
  t.deepEqual(noted({}, { hash: 'ab' }), { lastSync: 5000, lastHash: 'ab' })
  t.deepEqual(noted({}, {}), { lastSync: 5000 })
  t.is(noted(known, { hash: 'ab' }), undefined)
  t.is(noted(known, { hash: 'ab', isComplete: true }), undefined)
  t.is(noted(known, {}), undefined)
  t.deepEqual(noted(known, { hash: 'cd' }), { lastSync: 5000, lastHash: 'cd' })
  t.is(noted(damaged, { hash: 'ab' }), undefined)
  t.deepEqual(noted({ isDamaged: true }, { hash: 'ab' }), { lastSync: 5000, isDamaged: true })
  t.deepEqual(noted(damaged, { hash: 'ab', isComplete: true }), { lastSync: 5000, lastHash: 'ab' })
})

test('a status whose time is none is that of a repo that never synced', t => {
  for (const lastSync of ['"5"', '1e999', '-1', 'null', 'true', '[5]', '0'])
    t.deepEqual(
      parseStatus(`{"lastSync":${lastSync},"lastHash":"ab"}`),
      { lastSync: 0, lastHash: 'ab' },
      lastSync
    )
  t.deepEqual(parseStatus('{"lastSync":5.5}'), { lastSync: 5.5 })
  t.deepEqual(parseStatus('5'), { lastSync: 0 })
})

test('a version that did not know ours is merged from the one that both were made of', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await setText(a.repo, 'file', '{"x":1,"y":1,"z":1}')
  await a.sync()
  await b.sync()
  await setText(a.repo, 'file', '{"x":2,"y":1,"z":1}')
  await a.sync()
  await setText(b.repo, 'file', '{"x":1,"y":2}')
  store.put({ file: JSON.parse((await b.repo.getBox('file')) ?? '') })
  await a.sync()
  t.is(await a.repo.getText('file'), '{"x":2,"y":2}')
  t.deepEqual(a.reports, [])
  t.like(a.repo.state.getSnapshot(), { mergedCount: 1, doubtfulCount: undefined })
})
