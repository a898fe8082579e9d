import type { ExecutionContext } from 'ava'
import test from 'ava'
import type { SealedStore } from '../../../kernel/repo/store/sealed-store.ts'
import { PendingChanges, RepoFiles } from '../../../kernel/sync/repo-files.ts'
import { boxText } from '../../../kernel/sync/repo-record.ts'
import { boxOf, type Device, openDevice } from '../../helpers/repo-device.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeShakyDisk } from '../../helpers/shaky-disk.ts'
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

test('a change can be undone although an earlier process sent it without a reply', async t => {
  const store = makeSyncStore()
  const first = await openDevice(store)
  await setText(first.repo, 's.json', '{"isOn":false}')
  await first.sync()
  await setText(first.repo, 's.json', '{"isOn":true,"new":1}')
  await syncUnanswered(t, { store, device: first, isKept: true })
  const device = await first.reopen()
  await setText(device.repo, 's.json', '{"isOn":false}')
  await device.sync()
  t.deepEqual(await device.json('s.json'), { isOn: false })
})

test('a change can be taken back although the server kept an early upload of it and lost the later ones', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  await setText(device.repo, 's.json', '{"isOn":false}')
  await device.sync()
  for (const [at, isKept] of [true, false, false].entries()) {
    await setText(device.repo, 's.json', `{"isOn":true,"try":${at}}`)
    if (isKept) await syncUnanswered(t, { store, device, isKept })
    else {
      // The read would tell that the first one is there; nothing is read.
      store.fault = () => replyOf(500, {})
      await t.throwsAsync(device.sync())
      store.fault = undefined
    }
  }
  await setText(device.repo, 's.json', '{"isOn":false}')
  await device.sync()
  t.deepEqual(await device.json('s.json'), { isOn: false })
})

test('an edit whose write failed, but arrived, does not come back after a sync that did not know of it', async t => {
  const store = makeSyncStore()
  const files = new Map<string, string>()
  const disk = makeShakyDisk(files, 1)
  const device = await openDevice(store, { files, disk })
  await device.sync()
  await setText(device.repo, 's.json', '{"x":1}')
  disk.fail({ call: 'set', at: 1, arrives: true })
  await t.throwsAsync(setText(device.repo, 's.json', '{"x":1,"y":2}'), { code: 'STORAGE_FAILED' })
  disk.fail({ call: 'delete', at: 1, arrives: false })
  await t.throwsAsync(device.sync(), { code: 'STORAGE_FAILED' })
  t.false(store.files.has('s.json'), 'nothing is sent while that is not sure')
  // The text goes up, and the device ends before it has noted that.
  store.beforeAnswer = async () => {
    disk.cutPower()
    throw new Error('The answer was lost')
  }
  await t.throwsAsync(device.sync())
  store.beforeAnswer = undefined
  const again = await openDevice(store, { files, disk: makeShakyDisk(files, 2) })
  t.deepEqual(await again.json('s.json'), { x: 1 })
  await again.sync()
  t.deepEqual(again.reports, [])
  t.is(again.repo.pendingCount, 0)
})

test('many large changes are sent in requests of about a megabyte, and a larger one alone', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const texts = Array.from(
    { length: 6 },
    (_, n) => [`f${n}`, 'x'.repeat(n === 3 ? 1_500_000 : 300_000)] as const
  )
  await device.repo.write({ texts: new Map(texts) })
  await device.sync()
  const uploads = store.calls.filter(({ method }) => method === 'POST')
  t.true(uploads.length >= 4, `${uploads.length} uploads`)
  for (const { paths } of uploads)
    t.true(paths.length <= 3 && (!paths.includes('f3') || paths.length === 1), paths.join())
  t.is(store.files.size, 6)
})

test('a file that is created and deleted here needs no deletion, although an earlier file of its name was synced', async t => {
  const store = makeSyncStore()
  const first = await openDevice(store)
  await setText(first.repo, 'f', 'one')
  await syncUnanswered(t, { store, device: first, isKept: true })
  const device = await first.reopen()
  // The first read shows that the upload has arrived.
  await device.sync()
  store.put({ f: null })
  await device.sync()
  await setText(device.repo, 'f', 'two')
  await deleteFile(device.repo, 'f')
  t.is(device.repo.pendingCount, 0)
})

test('an edit of a file that the server has deleted since keeps its base text', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  await setText(device.repo, 's.json', '{"x":1,"y":1}')
  await device.sync()
  await setText(device.repo, 's.json', '{"x":2,"y":1}')
  store.put({ 's.json': null })
  await syncUnanswered(t, { store, device, isKept: false })
  await setText(device.repo, 's.json', '{"x":3,"y":1}')
  store.put({ 's.json': boxOf('{"x":1,"y":2}') })
  await device.sync()
  t.deepEqual(await device.json('s.json'), { x: 3, y: 2 })
})

test('an edited text counts as sent only if a request may have held it', async t => {
  const entries = new Map([
    ['f/a', junkOf(0)],
    ['c/a', 'new'],
    ['f/b', junkOf(9)],
    ['c/b', 'new']
  ])
  const files = new RepoFiles({
    get: (key: string) => entries.get(key),
    entries: (prefix: string) => [...entries].filter(([key]) => key.startsWith(prefix))
  } as unknown as SealedStore)
  const changes = new PendingChanges(files)
  const sentBefore = (n: number, sent: readonly string[] = []): readonly string[] =>
    changes.sentBefore('a', { box: junkOf(n), base: null, sent })
  // An earlier process may have sent what is there, and nothing that comes later.
  t.deepEqual(sentBefore(0), [junkOf(0)])
  t.deepEqual(sentBefore(1, [junkOf(0)]), [junkOf(0)])
  t.deepEqual(sentBefore(2, [junkOf(0)]), [junkOf(0)])
  entries.set('f/a', junkOf(3))
  const options = { limit: 9, skipped: new Set<string>(), takesDeletions: true }
  t.deepEqual([...(await changes.takeBatch({ ...options, skipped: new Set(['b']) })).keys()], ['a'])
  t.deepEqual(sentBefore(3, [junkOf(0)]), [junkOf(0), junkOf(3)])
  t.deepEqual(sentBefore(4, [junkOf(0)]), [junkOf(0)])
  t.deepEqual(sentBefore(3, [0, 1, 2].map(junkOf)), [1, 2, 3].map(junkOf), 'the last three are kept')
  t.deepEqual(changes.sentBefore('a', { box: null, base: junkOf(3), sent: [] }), [], 'a deletion is no text')
  t.deepEqual(changes.sentBefore('a', undefined), [])
  t.deepEqual(changes.sentBefore('other', { box: junkOf(1), base: null, sent: [] }), [])
  t.deepEqual([...(await changes.takeBatch({ ...options, limit: 1 })).keys()], ['a'])
  t.deepEqual([...(await changes.takeBatch(options)).keys()], ['a', 'b'])
})

const junkOf = (n: number): string =>
  boxText({ encryptionType: 0, iv_hex: `${n}`.repeat(32), data_base64: 'AAAA' })
