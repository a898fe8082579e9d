import test from 'ava'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { exportDeployedRepo } from '../../../kernel/sync/open-repo.ts'
import { boxText } from '../../../kernel/sync/repo-record.ts'
import { SyncLoop } from '../../../kernel/sync/sync-loop.ts'
import { passWalletError } from '../../helpers/drawn-runs.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf, type Device, openDevice, repoId } from '../../helpers/repo-device.ts'
import { deleteFile, editText, setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore, replyOf } from '../../helpers/sync-store.ts'

const deployed = (prefix = ''): Map<string, string> =>
  new Map([
    [`${prefix}repos/${repoId}/status.json`, '{"lastSync":1700000000.5,"lastHash":"abc123"}'],
    [`${prefix}repos/${repoId}/data/WalletName.json`, JSON.stringify(boxOf('{"walletName":"old"}'))],
    [`${prefix}repos/${repoId}/data/transaction/1-x.json`, JSON.stringify(boxOf('{"tx":1}'))],
    [`${prefix}repos/${repoId}/changes/WalletName.json`, JSON.stringify(boxOf('{"walletName":"new"}'))],
    [`${prefix}repos/${repoId}/changes/Currency.json`, JSON.stringify(boxOf('{"fiat":"iso:EUR"}'))]
  ])

const checkImported = async (t: import('ava').ExecutionContext, device: Device): Promise<void> => {
  t.is(await device.repo.getText('WalletName.json'), '{"walletName":"new"}')
  t.deepEqual(await device.repo.list(''), ['Currency.json', 'WalletName.json', 'transaction/1-x.json'])
  t.is(device.repo.pendingCount, 2)
  const { lastSync, lastHash } = device.repo.state.getSnapshot()
  t.is(lastSync, 1700000000.5)
  // After damage everything is fetched anew.
  const isDamaged = device.reports.some(report => isWalletError(report, 'CORRUPT_FILE'))
  t.is(lastHash, isDamaged ? undefined : 'abc123')
}

for (const prefix of ['', 'airbitz/']) {
  test(`the folder of a deployed client is imported at the first opening and moved away, prefix "${prefix}"`, async t => {
    const files = deployed(prefix)
    const original = [...files]
    const device = await openDevice(makeSyncStore(), { files, deployedPrefix: prefix })
    await checkImported(t, device)
    t.deepEqual(device.reports, [])
    for (const [path, text] of original) {
      t.false(files.has(path))
      t.is(files.get(`imported/${path}`), text)
    }
    await checkImported(t, await device.reopen())
  })

  test(`an export has the deployed layout and can be imported again, prefix "${prefix}"`, async t => {
    const device = await openDevice(makeSyncStore(), { files: deployed(prefix), deployedPrefix: prefix })
    const target = new Map<string, string>()
    await exportDeployedRepo(device.repo, makeFaultDisk(target), prefix)
    t.deepEqual([...target.keys()].sort(), [...deployed(prefix).keys()].sort())
    await checkImported(t, await openDevice(makeSyncStore(), { files: target, deployedPrefix: prefix }))
  })
}

test('at every crash point of an import the next opening has everything', async t => {
  let fired = 0
  const whole = makeFaultDisk(deployed())
  await openDevice(makeSyncStore(), { disk: whole })
  for (const kind of FAULT_KINDS) {
    for (let at = 1; at <= whole.writeCount; at += 1) {
      const files = deployed()
      const disk = makeFaultDisk(files, { at, kind })
      await openDevice(makeSyncStore(), { disk }).catch(passWalletError)
      fired += disk.hasFired ? 1 : 0
      const device = await openDevice(makeSyncStore(), { files })
      await checkImported(t, device)
      t.deepEqual((await device.reopen()).reports, [])
      t.deepEqual(
        [...files.keys()].filter(path => /^repos.*(data|changes|status)/.test(path)),
        []
      )
    }
  }
  t.is(fired, whole.writeCount * FAULT_KINDS.length)
})

