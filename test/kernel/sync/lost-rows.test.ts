import test from 'ava'
import { boxOf, type Device, openDevice } from '../../helpers/repo-device.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'

const path = (i: number): string => `transaction/${i}-t.json`
const COUNT = 600
/** Long enough, all together, to go to a segment of their own. */
const texts = (word: string, count = COUNT): Map<string, string> =>
  new Map(Array.from({ length: count }, (_, i) => [path(i), `${word} ${'x'.repeat(1000)}`]))

const segmentsOf = ({ files }: Device): string[] =>
  [...files.keys()].filter(name => /\/s\d{12}$/.test(name)).sort()

test('damage found during a sync makes the next one fetch everything again', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first') })
  await a.sync()
  await a.repo.close()
  for (const name of segmentsOf(a)) a.files.set(name, 'rubbish')
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

test('damage found while a repo closes makes the next sync fetch everything again', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first') })
  const [first = ''] = segmentsOf(a)
  await a.repo.write({ texts: texts('second', COUNT - 100) })
  await a.sync()
  a.files.set(first, 'rubbish')
  // Whatever was read of it is no longer in memory then.
  await a.repo.getTexts([0, 80, 160, 240, 320, 400, 480].map(path))
  const b = await a.reopen()
  t.false(b.files.has(first), 'the segment was worn, and its rows are elsewhere')
  t.is(b.repo.state.getSnapshot().lastHash, undefined)
  await b.sync()
  t.is((await b.repo.list('')).length, COUNT)
  t.is((await b.repo.getText(path(COUNT - 1)))?.slice(0, 5), 'first')
})

test('a damaged index does not bring a deleted file back to the server', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first') })
  await deleteFile(a.repo, path(3))
  // The deletion goes to the index with many rows, and is forgotten there when the index is put in order.
  await a.repo.write({ texts: texts('second', 3) })
  await a.repo.write({ texts: new Map([...texts('third')].slice(200, 460)) })
  await a.sync()
  await a.repo.close()
  const indexes = [...a.files.keys()].filter(name => /\/i\d{12}$/.test(name))
  t.is(indexes.length, 1)
  a.files.set(indexes[0] ?? '', 'rubbish')
  const b = await openDevice(store, { files: a.files })
  t.is((await b.repo.list('')).length, COUNT)
  await b.sync()
  t.is((await b.repo.list('')).length, COUNT - 1)
  const other = await openDevice(store)
  await other.sync()
  t.deepEqual(await other.repo.list(''), await b.repo.list(''))
})

test('a damaged index brings none of fifteen hundred deleted files back', async t => {
  const store = makeSyncStore()
  const [all, gone] = [6000, 1500]
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first', all) })
  const deleted = Array.from({ length: gone }, (_, i) => [path(i * 4), null] as const)
  await a.repo.write({ texts: new Map(deleted) })
  await deleteFile(a.repo, path(1))
  // The deletions go to the index with many rows, and are forgotten there when the index is put in order.
  for (const word of ['second', 'third', 'fourth'])
    await a.repo.write({ texts: new Map([...texts(word, all + 900)].slice(all)) })
  await a.sync()
  await a.repo.close()
  const indexes = [...a.files.keys()].filter(name => /\/i\d{12}$/.test(name))
  for (const name of indexes) a.files.set(name, 'rubbish')
  const b = await openDevice(store, { files: a.files })
  const left = all + 900 - gone - 1
  t.true((await b.repo.list('')).length > left, 'the damage brings them back at first')
  await b.sync()
  t.is((await b.repo.list('')).length, left)
  const other = await openDevice(store)
  await other.sync()
  t.deepEqual(await other.repo.list(''), await b.repo.list(''))
})

test('an edit whose text was lost on this device deletes nothing on the server', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  await a.repo.write({ texts: texts('first') })
  await a.sync()
  const before = segmentsOf(a)
  await a.repo.write({ texts: texts('second').set('transaction/9-new.json', 'z'.repeat(9000)) })
  await deleteFile(a.repo, path(5))
  await a.repo.close()
  for (const name of segmentsOf(a)) if (!before.includes(name)) a.files.set(name, 'rubbish')
  t.true(segmentsOf(a).length > 0)

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
