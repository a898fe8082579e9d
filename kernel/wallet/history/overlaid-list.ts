import { lowerBound } from '../../base/lower-bound.ts'
import { stepDown } from './list-cursor.ts'
import type { ListedRow, RowList } from './row-list.ts'

/** What lies over a list. */
export interface Overlay {
  /** Rows that are listed; behind those of the list with the same date. */
  readonly rows: readonly ListedRow[]
  /** The keys of the rows of the list that count no more, those of `rows` among them. */
  readonly replaced: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>
}

/** A list with other rows laid over it, as long as it does not change: for the rare time when rows cannot be written. */
export const overlaidList = async (list: RowList, { rows, replaced }: Overlay): Promise<RowList> => {
  const over = [...rows].sort((left, right) => right.order - left.order)
  const gone = await placesOf(list, replaced.keys())
  /** How many rows of the list that still count stand before a place in it. */
  const keptBefore = (place: number): number => place - countWhere(gone, other => other < place)
  const above: number[] = []
  for (const { order } of over) above.push(keptBefore(await list.offsetAt(stepDown(order))))
  /** Where in the list the rows stand that still count, by their number. */
  const placeOf = (number: number): number =>
    number + countWhere(gone, (place, index) => place - index <= number)

  const keptPage = async (number: number, count: number): Promise<ListedRow[]> => {
    const start = placeOf(number)
    const found = await list.page(start, placeOf(number + count - 1) - start + 1)
    return found.filter(({ key }) => !replaced.has(key))
  }

  return {
    async page(offset, limit) {
      const found: ListedRow[] = []
      const end = offset + limit
      for (let at = offset; at < end; ) {
        const index = countWhere(above, (count, number) => count + number < at)
        const row = over[index]
        const next = row === undefined ? end : Math.min(end, (above[index] ?? 0) + index)
        if (next > at) found.push(...(await keptPage(at - index, next - at)))
        else if (row !== undefined) found.push(row)
        at = Math.max(next, at + 1)
      }
      return found
    },
    async offsetOf(key) {
      const index = over.findIndex(row => row.key === key)
      if (index >= 0) return (above[index] ?? 0) + index
      const place = replaced.has(key) ? undefined : await list.offsetOf(key)
      if (place === undefined) return undefined
      const number = keptBefore(place)
      return number + countWhere(above, count => count <= number)
    },
    async offsetAt(order) {
      return keptBefore(await list.offsetAt(order)) + countWhere(over, row => row.order > order)
    }
  }
}

const placesOf = async (list: RowList, keys: Iterable<string>): Promise<number[]> => {
  const places: number[] = []
  for (const key of keys) {
    const place = await list.offsetOf(key)
    if (place !== undefined) places.push(place)
  }
  return places.sort((left, right) => left - right)
}

/** How many items pass a test that none passes behind one that does not. */
const countWhere = <T>(items: readonly T[], test: (item: T, index: number) => boolean): number =>
  lowerBound(0, items.length, at => !test(items[at] as T, at))
