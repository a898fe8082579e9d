import test from 'ava'
import { exportDeployedRepo } from '../../../kernel/sync/open-repo.ts'
import { isTombstonePath } from '../../../kernel/sync/tombstones.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf, openDevice, repoId } from '../../helpers/repo-device.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'

const root = `repos/${repoId}`

test('a deletion or a new file of this device wins over the folder of a deployed client', async t => {
  const store = makeSyncStore()
  store.put({ f: boxOf('1'), g: boxOf('2') })
  const device = await openDevice(store)
  await device.sync()
  await deleteFile(device.repo, 'f')
  await setText(device.repo, 'made', 'ours')
  await device.repo.close()
  const files = new Map(device.files)
  for (const name of ['f', 'h', 'made']) files.set(`${root}/data/${name}`, JSON.stringify(boxOf('old')))
  files.set(`${root}/status.json`, '{"lastSync":1,"lastHash":"old"}')
  const again = await openDevice(store, { files })
  t.deepEqual(await again.repo.list(''), ['g', 'h', 'made'])
  t.is(await again.repo.getText('made'), 'ours')
  t.not(again.repo.state.getSnapshot().lastHash, 'old')
  await again.sync()
  const left = [...store.files.keys()].filter(path => !isTombstonePath(path))
  t.deepEqual(left.sort(), ['g', 'made'])
  t.is(again.repo.pendingCount, 0)
})

test('the status of a deployed folder is deleted last, so that a client that finds it finds the rest', async t => {
  const names = ['data/a', 'data/b', 'changes/b', 'status.json']
  const files = new Map(names.map(name => [`${root}/${name}`, JSON.stringify(boxOf('1'))]))
  files.set(`${root}/status.json`, '{"lastSync":1,"lastHash":"h"}')
  const deleted: string[] = []
  const disk = makeFaultDisk(files)
  await openDevice(makeSyncStore(), {
    disk: {
      ...disk,
      async delete(path) {
        deleted.push(path)
        await disk.delete(path)
      }
    }
  })
  const moved = deleted.filter(path => names.some(name => path === `${root}/${name}`))
  t.is(moved.length, 4)
  t.is(moved.indexOf(`${root}/status.json`), 3)
})

test('an export has the files of the server and pending changes, and no pending deletions', async t => {
  const store = makeSyncStore()
  store.put({ gone: boxOf('1'), edited: boxOf('2'), same: boxOf('3') })
  const device = await openDevice(store)
  await device.sync()
  await deleteFile(device.repo, 'gone')
  await setText(device.repo, 'edited', 'new')
  await setText(device.repo, 'fresh', 'x')
  const files = new Map<string, string>()
  const keep = async (path: string, text: string): Promise<void> => void files.set(path, text)
  await exportDeployedRepo(device.repo, { ...makeFaultDisk(new Map()), setText: keep })
  const names = [...files.keys()].map(path => path.slice(root.length + 1)).sort()
  t.deepEqual(names, ['changes/edited', 'changes/fresh', 'data/edited', 'data/same', 'status.json'])
  t.is(files.get(`${root}/data/edited`), JSON.stringify(store.files.get('edited')))
  const { lastSync, lastHash } = device.repo.state.getSnapshot()
  t.deepEqual(JSON.parse(files.get(`${root}/status.json`) ?? ''), { lastSync, lastHash })
})

test('tombstones are exported to the deployed layout and imported from it, and never listed as files', async t => {
  const store = makeSyncStore()
  store.put({ f: boxOf('1'), g: boxOf('2') })
  const device = await openDevice(store)
  await device.sync()
  await deleteFile(device.repo, 'f')
  await device.sync()
  const folder = new Map<string, string>()
  await exportDeployedRepo(device.repo, makeFaultDisk(folder))
  const again = await openDevice(store, { files: folder })
  t.deepEqual(await again.repo.list(''), ['g'])
  const records = []
  for await (const { path } of again.repo.records()) records.push(path)
  t.deepEqual(records.filter(isTombstonePath), [...store.files.keys()].filter(isTombstonePath))
  t.is(records.length, 2)
  t.is(again.repo.pendingCount, 0)
})
