import { isWalletError, WalletError } from '../../base/errors.ts'
import { quarantine } from '../../base/quarantine.ts'
import type { BulkRow } from './bulk.ts'
import { decodeIndexPart, encodeIndexPart, type IndexColumns, tableOfPart } from './index-part.ts'
import type { ChunkPlace } from './load-chunks.ts'
import { encodeSegment, openPiece, type Piece, type PieceName, tableOfPiece } from './segment.ts'
import { SegmentTexts } from './segment-texts.ts'
import type { FileNumbers, NumberedFile } from './table-manifest.ts'

/** Where rows were written: by their index, the place and the slot that the index of a table keeps. */
export interface WrittenRows {
  readonly segments: readonly NumberedFile[]
  readonly place: Uint32Array
  readonly slot: Uint16Array
}

/** Where the files are, and who hears of damage. */
export interface TablePlace extends ChunkPlace {
  /** Told once for each damaged file and opening; nothing is made of the damage before it has ended. */
  readonly damaged?: () => void | Promise<void>
}

/** The segments and index parts of one store on its disk, each under a number that is used once. */
export class TableFiles {
  readonly #place: TablePlace
  /** Files whose damage has been reported; undefined while there is none. */
  #known: Set<string> | undefined
  readonly #found: readonly FoundFile[]
  #nextId: number
  #reader: SegmentTexts | undefined

