import type { BulkRow } from './bulk.ts'
import type { ChunkCrypto } from './chunk.ts'
import { aliveIn, describeRows, setHash, withoutDead, wornOf } from './index-columns.ts'
import { type IndexColumns, makeColumns } from './index-part.ts'
import { hashKey, type KeyHash, makeKeyHash, seedOf } from './key-hash.ts'
import { livingRows } from './living-rows.ts'
import { PieceReader } from './piece-reader.ts'
import { rebuildIndex } from './rebuild-index.ts'
import { RowIndex } from './row-index.ts'
import type { Piece } from './segment.ts'
import type { StagedChange } from './staged-change.ts'
import type { TableFiles } from './table-files.ts'
import type { FileNumbers, NumberedFile, TableManifest } from './table-manifest.ts'

/**
 * The part of one table that is on the disk: segments of rows and the index over them.
 *
 * Nothing is loaded before it is asked for. Changes are staged, committed by whoever writes the manifest, and then adopted.
 */
export class TableBack {
  readonly prefix: string
  readonly #crypto: ChunkCrypto
  readonly #files: TableFiles
  #manifest: TableManifest | undefined
  #keys: KeyHasher | undefined
  readonly #wantsTidying: () => void
  #index: RowIndex | undefined
  #loading: Promise<void> | undefined
  /** The index was made anew and is not on the disk. */
  #isRebuilt: boolean
  #reader: PieceReader | undefined
  #readers = 0
  #spare: readonly FileNumbers[] = NONE
  #removing: Promise<void> | undefined

  constructor({ prefix, crypto, files, manifest, isSuspect, wantsTidying }: BackParts) {
    this.prefix = prefix
    this.#files = files
    this.#manifest = manifest
    this.#isRebuilt = isSuspect && manifest !== undefined
    this.#wantsTidying = wantsTidying
    this.#crypto = crypto
  }

  get isEmpty(): boolean {
    return this.#manifest === undefined
  }

