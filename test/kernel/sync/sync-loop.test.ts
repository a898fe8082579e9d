import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { syncRepo } from '../../../kernel/sync/sync-loop.ts'
import type { SyncServers } from '../../../kernel/sync/sync-servers.ts'
import { passWalletError } from '../../helpers/drawn-runs.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf, type Device, openDevice, syncKey } from '../../helpers/repo-device.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeSilentDisk } from '../../helpers/silent-disk.ts'
import { makeSyncStore, replyOf, type SyncStore } from '../../helpers/sync-store.ts'

const twoDevices = async (store = makeSyncStore()): Promise<[Device, Device]> => [
  await openDevice(store),
  await openDevice(store)
]

test('a file written on one device is on the other after two syncs, and its listener is notified', async t => {
  const [a, b] = await twoDevices()
  const received: string[] = []
  b.repo.onServerChange(paths => received.push(...paths))
  await setText(a.repo, 'WalletName.json', '{"walletName":"x"}')
  t.is(a.repo.state.getSnapshot().pendingCount, 1)
  t.deepEqual(await a.sync(), { sent: ['WalletName.json'], changed: [] })
  t.is(a.repo.pendingCount, 0)
  t.deepEqual((await b.sync()).changed, ['WalletName.json'])
  t.is(await b.repo.getText('WalletName.json'), '{"walletName":"x"}')
  t.deepEqual(received, ['WalletName.json'])
})

test('a sync is a read with repo id and last hash, or an update with changes; both are answered with hash and changes [7.29]', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const repoKey = Buffer.from(syncKey).toString('hex')
  const hashNow = () => device.repo.state.getSnapshot().lastHash
  const requested = (): string[] =>
    store.calls.splice(0).map(({ method, url, paths }) => [method, new URL(url).pathname, ...paths].join(' '))
  store.put({ 'theirs.json': boxOf('1') })
  t.deepEqual((await device.sync()).changed, ['theirs.json'])
  const first = hashNow()
  t.deepEqual(requested(), [`GET /api/v2/store/${repoKey}/`])
  await setText(device.repo, 'ours.json', '2')
  t.is((await device.sync()).sent.length, 1)
  t.not(hashNow(), first)
  t.deepEqual(requested(), [
    `GET /api/v2/store/${repoKey}/${first}`,
    `POST /api/v2/store/${repoKey}/${first} ours.json`
  ])
  t.deepEqual([...store.files.keys()].sort(), ['ours.json', 'theirs.json'])
  store.put({ 'ours.json': null })
  const second = hashNow()
  t.deepEqual((await device.sync()).changed, ['ours.json'])
  t.deepEqual(requested(), [`GET /api/v2/store/${repoKey}/${second}`])
  t.not(hashNow(), second)
})

test('250 new files are sent in three requests back to back, after one read', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({
    texts: new Map(Array.from({ length: 250 }, (_, i) => [`transaction/${i}.json`, `${i}`]))
  })
  t.is((await a.sync()).sent.length, 250)
  t.deepEqual(
    store.calls.map(call => [call.method, call.paths.length]),
    [
      ['GET', 0],
      ['POST', 100],
      ['POST', 100],
      ['POST', 50]
    ]
  )
  t.is(store.files.size, 250)
})

test('large files are sent in several requests, and one beyond the limit alone', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  for (const name of ['a', 'b', 'c']) await setText(a.repo, name, name.repeat(400_000))
  await setText(a.repo, 'large', 'x'.repeat(2_000_000))
  await a.sync()
  t.deepEqual(
    store.calls.map(call => call.paths.length),
    [0, 1, 1, 1, 1]
  )
})

test('an upload starts only while at most four replies wait for the disk', async t => {
  const store = makeSyncStore()
  const disk = makeSilentDisk(new Map())
  const device = await openDevice(store, { disk })
  await device.repo.write({ texts: new Map(Array.from({ length: 800 }, (_, n) => [`f${n}`, 'text'])) })
  const uploads = (): number => store.calls.filter(({ method }) => method === 'POST').length
  let uploadsAtFirst = 0
  store.beforeAnswer = async () => {
    if (uploads() === 1) disk.silence('write')
  }
  const syncing = device.sync()
  while (uploadsAtFirst < uploads() || uploads() === 0) {
    uploadsAtFirst = uploads()
    for (let turn = 0; turn < 300; turn += 1) await device.clock.turn()
  }
  t.is(uploadsAtFirst, 5)
  disk.comeBack()
  t.is((await syncing).sent.length, 800)
  t.is(uploads(), 8)
})

