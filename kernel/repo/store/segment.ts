import { WalletError } from '../../base/errors.ts'
import { makeYielder } from '../../base/yielder.ts'
import { textOf } from '../../crypto/encoding.ts'
import type { BulkRow } from './bulk.ts'
import type { ChunkCrypto } from './chunk.ts'
import { openBytes, sealBytes } from './sealed-bytes.ts'

/** Which piece of which segment of which table this is; a piece in another's place does not open. */
export interface PieceName {
  readonly table: string
  readonly segment: number
  readonly piece: number
}

/** The records of one opened piece. */
export interface Piece {
  readonly count: number
  /** @throws RangeError beyond the last one */
  row(slot: number): BulkRow
}

/** A segment to be written: its text, and how many rows each of its pieces holds. */
export interface EncodedSegment {
  readonly text: string
  readonly counts: readonly number[]
}

/** How many pieces one segment may have. */
const PIECES = 12

/**
 * Seals as many rows as fit into one segment, from `start` on.
 *
 * Its text is ASCII: eight digits for the end of each of up to twelve pieces, and the pieces. Each piece is
 * sealed by itself, so that one can be read without the others. A piece of 88 KB stays below the length from
 * which engines give a string pages of its own, which costs ten times as much.
 *
 * @throws STORAGE_FAILED if a text has half a character
 */
export const encodeSegment = async (
  crypto: ChunkCrypto,
  name: Omit<PieceName, 'piece'>,
  { rows, start }: { readonly rows: readonly BulkRow[]; readonly start: number }
): Promise<EncodedSegment> => {
  const breathe = makeYielder(crypto.io.clock)
  const counts: number[] = []
  const pieces: string[] = []
  let ends = ''
  let length = HEAD
  for (let next = start; next < rows.length && pieces.length < PIECES && length < MAX_LENGTH; ) {
    const count = countOf(rows, next)
    const piece = sealPiece(crypto, { ...name, piece: pieces.length }, rows.slice(next, next + count))
    counts.push(count)
    pieces.push(piece)
    length += piece.length
    ends += String(length).padStart(DIGITS)
    next += count
    await breathe()
  }
  return { text: ends.padEnd(HEAD) + pieces.join(''), counts }
}

/** The length of what stands before the pieces. */
export const HEAD: number = PIECES * 8

/** Where the pieces of a segment lie, from its first {@link HEAD} characters; undefined for anything else. */
export const parseEnds = (head: string): readonly number[] | undefined => {
  const ends: number[] = []
  for (let at = 0; at < HEAD; at += DIGITS) {
    const digits = head.slice(at, at + DIGITS).trim()
    if (digits === '') break
    const end = Number(digits)
    if (!Number.isSafeInteger(end) || end <= (ends.at(-1) ?? HEAD)) return undefined
    ends.push(end)
  }
  return ends.length === 0 ? undefined : ends
}

/** Opens the text of one piece; undefined if it is damaged or another one. */
export const openPiece = async (
  crypto: ChunkCrypto,
  name: PieceName,
  text: string
): Promise<Piece | undefined> => {
  const opened = await openAnyPiece(crypto, text)
  const isIt = opened?.table === name.table && opened.segment === name.segment && opened.piece === name.piece
  return isIt ? new OpenedPiece(opened) : undefined
}

/** The table that a piece belongs to; undefined if it is damaged. */
export const tableOfPiece = async (crypto: ChunkCrypto, text: string): Promise<string | undefined> =>
  (await openAnyPiece(crypto, text))?.table

interface PieceParts extends PieceName {
  readonly views: PieceViews
  readonly body: string
}

const openAnyPiece = async (crypto: ChunkCrypto, text: string): Promise<PieceParts | undefined> => {
  const bytes = await openBytes(crypto, text)
  if (bytes === undefined || bytes.length < FRAME) return undefined
  const [magic, segment = 0, piece = 0, count = 0, nameLength = 0] = new Uint32Array(bytes.buffer, 0, 6)
  const bodyStart = FRAME + count * RECORD
  if (magic !== MAGIC || bytes.length < bodyStart) return undefined
  const body = textOf(bytes.subarray(bodyStart))
  return {
    table: body.slice(0, nameLength),
    segment,
    piece,
    views: viewsOf(bytes.buffer as ArrayBuffer, 0, count),
    body
  }
}

