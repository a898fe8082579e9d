import type { ExecutionContext } from 'ava'
import test from 'ava'
import { boxOf, type Device, openDevice } from '../../helpers/repo-device.ts'
import { makeSyncStore, replyOf, type SyncStore } from '../../helpers/sync-store.ts'

/** Syncs so that no answer comes to an upload, which the server has kept or not. */
const syncUnanswered = async (
  t: ExecutionContext,
  { store, device, isKept }: { store: SyncStore; device: Device; isKept: boolean }
): Promise<void> => {
  if (isKept) {
    store.beforeAnswer = async () => {
      throw new Error('The answer was lost')
    }
  } else store.fault = ({ method }) => (method === 'POST' ? replyOf(500, {}) : undefined)
  await t.throwsAsync(device.sync(), { code: 'SYNC_FAILED' })
  store.beforeAnswer = undefined
  store.fault = undefined
}

test('a change that an earlier process sent without hearing of it can be taken back', async t => {
  const store = makeSyncStore()
  const first = await openDevice(store)
  await first.repo.setText('s.json', '{"isOn":false}')
  await first.sync()
  await first.repo.setText('s.json', '{"isOn":true,"new":1}')
  await syncUnanswered(t, { store, device: first, isKept: true })
  const device = await first.reopen()
  await device.repo.setText('s.json', '{"isOn":false}')
  await device.sync()
  t.deepEqual(await device.json('s.json'), { isOn: false })
})

test('a change can be taken back although the server kept an early upload of it and lost the later ones', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  await device.repo.setText('s.json', '{"isOn":false}')
  await device.sync()
  for (const [at, isKept] of [true, false, false].entries()) {
    await device.repo.setText('s.json', `{"isOn":true,"try":${at}}`)
    if (isKept) await syncUnanswered(t, { store, device, isKept })
    else {
      // The read would tell that the first one is there; nothing is read.
      store.fault = () => replyOf(500, {})
      await t.throwsAsync(device.sync())
      store.fault = undefined
    }
  }
  await device.repo.setText('s.json', '{"isOn":false}')
  await device.sync()
  t.deepEqual(await device.json('s.json'), { isOn: false })
})

test('many large changes go up in requests of about a megabyte each, and one that is larger alone', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const texts = Array.from(
    { length: 6 },
    (_, n) => [`f${n}`, 'x'.repeat(n === 3 ? 1_500_000 : 300_000)] as const
  )
  await device.repo.setTexts(new Map(texts))
  await device.sync()
  const uploads = store.calls.filter(({ method }) => method === 'POST')
  t.true(uploads.length >= 4, `${uploads.length} uploads`)
  for (const { paths } of uploads)
    t.true(paths.length <= 3 && (!paths.includes('f3') || paths.length === 1), paths.join())
  t.is(store.files.size, 6)
})

test('a file that is made and deleted here needs no deletion, although an earlier one of its name was settled', async t => {
  const store = makeSyncStore()
  const first = await openDevice(store)
  await first.repo.setText('f', 'one')
  await syncUnanswered(t, { store, device: first, isKept: true })
  const device = await first.reopen()
  // The first read shows that the upload has arrived.
  await device.sync()
  store.put({ f: null })
  await device.sync()
  await device.repo.setText('f', 'two')
  await device.repo.delete('f')
  t.is(device.repo.pendingCount, 0)
})

test('an edit of a file that the server has deleted since is still one of the text that it was made of', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  await device.repo.setText('s.json', '{"x":1,"y":1}')
  await device.sync()
  await device.repo.setText('s.json', '{"x":2,"y":1}')
  store.put({ 's.json': null })
  await syncUnanswered(t, { store, device, isKept: false })
  await device.repo.setText('s.json', '{"x":3,"y":1}')
  store.put({ 's.json': boxOf('{"x":1,"y":2}') })
  await device.sync()
  t.deepEqual(await device.json('s.json'), { x: 3, y: 2 })
})
