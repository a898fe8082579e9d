import test from 'ava'
import { WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import { openText } from '../../../kernel/crypto/box.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { settle } from '../../helpers/login-device.ts'
import { boxOf, dataKey, openDevice } from '../../helpers/repo-device.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'

test('a repo that was just made counts as synced now, and one that is opened does not sync yet', async t => {
  const device = await openDevice(makeSyncStore())
  t.like(device.repo.state.getSnapshot(), { isSyncing: false, lastSync: 0 })
  await device.clock.advance(5000)
  await device.repo.beginEmpty()
  t.is(device.repo.state.getSnapshot().lastSync, device.clock.now() / 1000)
  const again = await device.reopen()
  t.is(again.repo.state.getSnapshot().lastSync, device.clock.now() / 1000)
})

test('a sync that fails on this device shows the code of that failure, and an unknown one that of a sync', async t => {
  const store = makeSyncStore()
  const disk = makeFaultDisk(new Map())
  const { repo, sync } = await openDevice(store, { disk })
  store.put({ file: boxOf('1') })
  disk.strike({ at: 1, kind: 'full' })
  await t.throwsAsync(sync(), { code: 'STORAGE_FULL' })
  t.is(repo.state.getSnapshot().errorCode, 'STORAGE_FULL')
  await t.throwsAsync(
    repo.runSync(() => Promise.reject(new Error('odd'))),
    { message: 'odd' }
  )
  t.is(repo.state.getSnapshot().errorCode, 'SYNC_FAILED')
  await sync()
  t.is(repo.state.getSnapshot().errorCode, undefined)
})

test('a text that is there already counts as written only once it is durable, and nothing beside it is written before', async t => {
  const disk = makeFaultDisk(new Map())
  let isHeld = false
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const setText = async (path: string, text: string): Promise<void> => {
    if (isHeld) {
      isHeld = false
      await released
      throw new WalletError('STORAGE_FULL', { path })
    }
    return disk.setText(path, text)
  }
  const { repo } = await openDevice(makeSyncStore(), { disk: { ...disk, setText } })
  await repo.write({ texts: new Map([['other', '0']]) })
  isHeld = true
  const first = repo.write({ texts: new Map([['file', '1']]) })
  await settle()
  const second = repo.write({
    texts: new Map([
      ['file', '1'],
      ['beside', '2']
    ])
  })
  await settle()
  release()
  await t.throwsAsync(first, { code: 'STORAGE_FULL' })
  await t.throwsAsync(second, { code: 'STORAGE_FULL' })
  t.deepEqual(await repo.list(''), ['other'])
})

test('who listens for changes is notified of a text that was restored', async t => {
  const store = makeSyncStore()
  const { repo } = await openDevice(store)
  await setText(repo, 'file', '1')
  await deleteFile(repo, 'file')
  const [kept] = repo.keptFiles()
  const notified: (readonly string[])[] = []
  repo.onServerChange(paths => notified.push(paths))
  t.is(await repo.restoreKept(kept?.keptId ?? ''), 'file')
  t.deepEqual(notified, [['file']])
  t.is(await repo.getText('file'), '1')
})

test('a deletion goes up with the time at which it was made, in seconds', async t => {
  const store = makeSyncStore()
  const { repo, sync, clock, io } = await openDevice(store)
  await setText(repo, 'file', '1')
  await sync()
  await deleteFile(repo, 'file')
  await sync()
  const [, box] = [...store.files].find(([path]) => path.startsWith('Deletions/')) ?? []
  if (box === undefined || box === null) throw new Error('There is no tombstone')
  const text = new Secret(dataKey.slice()).use(key => openText(io, key, box))
  t.is(JSON.parse(text).deletions[0]?.at, Math.floor(clock.now() / 1000))
})
