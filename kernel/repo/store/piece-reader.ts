import { segmentOf } from './index-columns.ts'
import type { Piece } from './segment.ts'
import type { TableFiles } from './table-files.ts'

/** Reads the pieces of one table, and remembers which of them are damaged. */
export class PieceReader {
  readonly #table: string
  readonly #files: TableFiles
  readonly #wasLost: () => void
  /** Opened lately; the memory is given back when the engine collects it. */
  readonly #recent: { readonly place: number; readonly piece: WeakRef<Piece> }[] = []
  readonly #lost = new Set<number>()

  /** @param wasLost - hears of each damaged piece */
  constructor(table: string, files: TableFiles, wasLost: () => void) {
    this.#table = table
    this.#files = files
    this.#wasLost = wasLost
  }

  /** The segments with damaged pieces. */
  get lostSegments(): ReadonlySet<number> {
    return new Set([...this.#lost].map(segmentOf))
  }

  /** The piece at a place; undefined if it is damaged. @throws STORAGE_FAILED */
  async pieceAt(place: number): Promise<Piece | undefined> {
    const known = this.#recent.find(recent => recent.place === place)?.piece.deref()
    if (known !== undefined) return known
    const name = { table: this.#table, segment: segmentOf(place), piece: place % 16 }
    const piece = await this.#files.readPiece(name)
    if (piece === undefined) {
      this.#lost.add(place)
      this.#wasLost()
      return undefined
    }
    this.#recent.unshift({ place, piece: new WeakRef(piece) })
    if (this.#recent.length > MAX_RECENT) this.#recent.length = MAX_RECENT
    return piece
  }

  /** Forgets damage in segments that are no longer there. */
  keepOnly(segments: ReadonlySet<number>): void {
    for (const place of this.#lost) if (!segments.has(segmentOf(place))) this.#lost.delete(place)
  }
}

const MAX_RECENT = 4
