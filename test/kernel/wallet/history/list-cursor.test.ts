import test from 'ava'
import { ListCursor, type RowList, UNLISTED } from '../../../../kernel/wallet/history/row-list.ts'

test('rows that come or go between two pages of a list neither hide a row nor show one twice', async t => {
  const orders = new Map(['start', 'a', 'b', 'c', 'd', 'e'].map((key, index) => [key, 10 - index]))
  const rows = () =>
    [...orders]
      .map(([key, order]) => ({ key, order, text: '' }))
      .sort((one, other) => other.order - one.order)
  let beforePage = (): void => {}
  const list: RowList = {
    async page(offset, limit) {
      beforePage()
      return rows().slice(offset, offset + limit)
    },
    async offsetOf(key) {
      const place = rows().findIndex(row => row.key === key)
      return place < 0 ? undefined : place
    },
    offsetAt: async order => rows().filter(row => row.order > order).length
  }
  // It begins behind a row that another one moves down just then.
  const from = async (): Promise<number> => ((await list.offsetOf('start')) ?? 0) + 1
  const cursor = new ListCursor(async () => list, { from, floor: UNLISTED })
  const keysOf = async (): Promise<string[]> => (await cursor.next(2)).map(({ key }) => key)
  beforePage = () => void orders.set('first', 30)
  t.deepEqual(await keysOf(), ['a', 'b'])
  beforePage = () => void orders.set('a', 1)
  t.deepEqual(await keysOf(), ['c', 'd'])
  beforePage = () => void orders.set('new', 20)
  t.deepEqual([await keysOf(), await keysOf()], [['e'], []])
})

test('rows that cannot be read are passed over, however many pages of them there are', async t => {
  const rows = Array.from({ length: 30 }, (_, index) => ({ key: `key${index}`, order: -index, text: '' }))
  const isLost = ({ order }: { readonly order: number }): boolean => -order % 10 < 8 || order === -29
  const list: RowList = {
    page: async (offset, limit) => rows.slice(offset, offset + limit).filter(row => !isLost(row)),
    async offsetOf(key) {
      const place = rows.findIndex(row => row.key === key)
      return place < 0 ? undefined : place
    },
    offsetAt: async order => rows.filter(row => row.order > order).length
  }
  for (const limit of [1, 2, 3, 5, 50]) {
    for (const floor of [UNLISTED, -19]) {
      const cursor = new ListCursor(async () => list, { from: async () => 0, floor })
      const found: string[] = []
      for (let page = await cursor.next(limit); page.length > 0; page = await cursor.next(limit))
        found.push(...page.map(({ key }) => key))
      const expected = rows.filter(row => !isLost(row) && row.order > floor).map(({ key }) => key)
      t.deepEqual(found, expected, `${limit} ${floor}`)
    }
  }
})
