import type { Clock } from '../../io/io.ts'
import { deletionsOf, setHash } from './index-columns.ts'
import { makeColumns } from './index-part.ts'
import type { KeyHash } from './key-hash.ts'
import type { PieceReader } from './piece-reader.ts'
import { RowIndex } from './row-index.ts'
import type { TableFiles } from './table-files.ts'
import type { TableManifest } from './table-manifest.ts'

/** What an index is made anew from. */
export interface RebuildParts {
  readonly table: string
  readonly files: TableFiles
  readonly pieces: PieceReader
  readonly manifest: TableManifest
  readonly clock: Pick<Clock, 'turn'>
  hashOf(key: string): KeyHash
}

/**
 * Makes an index anew from the segments, oldest first, and from what the sound parts say of deletions.
 *
 * It goes by the numbers of the files: each was written after those whose rows it replaces.
 *
 * @throws STORAGE_FAILED
 */
export const rebuildIndex = async (parts: RebuildParts): Promise<RowIndex> => {
  const { table, files, manifest } = parts
  const index = new RowIndex()
  const isPart = new Set(manifest.parts.map(([id]) => id))
  const ids = [...manifest.parts, ...manifest.segments].map(([id]) => id)
  for (const id of ids.sort((left, right) => left - right)) {
    if (isPart.has(id)) {
      const part = await files.readPart(table, id)
      if (part !== undefined) index.apply([deletionsOf(part)])
      continue
    }
    // Of a segment without a head at least the first piece is missed, and reported.
    const count = Math.max(1, await files.countPieces(id))
    for (let piece = 0; piece < count; piece += 1) await applyPiece(parts, index, id * 16 + piece)
  }
  return index
}

const applyPiece = async (
  { pieces, clock, hashOf }: RebuildParts,
  index: RowIndex,
  place: number
): Promise<void> => {
  const piece = await pieces.pieceAt(place)
  if (piece === undefined) return
  const part = makeColumns(piece.count)
  part.place.fill(place)
  for (let slot = 0; slot < piece.count; slot += 1) {
    const { key, order, mark } = piece.row(slot)
    setHash(part, slot, hashOf(key))
    part.order[slot] = order
    part.mark[slot] = mark
    part.slot[slot] = slot
  }
  index.apply([part])
  await clock.turn()
}