test('a file of a deployed folder that is neither data nor a change stays in place and is no damage', async t => {
  const files = deployed()
  const path = `repos/${repoId}/notes/x.json`
  files.set(path, JSON.stringify(boxOf('x')))
  const device = await openDevice(makeSyncStore(), { files })
  t.is((await device.repo.list('')).length, 3)
  t.deepEqual(device.reports, [])
  t.true(files.has(path))
})

test('a damaged file of a deployed folder is reported and left; the rest is imported', async t => {
  const files = deployed()
  files.set(`repos/${repoId}/data/torn.json`, '{"encryptionType":0,')
  files.set(`repos/${repoId}/status.json`, 'x')
  const device = await openDevice(makeSyncStore(), { files })
  t.is((await device.repo.list('')).length, 3)
  t.is(device.reports.length, 1)
  t.true(isWalletError(device.reports[0], 'CORRUPT_FILE'))
  t.is(files.get(`repos/${repoId}/data/torn.json`), '{"encryptionType":0,')
  t.is(device.repo.state.getSnapshot().lastSync, 0)
})

test('texts, listings and deletions are those of plain files, and paths cannot leave the repo', async t => {
  const { repo } = await openDevice(makeSyncStore())
  await repo.write({
    texts: new Map([
      ['a/b/c', '1'],
      ['a/d', '2'],
      ['ab', '3']
    ])
  })
  t.deepEqual(await repo.list('a'), ['a/b/c', 'a/d'])
  await deleteFile(repo, 'a/d')
  t.deepEqual(await repo.list(''), ['a/b/c', 'ab'])
  t.is(repo.pendingCount, 2)
  for (const path of ['../x', '/x', 'a//b', 'a/./b', '']) {
    t.true(isWalletError(await t.throwsAsync(setText(repo, path, 'x')), 'PATH_REFUSED'))
    await t.throwsAsync(repo.getText(path))
    t.true(isWalletError(await t.throwsAsync(deleteFile(repo, path)), 'PATH_REFUSED'))
  }
  t.true(isWalletError(await t.throwsAsync(setText(repo, 'big', 'x'.repeat(9_000_000))), 'STORAGE_FAILED'))
  t.true(isWalletError(await t.throwsAsync(setText(repo, 'half', '\ud800')), 'STORAGE_FAILED'))
})

test('every call with a path that is none is refused, also one that only looks', async t => {
  const { repo } = await openDevice(makeSyncStore())
  for (const path of ['../x', '/x', 'a//b', 'a/../b', '..']) {
    const calls: readonly (() => Promise<unknown>)[] = [
      () => repo.getText(path),
      () => repo.getTexts(['good', path]),
      () => repo.getBox(path),
      () => repo.has(path),
      () => repo.list(path),
      () => setText(repo, path, 'text'),
      () => deleteFile(repo, path)
    ]
    for (const [at, call] of calls.entries())
      await t.throwsAsync(call, { code: 'PATH_REFUSED' }, `call ${at} with ${path}`)
  }
})

test('reads after the start of a write include it', async t => {
  const { repo } = await openDevice(makeSyncStore())
  const { revision } = await repo.changedSince(0)
  const path = 'transaction/1.json'
  const write = setText(repo, path, '{}')
  const [isThere, paths, box, texts, changes] = await Promise.all([
    repo.has(path),
    repo.list(''),
    repo.getBox(path),
    repo.getTexts([path]),
    repo.changedSince(revision)
  ])
  await write
  t.true(isThere)
  t.deepEqual(paths, [path])
  t.is(repo.openText(path, box ?? ''), '{}')
  t.deepEqual(texts, ['{}'])
  t.deepEqual(changes.paths, [path])
})

test('a large write and the small one after it end in the order they were made', async t => {
  const { repo } = await openDevice(makeSyncStore())
  const many = new Map(Array.from({ length: 500 }, (_, i) => [`f${i}`, 'first']))
  const writes = [
    repo.write({ texts: many }),
    setText(repo, 'f499', 'second'),
    repo.write({ texts: new Map([['f0', 'third']]) })
  ]
  await Promise.all(writes)
  t.is(await repo.getText('f499'), 'second')
  t.is(await repo.getText('f0'), 'third')
})

