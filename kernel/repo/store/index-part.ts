import { textOf, utf8Of } from '../../crypto/encoding.ts'
import type { ChunkCrypto } from './chunk.ts'
import { openBytes, sealBytes } from './sealed-bytes.ts'

/**
 * Rows of one table as columns, in descending order: where each is found, without its key and text.
 *
 * `place` is the number of a segment's file times 16 plus that of the piece in it, 0 for a row that was deleted; `slot` counts
 * the records of the piece.
 */
export interface IndexColumns {
  readonly count: number
  readonly order: Float64Array
  readonly low: Uint32Array
  readonly high: Uint32Array
  readonly mark: Int32Array
  readonly place: Uint32Array
  readonly slot: Uint16Array
}

/** The columns by name. */
export const COLUMN_NAMES = ['order', 'low', 'high', 'mark', 'place', 'slot'] as const

/** Columns for `count` rows, all zero. */
export const makeColumns = (count: number): IndexColumns =>
  columnsOf(new ArrayBuffer(HEADER + count * ROW), 0, count)

/** Which part of which table's index this is. */
export interface PartName {
  readonly table: string
  readonly id: number
}

/** Seals columns as the part of this name. */
export const encodeIndexPart = (
  crypto: ChunkCrypto,
  { table, id }: PartName,
  columns: IndexColumns
): string => {
  const { count } = columns
  const name = utf8Of(table)
  const end = HEADER + count * ROW
  const write = (bytes: Uint8Array, start: number): number => {
    const buffer = bytes.buffer as ArrayBuffer
    new Uint32Array(buffer, start, 4).set([MAGIC, id, count, name.length])
    const copy = columnsOf(buffer, start, count)
    for (const column of COLUMN_NAMES) copy[column].set(columns[column].subarray(0, count))
    bytes.set(name, start + end)
    return start + end + name.length
  }
  return sealBytes(crypto, { room: end + name.length, write })
}

/** The inverse of {@link encodeIndexPart}; undefined for anything else, another part's text included. */
export const decodeIndexPart = async (
  crypto: ChunkCrypto,
  name: PartName,
  text: string
): Promise<IndexColumns | undefined> => {
  const part = await openPart(crypto, text)
  return part?.table === name.table && part.id === name.id ? part.columns : undefined
}

/** The table that a part belongs to; undefined if it is damaged. */
export const tableOfPart = async (crypto: ChunkCrypto, text: string): Promise<string | undefined> =>
  (await openPart(crypto, text))?.table

interface OpenedPart extends PartName {
  readonly columns: IndexColumns
}

const openPart = async (crypto: ChunkCrypto, text: string): Promise<OpenedPart | undefined> => {
  const bytes = await openBytes(crypto, text)
  if (bytes === undefined || bytes.length < HEADER) return undefined
  const [magic, id = 0, count = 0, nameLength = 0] = new Uint32Array(bytes.buffer, 0, 4)
  const end = HEADER + count * ROW
  if (magic !== MAGIC || bytes.length !== end + nameLength) return undefined
  return { id, table: textOf(bytes.subarray(end)), columns: columnsOf(bytes.buffer as ArrayBuffer, 0, count) }
}

/** "HFI1" on the machines of today, which are all little-endian; on another the part would be no part, and be made anew. */
const MAGIC = 0x31494648
const HEADER = 16
const ROW = 8 + 4 + 4 + 4 + 4 + 2

const columnsOf = (buffer: ArrayBuffer, start: number, count: number): IndexColumns => {
  const words = start + HEADER + count * 8
  return {
    count,
    order: new Float64Array(buffer, start + HEADER, count),
    low: new Uint32Array(buffer, words, count),
    high: new Uint32Array(buffer, words + count * 4, count),
    mark: new Int32Array(buffer, words + count * 8, count),
    place: new Uint32Array(buffer, words + count * 12, count),
    slot: new Uint16Array(buffer, words + count * 16, count)
  }
}