test('a sync that changes nothing writes nothing, and neither does an equal text', async t => {
  const store = makeSyncStore()
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const a = await openDevice(store, { files, disk })
  await setText(a.repo, 'f', '1')
  await a.sync()
  const before = disk.writeCount
  await a.sync()
  await setText(a.repo, 'f', '1')
  await deleteFile(a.repo, 'none')
  await a.sync()
  t.is(disk.writeCount, before)
  t.is(a.repo.pendingCount, 0)
})

test('an edit made during its own upload survives and is sent with the next sync', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await setText(a.repo, 'f', 'first')
  store.beforeAnswer = async () => {
    store.beforeAnswer = undefined
    await setText(a.repo, 'f', 'second')
  }
  await a.sync()
  t.is(await a.repo.getText('f'), 'second')
  t.is(a.repo.pendingCount, 1)
  await a.sync()
  const b = await openDevice(store)
  await b.sync()
  t.is(await b.repo.getText('f'), 'second')
  t.is(a.repo.pendingCount, 0)
})

test('a deletion made during the upload of a new file is not lost', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await setText(a.repo, 'f', 'first')
  store.beforeAnswer = async () => {
    store.beforeAnswer = undefined
    await deleteFile(a.repo, 'f')
  }
  await a.sync()
  await a.sync()
  t.is(await a.repo.getText('f'), undefined)
  t.false(store.files.has('f'))
})

test('two devices that edit different fields of one file both keep their edits', async t => {
  const [a, b] = await twoDevices()
  await setText(a.repo, 's.json', '{"x":0,"y":0}')
  await a.sync()
  await b.sync()
  await setText(a.repo, 's.json', '{"x":1,"y":0}')
  await setText(b.repo, 's.json', '{"x":0,"y":2}')
  await a.sync()
  await b.sync()
  await a.sync()
  t.deepEqual(await a.json('s.json'), { x: 1, y: 2 })
  t.deepEqual(await b.json('s.json'), { x: 1, y: 2 })
})

test('another text in the reply to an upload is merged, and the sync ends after that', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await setText(a.repo, 's.json', '{"x":1}')
  store.beforeAnswer = undefined
  store.fault = call =>
    call.method === 'POST'
      ? replyOf(200, { changes: { 's.json': boxOf('{"y":2}') }, hash: 'aa' })
      : replyOf(200, { changes: {}, hash: 'aa' })
  t.deepEqual(await a.sync(), { sent: ['s.json'], changed: ['s.json'] })
  t.deepEqual(await a.json('s.json'), { y: 2, x: 1 })
  t.is(a.repo.pendingCount, 1)
  t.is(store.calls.length, 2)
})

test('in files that are no JSON, the last writer wins', async t => {
  const [a, b] = await twoDevices()
  await setText(a.repo, 'f', 'base')
  await a.sync()
  await b.sync()
  await setText(a.repo, 'f', 'from a')
  await b.clock.advance(60_000)
  await setText(b.repo, 'f', 'from b')
  await a.sync()
  await b.sync()
  await a.sync()
  t.is(await a.repo.getText('f'), 'from b')
  t.is(await b.repo.getText('f'), 'from b')
})

test('any schedule of edits, deletions, failures and syncs of two devices converges, and no edit of a field vanishes', async t => {
  let dropped = 0
  const step = fc.record({
    device: fc.integer({ min: 0, max: 1 }),
    action: fc.constantFrom('edit', 'edit', 'sync', 'sync', 'dropped reply', 'reopen')
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async steps => {
      const store = makeSyncStore()
      const devices = await twoDevices(store)
      const last = [0, 0]
      for (const [index, { device, action }] of steps.entries()) {
        const here = devices[device] as Device
        if (action === 'edit') {
          const fields = ((await here.json('s.json')) ?? {}) as Record<string, number>
          await setText(here.repo, 's.json', JSON.stringify({ ...fields, [`d${device}`]: index + 1 }))
          last[device] = index + 1
        } else if (action === 'sync') {
          await here.sync()
        } else if (action === 'reopen') {
          devices[device] = await here.reopen()
        } else {
          store.beforeAnswer = async () => {
            throw new Error('the connection is gone')
          }
          await here.sync().catch(() => {
            dropped += 1
          })
          store.beforeAnswer = undefined
        }
      }
      const [a, b] = devices
      for (const device of [a, b, a, b]) await device.sync()
      const expected = Object.fromEntries(last.flatMap((value, i) => (value === 0 ? [] : [[`d${i}`, value]])))
      const texts = await Promise.all(devices.map(async device => (await device.json('s.json')) ?? {}))
      t.deepEqual(texts[0], texts[1])
      t.deepEqual(texts[0], expected)
      t.is(a.repo.pendingCount + b.repo.pendingCount, 0)
    }),
    { numRuns: 200 }
  )
  t.true(dropped > 50)
})

