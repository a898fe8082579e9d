import test, { type ExecutionContext } from 'ava'
import { type Device, openDevice } from '../../helpers/repo-device.ts'
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
