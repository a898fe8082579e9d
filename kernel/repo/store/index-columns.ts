import { makeYielder } from '../../base/yielder.ts'
import type { Clock } from '../../io/io.ts'
import type { BulkRow } from './bulk.ts'
import { type IndexColumns, makeColumns } from './index-part.ts'
import type { KeyHash } from './key-hash.ts'
import { copyRow } from './row-index.ts'
import type { NumberedFile } from './table-manifest.ts'

/** The number of the segment that a place is in. */
export const segmentOf = (place: number): number => Math.floor(place / 16)

/** How many rows of each segment are alive. */
export const aliveIn = ({ count, place }: IndexColumns): Map<number, number> => {
  const alive = new Map<number, number>()
  for (let i = 0; i < count; i += 1) {
    const segment = segmentOf(place[i] ?? 0)
    alive.set(segment, (alive.get(segment) ?? 0) + 1)
  }
  return alive
}

/**
 * The segments whose living rows are better written elsewhere: those that are less than half alive, and small ones if there are many.
 *
 * At most 32 of them are alive at all, to bound the work.
 */
export const wornOf = (alive: ReadonlyMap<number, number>, segments: readonly NumberedFile[]): number[] => {
  const dead = segments.filter(([id]) => !alive.has(id))
  const living = segments.filter(([id]) => alive.has(id))
  const worn = living.filter(([id, rows]) => (alive.get(id) ?? 0) * 2 < rows)
  const small = living.filter(([, rows]) => rows > 0 && rows < SMALL_SEGMENT)
  const all = new Set([...worn, ...(small.length < MANY ? [] : small)].slice(0, MAX_WORN))
  return [...dead, ...all].map(([id]) => id)
}

/** In rows. */
const SMALL_SEGMENT = 128
const MANY = 8
const MAX_WORN = 32

/** The rows that are at a place. */
export const withoutDead = (part: IndexColumns): IndexColumns => rowsOf(part, i => part.place[i] !== 0)

/** The rows that delete others. */
export const deletionsOf = (part: IndexColumns): IndexColumns => rowsOf(part, i => part.place[i] === 0)

const rowsOf = (part: IndexColumns, isKept: (i: number) => boolean): IndexColumns => {
  let count = 0
  for (let i = 0; i < part.count; i += 1) if (isKept(i)) count += 1
  if (count === part.count) return part
  const columns = makeColumns(count)
  let to = 0
  for (let i = 0; i < part.count; i += 1) {
    if (!isKept(i)) continue
    copyRow(part, i, columns, to)
    to += 1
  }
  return columns
}

/** Sets the hash of a row's key. */
export const setHash = (part: IndexColumns, row: number, hash: KeyHash): void => {
  part.low[row] = hash[0] ?? 0
  part.high[row] = hash[1] ?? 0
}

/** Sets hash, order and mark of the first rows of a part, with pauses. */
export const describeRows = async (
  part: IndexColumns,
  rows: readonly BulkRow[],
  { hashOf, clock }: { hashOf(key: string): KeyHash; readonly clock: Pick<Clock, 'monotonic' | 'turn'> }
): Promise<void> => {
  const breathe = makeYielder(clock)
  for (let start = 0; start < rows.length; start += GROUP) {
    for (const [i, { key, order, mark }] of rows.slice(start, start + GROUP).entries()) {
      setHash(part, start + i, hashOf(key))
      part.order[start + i] = order
      part.mark[start + i] = mark
    }
    await breathe()
  }
}

/** How many rows are described without a pause. */
const GROUP = 512
