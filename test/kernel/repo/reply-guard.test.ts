import test from 'ava'
import { type ErrorCode, isWalletError } from '../../../kernel/index.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import { boxOf, type Device, openDevice } from '../../helpers/repo-device.ts'
import { makeSyncStore, replyOf, type SyncStore } from '../../helpers/sync-store.ts'

const DAY_MS = 24 * 3600 * 1000

const codesOf = ({ reports }: Device): (ErrorCode | undefined)[] =>
  reports.map(report => (isWalletError(report) ? report.code : undefined))

/** Two versions of a file, of which the device has the second and the server shows the first. */
const rolledBack = async (): Promise<{ store: SyncStore; device: Device; first: Box; second: Box }> => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const [first, second] = [boxOf('{"a":1}'), boxOf('{"a":2}')]
  store.put({ file: first, other: boxOf('x') })
  await device.sync()
  store.put({ file: second })
  await device.sync()
  store.put({ file: first })
  return { store, device, first, second }
}

test('a server that shows an older version of a file is noticed, and gets the newer one again', async t => {
  const { store, device, second } = await rolledBack()
  await device.sync()
  t.is(await device.repo.getText('file'), '{"a":2}')
  t.deepEqual(store.files.get('file'), second)
  t.deepEqual(codesOf(device), ['SYNC_OLD_STATE'])
  const at = device.clock.now() / 1000
  t.like(device.repo.state.getSnapshot(), {
    rolledBackAt: Math.floor(at),
    rolledBackFiles: 1,
    pendingCount: 0
  })
  const again = await device.reopen()
  t.like(again.repo.state.getSnapshot(), { rolledBackAt: Math.floor(at), rolledBackFiles: 1 })
})

test('an edit of our own stays when the server shows a version from before the one it was made of', async t => {
  const { store, device } = await rolledBack()
  await device.repo.setText('file', '{"a":3}')
  await device.sync()
  t.is(await device.repo.getText('file'), '{"a":3}')
  const other = await openDevice(store)
  await other.sync()
  t.is(await other.repo.getText('file'), '{"a":3}')
  t.deepEqual(codesOf(device), ['SYNC_OLD_STATE'])
})

test('our own replaced texts are known too, whether the server or this device replaced them', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const boxes: Box[] = []
  for (const text of ['1', '2', '3']) {
    await device.repo.setText('file', text)
    await device.sync()
    boxes.push(store.files.get('file') as Box)
  }
  for (const old of boxes.slice(0, 2)) {
    store.put({ file: old })
    await device.sync()
    t.is(await device.repo.getText('file'), '3')
    t.deepEqual(store.files.get('file'), boxes[2])
  }
  t.is(codesOf(device).length, 2)
})

test('a server that fell back to an older state is told everything that it lacks, and the fall is told', async t => {
  const [store, old] = [makeSyncStore(), makeSyncStore()]
  const device = await openDevice({ fetch: (url, options) => server.fetch(url, options) })
  let server = store
  const first = { a: boxOf('1'), b: boxOf('1') }
  for (const each of [store, old]) each.put(first)
  await device.sync()
  store.put({ a: boxOf('2'), c: boxOf('1') })
  await device.sync()
  server = old
  await device.sync()
  await device.sync()
  t.deepEqual([...old.files].sort(), [...store.files].sort())
  t.true(codesOf(device).includes('SYNC_OLD_STATE'))
  t.is(await device.repo.getText('a'), '2')
})

test('an older hash alone is noticed, and the next sync asks for everything', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ a: boxOf('1') })
  await device.sync()
  const { lastHash = '' } = device.repo.state.getSnapshot()
  store.put({ a: boxOf('2'), b: boxOf('1') })
  await device.sync()
  store.fault = () => replyOf(200, { changes: {}, hash: lastHash })
  await device.sync()
  t.deepEqual(codesOf(device), ['SYNC_OLD_STATE'])
  store.fault = undefined
  store.calls.length = 0
  await device.sync()
  t.true(store.calls[0]?.url.endsWith('/'), store.calls[0]?.url)
})

