import test from 'ava'
import { makeRandom } from '../../../fake-server/base/faults.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { openMarkedText } from '../../../kernel/crypto/box.ts'
import { decodeProvenance } from '../../../kernel/sync/lineage.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import { makeDeployedClient } from '../../helpers/deployed-client.ts'
import { runSchedule, SCHEDULE_KINDS } from '../../helpers/device-schedule.ts'
import { drawSeed } from '../../helpers/drawn-runs.ts'
import { boxOf, type Device, dataKey, openDevice } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { runSyncPlan } from '../../helpers/sync-run.ts'
import type { SyncStep } from '../../helpers/sync-steps.ts'
import { makeSyncStore, type SyncStore } from '../../helpers/sync-store.ts'

const PATH = 's.json'
const conflictsOf = (reports: readonly unknown[]): string[] =>
  reports.filter(error => isWalletError(error, 'SYNC_CONFLICT')).map(error => String(error))

/** Two devices that have the same file. */
const twoDevices = async (store: SyncStore, text: string): Promise<[Device, Device]> => {
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await setText(a.repo, PATH, text)
  await a.sync()
  await b.sync()
  return [a, b]
}

test('two devices that edit one file and sync at once both keep their edits, 40 times of 40', async t => {
  for (let run = 0; run < 40; run += 1) {
    const store = makeSyncStore()
    const [a, b] = [await openDevice(store), await openDevice(store)]
    await setText(a.repo, 's.json', '{"x":0,"y":0}')
    await a.sync()
    await b.sync()
    await setText(a.repo, 's.json', '{"x":1,"y":0}')
    await setText(b.repo, 's.json', '{"x":0,"y":1}')
    await Promise.all([a.sync(), b.sync()])
    for (const device of [a, b, a, b]) await device.sync()
    for (const device of [a, b]) t.deepEqual(await device.json('s.json'), { x: 1, y: 1 })
  }
})

test('a field of a new file keeps its edit when another one is edited before the file meets those of other devices', async t => {
  const edit = (device: number, field: string, isRemoved = false): SyncStep => ({
    ...{ kind: 'edit', device, path: PATH },
    fields: [{ field, isRemoved }]
  })
  const [begin, sync, move] = (['begin', 'sync', 'move'] as const).map(
    kind =>
      (device: number): SyncStep =>
        kind === 'move' ? { kind, device, fate: 'served' } : { kind, device }
  ) as [(device: number) => SyncStep, (device: number) => SyncStep, (device: number) => SyncStep]
  // A story that the three devices of the proof found. The first device has downloaded the file only after the merge.
  const steps = [
    ...[edit(2, 'x'), begin(1), sync(2), edit(1, 'n.a'), edit(2, 'x', true), begin(2), move(2), move(1)],
    ...[edit(1, 'x'), move(1), move(1), sync(0), edit(0, 'x', true), move(0), sync(2)]
  ]
  await t.notThrowsAsync(runSyncPlan({ steps, hasDeployed: false, isStrict: false }))
})

test('no acknowledged edit is lost in any kind of schedule of two or three devices', async t => {
  const draw = makeRandom(drawSeed(t))
  for (const kind of SCHEDULE_KINDS) {
    for (let run = 0; run < 4; run += 1) {
      const runSeed = Math.floor(draw() * 1e9)
      const { lost, fields } = await runSchedule(kind, runSeed)
      t.deepEqual(lost, [], `${kind.name}, seed ${runSeed}`)
      t.true(fields > 0)
    }
  }
})

/** Runs a task when the next upload has left, before the server sees it. */
const beforeUpload = (store: SyncStore, task: () => Promise<unknown> | undefined): void => {
  store.fault = async ({ method }) => {
    if (method !== 'POST') return undefined
    store.fault = undefined
    await task()
    return undefined
  }
}

test('a file that is no JSON keeps the newest text when two devices write at once and one writes again', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await setText(a.repo, 'w.txt', 'first of A')
  await setText(b.repo, 'w.txt', 'first of B')
  beforeUpload(store, () => b.sync())
  await a.sync()
  await setText(a.repo, 'w.txt', 'second of A')
  // B has read the first of A, and merged it with its own.
  beforeUpload(store, () => a.sync())
  await b.sync()
  for (const device of [a, b, a, b]) await device.sync()
  for (const device of [a, b]) t.is(await device.repo.getText('w.txt'), 'second of A')
})