test('a write that fails is forgotten, and the count of pending changes is right', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files, { at: 2, kind: 'full' })
  const { repo } = await openDevice(makeSyncStore(), { files, disk })
  await setText(repo, 'f', '1')
  t.true(isWalletError(await t.throwsAsync(setText(repo, 'g', '2')), 'STORAGE_FULL'))
  t.is(await repo.getText('g'), undefined)
  t.is(repo.pendingCount, 1)
  t.is(repo.state.getSnapshot().pendingCount, 1)
})

test('a file whose box is damaged is an error, never absent', async t => {
  const files = new Map([[`repos/${repoId}/data/f`, boxText({ ...boxOf('x'), iv_hex: '00'.repeat(16) })]])
  const { repo } = await openDevice(makeSyncStore(), { files })
  t.true(isWalletError(await t.throwsAsync(repo.getText('f')), 'CORRUPT_FILE'))
})

test('one timer serves all repos: each syncs every 30 s, and a second after a write', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const loop = new SyncLoop({ io: device.io, servers: device.servers, report: () => {} })
  const others = await Promise.all(Array.from({ length: 20 }, () => openDevice(store)))
  for (const { repo } of [device, ...others]) loop.add(repo)
  t.is(device.clock.timerCount, 1)
  await device.clock.advance(1100)
  t.is(store.calls.length, 21)
  for (let i = 0; i < 10; i += 1) await device.clock.advance(30_000)
  t.true(store.calls.length >= 21 * 9 && store.calls.length <= 21 * 13, `${store.calls.length} calls`)
  const before = store.calls.filter(call => call.method === 'POST').length
  await setText(device.repo, 'f', '1')
  await device.clock.advance(1200)
  t.is(store.calls.filter(call => call.method === 'POST').length, before + 1)
  t.is(device.repo.pendingCount, 0)
  loop.close()
  t.is(device.clock.timerCount, 0)
})

test('the traffic of a repo counts from zero, with the hash that was known before', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const loop = new SyncLoop({ io: device.io, servers: device.servers, report: () => {} })
  t.deepEqual(loop.trafficOf(device.repo), { sent: 0, received: 0 })
  store.put({ theirs: boxOf('1'), more: boxOf('2') })
  await setText(device.repo, 'ours', '3')
  await loop.syncNow(device.repo)
  t.deepEqual(loop.trafficOf(device.repo), { sent: 1, received: 2 })
  const later = new SyncLoop({ io: device.io, servers: device.servers, report: () => {} })
  const openingHash = device.repo.state.getSnapshot().lastHash ?? ''
  t.deepEqual(later.trafficOf(device.repo), { openingHash, sent: 0, received: 0 })
  store.put({ theirs: null })
  await later.syncNow(device.repo)
  t.deepEqual(later.trafficOf(device.repo), { openingHash, sent: 0, received: 1 })
  for (const each of [loop, later]) each.close()
})

test('another period holds for all repos at once, and a write goes up within a second all the same', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const loop = new SyncLoop({ io: device.io, servers: device.servers, report: () => {} })
  const others = await Promise.all(Array.from({ length: 20 }, () => openDevice(store)))
  for (const { repo } of [device, ...others]) loop.add(repo)
  await device.clock.advance(1100)
  loop.changePeriod(300_000)
  const requestsIn = async (minutes: number): Promise<number> => {
    const before = store.calls.length
    for (let half = 0; half < 2 * minutes; half += 1) await device.clock.advance(30_000)
    return store.calls.length - before
  }
  // What was due before the change is synced once more in the old time.
  await requestsIn(1)
  const slow = await requestsIn(50)
  t.true(slow >= 21 * 8 && slow <= 21 * 12, `${slow} requests`)
  await setText(device.repo, 'f', '1')
  await device.clock.advance(1200)
  t.is(device.repo.pendingCount, 0)
  loop.changePeriod(30_000)
  const quick = await requestsIn(5)
  t.true(quick >= 21 * 9 && quick <= 21 * 13, `${quick} requests`)
  t.is(device.clock.timerCount, 1)
  loop.close()
})

