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

test('all that is in a store is read again if a table has come meanwhile', async t => {
  const disk = memoryDisk()
  const fill = await openFamily(disk, error => t.fail(String(error)))
  const rows = Array.from(
    { length: 3000 },
    (_, at) => [`k/a/${at}`, { text: 'of a '.repeat(400), order: at }] as const
  )
  await fill.write(new Map(rows))
  await fill.close()
  let release = (): void => {}
  let isHeld = false
  let reads = 0
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const hold = async (): Promise<void> => {
    if (!isHeld) return
    reads += 1
    await gate
  }
  const held = {
    ...disk,
    async getText(path: string) {
      await hold()
      return disk.getText(path)
    },
    async getSlice(path: string, start: number, end: number) {
      await hold()
      return (await disk.getText(path))?.slice(start, end)
    }
  }
  const store = await openFamily(held, error => t.fail(String(error)))
  isHeld = true
  const reading = store.contents()
  while (reads === 0) await io.clock.turn()
  const writing = store.write(new Map([['k/b/1', { text: 'of b', order: 1 }]]))
  await Promise.race([writing, io.clock.turn()])
  release()
  await writing
  const keys = (await reading).map(([name]) => name)
  t.is(keys.filter(name => name.startsWith('k/a/')).length, 3000)
  t.true(keys.includes('k/b/1'))
  await store.close()
})
