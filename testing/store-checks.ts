import { makeRandom } from '../fake-server/base/faults.ts'
import type { Store } from '../kernel/plugin-api.ts'
import { type Check, must, skip } from './suite.ts'

/** A storage plugin that may open a store, for the checks of stores. */
export interface StoreSubject {
  readonly seed: number
  /** Opens a store on a new place; undefined if the plugin opens a disk. */
  openStore(): Promise<Store | undefined>
}

const DOCS = 'docs/write-a-plugin.md#a-store'

/** The checks of a plugin that opens a store; one that opens a disk skips them. */
export const storeChecks: readonly Check<StoreSubject>[] = [
  {
    id: 'storage.batches',
    level: 'quick',
    reason:
      'A payment and its notes are written at once: one without the other is money that nobody knows of.',
    clause: DOCS,
    hint: 'Make all changes of a batch or none, in their order, and keep bytes as they are.',
    run: subject =>
      withStore(subject, async store => {
        const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
        const large = new Uint8Array(3_000_000).fill(7)
        await store.batch([put(0, all), put(1, large), put(2, all), put(2, new Uint8Array()), put(3, all)])
        await store.batch([put(3), put(4)])
        const [first, second, third, gone, never] = await store.getMany(
          [0, 1, 2, 3, 4].map(key => keyOf(key))
        )
        must(isSame(first, all), () => `256 bytes are read back as ${show(first)}`)
        must(isSame(second, large), () => `3 MB are read back as ${show(second)}`)
        must(third?.length === 0, () => `An empty value is read back as ${show(third)}`)
        must(gone === undefined, () => `A deleted key has ${show(gone)}`)
        must(never === undefined, () => `A key without a value has ${show(never)}`)
      })
  },
  {
    id: 'storage.key-order',
    level: 'quick',
    reason: 'The kernel reads a history page by page, in the order of its keys.',
    clause: DOCS,
    hint: 'Compare keys byte by byte, each from 0 to 255; a key that begins another one is the lesser.',
    run: subject =>
      withStore(subject, async store => {
        const keys = [[255], [0], [128, 1], [128], [1], [0, 0], Array.from({ length: 1100 }, () => 9)]
        await store.batch(keys.map(key => ({ key: Uint8Array.from(key), value: Uint8Array.of(1) })))
        const sorted = '0 0,0 1 9… 128 128,1 255'
        await mustPage(store, { limit: 10 }, sorted)
        await mustPage(store, { limit: 10, reverse: true }, sorted.split(' ').reverse().join(' '))
        await mustPage(store, { limit: 2, after: Uint8Array.of(1) }, '9… 128')
        await mustPage(store, { limit: 2, before: Uint8Array.of(128, 1), reverse: true }, '128 9…')
        await mustPage(store, { limit: 9, after: Uint8Array.of(0), before: Uint8Array.of(128) }, '0,0 1 9…')
        await mustPage(store, { limit: 9, after: Uint8Array.of(255) }, '')
      })
  },
  {
    id: 'storage.key-pages',
    level: 'full',
    reason: 'Payments arrive while a history is read.',
    clause: DOCS,
    hint: 'A page begins after the key that it is given, also if that key has been deleted.',
    run: subject =>
      withStore(subject, async store => {
        await store.batch(Array.from({ length: 200 }, (_, key) => put(key * 2, Uint8Array.of(1))))
        const seen: number[] = []
        for (let after: Uint8Array | undefined; ; ) {
          const keys = await store.keys(after === undefined ? { limit: 30 } : { limit: 30, after })
          for (const key of keys) seen.push(numberOf(key))
          after = keys.at(-1)
          if (after === undefined) break
          const last = numberOf(after)
          const added = last < 300 ? [put(last - 1, Uint8Array.of(2)), put(last + 1, Uint8Array.of(3))] : []
          await store.batch([put(last), ...added])
        }
        const even = seen.filter(key => key % 2 === 0)
        must(
          even.length === 200 && new Set(seen).size === seen.length,
          () => `Of 200 keys, pages gave ${even.length}`
        )
        must(
          seen.every((key, at) => at === 0 || key > (seen[at - 1] ?? 0)),
          () => 'Pages go back to keys before their start'
        )
      })
  },
  {
    id: 'storage.random-batches',
    level: 'full',
    reason: 'Any sequence of batches leaves what a plain map would have.',
    clause: DOCS,
    hint: 'The message names the seed, which repeats the run: pass it as `seed`.',
    async run(subject) {
      const random = makeRandom(subject.seed)
      for (let run = 0; run < RANDOM_RUNS; run += 1)
        await withStore(subject, store => mustAgree(store, random, subject.seed))
    }
  }
]

const RANDOM_RUNS = 5
const RANDOM_STEPS = 30

const mustAgree = async (store: Store, random: () => number, seed: number): Promise<void> => {
  const model = new Map<number, Uint8Array>()
  const draw = (count: number): number => Math.floor(random() * count)
  const batches: Promise<void>[] = []
  for (let step = 0; step < RANDOM_STEPS; step += 1) {
    const changes = Array.from({ length: 1 + draw(5) }, () => {
      const [key, value] = [draw(20), draw(3) === 0 ? undefined : new Uint8Array(draw(2000)).fill(step)]
      if (value === undefined) model.delete(key)
      else model.set(key, value)
      return put(key, value)
    })
    batches.push(store.batch(changes))
    // Some batches begin while others are written.
    if (draw(2) === 0) await Promise.all(batches.splice(0))
  }
  await Promise.all(batches)
  const found = await store.keys({ limit: 100 })
  const expected = [...model.keys()].sort((left, right) => left - right)
  must(
    found.map(numberOf).join() === expected.join(),
    () => `It has the keys ${found.map(numberOf)}, not ${expected}, with seed ${seed}`
  )
  for (const [i, value] of (await store.getMany(found)).entries()) {
    const key = expected[i] ?? 0
    must(isSame(value, model.get(key)), () => `Key ${key} has ${show(value)}, with seed ${seed}`)
  }
}

const withStore = async (
  { openStore }: StoreSubject,
  run: (store: Store) => Promise<void>
): Promise<void> => {
  const store = await openStore()
  if (store === undefined) return skip('It opens a disk')
  try {
    await run(store)
  } finally {
    await store.close()
  }
}

const mustPage = async (
  store: Store,
  range: Parameters<Store['keys']>[0],
  expected: string
): Promise<void> => {
  const found = (await store.keys(range)).map(key => (key.length > 9 ? '9…' : [...key].join())).join(' ')
  must(found === expected, () => `A page has the keys "${found}", not "${expected}"`)
}

/** Two bytes, the higher first. */
const keyOf = (key: number): Uint8Array => Uint8Array.of(key >> 8, key & 255)
const numberOf = (key: Uint8Array): number => (key[0] ?? 0) * 256 + (key[1] ?? 0)

const put = (
  key: number,
  value?: Uint8Array
): { readonly key: Uint8Array; readonly value: Uint8Array | undefined } => ({
  key: keyOf(Math.max(0, key)),
  value
})

const isSame = (left: Uint8Array | undefined, right: Uint8Array | undefined): boolean =>
  left !== undefined && left.length === right?.length && left.every((byte, at) => byte === right[at])

/** Bytes in words, cut. */
const show = (value: Uint8Array | undefined): string =>
  value === undefined ? 'undefined' : `${value.length} bytes (${value.subarray(0, 8).join(' ')})`