test('an edit that makes an object survives a race on top of what another app wrote', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await setText(a.repo, PATH, '{"n":{"b":1}}')
  await setText(b.repo, PATH, '{"x":9,"n":{}}')
  let syncing: Promise<unknown> | undefined
  // A has read before the other app wrote, and B after that.
  beforeUpload(store, () => {
    store.put({ [PATH]: boxOf('{"x":0,"n":{}}') })
    return new Promise<void>(resolve => {
      beforeUpload(store, () => {
        resolve()
        return syncing
      })
      void b.sync()
    })
  })
  syncing = a.sync()
  await syncing
  for (const device of [b, a, b, a]) await device.sync()
  for (const device of [a, b]) t.deepEqual(await device.json(PATH), { x: 9, n: { b: 1 } })
})

test('a new file that another app overwrites at once is reported, and its text is kept', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await setText(a.repo, PATH, '{"x":1}')
  await a.sync()
  store.put({ [PATH]: boxOf('{"y":2}') })
  await a.sync()
  t.deepEqual(await a.json(PATH), { y: 2 })
  t.is(conflictsOf(a.reports).length, 1)
  t.deepEqual(
    a.repo.keptFiles().map(({ keptId }) => a.repo.keptText(keptId)),
    ['{"x":1}']
  )
})

test('a new device reports files that another app overwrites shortly after the first download, and not later', async t => {
  const store = makeSyncStore()
  const [, b] = await twoDevices(store, '{"x":1}')
  const c = await openDevice(store)
  await c.sync()
  await c.clock.advance(121_000)
  store.put({ [PATH]: boxOf('{"y":2}') })
  for (const device of [b, c]) await device.sync()
  t.is(conflictsOf(b.reports).length, 1)
  t.deepEqual(
    b.repo.keptFiles().map(({ keptId }) => b.repo.keptText(keptId)),
    ['{"x":1}']
  )
  t.deepEqual(conflictsOf(c.reports), [])
  for (const device of [b, c]) t.deepEqual(await device.json(PATH), { y: 2 })
})

test('an edit after a deletion that may have been sent keeps the lineage of the file', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  const lineageOf = async ({ repo, io }: Device): Promise<ReadonlyMap<string, number> | undefined> => {
    const box = JSON.parse((await repo.getBox(PATH)) ?? '') as Box
    return openMarkedText(io, { key: dataKey, box }, decodeProvenance).mark?.lineage
  }
  await setText(a.repo, PATH, '{"x":1}')
  const first = await lineageOf(a)
  store.fault = () => {
    throw new Error('No answer')
  }
  await t.throwsAsync(a.sync())
  const again = await a.reopen()
  await deleteFile(again.repo, PATH)
  await setText(again.repo, PATH, '{"x":2}')
  const second = await lineageOf(again)
  t.is(first?.size, 1)
  for (const [session, count] of first ?? []) t.is(second?.get(session), count)
})

test('devices that know each other’s version as an older one agree on one text and send it once', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await setText(a.repo, PATH, '{"a":1}')
  const other = boxOf('{"b":2}')
  beforeUpload(store, async () => {
    store.put({ [PATH]: other })
    await b.sync()
  })
  await a.sync()
  await b.sync()
  // The other app never heard that its upload had arrived.
  store.put({ [PATH]: other })
  for (const device of [a, b, a, b, a, b]) await device.sync()
  t.deepEqual(await a.json(PATH), await b.json(PATH))
  const sent = store.calls.length
  for (const device of [a, b]) await device.sync()
  t.false(store.calls.slice(sent).some(({ method }) => method === 'POST'))
})

test('an upload whose reply was lost undoes no later change of another device', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store, '{"x":0,"y":0}')
  await setText(a.repo, PATH, '{"x":1,"y":0}')
  store.beforeAnswer = async () => {
    throw new Error('The line broke')
  }
  await t.throwsAsync(a.sync())
  store.beforeAnswer = undefined
  await b.sync()
  t.deepEqual(await b.json(PATH), { x: 1, y: 0 })
  await setText(b.repo, PATH, '{"x":0,"y":2}')
  await b.sync()
  await a.sync()
  await b.sync()
  for (const device of [a, b]) t.deepEqual(await device.json(PATH), { x: 0, y: 2 })
  t.is(a.repo.pendingCount, 0)
})