  /** Whether its files want to be put in order: a long index, or damage. */
  get isUntidy(): boolean {
    const { parts = [] } = this.#manifest ?? {}
    const rows = parts.slice(1).reduce((sum, [, count]) => sum + count, 0)
    return (
      this.#isRebuilt ||
      (this.#reader?.lostSegments.size ?? 0) > 0 ||
      parts.length > MAX_PARTS ||
      rows > Math.max(SMALL_INDEX, (parts[0]?.[1] ?? 0) / 16)
    )
  }

  /** Whether the index would be loaded quicker if it were put in order, which pays if there is time. */
  get isSlow(): boolean {
    return this.isUntidy || (this.#manifest?.parts.length ?? 0) > 1
  }

  /** The index as it is now; undefined if it is not loaded. */
  get loaded(): RowIndex | undefined {
    return this.#manifest === undefined ? EMPTY : this.#index
  }

  /** The index, loaded when it is first wanted, and made anew from the segments if it is damaged. */
  async index(): Promise<RowIndex> {
    if (this.#manifest === undefined) return EMPTY
    while (this.#index === undefined) {
      this.#loading ??= this.reading(() => this.#load()).finally(() => {
        this.#loading = undefined
      })
      await this.#loading
    }
    return this.#index
  }

  /** The hash of a key, valid until the next call. */
  hashOf(key: string): KeyHash {
    this.#keys ??= { seed: seedOf(this.#crypto, this.prefix), hash: makeKeyHash() }
    hashKey(this.#keys.seed, key, this.#keys.hash)
    return this.#keys.hash
  }

  /** Runs a reader; the files that were there when it began stay until it has ended. */
  async reading<T>(task: () => Promise<T>): Promise<T> {
    const release = this.hold()
    try {
      return await task()
    } finally {
      release()
    }
  }

  /** Keeps the files that are there now until the returned function is called. */
  hold(): () => void {
    this.#readers += 1
    return () => {
      this.#readers -= 1
      if (this.#readers === 0) this.#removeSpare()
    }
  }

  /** Resolves when the files that nobody needs any more are gone. */
  async settled(): Promise<void> {
    await this.#removing
  }

  /** The piece at a place; undefined if it is damaged. Only inside {@link reading}. */
  pieceAt(place: number): Promise<Piece | undefined> {
    return this.#pieces.pieceAt(place)
  }

  /** Writes rows and deletions of keys beside what there is. */
  async stage(rows: readonly BulkRow[], deleted: readonly string[]): Promise<StagedChange> {
    const sorted = isDescending(rows) ? rows : [...rows].sort((left, right) => right.order - left.order)
    const { segments, place, slot } = await this.#files.writeRows(this.prefix, sorted)
    const part = makeColumns(sorted.length + deleted.length)
    part.place.set(place)
    part.slot.set(slot)
    await describeRows(part, sorted, { hashOf: key => this.hashOf(key), clock: this.#crypto.io.clock })
    for (const [i, key] of deleted.entries()) setHash(part, sorted.length + i, this.hashOf(key))
    const { parts: oldParts = [], segments: oldSegments = [] } = this.#manifest ?? {}
    return this.#staged({
      part,
      isWhole: false,
      parts: oldParts,
      segments: [...oldSegments, ...segments],
      written: segments
    })
  }

  /**
   * Writes the index as one part, and elsewhere the rows of segments that are damaged or worn.
   *
   * Rows of damaged pieces are gone after that.
   */
  async tidy(): Promise<StagedChange> {
    const part = (await this.index()).toPart()
    const segments = this.#manifest?.segments ?? []
    const alive = aliveIn(part)
    const worn = new Set([...this.#pieces.lostSegments, ...wornOf(alive, segments)])
    const moved = await livingRows({
      part,
      segments: worn,
      pieces: this.#pieces,
      clock: this.#crypto.io.clock
    })
    const { segments: written, place, slot } = await this.#files.writeRows(this.prefix, moved.rows)
    for (const [i, row] of moved.numbers.entries()) {
      part.place[row] = place[i] ?? 0
      part.slot[row] = slot[i] ?? 0
    }
    const kept = segments
      .filter(([id]) => !worn.has(id))
      // After damage nobody knows how many rows there were.
      .map(([id, rows]) => [id, rows === 0 ? (alive.get(id) ?? 0) : rows] as const)
    return this.#staged({
      part: withoutDead(part),
      isWhole: true,
      parts: [],
      segments: [...kept, ...written],
      written
    })
  }

  /** Takes a change for what the table is, after its manifest was made durable. */
  adopt({ manifest, part, isWhole, spare }: StagedChange): void {
    const isLoaded = this.#index !== undefined
    if (isWhole) this.#index = undefined
    if (isWhole && isLoaded) this.#index = indexOf([part])
    else this.#index?.apply([part])
    if (isWhole) this.#isRebuilt = false
    if (manifest === undefined) this.#index = undefined
    this.#manifest = manifest
    this.#pieces.keepOnly(new Set(manifest?.segments.map(([id]) => id)))
    this.#spare = [...this.#spare, spare]
    if (this.#readers === 0) this.#removeSpare()
  }

  /** Removes what a change wrote that will not be committed. */
  discard({ written }: StagedChange): Promise<void> {
    return this.#files.remove(written)
  }

  async #staged({ part, isWhole, parts, segments, written }: StagedParts): Promise<StagedChange> {
    const isGone = isWhole && part.count === 0
    const ids = written.map(([id]) => id)
    const before = this.#manifest ?? { parts: [], segments: [] }
    const newParts = isGone ? [] : [await this.#writePart(part, ids)]
    const manifest = isGone
      ? undefined
      : { parts: [...parts, ...newParts.map(id => [id, part.count] as const)], segments }
    const kept = new Set(manifest?.segments.map(([segment]) => segment))
    return {
      prefix: this.prefix,
      manifest,
      part,
      isWhole,
      written: { segments: ids, parts: newParts },
      spare: {
        segments: before.segments.flatMap(([segment]) => (kept.has(segment) ? [] : [segment])),
        parts: isWhole ? before.parts.map(([old]) => old) : []
      }
    }
  }

  get #pieces(): PieceReader {
    this.#reader ??= new PieceReader(this.prefix, this.#files, this.#wantsTidying)
    return this.#reader
  }

  async #writePart(part: IndexColumns, segments: readonly number[]): Promise<number> {
    try {
      return await this.#files.writePart(this.prefix, part)
    } catch (error) {
      await this.#files.remove({ segments, parts: [] })
      throw error
    }
  }

  async #load(): Promise<void> {
    const manifest = this.#manifest
    const parts: IndexColumns[] = []
    for (const [id] of manifest?.parts ?? []) {
      const part = await this.#files.readPart(this.prefix, id)
      if (part !== undefined) parts.push(part)
    }
    const isWhole = !this.#isRebuilt && parts.length === (manifest?.parts.length ?? 0)
    const index = isWhole ? indexOf(parts) : await this.#rebuild()
    // Another change was adopted meanwhile: whoever waits loads again.
    if (manifest === this.#manifest) this.#index = index
  }

  #rebuild(): Promise<RowIndex> {
    this.#isRebuilt = true
    this.#wantsTidying()
    return rebuildIndex({
      table: this.prefix,
      files: this.#files,
      pieces: this.#pieces,
      manifest: this.#manifest ?? { parts: [], segments: [] },
      clock: this.#crypto.io.clock,
      hashOf: key => this.hashOf(key)
    })
  }

  #removeSpare(): void {
    if (this.#spare.length === 0) return
    const spare = this.#spare
    this.#spare = NONE
    const before = this.#removing
    this.#removing = Promise.all([before, ...spare.map(numbers => this.#files.remove(numbers))]).then(
      () => {}
    )
  }
}

/** What a table on the disk is made of. */
export interface BackParts {
  readonly prefix: string
  readonly crypto: ChunkCrypto
  readonly files: TableFiles
  readonly manifest: TableManifest | undefined
  /** Whether the manifest may name too much or too little, so that only the segments can tell what there is. */
  readonly isSuspect: boolean
  /** Hears when {@link TableBack.isUntidy} has become true by damage. */
  readonly wantsTidying: () => void
}

interface StagedParts {
  readonly part: IndexColumns
  readonly isWhole: boolean
  readonly parts: readonly NumberedFile[]
  readonly segments: readonly NumberedFile[]
  readonly written: readonly NumberedFile[]
}

interface KeyHasher {
  readonly seed: KeyHash
  readonly hash: KeyHash
}

const NONE: readonly FileNumbers[] = []
/** What a table without segments has. */
const EMPTY = new RowIndex()
const MAX_PARTS = 16
/** So many rows in newer parts are taken in quickly enough whenever the index is loaded. */
const SMALL_INDEX = 1024

const indexOf = (parts: readonly IndexColumns[]): RowIndex => {
  const index = new RowIndex()
  index.apply(parts)
  return index
}

const isDescending = (rows: readonly BulkRow[]): boolean => {
  for (let i = 1; i < rows.length; i += 1) {
    if ((rows[i - 1]?.order ?? 0) < (rows[i]?.order ?? 0)) return false
  }
  return true
}
