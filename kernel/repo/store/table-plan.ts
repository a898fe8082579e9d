import { makeYielder } from '../../base/yielder.ts'
import type { StoreChange } from '../../io/store.ts'
import {
  BLOCK_PARTS,
  type BlockCrypto,
  blockKey,
  type Head,
  type KeyedText,
  makeHeadColumns,
  parseBlockKey,
  sealBody,
  sealHead
} from './block.ts'
import { type BulkChange, type BulkRow, textIn } from './bulk.ts'
import type { KeyHash, PlacedRows, RowIndex } from './row-index.ts'

/** The changes of a table by key, in the order of their arrival; `moved`: keys that were deleted, or had another order, in between. */
export interface TableChanges {
  readonly changes: ReadonlyMap<string, string | BulkChange | null>
  readonly moved: ReadonlySet<string>
}

/** What a batch does to one table. It is true once the batch is, and the table has adopted it. */
export interface TablePlan {
  readonly changes: readonly StoreChange[]
  /** Numbers of rows that go. */
  readonly removed: ReadonlySet<number>
  readonly placed: readonly PlacedRows[]
  /** What blocks are from then on; undefined for one that goes. */
  readonly blocks: ReadonlyMap<number, BlockFacts | undefined>
}

/** What is known of a block without reading it. */
export interface BlockFacts {
  /** The number of its living rows. */
  readonly living: number
  readonly total: number
  /** In bytes, about. */
  readonly size: number
  /** Search texts are kept beside the body. */
  readonly isSearchable: boolean
}

/** The state of a table that a plan is made for. */
export interface PlanContext {
  readonly place: BlockCrypto & { readonly prefix: string; readonly blockLength: number }
  readonly tag: Uint8Array
  readonly index: RowIndex
  readonly blocks: ReadonlyMap<number, BlockFacts>
  /** Blocks whose body is damaged: their rows go. */
  readonly damaged: ReadonlySet<number>
  /** A number that no block has. */
  nextBlock(): number
  /** Reads rows by their numbers, with their search texts, '' for none; those of a damaged body are left out. */
  readRows(
    rows: readonly number[],
    take: (row: number, text: KeyedText, search: string) => void
  ): Promise<void>
}

/** A row to be written, with what its key is found by. */
interface NewRow extends BulkRow {
  readonly hash: KeyHash
  readonly sequence: number
  /** '' for none. */
  readonly search: string
}

/**
 * Works out the batch that makes changes of a table true.
 *
 * New rows go into new blocks. Those that they replace, and deleted ones, are taken out of the heads of their blocks. The living
 * rows of some blocks move with the new ones: of four of about one size, and of those that are mostly dead. So a table has few
 * small blocks, and each row is written again but a few times, however it came.
 */
export const planTable = async (
  { changes, moved }: TableChanges,
  context: PlanContext
): Promise<TablePlan> => {
  const { tag, index, blocks, damaged, readRows } = context
  const removed = new Set<number>()
  /** Rows that are no longer where they were. */
  const left = new Set<number>()
  const rows: NewRow[] = []
  let written = 0
  for (const [key, change] of changes) {
    const hash = index.hashOf(key)
    const known = index.find(hash)
    const text = textIn(change)
    const {
      order = 0,
      mark = 0,
      search = ''
    }: Partial<BulkChange> = typeof change === 'string' || change === null ? {} : change
    const stays = text !== null && known >= 0 && !moved.has(key) && index.orderOf(known) === order
    if (known >= 0) left.add(known)
    if (known >= 0 && !stays) removed.add(known)
    if (text === null) continue
    const sequence = stays ? index.at(known).sequence : index.nextSequence()
    rows.push({ key, text, order, mark, hash, sequence, search })
    written += sizeOf(key, text)
  }
  const gone = blocksToMove(context, left, written)
  for (const block of damaged) gone.add(block)
  const touched = [...left].map(row => index.blockOf(row))
  const kept = index.rowsIn(new Set([...touched, ...gone, ...index.stale]), left)
  const moving = [...gone].flatMap(block => kept.get(block) ?? [])
  const found = new Set<number>()
  await readRows(moving, (row, [key, text], search) => {
    const { order, mark, hash, sequence } = index.at(row)
    rows.push({ key, text, order, mark, hash, sequence, search })
    found.add(row)
  })
  for (const row of moving) if (!found.has(row)) removed.add(row)
  const batch: StoreChange[] = []
  const facts = new Map<number, BlockFacts | undefined>()
  for (const [block, living] of kept) {
    const before = blocks.get(block)
    if (gone.has(block) || living.length === 0 || before === undefined) {
      for (const part of BLOCK_PARTS)
        if (part !== 'search' || before?.isSearchable)
          batch.push({ key: blockKey(tag, part, block), value: undefined })
      facts.set(block, undefined)
      continue
    }
    const { total, size, isSearchable } = before
    const columns = index.columnsOf(living)
    batch.push(headChange(context, { block, count: living.length, total, size, isSearchable, columns }))
    facts.set(block, { living: living.length, total, size, isSearchable })
  }
  const placed = await sealRows(context, rows, batch, facts)
  // All heads first: so they lie together where batches are written one behind the other, and a table is opened with few reads.
  const isHead = ({ key }: StoreChange): boolean => parseBlockKey(key)?.part === 'head'
  const ordered = [...batch.filter(isHead), ...batch.filter(change => !isHead(change))]
  return { changes: ordered, removed, placed, blocks: facts }
}

