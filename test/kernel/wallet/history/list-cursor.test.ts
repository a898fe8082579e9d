import test from 'ava'
import { ListCursor } from '../../../../kernel/wallet/history/list-cursor.ts'
import { type RowList, UNLISTED } from '../../../../kernel/wallet/history/row-list.ts'

test('a row that moves away above between two looks at a list makes no other be passed over', async t => {
  const orders = new Map(['a', 'b', 'c', 'd', 'e'].map((key, index) => [key, 9 - index]))
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
  const cursor = new ListCursor(async () => list, { from: 0, floor: UNLISTED })
  const keysOf = async (): Promise<string[]> => (await cursor.next(2)).map(({ key }) => key)
  t.deepEqual(await keysOf(), ['a', 'b'])
  beforePage = () => void orders.set('a', 1)
  t.deepEqual(await keysOf(), ['c', 'd'])
  beforePage = () => void orders.set('new', 20)
  t.deepEqual([await keysOf(), await keysOf()], [['e'], []])
})