test('repos that are due within seven seconds sync together, but a write waits its full second', async t => {
  const store = makeSyncStore()
  const [a, b, c] = [await openDevice(store), await openDevice(store), await openDevice(store)]
  const draws = [0, 255]
  const io = { ...a.io, random: (count: number) => new Uint8Array(count).fill(draws.shift() ?? 128) }
  const loop = new SyncLoop({ io, servers: a.servers, report: () => {} })
  const uploads = (): number => store.calls.filter(({ method }) => method === 'POST').length
  loop.add(a.repo)
  loop.add(b.repo)
  await a.clock.advance(5)
  t.is(store.calls.length, 2)
  await setText(b.repo, 'f', '1')
  draws.push(0)
  loop.add(c.repo)
  await a.clock.advance(5)
  t.is(store.calls.length, 3)
  t.is(uploads(), 0)
  await a.clock.advance(1000)
  t.is(uploads(), 1)
  loop.close()
})

test('an edit made during its own upload is sent a second later, not half a minute', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  // The first sync falls on the middle of its second, so that the one after the edit cannot fall into it too.
  const io = { ...device.io, random: (count: number) => new Uint8Array(count).fill(128) }
  const loop = new SyncLoop({ io, servers: device.servers, report: () => {} })
  await setText(device.repo, 'f', '1')
  store.beforeAnswer = async () => {
    store.beforeAnswer = undefined
    await setText(device.repo, 'f', '2')
  }
  loop.add(device.repo)
  await device.clock.advance(1100)
  t.is(device.repo.pendingCount, 1)
  await device.clock.advance(1200)
  t.is(device.repo.pendingCount, 0)
  loop.close()
})

test('a server that answers each upload with an earlier deletion gets a few uploads, and then two in a minute', async t => {
  const store = makeSyncStore()
  const [device, other] = [await openDevice(store), await openDevice(store)]
  await setText(device.repo, 'f', '1')
  await device.sync()
  await other.sync()
  await deleteFile(other.repo, 'f')
  await other.sync()
  const old = Object.fromEntries([...store.files, ['f', null]])
  await device.sync()
  await setText(device.repo, 'f', '2')
  await device.sync()
  store.fault = () => replyOf(200, { changes: old, hash: 'abc' })
  const loop = new SyncLoop({ io: device.io, servers: device.servers, report: () => {} })
  const uploadsIn = async (seconds: number): Promise<number> => {
    const before = store.calls.filter(({ method }) => method === 'POST').length
    for (let second = 0; second < seconds; second += 1) await device.clock.advance(1000)
    return store.calls.filter(({ method }) => method === 'POST').length - before
  }
  loop.add(device.repo)
  const first = await uploadsIn(60)
  t.true(first >= 2 && first <= 12, `${first} uploads in the first minute`)
  const later = await uploadsIn(600)
  t.true(later <= 24, `${later} uploads in ten minutes`)
  t.is(await device.repo.getText('f'), '2')
  // A write goes up as soon as ever.
  await setText(device.repo, 'g', '1')
  t.is(await uploadsIn(2), 1)
  store.fault = undefined
  await uploadsIn(60)
  t.is(device.repo.pendingCount, 0)
  loop.close()
})