test('syncs that overlap still converge', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 8 }), async rounds => {
      const [a, b] = await twoDevices()
      for (const [index, [x, y]] of rounds.entries()) {
        await setText(a.repo, `f${x}`, `{"a":${index}}`)
        await setText(b.repo, `f${y}`, `{"b":${index}}`)
        await Promise.all([a.sync(), b.sync(), a.sync()])
      }
      for (const device of [a, b, a, b]) await device.sync()
      t.deepEqual(await a.repo.list(''), await b.repo.list(''))
      for (const path of await a.repo.list('')) t.deepEqual(await a.json(path), await b.json(path))
    }),
    { numRuns: 60 }
  )
})

/** Stores the next upload and loses the answer to it. */
const loseAnswer = async (store: SyncStore, device: Device): Promise<void> => {
  store.beforeAnswer = () => Promise.reject(new Error('the connection is gone'))
  await device.sync().then(
    () => Promise.reject(new Error('The answer came')),
    () => {}
  )
  store.beforeAnswer = undefined
}

test('a change is taken back although the upload of it was never answered', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store)
  await setText(a.repo, 's.json', '{"isOn":false}')
  await a.sync()
  await setText(a.repo, 's.json', '{"isOn":true,"new":1}')
  await loseAnswer(store, a)
  await setText(a.repo, 's.json', '{"isOn":false}')
  const again = await a.reopen()
  await again.sync()
  t.deepEqual(await again.json('s.json'), { isOn: false })
  await b.sync()
  t.deepEqual(await b.json('s.json'), { isOn: false })
})

test('a change is taken back although another device has built on the upload that was never answered', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store)
  await setText(a.repo, 's.json', '{"isOn":true}')
  await loseAnswer(store, a)
  await b.sync()
  await setText(b.repo, 's.json', '{"isOn":true,"theirs":1}')
  await b.sync()
  await setText(a.repo, 's.json', '{"mine":1}')
  await a.sync()
  t.deepEqual(await a.json('s.json'), { theirs: 1, mine: 1 })
})

test('a new file whose upload was never answered can be deleted', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await setText(a.repo, 'f', '1')
  await loseAnswer(store, a)
  await deleteFile(a.repo, 'f')
  await a.sync()
  t.is(await a.repo.getText('f'), undefined)
  t.false(store.files.has('f'))
})

test('after a failed upload, remote changes are read before another server is used', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store, { syncServers: ['https://one.example', 'https://two.example'] })
  const b = await openDevice(store)
  await setText(a.repo, 's.json', '{"x":0,"y":0}')
  await a.sync()
  await b.sync()
  await setText(a.repo, 's.json', '{"x":1,"y":0}')
  store.beforeAnswer = async () => {
    store.beforeAnswer = undefined
    await b.sync()
    await setText(b.repo, 's.json', '{"x":1,"y":2}')
    await b.sync()
    throw new Error('the connection is gone')
  }
  await a.sync()
  await b.sync()
  t.deepEqual(await a.json('s.json'), { x: 1, y: 2 })
  t.deepEqual(await b.json('s.json'), { x: 1, y: 2 })
})

test('a device whose disk is full does not overwrite texts of others', async t => {
  const store = makeSyncStore()
  const disk = makeFaultDisk(new Map())
  const a = await openDevice(store, { disk })
  await setText(a.repo, 'f', '1')
  let isFirst = true
  store.fault = async call => {
    if (call.method !== 'POST' || !isFirst) return undefined
    isFirst = false
    store.put({ 's.json': boxOf('{"theirs":1}') })
    await setText(a.repo, 's.json', '{"mine":1}')
    disk.strike({ at: 1, kind: 'full' })
    return undefined
  }
  t.true(isWalletError(await t.throwsAsync(a.sync()), 'STORAGE_FULL'))
  await a.sync()
  t.deepEqual(await a.json('s.json'), { theirs: 1, mine: 1 })
})

