import test from 'ava'
import { mapStore } from '../../../examples/map-store.ts'
import type { Store } from '../../../kernel/io/store.ts'
import { SortedMap } from '../../../kernel/store/sorted-map.ts'
import { checkedStore, storeDisk } from '../../../kernel/store/store-disk.ts'

const [one, two, three] = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)]

const storeWith = (changes: Partial<Store>): Store =>
  checkedStore({ ...mapStore(new SortedMap<Uint8Array>()), ...changes })

test('a page of keys that repeats, leaves its bounds or its order, or has odd keys is a failure', async t => {
  for (const [answer, range] of [
    [[one, one], {}],
    [[two, one], {}],
    [[one, two], { reverse: true }],
    [[one], { after: one }],
    [[three], { before: two }],
    [[three], { before: two, reverse: true }],
    [[new Uint8Array()], {}],
    [[new Uint8Array(1101)], {}],
    [['a'], {}],
    [[one, two, three], { limit: 2 }],
    [undefined, {}]
  ] as const) {
    const store = storeWith({ keys: async () => answer as never })
    await t.throwsAsync(store.keys({ limit: 3, ...range }), { code: 'STORAGE_FAILED' }, JSON.stringify(range))
  }
  const sound = storeWith({ keys: async () => [two] })
  t.deepEqual(await sound.keys({ limit: 1, after: one, before: three }), [two])
  t.deepEqual(await sound.keys({ limit: 1, after: one, before: three, reverse: true }), [two])
  t.deepEqual(await storeWith({ keys: async () => [] }).keys({ limit: 1, after: three, before: one }), [])
})

test('a list of a store that gives one page again and again comes to an end', async t => {
  const page = Array.from({ length: 1000 }, (_, at) => new TextEncoder().encode(`f/${1000 + at}`))
  await t.throwsAsync(storeDisk(storeWith({ keys: async () => page })).list(''), { code: 'STORAGE_FAILED' })
})

test('values that are no bytes, or fewer than the keys, are a failure', async t => {
  for (const answer of [['a'], [], [null], undefined, [one, two]])
    await t.throwsAsync(storeWith({ getMany: async () => answer as never }).getMany([one]), {
      code: 'STORAGE_FAILED'
    })
})