/** What a write with a text that has no UTF-8 fails with. */
export const halfCharacterError = (path: string, cause?: unknown): WalletError =>
  new WalletError('STORAGE_FAILED', { path, reason: 'a text has half a character' }, cause)

/** Payload of a piece in UTF-16 units, about. */
const PIECE_LENGTH = 88_000
/** So many records are found by a slot of 16 bits. */
const PIECE_ROWS = 4096
const DIGITS = 8
/** A segment that is longer gets no more pieces. */
const MAX_LENGTH = 1_600_000
/** "HFS1", little-endian. */
const MAGIC = 0x31534648
const FRAME = 24
const RECORD = 8 + 4 + 4 + 4

const countOf = (rows: readonly BulkRow[], start: number): number => {
  let length = FRAME
  let count = 0
  for (; start + count < rows.length && count < PIECE_ROWS; count += 1) {
    const row = rows[start + count]
    length += RECORD + (row?.key.length ?? 0) + (row?.text.length ?? 0)
    if (length > PIECE_LENGTH && count > 0) break
  }
  return count
}

interface PieceViews {
  readonly count: number
  readonly order: Float64Array
  readonly mark: Int32Array
  /** In UTF-16 units of the body. */
  readonly keyLength: Uint32Array
  readonly textLength: Uint32Array
}

const viewsOf = (buffer: ArrayBuffer, start: number, count: number): PieceViews => {
  const words = start + FRAME + count * 8
  return {
    count,
    order: new Float64Array(buffer, start + FRAME, count),
    mark: new Int32Array(buffer, words, count),
    keyLength: new Uint32Array(buffer, words + count * 4, count),
    textLength: new Uint32Array(buffer, words + count * 8, count)
  }
}

const sealPiece = (
  crypto: ChunkCrypto,
  { table, segment, piece }: PieceName,
  rows: readonly BulkRow[]
): string => {
  const parts = [table]
  for (const { key, text } of rows) parts.push(key, text)
  const body = parts.join('')
  const head = FRAME + rows.length * RECORD
  const write = (bytes: Uint8Array, start: number): number => {
    const buffer = bytes.buffer as ArrayBuffer
    new Uint32Array(buffer, start, 6).set([MAGIC, segment, piece, rows.length, table.length, 0])
    const views = viewsOf(buffer, start, rows.length)
    for (const [slot, { key, text, order, mark }] of rows.entries()) {
      views.order[slot] = order
      views.mark[slot] = mark
      views.keyLength[slot] = key.length
      views.textLength[slot] = text.length
    }
    return crypto.io.crypto.writeUtf8(body, bytes, start + head)
  }
  try {
    return sealBytes(crypto, { room: head + body.length * 3, write })
  } catch (error) {
    if (!(error instanceof TypeError) || !crypto.key.isAlive) throw error
    throw halfCharacterError(table, error)
  }
}

class OpenedPiece implements Piece {
  readonly #views: PieceViews
  readonly #body: string
  /** Where each record begins in the body, and where the last one ends. */
  readonly #starts: Uint32Array

  constructor({ table, views, body }: PieceParts) {
    this.#views = views
    this.#body = body
    this.#starts = new Uint32Array(views.count + 1)
    let at = table.length
    for (let slot = 0; slot < views.count; slot += 1) {
      this.#starts[slot] = at
      at += (views.keyLength[slot] ?? 0) + (views.textLength[slot] ?? 0)
    }
    this.#starts[views.count] = at
  }

  get count(): number {
    return this.#views.count
  }

  row(slot: number): BulkRow {
    if (slot >= this.count) throw new RangeError('A piece has no such record')
    const start = this.#starts[slot] ?? 0
    const middle = start + (this.#views.keyLength[slot] ?? 0)
    return {
      key: ownText(this.#body.slice(start, middle)),
      text: this.#body.slice(middle, this.#starts[slot + 1]),
      order: this.#views.order[slot] ?? 0,
      mark: this.#views.mark[slot] ?? 0
    }
  }
}

/** A slice keeps the whole text alive that it is of; keys are kept by many, and for long. */
const ownText = (slice: string): string => ` ${slice}`.slice(1)