test('a sync that cannot keep a reply asks the server nothing more, however long the upload took', async t => {
  const store = makeSyncStore()
  const disk = makeFaultDisk(new Map())
  let passed = 0
  const device = await openDevice(store, { disk, now: () => Date.UTC(2026, 0, 1) + passed })
  const texts = new Map(Array.from({ length: 150 }, (_, n) => [`f/${n}`, '1']))
  await device.repo.write({ texts })
  store.fault = ({ method }) => {
    if (method === 'POST' && passed === 0) {
      passed = 60_000
      disk.strike({ at: 1, kind: 'full' })
    }
    return undefined
  }
  await t.throwsAsync(device.sync(), { code: 'STORAGE_FULL' })
  t.deepEqual(
    store.calls.map(({ method }) => method),
    ['GET', 'POST']
  )
  await device.sync()
  t.is(device.repo.pendingCount, 0)
  t.is(store.files.size, 150)
})

test('an edit of a file that was deleted and created again restores nothing else', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store)
  await setText(a.repo, 's.json', '{"x":0}')
  await a.sync()
  await b.sync()
  await setText(b.repo, 's.json', '{"x":0,"y":1}')
  await deleteFile(a.repo, 's.json')
  await a.sync()
  store.fault = call => (call.method === 'POST' ? replyOf(503, '') : undefined)
  await t.throwsAsync(b.sync())
  store.fault = undefined
  await setText(a.repo, 's.json', '{"x":2}')
  await a.sync()
  await b.sync()
  t.deepEqual(await b.json('s.json'), { x: 2, y: 1 })
})

test('deletions propagate and do not come back', async t => {
  const [a, b] = await twoDevices()
  await setText(a.repo, 'f', '1')
  await a.sync()
  await b.sync()
  await deleteFile(b.repo, 'f')
  t.deepEqual(await b.repo.list(''), [])
  await b.sync()
  await a.sync()
  t.is(await a.repo.getText('f'), undefined)
  const c = await (await b.reopen()).reopen()
  await c.sync()
  t.deepEqual(await c.repo.list(''), [])
})

test('a server that cannot take deletions gets the rest, and the file still does not come back', async t => {
  const store = makeSyncStore({ takesNull: false, knowsHash: false })
  const a = await openDevice(store)
  await setText(a.repo, 'gone', '1')
  await a.sync()
  await deleteFile(a.repo, 'gone')
  await setText(a.repo, 'new', '2')
  t.is((await a.sync()).sent.length, 1)
  t.true(store.files.has('gone') && store.files.has('new'))
  const again = await a.reopen()
  await again.sync()
  t.deepEqual(await again.repo.list(''), ['new'])
  t.is(again.repo.pendingCount, 1)
})

test('another device’s edit wins over a deletion', async t => {
  const [a, b] = await twoDevices()
  await setText(a.repo, 'f', '1')
  await a.sync()
  await b.sync()
  await setText(a.repo, 'f', '2')
  await a.sync()
  await deleteFile(b.repo, 'f')
  await b.sync()
  t.is(await b.repo.getText('f'), '2')
})

test('a hash that the server does not know is left out once', async t => {
  const store = makeSyncStore({ knowsHash: false })
  const a = await openDevice(store)
  await setText(a.repo, 'f', '1')
  await a.sync()
  store.put({ g: boxOf('2') })
  await a.sync()
  t.is(await a.repo.getText('g'), '2')
  const marks = store.calls.map(call => call.url.split('/').at(-1))
  t.deepEqual(
    marks.map(mark => mark !== ''),
    [false, true, false, true, false]
  )
})

test('a replaced server gets the texts that it lacks, and none of them overwrites a later text of others', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store)
  await a.repo.write({
    texts: new Map([
      ['lost', '1'],
      ['s.json', '{"x":1,"old":1}']
    ])
  })
  await a.sync()
  await b.sync()
  store.files.clear()
  store.fault = call => (call.url.endsWith('/') ? undefined : replyOf(404, {}))
  await setText(b.repo, 's.json', '{"x":2}')
  await b.sync()
  t.deepEqual([...store.files.keys()].sort(), ['lost', 's.json'])
  await a.sync()
  t.deepEqual(await a.json('s.json'), { x: 2 })
  t.is(await a.repo.getText('lost'), '1')
  t.is(a.repo.pendingCount + b.repo.pendingCount, 0)
  const c = await openDevice(store)
  await c.sync()
  t.deepEqual(await c.repo.list(''), ['lost', 's.json'])
})