test('the state that was seen last is no older state, also after this device has forgotten its hash', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ a: boxOf('1') })
  await device.sync()
  await device.repo.forgetServer()
  await device.sync()
  await device.sync()
  t.deepEqual(codesOf(device), [])
})

test('what is ordinary is no older state: edits of two devices, values put back, and deletions', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  for (let i = 0; i < 20; i += 1) {
    const [one, two] = i % 2 === 0 ? [a, b] : [b, a]
    await one.repo.setText('file', `{"x":${i % 3}}`)
    if (i % 5 === 0) await two.repo.delete('file')
    await one.sync()
    await two.sync()
    await one.sync()
  }
  t.deepEqual([codesOf(a), codesOf(b)], [[], []])
})

test('a server that always shows old versions cannot keep a device uploading within one sync', async t => {
  const { store, device, first } = await rolledBack()
  store.fault = call =>
    call.method === 'POST' ? replyOf(200, { changes: { file: first }, hash: 'ff' }) : undefined
  store.calls.length = 0
  await device.sync()
  t.true(store.calls.length <= 3, `${store.calls.length} requests`)
  t.is(await device.repo.getText('file'), '{"a":2}')
})

test('what a server replaces or deletes can be brought back for 30 days, and what is there then is kept in its place', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ file: boxOf('first'), gone: boxOf('there') })
  await device.sync()
  t.is(device.repo.state.getSnapshot().keptCount, undefined)
  store.put({ file: boxOf('second'), gone: null })
  await device.sync()
  t.is(device.repo.state.getSnapshot().keptCount, 2)
  const again = await device.reopen()
  const kept = again.repo.keptFiles()
  t.deepEqual(
    kept.map(({ path, reason }) => [path, reason]),
    [
      ['file', 'replaced'],
      ['gone', 'deleted']
    ]
  )
  t.is(again.repo.keptText(kept[0]?.keptId ?? ''), 'first')
  for (const { keptId, path } of kept) t.is(await again.repo.restoreKept(keptId), path)
  t.is(await again.repo.restoreKept('k/nothing'), undefined)
  t.is(await again.repo.getText('file'), 'first')
  t.is(await again.repo.getText('gone'), 'there')
  t.deepEqual(
    again.repo.keptFiles().map(({ path, keptId }) => [path, again.repo.keptText(keptId)]),
    [['file', 'second']]
  )
  await again.sync()
  const other = await openDevice(store)
  await other.sync()
  t.deepEqual(await Promise.all(['file', 'gone'].map(path => other.repo.getText(path))), ['first', 'there'])
  await again.clock.advance(31 * DAY_MS)
  store.put({ gone: null })
  await again.sync()
  t.deepEqual(
    again.repo.keptFiles().map(({ path }) => path),
    ['gone']
  )
})

test('boxes that open nothing are kept up to a bound, and whoever meets it is told', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const junk = { ...boxOf('x'), data_base64: 'A'.repeat(1024) }
  const real = Array.from({ length: 100 }, (_, i) => [`real/${i}`, boxOf(`${i}`)] as const)
  const others = Array.from({ length: 3000 }, (_, i) => [`junk/${i}`, junk] as const)
  store.put(Object.fromEntries([...others.slice(0, 1500), ...real, ...others.slice(1500)]))
  await device.sync()
  t.is((await device.repo.list('real')).length, 100)
  const count = (await device.repo.list('junk')).length
  t.true(count >= 200 && count < 500, `${count} of 3000 are kept`)
  t.true(codesOf(device).includes('REPO_LIMIT'))
  store.put(Object.fromEntries(others.map(([path]) => [`${path}-again`, junk])))
  await device.sync()
  t.is(
    (await device.repo.list('junk')).length,
    count,
    'no more of them in a second reply, or after a restart'
  )
  const again = await device.reopen()
  store.put(
    Object.fromEntries([...others.map(([path]) => [`${path}-more`, junk] as const), ['real/new', boxOf('y')]])
  )
  await again.sync()
  t.is((await again.repo.list('junk')).length, count)
  t.is(await again.repo.getText('real/new'), 'y')
})
