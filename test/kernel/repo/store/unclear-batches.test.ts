import test from 'ava'
import { WalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { Store, StoreChange } from '../../../../kernel/io/store.ts'
import { type BulkChange, parseBulkPrefixes } from '../../../../kernel/repo/store/bulk.ts'
import { openSealedStore, type SealedStore } from '../../../../kernel/repo/store/sealed-store.ts'
import { SortedMap, textOfKey } from '../../../../kernel/store/sorted-map.ts'
import { drawSeed, makeSeededRandom } from '../../../helpers/drawn-runs.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const io = makeRepoIo()

/** What becomes of a batch: it is made, refused, or its answer is lost, and it was made or not. */
type Fate = 'lost' | 'lost but made' | 'made' | 'refused'

/** The store of a storage plugin, in memory. */
const makeMedium = (fateOf: () => Fate, values = new SortedMap<Uint8Array>()): Store => {
  const make = (changes: readonly StoreChange[]): void => {
    for (const { key, value } of changes) {
      if (value === undefined) values.delete(textOfKey(key))
      else values.set(textOfKey(key), value)
    }
  }
  return {
    getMany: async keys => keys.map(key => values.get(textOfKey(key))),
    async batch(changes) {
      const fate = fateOf()
      await io.clock.turn()
      if (fate === 'made' || fate === 'lost but made') make(changes)
      if (fate === 'made') return
      const unclear = fate === 'refused' ? {} : { mayBeSaved: true as const }
      throw new WalletError('STORAGE_FAILED', { path: '', reason: fate, ...unclear })
    },
    keys: async range => values.keys(range),
    close: async () => {}
  }
}

const openOn = (
  store: Store,
  report: (error: unknown) => void = error => {
    throw error
  }
): Promise<SealedStore> =>
  openSealedStore({
    ...{ io, store, name: 'r', key: new Secret(new Uint8Array(32).fill(7)), blockLength: 600 },
    bulk: parseBulkPrefixes(['t/']),
    report
  })

type Rows = Map<string, string | BulkChange>

/** A list in which a row of the same order keeps its place, and another one goes to the end. */
const applied = (before: Rows, changes: ReadonlyMap<string, string | BulkChange | null>): Rows => {
  const after: Rows = new Map(before)
  for (const [key, change] of changes) {
    const old = after.get(key)
    const stays =
      typeof old === 'object' && typeof change === 'object' && change !== null && old.order === change.order
    if (change === null || !stays) after.delete(key)
    if (change !== null) after.set(key, change)
  }
  return after
}

const spelt = (rows: Rows): string => {
  const entries = [...rows].filter(([, change]) => typeof change === 'string').sort()
  const ordered = [...rows].filter(([, change]) => typeof change !== 'string')
  ordered.sort(
    ([, left], [, right]) => ((right as BulkChange).order ?? 0) - ((left as BulkChange).order ?? 0)
  )
  return JSON.stringify([...entries, ...ordered])
}

test('whatever becomes of a batch whose answer is lost, a store shows all of its write or nothing, and so does the next one', async t => {
  const random = makeSeededRandom(drawSeed(t))
  const counts = { made: 0, lost: 0, 'lost but made': 0, refused: 0 }
  for (let run = 0; run < 60; run += 1) {
    let fate: Fate = 'made'
    const medium = makeMedium(() => fate)
    let store = await openOn(medium)
    let model: Rows = new Map()
    for (let step = 0; step < 40; step += 1) {
      const changes = new Map<string, string | BulkChange | null>()
      for (let n = random.oneIn(4) ? 25 : 1 + random.below(3); n > 0; n -= 1) {
        const number = random.below(30)
        const text = `${step} ${'x'.repeat(40)}`
        if (random.oneIn(3)) changes.set(`e/${number}`, random.oneIn(4) ? null : text)
        // Of few orders, so that many rows have the same.
        else changes.set(`t/${number}`, random.oneIn(4) ? null : { text, order: random.below(3), mark: step })
      }
      fate = random.pick(['made', 'made', 'made', 'lost', 'lost but made', 'refused'])
      counts[fate] += 1
      const writing = store.write(changes)
      // By their keys they are read at once.
      for (const [key, change] of changes)
        if (key.startsWith('e/')) t.is(store.get(key), (change as string | null) ?? undefined)
      const error = await writing.then(
        () => undefined,
        (thrown: unknown) => thrown
      )
      t.is(error === undefined, fate === 'made')
      const next = applied(model, changes)
      const ended = fate
      fate = 'made'
      // An unclear batch is looked at again with the next write, or when all that failed is to be forgotten.
      const more = new Map(random.oneIn(2) ? [['e/next', `${step}`]] : [])
      await store.write(more)
      const both = [model, next].map(rows => applied(rows, more))
      const found = spelt(new Map(await store.contents()))
      const wanted = ended === 'made' || ended === 'lost but made' ? both[1] : both[0]
      t.is(found, spelt(wanted ?? new Map()), `run ${run}, step ${step}, ${ended}`)
      model = wanted ?? new Map()
      if (random.oneIn(10)) {
        await store.close()
        store = await openOn(medium)
        t.is(spelt(new Map(await store.contents())), spelt(model))
      }
    }
  }
  t.true(Math.min(...Object.values(counts)) > 50)
})

test('a value that was put aside is read no more: no number of a block is used again, and damage is reported once', async t => {
  for (const part of [0, 1]) {
    const values = new SortedMap<Uint8Array>()
    const medium = makeMedium(() => 'made', values)
    const first = await openOn(medium)
    for (let i = 0; i < 12; i += 1) {
      const row = { text: `${i} ${'x'.repeat(300)}`, order: i, mark: 0 }
      await first.write(
        new Map<string, string | BulkChange>([
          [`t/${i}`, row],
          [`e/${i}`, `${i}`]
        ])
      )
    }
    await first.close()
    const heads = new Set(
      (await medium.keys({ limit: 1000 })).filter(key => key[8] === 0).map(key => textOfKey(key.slice(0, 8)))
    )
    const damaged = (await medium.keys({ limit: 1000 })).find(
      key => key[8] === part && heads.has(textOfKey(key.slice(0, 8)))
    )
    if (damaged === undefined) throw new Error('There should be such a value')
    values.set(textOfKey(damaged), new Uint8Array(64))
    const reports: unknown[] = []
    const counts: number[] = []
    for (let opening = 0; opening < 5; opening += 1) {
      const store = await openOn(medium, error => void reports.push(error))
      for await (const rows of store.table('t/').scan()) t.true(rows.length >= 0)
      for (let i = 0; i < 4; i += 1) {
        const number = 100 * (opening + 1) + i
        await store.write(
          new Map([[`t/${number}`, { text: `${number} ${'y'.repeat(300)}`, order: number, mark: 0 }]])
        )
      }
      counts.push(await store.table('t/').count())
      for (let i = 0; i < 12; i += 1) t.is(store.get(`e/${i}`), `${i}`)
      await store.close()
    }
    t.is(reports.length, 1)
    t.deepEqual(
      counts.map((count, i) => count - (counts[0] ?? 0) - 4 * i),
      [0, 0, 0, 0, 0]
    )
    const lengths = (await medium.keys({ limit: 1000 })).map(key => key.length)
    t.true(Math.max(...lengths) <= 14)
  }
})