test('a text that one device restores to a replaced server gives way to a newer text of another device', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store)
  await setText(a.repo, 'f', 'old')
  await a.sync()
  await b.sync()
  store.files.clear()
  store.fault = call => {
    if (call.method === 'POST') return replyOf(503, '')
    return call.url.endsWith('/') ? undefined : replyOf(404, {})
  }
  await t.throwsAsync(b.sync())
  t.is(b.repo.pendingCount, 1)
  store.fault = undefined
  await setText(a.repo, 'f', 'new')
  await a.sync()
  store.fault = call => (call.url.endsWith('/') ? undefined : replyOf(404, {}))
  await b.sync()
  t.is(await b.repo.getText('f'), 'new')
  t.is(b.repo.pendingCount, 0)
})

test('a server that refuses every request, with or without a hash, gets two requests', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.sync()
  store.fault = () => replyOf(404, {})
  const before = store.calls.length
  t.true(isWalletError(await t.throwsAsync(a.sync()), 'SYNC_FAILED'))
  const marks = store.calls.slice(before).map(call => call.url.split('/').at(-1) !== '')
  t.deepEqual(marks, [true, false])
})

const box = boxOf('{}')
const garbage: readonly (readonly [name: string, body: unknown])[] = [
  ['HTML', '<html><body>502</body></html>'],
  ['cut JSON', '{"changes":{"a":'],
  ['no changes', { hash: 'aa' }],
  ['changes of a wrong type', { changes: ['x'], hash: 'aa' }],
  ['null', 'null'],
  ['a hash that leaves the route', { changes: {}, hash: '../../login' }],
  ['a hash of a wrong type', { changes: {}, hash: { a: 1 } }],
  [
    '300,000 changes',
    `{"changes":{${Array.from({ length: 300_000 }, (_, i) => `"f${i}":null`).join()}},"hash":"aa"}`
  ]
]
for (const [name, body] of garbage) {
  test(`a sync fails and changes nothing on a reply of ${name}`, async t => {
    const store = makeSyncStore()
    const a = await openDevice(store)
    await setText(a.repo, 'f', '1')
    store.fault = () => replyOf(200, body)
    t.true(isWalletError(await t.throwsAsync(a.sync()), 'SYNC_FAILED'))
    t.deepEqual(await a.repo.list(''), ['f'])
    t.is(a.repo.pendingCount, 1)
  })
}

test('bad paths, wrong values and boxes of another key are reported and left out; the rest is taken', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  store.put({ good: boxOf('old') })
  await a.sync()
  const foreign = { ...box, data_base64: boxOf('other').data_base64.replace(/^..../, 'AAAA') }
  const changes = `{"__proto__":${JSON.stringify(box)},"../x":${JSON.stringify(box)},"/abs":null,"a//b":null,
    "constructor":${JSON.stringify(box)},"n":5,"half":{"encryptionType":0},"good":${JSON.stringify(foreign)},
    "fine":${JSON.stringify(box)}}`
  store.fault = () => replyOf(200, `{"changes":${changes},"hash":"bb"}`)
  await a.sync()
  t.deepEqual(await a.repo.list(''), ['fine', 'good'])
  t.is(await a.repo.getText('good'), 'old')
  t.is(a.reports.length, 8)
  t.true(a.reports.every(error => isWalletError(error)))
})

test('a reply that deletes more than 50 files and a tenth of the repo is refused; fewer are taken and kept aside', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  const all = Array.from({ length: 120 }, (_, i) => `f${String(i).padStart(3, '0')}`)
  store.put(Object.fromEntries(all.map(path => [path, boxOf(path)])))
  await a.sync()
  const before = a.repo.state.getSnapshot().lastHash
  const nulls = (count: number): Record<string, null> =>
    Object.fromEntries(all.slice(0, count).map(path => [path, null]))
  store.fault = () => replyOf(200, { changes: nulls(51), hash: 'cc' })
  t.true(isWalletError(await t.throwsAsync(a.sync()), 'SYNC_FAILED'))
  t.is((await await a.repo.list('')).length, 120)
  t.is(a.repo.state.getSnapshot().lastHash, before)
  store.fault = () => replyOf(200, { changes: nulls(50), hash: 'cc' })
  await a.sync()
  t.is((await await a.repo.list('')).length, 70)
})

