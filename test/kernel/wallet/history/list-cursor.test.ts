import test from 'ava'
import { ListCursor } from '../../../../kernel/wallet/history/list-cursor.ts'
import { type RowList, UNLISTED } from '../../../../kernel/wallet/history/row-list.ts'

test('what comes or goes above between two looks at a list neither hides a row nor shows one twice', async t => {
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