  /**
   * @param paths - all paths of the folder
   * @param named - the numbers that manifests name; one of a file that is gone is not used again either
   */
  constructor(place: TablePlace, paths: readonly string[], named: ReadonlySet<number>) {
    this.#place = place
    this.#found = paths.flatMap(parseFilePath)
    this.#nextId = 1
    for (const id of named) this.#nextId = Math.max(this.#nextId, id + 1)
    for (const { id } of this.#found) this.#nextId = Math.max(this.#nextId, id + 1)
  }

  /**
   * Whether the files that were there at opening tell of entries that are not: some of them are named by nobody, although
   * others that are named are gone. No crash leaves that behind.
   */
  tellOfLoss(named: ReadonlySet<number>): boolean {
    const there = new Set(this.#found.map(({ id }) => id))
    const isUnnamed = this.#found.some(({ id }) => !named.has(id))
    return isUnnamed && [...named].some(id => !there.has(id))
  }

  /** Deletes the files that were there at opening and that nobody names. */
  async removeSpare(named: ReadonlySet<number>): Promise<void> {
    await this.remove(numbersOf(this.#found.filter(({ id }) => !named.has(id))))
  }

  /** Looks into every file that was there at opening to tell which table it belongs to; damaged ones belong to none. */
  async survey(): Promise<Map<string, FileNumbers>> {
    const byTable = new Map<string, FoundFile[]>()
    for (const file of this.#found) {
      const table = await this.#tableOf(file)
      if (table !== undefined) byTable.set(table, [...(byTable.get(table) ?? []), file])
    }
    return new Map([...byTable].map(([table, files]) => [table, numbersOf(files)]))
  }

  /** Writes rows into new segments. @throws STORAGE_FULL, STORAGE_FAILED; nothing is left of them then */
  async writeRows(table: string, rows: readonly BulkRow[]): Promise<WrittenRows> {
    const place = new Uint32Array(rows.length)
    const slot = new Uint16Array(rows.length)
    const segments: [number, number][] = []
    let writing: Promise<void> = Promise.resolve()
    try {
      for (let start = 0; start < rows.length; ) {
        const segment = this.#nextId
        this.#nextId += 1
        const { text, counts } = await encodeSegment(this.#place, { table, segment }, { rows, start })
        const from = start
        for (const [piece, count] of counts.entries()) {
          for (let i = 0; i < count; i += 1) slot[start + i] = i
          place.fill(segment * 16 + piece, start, start + count)
          start += count
        }
        await writing
        segments.push([segment, start - from])
        // The next one is sealed while this one is written.
        writing = this.#place.disk.setText(this.#pathOf('s', segment), text)
        writing.catch(() => {})
      }
      await writing
    } catch (error) {
      await writing.catch(() => {})
      await this.remove({ segments: segments.map(([id]) => id), parts: [] })
      throw error
    }
    return { segments, place, slot }
  }

  /** Writes a part of an index and returns its number. @throws STORAGE_FULL, STORAGE_FAILED */
  async writePart(table: string, columns: IndexColumns): Promise<number> {
    const id = this.#nextId
    this.#nextId += 1
    await this.#place.disk.setText(
      this.#pathOf('i', id),
      encodeIndexPart(this.#place, { table, id }, columns)
    )
    return id
  }

  /** A part of an index; undefined if it is damaged, which is reported. @throws STORAGE_FAILED */
  async readPart(table: string, id: number): Promise<IndexColumns | undefined> {
    const path = this.#pathOf('i', id)
    const text = await this.#guarded(path, () => this.#place.disk.getText(path))
    const columns = text === undefined ? undefined : await decodeIndexPart(this.#place, { table, id }, text)
    if (columns === undefined) await this.#report(path, text)
    return columns
  }

  /** A piece of a segment; undefined if it is damaged, which is reported. @throws STORAGE_FAILED */
  async readPiece(name: PieceName): Promise<Piece | undefined> {
    const path = this.#pathOf('s', name.segment)
    const text = await this.#guarded(path, () => this.#texts.pieceText(path, name.piece))
    const piece = text === undefined ? undefined : await openPiece(this.#place, name, text)
    if (piece === undefined) {
      const whole = await this.#guarded(path, () => this.#place.disk.getText(path))
      await this.#report(path, whole)
    }
    return piece
  }

  /** How many pieces a segment has; 0 if that cannot be read. */
  async countPieces(segment: number): Promise<number> {
    const path = this.#pathOf('s', segment)
    return (await this.#guarded(path, () => this.#texts.countPieces(path))) ?? 0
  }

  /** Deletes files; what cannot be deleted goes with the next opening. */
  async remove({ segments, parts }: FileNumbers): Promise<void> {
    const paths = [...segments.map(id => this.#pathOf('s', id)), ...parts.map(id => this.#pathOf('i', id))]
    await Promise.all(paths.map(path => this.#place.disk.delete(path).catch(this.#place.report)))
  }

  get #texts(): SegmentTexts {
    this.#reader ??= new SegmentTexts(this.#place.disk)
    return this.#reader
  }

  /** A disk that finds no text in a file has found damage; any other failure is not ours to judge. */
  async #guarded<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read()
    } catch (error) {
      if (!isWalletError(error, 'CORRUPT_FILE')) throw error
      await this.#tell(path, error)
      return undefined
    }
  }

  async #tableOf({ kind, id }: FoundFile): Promise<string | undefined> {
    const path = this.#pathOf(kind, id)
    if (kind === 'i') {
      const text = await this.#guarded(path, () => this.#place.disk.getText(path))
      return text === undefined ? undefined : await tableOfPart(this.#place, text)
    }
    const count = await this.countPieces(id)
    for (let piece = 0; piece < count; piece += 1) {
      const text = await this.#guarded(path, () => this.#texts.pieceText(path, piece))
      const table = text === undefined ? undefined : await tableOfPiece(this.#place, text)
      if (table !== undefined) return table
    }
    return undefined
  }

  async #report(path: string, text: string | undefined): Promise<void> {
    if (this.#known?.has(path) === true) return
    const rule = 'it does not decrypt as a whole'
    const error =
      text === undefined
        ? new WalletError('CORRUPT_FILE', { path, rule: 'it is missing' })
        : await quarantine(this.#place.disk, this.#place.io.clock, { path, text, rule })
    await this.#tell(path, error)
  }

  async #tell(path: string, error: WalletError): Promise<void> {
    if (this.#known?.has(path) === true) return
    this.#known ??= new Set()
    this.#known.add(path)
    this.#place.report(error)
    await this.#place.damaged?.()
  }

  #pathOf(kind: FileKind, id: number): string {
    return `${this.#place.folder}/${kind}${String(id).padStart(12, '0')}`
  }
}

type FileKind = 's' | 'i'

interface FoundFile {
  readonly kind: FileKind
  readonly id: number
}

const parseFilePath = (path: string): FoundFile[] => {
  const match = /\/([si])(\d{12})$/.exec(path)
  return match === null ? [] : [{ kind: match[1] as FileKind, id: Number(match[2]) }]
}

const numbersOf = (files: readonly FoundFile[]): FileNumbers => {
  const ofKind = (kind: FileKind): number[] => files.flatMap(file => (file.kind === kind ? [file.id] : []))
  return { segments: ofKind('s'), parts: ofKind('i') }
}
