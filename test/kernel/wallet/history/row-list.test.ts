import test from 'ava'
import fc from 'fast-check'
import { type ListedRow, overlaidList, type RowList } from '../../../../kernel/wallet/history/row-list.ts'

const plainList = (rows: readonly ListedRow[]): RowList => ({
  page: async (offset, limit) => rows.slice(offset, offset + limit),
  async offsetOf(key) {
    const place = rows.findIndex(row => row.key === key)
    return place < 0 ? undefined : place
  },
  offsetAt: async order => rows.filter(row => row.order > order).length
})

const KEYS = Array.from({ length: 12 }, (_, index) => `key${index}`)
const rowsArbitrary = (text: string) =>
  fc.uniqueArray(
    fc.record({ key: fc.constantFrom(...KEYS), order: fc.nat({ max: 5 }), text: fc.constant(text) }),
    {
      selector: ({ key }) => key
    }
  )
const byOrder = (left: ListedRow, right: ListedRow): number => right.order - left.order

test('rows laid over a list give the list that it would be with them', async t => {
  await fc.assert(
    fc.asyncProperty(
      rowsArbitrary('kept'),
      rowsArbitrary('over'),
      fc.subarray(KEYS),
      async (kept, rows, gone) => {
        const base = [...kept].sort(byOrder)
        const replaced = new Set([...rows.map(({ key }) => key), ...gone])
        const expected = [...base.filter(({ key }) => !replaced.has(key)), ...rows].sort(byOrder)
        const [wanted, found] = [plainList(expected), await overlaidList(plainList(base), { rows, replaced })]
        for (let offset = 0; offset <= expected.length + 1; offset += 1)
          for (const limit of [0, 1, 2, 5, 50])
            t.deepEqual(await found.page(offset, limit), await wanted.page(offset, limit))
        for (const key of KEYS) t.is(await found.offsetOf(key), await wanted.offsetOf(key))
        for (let order = -1; order <= 6; order += 0.5)
          t.is(await found.offsetAt(order), await wanted.offsetAt(order))
      }
    )
  )
})
