import test from 'ava'
import { WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import { openRepoStore } from '../../../kernel/repo/store/open-store.ts'
import type { StoreContents } from '../../../kernel/repo/store/sealed-store.ts'
import { exportDeployedRepo, restoreRepo } from '../../../kernel/sync/open-repo.ts'
import { BULK, PREFIX } from '../../../kernel/sync/repo-record.ts'
import { isTombstonePath } from '../../../kernel/sync/tombstones.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf, dataKey, openDevice, repoId } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
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

test('a repo whose import fails does not open, and the next opening imports the rest', async t => {
  const names = ['data/a', 'data/b', 'changes/b', 'status.json']
  const files = new Map(names.map(name => [`${root}/${name}`, JSON.stringify(boxOf('1'))]))
  files.set(`${root}/status.json`, '{"lastSync":1,"lastHash":"h"}')
  const disk = makeFaultDisk(files)
  const full: Disk = {
    ...disk,
    async setText(path, text) {
      if (path.startsWith('imported/')) throw new WalletError('STORAGE_FULL', { path })
      await disk.setText(path, text)
    }
  }
  await t.throwsAsync(openDevice(makeSyncStore(), { disk: full }), { code: 'STORAGE_FULL' })
  for (const name of names) t.true(files.has(`${root}/${name}`), name)
  const { repo } = await openDevice(makeSyncStore(), { disk })
  t.deepEqual(await repo.list(''), ['a', 'b'])
  t.false(names.some(name => files.has(`${root}/${name}`)))
})

test('a device whose store was lost in the middle of an import fetches everything anew, whatever the deployed status says', async t => {
  const store = makeSyncStore()
  store.put({ f: boxOf('1') })
  const synced = await openDevice(store)
  await synced.sync()
  const { lastHash } = synced.repo.state.getSnapshot()
  t.truthy(lastHash)
  // The files were imported and are gone; the status would have gone next.
  const cut = await openDevice(store)
  await setText(cut.repo, 'g', 'text')
  await cut.repo.close()
  const files = new Map([...cut.files.keys()].map(path => [path, 'rubbish']))
  files.set(`${root}/status.json`, JSON.stringify({ lastSync: 1, lastHash }))
  const again = await openDevice(store, { files })
  t.is(again.repo.state.getSnapshot().lastHash, undefined)
  await again.sync()
  t.deepEqual(await again.repo.list(''), ['f'])
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

/** Restores a repo over what its store has, and gives what the store has then. */
const restoreOver = async (
  before: Iterable<readonly [string, string]>,
  contents: StoreContents
): Promise<ReadonlyMap<string, unknown>> => {
  const [io, disk, report] = [makeRepoIo(), makeFaultDisk(new Map()), () => {}]
  const key = new Secret(dataKey.slice())
  const open = async () => {
    return openRepoStore({ io, disk, folder: root, key, report, bulk: BULK, paths: await disk.list(root) })
  }
  const store = await open()
  await store.write(new Map(before))
  await store.close()
  const staysAsItIs = (name: string): boolean => name.startsWith('l/stays')
  await restoreRepo({ io, disk, repoId, dataKey: key, report, staysAsItIs }, contents)
  const restored = await open()
  const found = new Map(await restored.contents())
  await restored.close()
  return found
}

test('a restored repo is what the backup has, keeps the texts of files that it replaces, and leaves what stays as it is', async t => {
  const before = [
    ...[
      ['f/same', 'a'],
      ['f/changed', 'b'],
      ['f/gone', 'c'],
      ['l/own', 'd'],
      ['l/left', 'e'],
      // The sessions of this device: a restored one is another.
      [PREFIX.sessions, 'aaaaaaaa:1001']
    ],
    ...[
      ['l/stays/1', 'f'],
      [`k/${String(makeRepoIo().clock.now()).padStart(15, '0')}/older`, 'g']
    ]
  ] as const
  const found = await restoreOver(before as Iterable<readonly [string, string]>, [
    ...([
      ['f/same', 'a'],
      ['f/changed', 'B'],
      ['f/new', 'h'],
      ['l/own', 'D'],
      ['l/stays/1', 'F'],
      [PREFIX.sessions, 'bbbbbbbb:1001']
    ] as const),
    ['l/stays/2', 'i']
  ])
  const kept = [...found].filter(([key]) => key.startsWith('k/'))
  t.deepEqual(kept.map(([key, text]) => [key.slice(18), text]).sort(), [
    ['changed', 'b'],
    ['gone', 'c'],
    ['older', 'g']
  ])
  const rest = [...found].filter(([key]) => !key.startsWith('k/'))
  t.deepEqual(
    rest.sort(),
    [
      ['f/changed', 'B'],
      ['f/new', 'h'],
      ['f/same', 'a'],
      ['l/own', 'D'],
      ['l/stays/1', 'f'],
      ['l/stays/2', 'i'],
      [PREFIX.sessions, 'bbbbbbbb!:1001']
    ].sort()
  )
})
