import type { BulkRow, BulkTable } from '../../repo/store/bulk.ts'

/** A row in the history of an asset. */
export type ListedRow = Pick<BulkRow, 'key' | 'order' | 'text'>

/** The history of one asset, newest first. */
export interface RowList {
  /** The rows at up to `limit` places from `offset` on; those that cannot be read are left out. */
  page(offset: number, limit: number): Promise<readonly ListedRow[]>
  /** The place of a row, or undefined if it is not listed. */
  offsetOf(key: string): Promise<number | undefined>
  /** How many rows have a later date than this, in seconds. */
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