test('a failing repo backs off, a paused loop stops, and a resumed one continues', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const reports: unknown[] = []
  const loop = new SyncLoop({ io: device.io, servers: device.servers, report: error => reports.push(error) })
  store.fault = () => replyOf(500, '')
  loop.add(device.repo)
  for (let i = 0; i < 60; i += 1) await device.clock.advance(60_000)
  t.true(reports.length >= 6 && reports.length <= 14, `${reports.length} tries in an hour`)
  store.fault = undefined
  loop.pause()
  const before = store.calls.length
  await device.clock.advance(3_600_000)
  t.is(store.calls.length, before)
  t.is(device.clock.timerCount, 0)
  loop.resume()
  await device.clock.advance(1)
  t.is(store.calls.length, before + 1)
  loop.remove(device.repo)
  await device.clock.advance(3_600_000)
  t.is(store.calls.length, before + 1)
  await t.notThrowsAsync(loop.syncNow(device.repo))
  loop.add(device.repo)
  loop.close()
  loop.add(device.repo)
  loop.resume()
  const last = store.calls.length
  await device.clock.advance(3_600_000)
  t.is(store.calls.length, last, 'a closed loop begins nothing')
})

test('at most four repos sync at one time, and the next begins when one of them has ended', async t => {
  const store = makeSyncStore()
  const devices = await Promise.all(Array.from({ length: 7 }, () => openDevice(store)))
  const [{ io, clock, servers }] = devices as [Device]
  const ends: (() => void)[] = []
  store.fault = () =>
    new Promise(resolve => {
      ends.push(() => resolve(undefined))
    })
  const loop = new SyncLoop({ io, servers, report: error => t.fail(`${error}`) })
  for (const { repo } of devices) loop.add(repo)
  await clock.advance(5000)
  t.is(store.calls.length, 4)
  for (let ended = 1; ended <= 3; ended += 1) {
    ends.shift()?.()
    await clock.advance(10)
    t.is(store.calls.length, 4 + ended)
  }
  for (const end of ends) end()
  await clock.advance(10)
  t.is(store.calls.length, 7)
  loop.close()
})

test('a write to a repo that fails waits as long as the repo does, and a second again once it has synced', async t => {
  const store = makeSyncStore()
  const { io, clock, servers, repo } = await openDevice(store)
  const steady = { ...io, random: (count: number) => new Uint8Array(count).fill(128) }
  const loop = new SyncLoop({ io: steady, servers, report: () => {} })
  store.fault = () => replyOf(500, '')
  loop.add(repo)
  await clock.advance(1000)
  store.fault = undefined
  const before = store.calls.length
  t.true(before > 0)
  await setText(repo, 'f', '1')
  await clock.advance(25_000)
  t.is(store.calls.length, before)
  await clock.advance(8000)
  t.is(repo.pendingCount, 0)
  await setText(repo, 'f', '2')
  await clock.advance(1200)
  t.is(repo.pendingCount, 0)
  loop.close()
})

test('an edit of a text loses no change that a sync brings at the same moment', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  const addTo =
    (name: 'mine' | 'theirs') =>
    (text = '{}'): string => {
      const fields = JSON.parse(text) as { mine?: number; theirs?: number }
      return JSON.stringify({ ...fields, [name]: (fields[name] ?? 0) + 1 })
    }
  for (let ticks = 0; ticks < 40; ticks += 1) {
    await editText(b.repo, 'f', addTo('theirs'))
    await b.sync()
    const syncing = a.sync()
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve()
    await Promise.all([editText(a.repo, 'f', addTo('mine')), syncing])
    await a.sync()
    await b.sync()
  }
  t.deepEqual(await a.json('f'), { mine: 40, theirs: 40 })
  await editText(a.repo, 'f', () => undefined)
  t.is(a.repo.pendingCount, 0)
})

