import test from 'ava'
import { bodiesIn, damageValue } from '../../helpers/damaged-log.ts'
import { boxOf, openDevice } from '../../helpers/repo-device.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'

const path = (i: number): string => `transaction/${i}-t.json`
const COUNT = 600
const texts = (word: string, count = COUNT): Map<string, string> =>
  new Map(Array.from({ length: count }, (_, i) => [path(i), `${word} ${'x'.repeat(1000)}`]))

test('damage found during a sync makes the next one fetch everything again', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first') })
  await a.sync()
  await a.repo.close()
  for (const body of bodiesIn(a.files)) damageValue(a.files, body)
  store.put({ [path(7)]: boxOf('from afar') })
  const b = await openDevice(store, { files: a.files })
  await b.sync()
  t.is(b.repo.state.getSnapshot().lastHash, undefined)
  const c = await b.reopen()
  t.is(c.repo.state.getSnapshot().lastHash, undefined)
  await c.sync()
  t.is((await c.repo.list('')).length, COUNT)
  t.is((await c.repo.getText(path(8)))?.slice(0, 5), 'first')
  t.is(await c.repo.getText(path(7)), 'from afar')
  t.truthy(c.repo.state.getSnapshot().lastHash)
})

test('damage that a write finds makes the next sync fetch everything again', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first') })
  await a.sync()
  const bodies = bodiesIn(a.files)
  await a.repo.close()
  for (const body of bodies) damageValue(a.files, body)
  const b = await openDevice(store, { files: a.files })
  // What is left of the blocks moves with it.
  await b.repo.write({ texts: texts('second', COUNT - 20) })
  t.is(b.repo.state.getSnapshot().lastHash, undefined)
  const c = await b.reopen()
  t.is(c.repo.state.getSnapshot().lastHash, undefined)
  await c.sync()
  t.is((await c.repo.list('')).length, COUNT)
  t.is((await c.repo.getText(path(COUNT - 1)))?.slice(0, 5), 'first')
})

test('files that older blocks show again after damage go as their deletions say', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first') })
  await a.sync()
  const before = new Set(a.files.keys())
  await deleteFile(a.repo, path(3))
  await a.sync()
  await a.repo.close()
  // Of the log, the part that holds the deletion; what comes after it stays.
  const [lost = ''] = [...a.files.keys()].filter(name => name.includes('/log/') && !before.has(name)).sort()
  a.files.set(lost, 'rubbish')
  const b = await openDevice(store, { files: a.files })
  t.true(b.reports.length > 0)
  await b.sync()
  t.is((await b.repo.list('')).length, COUNT - 1)
  const other = await openDevice(store)
  await other.sync()
  t.deepEqual(await other.repo.list(''), await b.repo.list(''))
})

test('an edit whose text was lost on this device deletes nothing on the server', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first') })
  await a.sync()
  const before = new Set(bodiesIn(a.files).map(({ key }) => key))
  await a.repo.write({ texts: texts('second').set('transaction/9-new.json', 'z'.repeat(9000)) })
  await deleteFile(a.repo, path(5))
  await a.repo.close()
  const written = bodiesIn(a.files).filter(({ key }) => !before.has(key))
  t.true(written.length > 0)
  for (const body of written) damageValue(a.files, body)

  const b = await openDevice(store, { files: a.files })
  t.is(await b.repo.getText(path(7)), undefined)
  await b.sync()
  await b.sync()
  t.is((await b.repo.getText(path(7)))?.slice(0, 5), 'first')
  const other = await openDevice(store)
  await other.sync()
  t.is((await other.repo.list('')).length, COUNT - 1, 'but for the one that was deleted')
  t.deepEqual(await b.repo.list(''), await other.repo.list(''))
  t.is(b.repo.pendingCount, 0)
  await setText(b.repo, path(7), 'third')
  await b.sync()
  await other.sync()
  t.is(await other.repo.getText(path(7)), 'third')
})