test('simultaneous changes of two devices are counted, and a late version is merged as far as possible and reported', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store, '{"x":0,"y":0,"z":0}')
  await setText(b.repo, PATH, '{"x":0,"y":1,"z":0}')
  // The upload of B leaves, and lies somewhere for two days.
  let deliver: (() => Promise<unknown>) | undefined
  const { fetch } = store
  store.fault = call => {
    if (call.method !== 'POST') return undefined
    store.fault = undefined
    deliver = () => fetch(call.url, { method: 'POST', body: JSON.stringify({ changes: call.changes }) })
    throw new Error('No answer')
  }
  await t.throwsAsync(b.sync())
  await setText(a.repo, PATH, '{"x":1,"y":0,"z":0}')
  await a.sync()
  for (const [path, hours] of [
    ['other.json', 48],
    ['another.json', 1]
  ] as const) {
    await a.clock.advance(hours * 3_600_000)
    await setText(a.repo, path, '{"n":1}')
    await a.sync()
  }
  await deliver?.()
  await a.sync()
  t.deepEqual(await a.json(PATH), { x: 1, y: 1, z: 0 })
  t.is(a.repo.state.getSnapshot().doubtfulCount, 1)
  t.regex(
    conflictsOf(a.reports).join(),
    /^WalletError: The file s.json was changed in two places: a change came so late|late/
  )
  await b.sync()
  t.deepEqual(await b.json(PATH), { x: 1, y: 1, z: 0 })
})

test('an edit that another device deletes within the same exchange is reported, and the text is kept', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store, '{"x":0}')
  await setText(a.repo, PATH, '{"x":1}')
  await a.sync()
  // The deletion leaves a device that has not read again.
  store.put({ [PATH]: null })
  await a.sync()
  t.is(await a.json(PATH), null)
  t.is(a.repo.state.getSnapshot().doubtfulCount, 1)
  t.regex(conflictsOf(a.reports).join(), /deleted it shortly after/)
  t.true(a.repo.keptFiles().some(({ path }) => path === PATH))
  await b.sync()
  t.deepEqual(conflictsOf(b.reports), [])
})

test('a blind upload of another client is accepted, and a device that lost an edit to it reports that and keeps the text', async t => {
  const store = makeSyncStore()
  const [a] = await twoDevices(store, '{"x":0,"y":0}')
  const client = makeDeployedClient(makeRepoIo({ fetch: store.fetch }))
  await client.sync()
  await setText(a.repo, PATH, '{"x":1,"y":0}')
  await a.sync()
  client.setText(PATH, '{"x":0,"y":2}')
  await client.sync()
  await a.sync()
  t.deepEqual(await a.json(PATH), { x: 0, y: 2 })
  t.is(a.repo.state.getSnapshot().doubtfulCount, 1)
  t.is(conflictsOf(a.reports).length, 1)
  // One that has seen ours loses nothing, and nothing is said.
  await setText(a.repo, PATH, '{"x":3,"y":2}')
  await a.sync()
  await client.sync()
  client.setText(PATH, '{"x":3,"y":4}')
  await client.sync()
  await a.sync()
  t.deepEqual(await a.json(PATH), { x: 3, y: 4 })
  t.is(conflictsOf(a.reports).length, 1)
})

test('a server that shows an older version gets the newer one again, and the device reports it', async t => {
  const store = makeSyncStore()
  const [a] = await twoDevices(store, '{"x":0}')
  const old = store.files.get(PATH)
  await setText(a.repo, PATH, '{"x":1}')
  await a.sync()
  if (old !== undefined) store.put({ [PATH]: old })
  await a.sync()
  t.deepEqual(await a.json(PATH), { x: 1 })
  await a.sync()
  const fresh = await openDevice(store)
  await fresh.sync()
  t.deepEqual(await fresh.json(PATH), { x: 1 })
  t.true(a.reports.some(error => isWalletError(error, 'SYNC_OLD_STATE')))
})
