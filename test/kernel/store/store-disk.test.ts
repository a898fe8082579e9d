import test from 'ava'
import { mapStore } from '../../../examples/map-store.ts'
import type { Store } from '../../../kernel/io/store.ts'
import { SortedMap } from '../../../kernel/store/sorted-map.ts'
import { checkedStore, keyPages, openFolderStore, storeDisk } from '../../../kernel/store/store-disk.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

const [one, two, three] = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)]

const storeWith = (changes: Partial<Store>): Store =>
  checkedStore({ ...mapStore(new SortedMap<Uint8Array>()), ...changes })

test('a page of keys that repeats, leaves its bounds or its order, or has odd keys is a failure', async t => {
  for (const [answer, range] of [
    [[one, one], {}],
    [[two, one], {}],
    [[one, two], { reverse: true }],
    [[one, one], { reverse: true }],
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

test('a value of 64 mebibytes is one, and a longer one is a failure', async t => {
  const value = new Uint8Array(64 * 1024 * 1024)
  const storeOf = (answer: Uint8Array): Store => storeWith({ getMany: async () => [answer] })
  t.is((await storeOf(value).getMany([one]))[0], value)
  await t.throwsAsync(storeOf(new Uint8Array(value.length + 1)).getMany([one]), { code: 'STORAGE_FAILED' })
})

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (key: Uint8Array): string => new TextDecoder().decode(key)

const openPart = (store: Store, name: string): Promise<Store> =>
  openFolderStore(storeDisk(store), { folder: name, ...makeRepoIo(), report() {}, onLoss() {} })

test('a part of a store has the values below its folder and no others, from either end, and its end closes nothing else', async t => {
  const values = new SortedMap<Uint8Array>()
  const store = mapStore(values)
  for (const key of ['a', 'a.', 'a/', 'a/0', 'a/1', 'a/2', 'a0', 'b/1'])
    values.set(key, bytes(`value of ${key}`))
  const part = await openPart(store, 'a')
  const page = async (range: object): Promise<string> =>
    (await part.keys({ limit: 10, ...range })).map(textOf).join()
  t.is(await page({}), '0,1,2')
  t.is(await page({ reverse: true }), '2,1,0')
  t.is(await page({ limit: 2 }), '0,1')
  t.is(await page({ after: bytes('0') }), '1,2')
  t.is(await page({ before: bytes('2') }), '0,1')
  t.is(await page({ after: bytes('0'), before: bytes('2') }), '1')
  t.deepEqual(await part.getMany([bytes('1'), bytes('none')]), [bytes('value of a/1'), undefined])
  t.deepEqual(await part.getMany([]), [])
  await part.batch([
    { key: bytes('new'), value: one },
    { key: bytes('1'), value: undefined }
  ])
  t.deepEqual(values.get('a/new'), one)
  t.is(values.get('a/1'), undefined)
  t.deepEqual(values.get('b/1'), bytes('value of b/1'))
  await part.close()
  for (const call of [() => part.getMany([]), () => part.batch([]), () => part.keys({ limit: 1 })])
    await t.throwsAsync(call, { code: 'STORAGE_FAILED' })
  t.deepEqual(await (await openPart(store, 'b')).getMany([bytes('1')]), [bytes('value of b/1')])
  await t.throwsAsync(openPart(store, '../b'), { code: 'PATH_REFUSED' })
})

test('all keys come in pages, also where the last page is full or all keys lie between two', async t => {
  const all = async (count: number, range = {}): Promise<number[]> => {
    const values = new SortedMap<Uint8Array>()
    for (let i = 0; i < count; i += 1) values.set(`k${10_000 + i}`, one)
    const sizes: number[] = []
    const seen = new Set<string>()
    for await (const keys of keyPages(mapStore(values), range)) {
      sizes.push(keys.length)
      for (const key of keys) seen.add(textOf(key))
    }
    t.is(
      seen.size,
      sizes.reduce((sum, size) => sum + size, 0)
    )
    return sizes
  }
  t.deepEqual(await all(0), [0])
  t.deepEqual(await all(3), [3])
  t.deepEqual(await all(1000), [1000, 0])
  t.deepEqual(await all(2001), [1000, 1000, 1])
  t.deepEqual(await all(2001, { after: bytes('k10000'), before: bytes('k11002') }), [1000, 1])
})

test('a disk in a store lists what is below a folder, and says which text is none', async t => {
  const values = new SortedMap<Uint8Array>()
  const disk = storeDisk(mapStore(values))
  for (const path of ['a.json', 'a/1', 'a/b/2', 'a0/3', 'b']) await disk.setText(path, `text of ${path} ß`)
  t.is(await disk.getText('a/b/2'), 'text of a/b/2 ß')
  t.is(await disk.getText('none'), undefined)
  t.deepEqual(await disk.list('a'), ['a/1', 'a/b/2'])
  t.deepEqual(await disk.list(''), ['a.json', 'a/1', 'a/b/2', 'a0/3', 'b'])
  await disk.delete('a/1')
  t.deepEqual(await disk.list('a'), ['a/b/2'])
  await t.throwsAsync(disk.setText('half', '\ud800'), { code: 'STORAGE_FAILED' })
  t.is(await disk.getText('half'), undefined)
  values.set('f/odd', Uint8Array.of(255, 254))
  await t.throwsAsync(disk.getText('odd'), { code: 'CORRUPT_FILE' })
  values.set('outside', one)
  t.false((await disk.list('')).some(path => path.includes('outside')))
})

test('a checked store needs every method, takes none that is put in later, and hides what a call throws', async t => {
  const whole = mapStore(new SortedMap<Uint8Array>())
  for (const method of ['getMany', 'batch', 'keys', 'close'] as const)
    t.throws(
      () => checkedStore({ ...whole, [method]: undefined as never }),
      { instanceOf: TypeError },
      method
    )
  const closed: string[] = []
  const given = { ...whole, close: async () => void closed.push('first') }
  const store = checkedStore(given)
  given.close = () => Promise.reject(new Error('put in later'))
  await store.batch([{ key: one, value: two }])
  t.deepEqual(await store.getMany([one, two]), [two, undefined])
  t.deepEqual(await store.keys({ limit: 5 }), [one])
  await store.close()
  t.deepEqual(closed, ['first'])
  const longest = new Uint8Array(1100).fill(1)
  t.deepEqual(await storeWith({ keys: async () => [longest] }).keys({ limit: 1 }), [longest])
})