test('at every crash point of writes and syncs, acknowledged texts are there and the repo goes on', async t => {
  let fired = 0
  const story = async (device: Device, acknowledged: Map<string, string>): Promise<void> => {
    for (let i = 0; i < 6; i += 1) {
      const path = `f${i % 3}`
      const isSaved = await setText(device.repo, path, `${i}`).then(
        () => true,
        () => false
      )
      if (isSaved) acknowledged.set(path, `${i}`)
      else acknowledged.delete(path)
      await device.sync().catch(passWalletError)
    }
  }
  const whole = makeFaultDisk(new Map())
  await story(await openDevice(makeSyncStore(), { disk: whole }), new Map())
  for (const kind of FAULT_KINDS) {
    for (let at = 1; at <= whole.writeCount; at += 1) {
      const store = makeSyncStore()
      const files = new Map<string, string>()
      const disk = makeFaultDisk(files, { at, kind })
      const acknowledged = new Map<string, string>()
      await story(await openDevice(store, { files, disk }), acknowledged)
      fired += disk.hasFired ? 1 : 0
      const again = await openDevice(store, { files })
      for (const [path, text] of acknowledged) t.is(await again.repo.getText(path), text, `${kind} at ${at}`)
      await setText(again.repo, 'after', 'x')
      await again.sync()
      const other = await openDevice(store)
      await other.sync()
      for (const [path, text] of acknowledged)
        t.is(await other.repo.getText(path), text, `${kind} at ${at}, elsewhere`)
      const second = await again.reopen()
      t.deepEqual(second.reports, [])
      t.is(await second.repo.getText('after'), 'x')
    }
  }
  t.is(fired, whole.writeCount * FAULT_KINDS.length)
})

test('an interrupted first download resumes where it ended and rewrites no saved file', async t => {
  const store = makeSyncStore()
  const large = 'x'.repeat(700_000)
  store.put(Object.fromEntries([...Array(9).keys()].map(i => [`transaction/${i}-t.json`, boxOf(large + i)])))
  store.put({ 'WalletName.json': boxOf('{"walletName":"far"}') })
  const whole = makeFaultDisk(new Map())
  await (await openDevice(store, { disk: whole })).sync()
  let fired = 0
  let saved = 0
  for (let at = 1; at <= whole.writeCount; at += 1) {
    const files = new Map<string, string>()
    const disk = makeFaultDisk(files, { at, kind: 'lost' })
    const device = await openDevice(store, { files, disk })
    await device.sync().catch(passWalletError)
    fired += disk.hasFired ? 1 : 0
    const counted = makeFaultDisk(files)
    const again = await openDevice(store, { files, disk: counted })
    t.is(again.repo.state.getSnapshot().lastHash, undefined, 'the hash comes with the last part')
    await again.sync()
    if (counted.writeCount < whole.writeCount) saved += 1
    t.is((await again.repo.list('')).length, 10)
    t.is(await again.repo.getText('transaction/8-t.json'), `${large}8`)
    t.is(again.repo.pendingCount, 0)
    t.deepEqual(again.reports, [])
    await again.repo.close()
  }
  t.is(fired, whole.writeCount)
  t.true(saved > 0, 'some of the parts were there already')
})

test('listeners get no event for a sync without changes, nor for writes of this device', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const received: (readonly string[])[] = []
  device.repo.onServerChange(paths => void received.push(paths))
  await setText(device.repo, 'own', '1')
  await device.sync()
  await device.sync()
  t.deepEqual(received, [])
  store.put({ other: boxOf('2') })
  await device.sync()
  t.deepEqual(received, [['other']])
})

test('listeners get the saved parts of a reply although a later part fails', async t => {
  const store = makeSyncStore()
  const large = 'x'.repeat(700_000)
  store.put(Object.fromEntries([...Array(9).keys()].map(i => [`transaction/${i}-t.json`, boxOf(large + i)])))
  store.put({ 'WalletName.json': boxOf('{"walletName":"far"}') })
  const whole = makeFaultDisk(new Map())
  await (await openDevice(store, { disk: whole })).sync()
  const counts = new Set<number>()
  for (let at = 1; at <= whole.writeCount; at += 1) {
    const disk = makeFaultDisk(new Map(), { at, kind: 'full' })
    const a = await openDevice(store, { disk })
    const received: string[] = []
    a.repo.onServerChange(paths => received.push(...paths))
    await t.throwsAsync(a.sync(), { code: 'STORAGE_FULL' }, `write ${at}`)
    t.deepEqual(received.toSorted(), await a.repo.list(''), `write ${at}`)
    counts.add(received.length)
    await a.sync()
    t.deepEqual(received.toSorted(), await a.repo.list(''), `after write ${at}`)
    t.is(received.length, 10)
  }
  t.true(counts.size > 1, 'some of the parts were there')
})