test('a write that expects other texts than the present ones is stale and writes none of its texts and rows', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const { repo } = device
  store.put({ damaged: { ...boxOf('x'), data_base64: 'AAAA' } })
  await device.sync()
  await setText(repo, 'there', '1')
  const texts = new Map([['new', 'text']])
  const localChanges = new Map([['row', '1']])
  const cases: readonly (readonly [path: string, text: string | undefined])[] = [
    ['there', '2'],
    ['there', undefined],
    ['absent', '1'],
    ['damaged', 'x'],
    ['damaged', undefined]
  ]
  for (const expected of cases) {
    const expect = new Map([['transaction/1-t.json', undefined], expected])
    t.deepEqual(await repo.write({ texts, expect, localChanges }), { isStale: true, revision: undefined })
  }
  t.false(await repo.has('new'))
  t.is(repo.local.get('row'), undefined)
  await t.throwsAsync(repo.write({ texts, expect: new Map([['../x', undefined]]) }), { code: 'PATH_REFUSED' })
  const expect = new Map([
    ['there', '1'],
    ['absent', undefined]
  ])
  const { isStale, revision } = await repo.write({ texts, expect, localChanges })
  t.false(isStale)
  t.is(revision, repo.revision)
  t.is(await repo.getText('new'), 'text')
  t.is(repo.local.get('row'), '1')
})

test('closing a repo waits for the running sync and write, and then refuses more', async t => {
  const store = makeSyncStore()
  const { repo } = await openDevice(store)
  const mutex = async (): Promise<void> => {
    for (let n = 0; n < 20; n += 1) await new Promise(resolve => setImmediate(resolve))
  }
  const syncing = repo.runSync(async () => {
    await mutex()
    await setText(repo, 'synced.json', '1')
  })
  const closed = repo.close()
  await t.notThrowsAsync(syncing)
  await closed
  await t.throwsAsync(setText(repo, 'late.json', '1'))
  const other = await openDevice(store)
  const writing = other.repo.write({
    texts: new Map(Array.from({ length: 2000 }, (_, n) => [`f${n}.json`, '1']))
  })
  await Promise.all([t.notThrowsAsync(writing), other.repo.close()])
})

test('a loop has one listener on an added repo, and none after the repo is removed or the loop closed', async t => {
  const device = await openDevice(makeSyncStore())
  let listeners = 0
  const state = {
    getSnapshot: () => ({}),
    subscribe() {
      listeners += 1
      return () => {
        listeners -= 1
      }
    }
  }
  const repo = { state, pendingCount: 0 } as unknown as typeof device.repo
  const loop = new SyncLoop({ io: device.io, servers: device.servers, report: error => t.fail(`${error}`) })
  for (let time = 0; time < 2; time += 1) {
    loop.add(repo)
    loop.add(repo)
    t.is(listeners, 1)
    loop.remove(repo)
    t.is(listeners, 0)
  }
  loop.add(repo)
  loop.close()
  t.is(listeners, 0)
  loop.add(repo)
  t.is(listeners, 0)
  t.is(device.clock.timerCount, 0)
})

test('a read of many texts reports the ones that do not open, and omits them and the missing ones', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ good: boxOf('1'), bad: { ...boxOf('2'), iv_hex: '00'.repeat(16) } })
  await device.sync()
  device.reports.length = 0
  t.deepEqual(await device.repo.getTexts(['none', 'bad', 'good']), [undefined, undefined, '1'])
  t.deepEqual(
    device.reports.map(error => isWalletError(error, 'CORRUPT_FILE') && error.details.path),
    ['bad']
  )
})

test('while four repos sync no timer is set, and the next in line is synced when one has ended', async t => {
  const store = makeSyncStore()
  const devices = await Promise.all(Array.from({ length: 6 }, () => openDevice(store)))
  const [{ io, clock, servers }] = devices as [Device]
  const ends: (() => void)[] = []
  store.fault = () =>
    new Promise(resolve => {
      ends.push(() => resolve(undefined))
    })
  const delays: number[] = []
  const spied = {
    ...clock,
    after: (delayMs: number, task: () => void) => {
      delays.push(delayMs)
      return clock.after(delayMs, task)
    }
  }
  const loop = new SyncLoop({ io: { ...io, clock: spied }, servers, report: error => t.fail(`${error}`) })
  for (const { repo } of devices) loop.add(repo)
  await clock.advance(5000)
  t.is(store.calls.length, 4)
  delays.length = 0
  const last = devices.at(-1)
  if (last !== undefined) await setText(last.repo, 'f', '1')
  loop.pause()
  loop.resume()
  await clock.advance(10_000)
  t.deepEqual(delays, [])
  t.is(store.calls.length, 4)
  for (const end of ends.splice(0)) end()
  await clock.advance(10)
  t.true(store.calls.length > 5)
  t.true(delays.every(delay => Number.isInteger(delay) && delay >= 0))
  for (const end of ends) end()
  loop.close()
})

