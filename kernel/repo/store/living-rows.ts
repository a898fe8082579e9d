import { makeYielder } from '../../base/yielder.ts'
import type { Clock } from '../../io/io.ts'
import type { BulkRow } from './bulk.ts'
import { segmentOf } from './index-columns.ts'
import type { IndexColumns } from './index-part.ts'
import type { PieceReader } from './piece-reader.ts'
import type { Piece } from './segment.ts'

/** Which rows to read: those of a part that are in some segments. */
export interface LivingParts {
  readonly part: IndexColumns
  readonly segments: ReadonlySet<number>
  readonly pieces: PieceReader
  readonly clock: Pick<Clock, 'monotonic' | 'turn'>
}

/** Rows, and which of the part each is. */
export interface LivingRows {
  readonly rows: readonly BulkRow[]
  readonly numbers: readonly number[]
}

/** Reads the living rows of some segments, in the order of the part; those of damaged pieces are at no place from then on. */
export const livingRows = async ({ part, segments, pieces, clock }: LivingParts): Promise<LivingRows> => {
  const rows: BulkRow[] = []
  const numbers: number[] = []
  const breathe = makeYielder(clock)
  const opened = new Map<number, Piece | undefined>()
  for (let i = 0; i < part.count; i += 1) {
    const place = part.place[i] ?? 0
    if (!segments.has(segmentOf(place))) continue
    if (!opened.has(place)) opened.set(place, await pieces.pieceAt(place))
    const piece = opened.get(place)
    if (piece === undefined) {
      part.place[i] = 0
      continue
    }
    rows.push(piece.row(part.slot[i] ?? 0))
    numbers.push(i)
    await breathe()
  }
  return { rows, numbers }
}