test('a server that repeats everything, with or without a hash, changes and writes nothing', async t => {
  const store = makeSyncStore()
  const disk = makeFaultDisk(new Map())
  const a = await openDevice(store, { disk })
  await a.repo.write({ texts: new Map([...Array(30).keys()].map(i => [`transaction/${i}-t.json`, `${i}`])) })
  await setText(a.repo, 'f', '1')
  await a.sync()
  const before = disk.writeCount
  const received: string[] = []
  a.repo.onServerChange(paths => received.push(...paths))
  const all = Object.fromEntries(store.files)
  for (const hash of [{}, { hash: a.repo.state.getSnapshot().lastHash }]) {
    store.fault = () => replyOf(200, { changes: all, ...hash })
    await a.sync()
    await a.sync()
  }
  t.is(disk.writeCount, before)
  t.deepEqual(received, [])
})

test('an empty server in place of another deletes nothing and gets everything again', async t => {
  const a = await openDevice(makeSyncStore())
  const texts = new Map([...Array(120).keys()].map(i => [`transaction/${i}-t.json`, `${i}`]))
  await a.repo.write({ texts: texts.set('f', '1') })
  await a.sync()
  await a.repo.close()
  const other = makeSyncStore()
  const b = await openDevice(other, { files: a.files })
  await b.sync()
  t.is((await b.repo.list('')).length, 121)
  t.is(other.files.size, 121)
  t.is(b.repo.pendingCount, 0)
  const c = await openDevice(other)
  await c.sync()
  t.is(await c.repo.getText('transaction/119-t.json'), '119')
})

test('writes during a transfer of very many files are neither lost nor overwritten', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  const path = (i: number): string => `transaction/${i}-t.json`
  await a.repo.write({ texts: new Map([...Array(450).keys()].map(i => [path(i), `${i}`])) })
  let count = 0
  store.beforeAnswer = async () => {
    if (count === 5) return
    count += 1
    await Promise.all([
      setText(a.repo, path(count), `edited ${count}`),
      setText(a.repo, path(450 + count), 'new'),
      deleteFile(a.repo, path(400 + count))
    ])
  }
  await a.sync()
  store.beforeAnswer = undefined
  t.is(count, 5)
  await a.sync()
  const b = await openDevice(store)
  await b.sync()
  t.deepEqual(await b.repo.list(''), await a.repo.list(''))
  for (let i = 1; i <= count; i += 1) {
    t.is(await b.repo.getText(path(i)), `edited ${i}`)
    t.is(await b.repo.getText(path(450 + i)), 'new')
    t.is(await b.repo.getText(path(400 + i)), undefined)
  }
})

test('a device with a damaged store fetches everything again and sends the changes that the server lacks', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({
    texts: new Map([
      ['transaction/1-t.json', '1'],
      ['f', '1']
    ])
  })
  await a.sync()
  await setText(a.repo, 'transaction/2-t.json', 'never sent')
  await a.repo.close()
  const [chunk = ''] = [...a.files.keys()].filter(file => /\/\d{12}-\d{12}$/.test(file))
  a.files.set(chunk, 'rubbish')
  store.put({ g: boxOf('from afar') })
  const b = await openDevice(store, { files: a.files })
  t.is(b.repo.state.getSnapshot().lastHash, undefined)
  await b.sync()
  t.is(await b.repo.getText('g'), 'from afar')
  t.is(await b.repo.getText('f'), '1')
  t.is(await b.repo.getText('transaction/1-t.json'), '1')
  const c = await openDevice(store)
  await c.sync()
  t.deepEqual(await c.repo.list(''), await b.repo.list(''))
  t.truthy(b.repo.state.getSnapshot().lastHash)
})

