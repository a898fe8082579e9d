import type { Disk } from '../../io/disk.ts'
import { HEAD, parseEnds } from './segment.ts'

/**
 * Reads the texts of pieces, one at a time, from segments on a disk.
 *
 * Whoever goes through a segment piece by piece has what is left of it read in one call: an open file costs as much as
 * the piece in it.
 */
export class SegmentTexts {
  readonly #disk: Disk
  /** The segment that was read last; segments never change. */
  #last: ReadSegment | undefined

  constructor(disk: Disk) {
    this.#disk = disk
  }

  /** How many pieces a segment has; 0 if there is no segment. @throws CORRUPT_FILE, STORAGE_FAILED */
  async countPieces(path: string): Promise<number> {
    return (await this.#open(path))?.ends.length ?? 0
  }

  /** The text of a piece; undefined if there is none. @throws CORRUPT_FILE, STORAGE_FAILED */
  async pieceText(path: string, piece: number): Promise<string | undefined> {
    const segment = await this.#open(path)
    const end = segment?.ends[piece]
    if (segment === undefined || end === undefined) return undefined
    const start = startOf(segment, piece)
    segment.inARow = piece === segment.next ? segment.inARow + 1 : 0
    segment.next = piece + 1
    if (segment.inARow === MANY) segment.rest = await this.#readRest(segment, piece)
    const rest = segment.rest?.deref()
    if (rest === undefined || start < rest.start) return this.#slice(path, start, end)
    return rest.text.slice(start - rest.start, end - rest.start)
  }

  async #readRest(segment: ReadSegment, piece: number): Promise<WeakRef<Rest> | undefined> {
    const start = startOf(segment, piece)
    const text = await this.#slice(segment.path, start, segment.ends.at(-1) ?? start)
    return text === undefined ? undefined : new WeakRef({ start, text })
  }

  async #open(path: string): Promise<ReadSegment | undefined> {
    if (this.#last?.path === path) return this.#last
    const head = await this.#slice(path, 0, HEAD)
    const ends = head === undefined ? undefined : parseEnds(head)
    if (ends === undefined) return undefined
    this.#last = { path, ends, next: -1, inARow: 0, rest: undefined }
    return this.#last
  }

  async #slice(path: string, start: number, end: number): Promise<string | undefined> {
    if (this.#disk.getSlice !== undefined) return this.#disk.getSlice(path, start, end)
    return (await this.#disk.getText(path))?.slice(start, end)
  }
}

interface ReadSegment {
  readonly path: string
  readonly ends: readonly number[]
  /** The piece behind the one that was read last. */
  next: number
  /** How many pieces were read one behind the other. */
  inARow: number
  /** What was read ahead; its memory is given back when the engine collects it. */
  rest: WeakRef<Rest> | undefined
}

interface Rest {
  readonly start: number
  readonly text: string
}

/** A page of a list may lie in two pieces; whoever wants a third wants them all. */
const MANY = 2

const startOf = ({ ends }: ReadSegment, piece: number): number => ends[piece - 1] ?? HEAD
