import test from 'ava'
import { makeChance } from '../../../fake-server/trouble.ts'
import { isWalletError } from '../../../kernel/errors/wallet-error.ts'
import { makeDeployedClient } from '../../helpers/deployed-client.ts'
import { runSchedule, SCHEDULE_KINDS } from '../../helpers/device-schedule.ts'
import { type Device, openDevice } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { makeSyncStore, type SyncStore } from '../../helpers/sync-store.ts'

const PATH = 's.json'
const conflictsOf = (reports: readonly unknown[]): string[] =>
  reports.filter(error => isWalletError(error, 'SYNC_CONFLICT')).map(error => String(error))

/** Two devices that have the same file. */
const twoDevices = async (store: SyncStore, text: string): Promise<[Device, Device]> => {
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await a.repo.setText(PATH, text)
  await a.sync()
  await b.sync()
  return [a, b]
}

test('of two devices that edit one file and sync at once neither loses its edit, 40 times of 40', async t => {
  for (let run = 0; run < 40; run += 1) {
    const store = makeSyncStore()
    const [a, b] = [await openDevice(store), await openDevice(store)]
    await a.repo.setText('s.json', '{"x":0,"y":0}')
    await a.sync()
    await b.sync()
    await a.repo.setText('s.json', '{"x":1,"y":0}')
    await b.repo.setText('s.json', '{"x":0,"y":1}')
    await Promise.all([a.sync(), b.sync()])
    for (const device of [a, b, a, b]) await device.sync()
    for (const device of [a, b]) t.deepEqual(await device.json('s.json'), { x: 1, y: 1 })
  }
})

test('no acknowledged edit is lost in any kind of schedule of two or three devices', async t => {
  const seed = Number(process.env.HOLDFAST_SEED ?? Math.floor(Math.random() * 1e9))
  t.log(`seed ${seed}`)
  const draw = makeChance(seed)
  for (const kind of SCHEDULE_KINDS) {
    for (let run = 0; run < 4; run += 1) {
      const runSeed = Math.floor(draw() * 1e9)
      const { lost, fields } = await runSchedule(kind, runSeed)
      t.deepEqual(lost, [], `${kind.name}, seed ${runSeed}`)
      t.true(fields > 0)
    }
  }
})

test('an upload that arrived although its sender never heard undoes nothing that another device made of it', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store, '{"x":0,"y":0}')
  await a.repo.setText(PATH, '{"x":1,"y":0}')
  store.beforeAnswer = async () => {
    throw new Error('The line broke')
  }
  await t.throwsAsync(a.sync())
  store.beforeAnswer = undefined
  await b.sync()
  t.deepEqual(await b.json(PATH), { x: 1, y: 0 })
  await b.repo.setText(PATH, '{"x":0,"y":2}')
  await b.sync()
  await a.sync()
  await b.sync()
  for (const device of [a, b]) t.deepEqual(await device.json(PATH), { x: 0, y: 2 })
  t.is(a.repo.pendingCount, 0)
})

test('what two devices changed at once is counted, and a version that came late is merged as far as it goes and told', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store, '{"x":0,"y":0,"z":0}')
  await b.repo.setText(PATH, '{"x":0,"y":1,"z":0}')
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
  await a.repo.setText(PATH, '{"x":1,"y":0,"z":0}')
  await a.sync()
  for (const [path, hours] of [
    ['other.json', 48],
    ['another.json', 1]
  ] as const) {
    await a.clock.advance(hours * 3_600_000)
    await a.repo.setText(path, '{"n":1}')
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

test('who edited a file that another device deletes within the same exchange is told, and the text is kept', async t => {
  const store = makeSyncStore()
  const [a, b] = await twoDevices(store, '{"x":0}')
  await a.repo.setText(PATH, '{"x":1}')
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

test('a client that uploads without a look stands, and whoever lost an edit to it is told and has the text still', async t => {
  const store = makeSyncStore()
  const [a] = await twoDevices(store, '{"x":0,"y":0}')
  const client = makeDeployedClient(makeRepoIo({ fetch: store.fetch }))
  await client.sync()
  await a.repo.setText(PATH, '{"x":1,"y":0}')
  await a.sync()
  client.setText(PATH, '{"x":0,"y":2}')
  await client.sync()
  await a.sync()
  t.deepEqual(await a.json(PATH), { x: 0, y: 2 })
  t.is(a.repo.state.getSnapshot().doubtfulCount, 1)
  t.is(conflictsOf(a.reports).length, 1)
  // One that has seen ours loses nothing, and nothing is said.
  await a.repo.setText(PATH, '{"x":3,"y":2}')
  await a.sync()
  await client.sync()
  client.setText(PATH, '{"x":3,"y":4}')
  await client.sync()
  await a.sync()
  t.deepEqual(await a.json(PATH), { x: 3, y: 4 })
  t.is(conflictsOf(a.reports).length, 1)
})

test('a server that shows an older version gets the newer one again, and it is told', async t => {
  const store = makeSyncStore()
  const [a] = await twoDevices(store, '{"x":0}')
  const old = store.files.get(PATH)
  await a.repo.setText(PATH, '{"x":1}')
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