test('the files of large folders that changed since a revision are named, deleted ones among them', async t => {
  const [a, b] = await twoDevices()
  const path = (i: number): string => `transaction/${i}-t.json`
  await a.repo.write({ texts: new Map([...Array(5).keys()].map(i => [path(i), `${i}`])) })
  const first = a.repo.revision
  t.deepEqual((await a.repo.changedSince(0)).paths.toSorted(), [0, 1, 2, 3, 4].map(path))
  t.deepEqual(await a.repo.changedSince(first), { paths: [], revision: first })
  await a.sync()
  t.is(a.repo.revision, first, 'an acknowledgement changes no file')
  await b.sync()
  await setText(b.repo, path(3), 'edited')
  await deleteFile(b.repo, path(4))
  await setText(b.repo, 'Currency.json', '{}')
  await b.sync()
  await a.sync()
  await deleteFile(a.repo, path(0))
  const again = await a.reopen()
  const { paths, revision } = await again.repo.changedSince(first)
  t.deepEqual(paths.toSorted(), [path(0), path(3), path(4)])
  t.is(revision, again.repo.revision)
  await setText(again.repo, path(0), 'back')
  t.deepEqual((await again.repo.changedSince(revision)).paths, [path(0)])
  const own = await again.repo.write({ texts: new Map([[path(1), 'own']]) })
  const same = await again.repo.write({ texts: new Map([[path(1), 'own']]) })
  t.is(same.revision, undefined, 'nothing was written')
  t.deepEqual((await again.repo.changedSince(revision, new Set([own.revision ?? 0]))).paths, [path(0)])
})

test('rows and files of one write are both saved or neither is', async t => {
  const files = new Map<string, string>()
  const { repo } = await openDevice(makeSyncStore(), {
    files,
    disk: makeFaultDisk(files, { at: 2, kind: 'full' })
  })
  const write = (i: number): Promise<unknown> =>
    repo.write({
      texts: new Map([[`transaction/${i}-t.json`, `${i}`]]),
      localChanges: new Map([[`t/1/${i}`, { text: `row ${i}`, order: i }]])
    })
  await write(1)
  await t.throwsAsync(write(2))
  const table = repo.local.table('t/1/')
  t.deepEqual(await table.getMany(['1', '2']), ['row 1', undefined])
  t.deepEqual(await repo.getTexts(['transaction/1-t.json', 'transaction/2-t.json']), ['1', undefined])
})

test('a sync that was delayed for more than 45 seconds reads again before it uploads, at most twice', async t => {
  for (const [heldUp, pauseMs, reads] of [
    [1, 45_000, 1],
    [1, 45_001, 2],
    [2, 60_000, 3],
    [9, 60_000, 3]
  ] as const) {
    const store = makeSyncStore()
    let now = 1_700_000_000_000
    const device = await openDevice(store, { now: () => now })
    const methods = async (): Promise<string[]> => {
      store.calls.length = 0
      await device.sync()
      return store.calls.map(({ method }) => method)
    }
    // As a device that sleeps while the answer comes.
    store.fault = ({ method }) => {
      if (method === 'GET' && store.calls.length <= heldUp) now += pauseMs
      return undefined
    }
    t.deepEqual(await methods(), ['GET'], 'nothing is to be sent')
    await setText(device.repo, 'f', '1')
    t.deepEqual(await methods(), [...Array.from({ length: reads }, () => 'GET'), 'POST'])
    t.is(device.repo.pendingCount, 0)
  }
})

test('texts that another device wrote during a delayed sync are merged before the upload', async t => {
  const store = makeSyncStore()
  let now = 1_700_000_000_000
  const [a, b] = [await openDevice(store, { now: () => now }), await openDevice(store)]
  await setText(a.repo, 's.json', '{"x":1,"y":1}')
  await a.sync()
  await b.sync()
  await setText(b.repo, 's.json', '{"x":1,"y":2}')
  await setText(a.repo, 's.json', '{"x":2,"y":1}')
  let isHeldUp = false
  store.fault = async ({ method }) => {
    if (method !== 'GET' || isHeldUp) return undefined
    isHeldUp = true
    const before = replyOf(200, { changes: {}, hash: a.repo.state.getSnapshot().lastHash })
    await b.sync()
    now += 60_000
    return before
  }
  await a.sync()
  t.deepEqual(await a.json('s.json'), { x: 2, y: 2 })
  const uploads = store.calls.filter(({ method }) => method === 'POST').length
  t.is(uploads, 3, 'the file never stood on the server without the edit of the other device')
})

test('a sync rethrows errors that are no server failures, from a read and from an upload', async t => {
  for (const isUpload of [false, true]) {
    const device = await openDevice(makeSyncStore())
    await setText(device.repo, 'f', '1')
    let calls = 0
    const exchange: SyncServers['exchange'] = async request => {
      calls += 1
      if ((request.changes !== undefined) === isUpload) throw new TypeError('ours')
      return device.servers.exchange(request)
    }
    await t.throwsAsync(syncRepo(device.repo, { exchange }), { instanceOf: TypeError, message: 'ours' })
    t.is(calls, isUpload ? 2 : 1)
    t.is(device.repo.pendingCount, 1)
  }
})
