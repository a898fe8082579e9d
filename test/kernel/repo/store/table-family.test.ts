import test from 'ava'
import { Secret } from '../../../../kernel/base/secret.ts'
import { parseBulkPrefixes } from '../../../../kernel/repo/store/bulk-prefixes.ts'
import { openPagedStore } from '../../../../kernel/repo/store/open-paged-store.ts'
import type { PagedStore } from '../../../../kernel/repo/store/paged-store.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { memoryDisk } from '../../../../plugins/storage/memory.ts'

const io = makeNodeIo()

const key = io.random(32)

const openFamily = async (
  disk: ReturnType<typeof memoryDisk>,
  report: (error: unknown) => void
): Promise<PagedStore> => {
  const bulk = parseBulkPrefixes(['t/', 'k/+/'])
  const place = { io, disk, folder: 'store', key: new Secret(key.slice()), bulk, report }
  return openPagedStore(place, await disk.list('store'))
}

test('each name of a family is its own table, also after a reopening', async t => {
  const disk = memoryDisk()
  const open = (): Promise<PagedStore> => openFamily(disk, error => t.fail(String(error)))
  const store = await open()
  await store.write(
    new Map([
      ['t/1', { text: 'main', order: 1 }],
      ['k/a/1', { text: 'of a', order: 1 }],
      ['k/a/2', { text: 'of a too', order: 2 }],
      ['k/b/1', { text: 'of b', order: 1 }]
    ])
  )
  await store.close()

  const again = await open()
  t.deepEqual(
    await Promise.all(['t/', 'k/a/', 'k/b/', 'k/c/'].map(prefix => again.table(prefix).count())),
    [1, 2, 1, 0]
  )
  t.deepEqual(
    (await again.table('k/a/').page(0, 9)).map(row => row.text),
    ['of a too', 'of a']
  )
  await again.write(new Map([['k/a/2', null]]))
  t.is(await again.table('k/a/').count(), 1)
  for (const prefix of ['k/', 'k/a', 'x/'])
    t.throws(() => again.table(prefix), { instanceOf: TypeError }, prefix)
  await again.close()
})

test('an entry beside the tables of a family is not one of their rows and does not change their order', async t => {
  const disk = memoryDisk()
  const open = (): Promise<PagedStore> => openFamily(disk, error => t.fail(String(error)))
  const store = await open()
  await store.write(new Map([['k/entry', 'any text']]))
  await store.close()
  const again = await open()
  t.is(again.get('k/entry'), 'any text')
  const steps = [
    ['k/a/1', 0],
    ['k/a/2', 0],
    ['k/a/1', 1],
    ['k/a/1', 0]
  ] as const
  for (const [name, order] of steps) await again.write(new Map([[name, { text: name, order }]]))
  t.deepEqual(
    (await again.table('k/a/').page(0, 9)).map(row => row.key),
    ['2', '1']
  )
  await again.close()
})