const blocksToMove = (
  { index, blocks, place: { blockLength } }: PlanContext,
  left: ReadonlySet<number>,
  written: number
): Set<number> => {
  const gone = new Set<number>()
  const leaving = new Map<number, number>()
  for (const row of left) leaving.set(index.blockOf(row), (leaving.get(index.blockOf(row)) ?? 0) + 1)
  for (const [block, count] of leaving) {
    const { living, total } = blocks.get(block) ?? { living: 0, total: 0 }
    if (gone.size < MAX_WORN && living > count && (living - count) * 2 < total) gone.add(block)
  }
  if (written === 0 || written >= blockLength) return gone
  for (let size = written; size < blockLength / 2; ) {
    const alike = [...blocks].filter(
      ([block, facts]) => !gone.has(block) && sizeClass(facts.size) === sizeClass(size)
    )
    if (alike.length < ALIKE) break
    for (const [block, facts] of alike) {
      gone.add(block)
      size += facts.size
    }
  }
  return gone
}

/** Seals rows into new blocks. */
const sealRows = async (
  context: PlanContext,
  rows: NewRow[],
  batch: StoreChange[],
  facts: Map<number, BlockFacts | undefined>
): Promise<PlacedRows[]> => {
  const { tag, place } = context
  const pause = makeYielder(place.io.clock)
  const placed: PlacedRows[] = []
  if (!isInOrder(rows)) rows.sort(byOrder)
  for (let start = 0; start < rows.length; ) {
    const { end, size } = endOfBlock(rows, start, place.blockLength)
    const group = rows.slice(start, end)
    const block = context.nextBlock()
    const [count, columns] = [group.length, columnsFor(group)]
    const texts = group.map(({ key, text }): KeyedText => [key, text])
    const name = { table: place.prefix, block }
    batch.push({
      key: blockKey(tag, 'body', block),
      value: sealBody(place, { ...name, part: 'body' }, texts)
    })
    const isSearchable = group.some(({ search }) => search !== '')
    if (isSearchable) {
      const searchTexts = group.map(({ key, search }): KeyedText => [key, search])
      batch.push({
        key: blockKey(tag, 'search', block),
        value: sealBody(place, { ...name, part: 'search' }, searchTexts)
      })
    }
    batch.push(headChange(context, { block, count, total: count, size, isSearchable, columns }))
    facts.set(block, { living: count, total: count, size, isSearchable })
    placed.push({ block, count, columns })
    start = end
    await pause()
  }
  return placed
}

const endOfBlock = (
  rows: readonly NewRow[],
  start: number,
  blockLength: number
): { readonly end: number; readonly size: number } => {
  let end = start
  let size = 0
  for (; end < rows.length && end - start < MAX_ROWS && size < blockLength; end += 1)
    size += sizeOf(rows[end]?.key ?? '', rows[end]?.text ?? '')
  return { end, size }
}

const headChange = ({ tag, place }: PlanContext, head: Omit<Head, 'table'>): StoreChange => ({
  key: blockKey(tag, 'head', head.block),
  value: sealHead(place, { table: place.prefix, ...head })
})

const columnsFor = (rows: readonly NewRow[]): Head['columns'] => {
  const columns = makeHeadColumns(rows.length)
  for (const [slot, { order, sequence, hash, mark }] of rows.entries()) {
    columns.order[slot] = order
    columns.sequence[slot] = sequence
    columns.low[slot] = hash[0]
    columns.high[slot] = hash[1]
    columns.mark[slot] = mark
    columns.slot[slot] = slot
  }
  return columns
}

const byOrder = (left: NewRow, right: NewRow): number =>
  right.order - left.order || left.sequence - right.sequence

const isInOrder = (rows: readonly NewRow[]): boolean =>
  rows.every((row, i) => i === 0 || byOrder(rows[i - 1] as NewRow, row) <= 0)

/** What a row takes up in a body, about. */
const sizeOf = (key: string, text: string): number => 8 + key.length + text.length

/** Four times the size, the next class. */
const sizeClass = (size: number): number => Math.max(0, Math.floor(Math.log2(size / 1024) / 2))

const MAX_ROWS = 4096
/** So many blocks of one class become one. */
const ALIKE = 4
const MAX_WORN = 4
