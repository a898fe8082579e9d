import type { BulkRow, BulkTable } from '../../repo/store/bulk.ts'
import type { FileHash } from '../../types/ids.ts'

/** A row in the history of an asset. */
export type ListedRow = Pick<BulkRow, 'key' | 'order' | 'text'>

/** The history of one asset, newest first. */
export interface RowList {
  /** The rows at up to `limit` places from `offset` on; those that cannot be read are left out. */
  page(offset: number, limit: number): Promise<readonly ListedRow[]>
  /** The place of a row, or undefined if it is not listed. */
  offsetOf(key: FileHash): Promise<number | undefined>
  /** Counts the rows with a later date than this, in seconds. */
  offsetAt(order: number): Promise<number>
}

/** The order of rows that the list of the chain's own coin leaves out. */
export const UNLISTED: number = -Number.MAX_VALUE

/** The history of the chain's own coin: the rows themselves, up to those that are not listed. */
export const mainList = (table: BulkTable): RowList => ({
  async page(offset, limit) {
    const rows = await table.page(offset, limit)
    return rows.at(-1)?.order === UNLISTED ? rows.filter(({ order }) => order !== UNLISTED) : rows
  },
  async offsetOf(key) {
    const offset = await table.offsetOf(key)
    return offset === undefined || offset < (await table.offsetAt(UNLISTED)) ? offset : undefined
  },
  offsetAt: order => table.offsetAt(order)
})

/** The history of a token: an index of keys beside the rows. */
export const tokenList = (index: BulkTable, table: BulkTable): RowList => ({
  async page(offset, limit) {
    const places = await index.page(offset, limit)
    const texts = await table.getMany(places.map(({ key }) => key))
    return places.flatMap(({ key, order }, at) => {
      const text = texts[at]
      return text === undefined ? [] : [{ key, order, text }]
    })
  },
  offsetOf: key => index.offsetOf(key),
  offsetAt: order => index.offsetAt(order)
})

/** Which part of a list is wanted. */
export interface ListRange {
  /** The place where it begins, in the list as it is now. @throws TX_NOT_FOUND */
  from(list: RowList): Promise<number>
  /** It goes on as long as the order is above this. */
  readonly floor: number
}

/**
 * Walks down a list that may change meanwhile: nothing comes twice, and what is gone does not come.
 *
 * It finds its place again by the row that came last; where that is gone or has moved, by its date.
 */
export class ListCursor {
  readonly #open: () => Promise<RowList>
  readonly #range: ListRange
  readonly #seen = new Set<FileHash>()
  #last: ListedRow | undefined

  /** @param open - gives the list as it is now; a resync puts another in its place */
  constructor(open: () => Promise<RowList>, range: ListRange) {
    this.#open = open
    this.#range = range
  }

  /** Checks if a row has come already. */
  hasSeen(key: FileHash): boolean {
    return this.#seen.has(key)
  }

  /** Up to `limit` rows that follow; none at the end. */
  async next(limit: number): Promise<ListedRow[]> {
    for (let reach = limit; ; ) {
      const { rows, isLast } = await this.#read(reach)
      const found = rows.slice(0, limit)
      this.#last = found.at(-1) ?? this.#last
      const fresh = found.filter(({ key, order }) => order > this.#range.floor && !this.#seen.has(key))
      for (const { key } of fresh) this.#seen.add(key)
      if (fresh.length > 0 || (found.length === 0 && isLast)) return fresh
      // Where no row of a page can be read, others stand behind it.
      reach = found.length === 0 ? reach * 2 : limit
    }
  }

  /** Reads so many rows that follow; `isLast` if those are all. */
  async #read(reach: number): Promise<{ readonly rows: readonly ListedRow[]; readonly isLast: boolean }> {
    for (let tries = 1; ; tries += 1) {
      const list = await this.#open()
      const place = await this.placeIn(list)
      const left = (await list.offsetAt(this.#range.floor)) - place
      const rows = await list.page(place, Math.min(reach, left))
      // What came or went above meanwhile has moved others over the place.
      if (place === (await this.placeIn(list)) || tries === MAX_TRIES) return { rows, isLast: reach >= left }
    }
  }

  /** The place in the list, as it is now, where it goes on. */
  async placeIn(list: RowList): Promise<number> {
    if (this.#last === undefined) return this.#range.from(list)
    const { key, order } = this.#last
    const [first, end, place] = await Promise.all([
      list.offsetAt(order),
      list.offsetAt(stepDown(order)),
      list.offsetOf(key)
    ])
    return place !== undefined && place >= first && place < end ? place + 1 : first
  }
}

/** A list does not move that often between two looks. */
const MAX_TRIES = 10

/** The latest date in seconds that is before a time in milliseconds, by the rule of specification §5 "Date filter". */
export const lastBefore = (milliseconds: number): number => {
  let seconds = milliseconds / 1000
  while (seconds * 1000 >= milliseconds) seconds = stepDown(seconds)
  while (stepUp(seconds) * 1000 < milliseconds) seconds = stepUp(seconds)
  return seconds
}

/** A little more than half the distance to the next number, so that a sum rounds to that one. */
const halfStep = (value: number): number => Math.max(Math.abs(value) * 2 ** -53 * 1.0001, Number.MIN_VALUE)

const stepUp = (value: number): number => value + halfStep(value)

/** The next lower number. */
const stepDown = (value: number): number => value - halfStep(value)
