import test from 'ava'
import { WalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { Disk } from '../../../../kernel/io/disk.ts'
import type { BulkChange } from '../../../../kernel/repo/store/bulk.ts'
import { parseBulkPrefixes } from '../../../../kernel/repo/store/bulk-prefixes.ts'
import { openPagedStore } from '../../../../kernel/repo/store/open-paged-store.ts'
import type { PagedStore } from '../../../../kernel/repo/store/paged-store.ts'
import { makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const io = makeRepoIo()
const folder = 'repos/r/store'

/** A store whose chunks of entries are written when the test says so, well or not. */
interface Steered {
  readonly store: PagedStore
  /** Lets the chunk that waits, or the next one, be written, or fail. */
  end(isWell: boolean): Promise<void>
  /** Lets all chunks be written. */
  free(): void
}

const openSteered = async (first: Record<string, string>): Promise<Steered> => {
  const files = new Map<string, string>()
  const waiting: ((isWell: boolean) => void)[] = []
  let isFree = true
  const plain = makeFaultDisk(files)
  const disk: Disk = {
    ...plain,
    async setText(path, text) {
      const isChunk = /\d{12}-\d{12}$/.test(path)
      const isWell = isFree || !isChunk || (await new Promise<boolean>(resolve => waiting.push(resolve)))
      if (!isWell) throw new WalletError('STORAGE_FULL', { path })
      await plain.setText(path, text)
    }
  }
  const key = new Secret(new Uint8Array(32).fill(7))
  const limits = { large: 600, gathered: 5000 }
  const place = { io, disk, folder, key, bulk: parseBulkPrefixes(['t/', 'u/+/']), limits, report: () => {} }
  const store = await openPagedStore(place, [])
  await store.write(new Map(Object.entries(first)))
  isFree = false
  return {
    store,
    async end(isWell) {
      while (waiting.length === 0) await io.clock.turn()
      waiting.shift()?.(isWell)
      for (let i = 0; i < 5; i += 1) await io.clock.turn()
    },
    free() {
      isFree = true
      for (const resolve of waiting.splice(0)) resolve(true)
    }
  }
}

const large = (...others: [string, string | null][]): Map<string, BulkChange | string | null> =>
  new Map<string, BulkChange | string | null>([
    ...Array.from({ length: 20 }, (_, i) => [`t/k${i}`, { text: `large ${'x'.repeat(60)}` }] as const),
    ...others
  ])
const isLarge = (text: string | undefined): boolean => text?.startsWith('large') === true

test('a small write that fails while a large one ends does not undo the large one', async t => {
  const { store, end, free } = await openSteered({ e: 'first' })
  const much = store.write(large(['e', 'large']))
  const small = store.write(new Map([['e', 'small']]))
  for (let i = 0; i < 20; i += 1) await io.clock.turn()
  await end(false)
  await t.throwsAsync(small)
  t.is(store.get('e'), 'large')
  free()
  await much
  t.is(store.get('e'), 'large')
})

test('a small and a large write of one key that share a chunk both succeed or both fail', async t => {
  for (const isWell of [true, false]) {
    const { store, end, free } = await openSteered({ e: 'first' })
    const before = store.write(new Map([['other', '1']]))
    const much = store.write(large(['e', 'large']))
    for (let i = 0; i < 20; i += 1) await io.clock.turn()
    const small = store.write(new Map([['e', 'small']]))
    const ends = Promise.allSettled([much, small])
    await end(true)
    await before
    await end(isWell)
    free()
    const word = isWell ? 'fulfilled' : 'rejected'
    t.deepEqual(
      (await ends).map(({ status }) => status),
      [word, word]
    )
    t.is(store.get('e'), isWell ? 'small' : 'first')
    t.is(await store.table('t/').count(), isWell ? 20 : 0)
  }
})

test('after a failed write of a row, the row shows the large write before it and no older text', async t => {
  const { store, end, free } = await openSteered({ 't/k1': 'first' })
  const before = store.write(new Map([['other', '1']]))
  const much = store.write(large())
  for (let i = 0; i < 20; i += 1) await io.clock.turn()
  const small = store.write(new Map([['t/k1', 'small']]))
  await end(true)
  await before
  await end(false)
  await t.throwsAsync(small)
  free()
  await much
  t.true(isLarge(await store.table('t/').get('k1')))
  t.is(await store.table('t/').count(), 20)
})

test('a small write after a large one wins, although an older write of the key fails meanwhile', async t => {
  const { store, end, free } = await openSteered({ e: 'first' })
  const older = store.write(
    new Map([
      ['e', 'older'],
      ['t/k1', 'older']
    ])
  )
  await io.clock.turn()
  const much = store.write(large(['e', 'large']))
  const newer = store.write(new Map([['e', 'newer']]))
  await end(false)
  await t.throwsAsync(older)
  free()
  await Promise.all([much, newer])
  t.is(store.get('e'), 'newer')
})

test('no read returns a row of the entries that a large write deletes', async t => {
  const { store, free } = await openSteered({})
  free()
  const table = store.table('u/a/')
  await store.write(new Map([['u/a/1', 'row']]))
  t.is(await table.count(), 1)
  await store.write(large(['u/a/1', null]))
  t.is(await table.count(), 0)
  t.deepEqual(await table.page(0, 9), [])
  t.is(await table.get('1'), undefined)
})