test('a requested sync includes the write before it: what the server rejects then waits half a minute', async t => {
  const store = makeSyncStore({ takesNull: false, knowsHash: false })
  const device = await openDevice(store)
  await setText(device.repo, 'f', '1')
  await device.sync()
  const loop = new SyncLoop({ io: device.io, servers: device.servers, report: error => t.fail(`${error}`) })
  loop.add(device.repo)
  await device.clock.advance(2000)
  loop.pause()
  await deleteFile(device.repo, 'f')
  await loop.syncNow(device.repo)
  t.is(device.repo.pendingCount, 1)
  loop.resume()
  const calls = store.calls.length
  await device.clock.advance(20_000)
  t.is(store.calls.length, calls)
  await device.clock.advance(20_000)
  t.true(store.calls.length > calls)
  loop.close()
})

test('a listener that throws is reported, and the others are notified of the change', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const received: string[] = []
  device.repo.onServerChange(() => {
    throw new TypeError('theirs')
  })
  device.repo.onServerChange(paths => received.push(...paths))
  store.put({ f: boxOf('1') })
  await device.sync()
  t.deepEqual(received, ['f'])
  t.deepEqual(device.reports.map(String), ['TypeError: theirs'])
})

test('each sync that exchanges a file is reported with its paths, and one that exchanges none is not', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  const reported: unknown[] = []
  const loopOf = ({ io, servers }: Device): SyncLoop =>
    new SyncLoop({ io, servers, report: () => {}, onExchange: exchange => reported.push(exchange) })
  await setText(a.repo, 'f', '1')
  for (const device of [a, a, b, b]) await loopOf(device).syncNow(device.repo)
  t.deepEqual(reported, [
    { repoId: a.repo.id, sent: ['f'], received: [] },
    { repoId: b.repo.id, sent: [], received: ['f'] }
  ])
})

test('a reply that a full disk cannot keep fails its sync alone, also while other uploads are on their way', async t => {
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const store = makeSyncStore()
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const device = await openDevice(store, { files, disk })
  const texts = new Map(Array.from({ length: 250 }, (_, n) => [`f/${n}`, '1']))
  await device.repo.write({ texts })
  let uploads = 0
  store.fault = async ({ method }) => {
    if (method !== 'POST') return undefined
    uploads += 1
    if (uploads === 1) disk.strike({ at: 1, kind: 'full' })
    // The reply before is on its way to the disk meanwhile.
    else for (let turn = 0; turn < 5; turn += 1) await new Promise(resolve => setImmediate(resolve))
    return undefined
  }
  await t.throwsAsync(device.sync(), { code: 'STORAGE_FULL' })
  await new Promise(resolve => setImmediate(resolve))
  t.true(disk.hasFired && uploads > 1)
  t.deepEqual(unhandled, [])
  store.fault = undefined
  await device.sync()
  t.is(store.files.size, 250)
  t.is(device.repo.pendingCount, 0)
})

test('who listens for what a server changes hears of it until they stop, whoever else stops', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const received: string[] = []
  const [stopFirst, stopSecond] = ['first', 'second'].map(name =>
    device.repo.onServerChange(paths => received.push(`${name} ${[...paths].join()}`))
  )
  const change = async (path: string): Promise<void> => {
    store.put({ [path]: boxOf('1') })
    await device.sync()
  }
  await change('a')
  stopFirst?.()
  await change('b')
  stopSecond?.()
  await change('c')
  t.deepEqual(received, ['first a', 'second a', 'second b'])
})
