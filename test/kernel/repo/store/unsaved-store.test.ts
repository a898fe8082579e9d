import test from 'ava'
import fc from 'fast-check'
import type { StoreChange } from '../../../../kernel/io/store.ts'
import { UnsavedStore } from '../../../../kernel/repo/store/unsaved-store.ts'
import { makePluginStore } from '../../../helpers/plugin-store.ts'

const bytes = (number: number): Uint8Array => Uint8Array.of(number)
const numbersOf = (keys: readonly Uint8Array[]): (number | undefined)[] => keys.map(([number]) => number)

test('every page of keys and every value is that of a map with what is held, of any size and in both directions', async t => {
  const changes = fc.array(fc.tuple(fc.nat({ max: 20 }), fc.option(fc.nat({ max: 255 }), { freq: 2 })), {
    maxLength: 25
  })
  const bound = fc.option(fc.nat({ max: 21 }), { nil: undefined })
  const range = fc.record({
    after: bound,
    before: bound,
    reverse: fc.boolean(),
    limit: fc.integer({ min: 1, max: 6 })
  })
  await fc.assert(
    fc.asyncProperty(changes, changes, fc.array(range, { maxLength: 6 }), async (below, held, ranges) => {
      const medium = makePluginStore()
      const store = new UnsavedStore(medium)
      const model = new Map<number, number>()
      const batchOf = (all: typeof below) => {
        for (const [key, value] of all) value === null ? model.delete(key) : model.set(key, value)
        return all.map(([key, value]) => ({
          key: bytes(key),
          value: value === null ? undefined : bytes(value)
        }))
      }
      await store.batch(batchOf(below))
      store.hold(batchOf(held))
      const check = async (): Promise<void> => {
        for (const { after, before, reverse, limit } of ranges) {
          const inRange = [...model.keys()].filter(key => key > (after ?? -1) && key < (before ?? 256))
          inRange.sort((left, right) => (reverse ? right - left : left - right))
          const bounds = {
            ...(after === undefined ? {} : { after: bytes(after) }),
            ...(before === undefined ? {} : { before: bytes(before) })
          }
          t.deepEqual(numbersOf(await store.keys({ ...bounds, reverse, limit })), inRange.slice(0, limit))
        }
        const all = Array.from({ length: 22 }, (_, key) => key)
        const values = await store.getMany(all.map(bytes))
        t.deepEqual(
          values.map(value => value?.[0]),
          all.map(key => model.get(key))
        )
      }
      await check()
      await store.batch(batchOf([[21, 1]]))
      t.false(store.isHolding)
      await check()
    }),
    { numRuns: 400 }
  )
})

for (const [what, changes] of [
  ['a value and a deletion', [{ key: bytes(1) }, { key: bytes(2), value: bytes(9) }]],
  ['deletions', [{ key: bytes(1) }, { key: bytes(3) }]]
] as [string, StoreChange[]][])
  for (const isMade of [true, false])
    test(`a failed batch of ${what} that may have been made is held on to until it is known that it was: ${isMade}`, async t => {
      const medium = makePluginStore()
      await medium.batch([
        { key: bytes(1), value: bytes(7) },
        { key: bytes(2), value: bytes(8) }
      ])
      const getMany = async (keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> =>
        (await medium.getMany(keys)).map(value => value?.slice())
      const store = new UnsavedStore({ ...medium, getMany })
      medium.fate = isMade ? 'lost but made' : 'lost'
      store.hold(changes)
      await t.throwsAsync(store.batch([]), { code: 'STORAGE_FAILED' })
      t.true(store.isHolding)
      medium.fate = 'made'
      await store.settleUnclear()
      t.is(store.isHolding, !isMade)
      const wanted = changes.map(({ value }) => value)
      t.deepEqual(await store.getMany(changes.map(({ key }) => key)), wanted)
      await store.batch([])
      t.deepEqual(await medium.getMany(changes.map(({ key }) => key)), wanted)
    })
