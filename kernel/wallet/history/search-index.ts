import { makeYielder } from '../../base/yielder.ts'
import type { Clock } from '../../io/io.ts'
import type { FileHash } from '../../types/ids.ts'
import { parseRow } from './row.ts'
import type { HistoryRows, RowChange } from './rows.ts'
import { searchable, searchTextOf } from './search.ts'

/** The history that a search index reads. */
export interface SearchOptions {
  readonly rows: Pick<HistoryRows, 'scanSearchTexts'>
  /** Writes rows again whose search texts are not kept beside them. */
  addSearchTexts(keys: readonly FileHash[]): void
}

/**
 * Finds rows that may match a query without reading them: keeps their texts in memory, from the first search on.
 *
 * The text of a row is that of all its assets and of its amounts in all currencies, so who needs one of them looks into what is found.
 */
export class SearchIndex {
  readonly #options: SearchOptions
  readonly #text: SearchText
  #building: Promise<void> | undefined
  #isClosed = false

  constructor(options: SearchOptions, clock: Pick<Clock, 'monotonic' | 'turn'>) {
    this.#options = options
    this.#text = new SearchText(clock)
  }

  /** The keys of the rows that may match a query, in no particular order. */
  async find(query: string): Promise<FileHash[]> {
    this.#building ??= this.#build().catch(error => {
      // What changes until the next search is not followed.
      this.#text.clear()
      this.#building = undefined
      throw error
    })
    await this.#building
    return this.#text.find(searchable(query))
  }

  /** Follows a change of rows. */
  update(rows: ReadonlyMap<FileHash, RowChange>): void {
    if (this.#building === undefined) return
    for (const [key, { after }] of rows) this.#text.set(key, after === undefined ? '' : searchTextOf(after))
  }

  /** Forgets all text, for good. */
  clear(): void {
    this.#isClosed = true
    this.#text.clear()
  }

  /** A row that changes meanwhile is known already when the scan comes to it, and newer. */
  async #build(): Promise<void> {
    const incomplete: FileHash[] = []
    for await (const rows of this.#options.rows.scanSearchTexts()) {
      // They come as they lie on the disk, with a pause after each block.
      if (this.#isClosed) return
      for (const row of rows) {
        if (row.search === undefined) incomplete.push(row.key)
        if (!this.#text.has(row.key)) this.#text.set(row.key, row.search ?? searchTextOf(parseRow(row.text)))
      }
    }
    if (incomplete.length > 0) this.#options.addSearchTexts(incomplete)
  }
}

const BLOCK = 256

/**
 * The search texts of all rows: built by the first search, edited in place.
 *
 * It is plain text of what people have noted, so it counts as a secret: it is in the clear in memory only, and goes with {@link clear}.
 */
export class SearchText {
  readonly #clock: Pick<Clock, 'monotonic' | 'turn'>
  readonly #slots = new Map<FileHash, number>()
  #keys: FileHash[] = []
  #blocks: Block[] = []

  constructor(clock: Pick<Clock, 'monotonic' | 'turn'>) {
    this.#clock = clock
  }

  /** Checks if the texts of a key are known. */
  has(key: FileHash): boolean {
    return this.#slots.has(key)
  }

  /** Replaces the text of a key, as {@link searchTextOf} gives it; nothing finds an empty one. */
  set(key: FileHash, text: string): void {
    let slot = this.#slots.get(key)
    if (slot === undefined) {
      slot = this.#keys.length
      this.#slots.set(key, slot)
      this.#keys.push(key)
      if (slot % BLOCK === 0) this.#blocks.push(new Block())
    }
    this.#blocks[Math.floor(slot / BLOCK)]?.set(slot % BLOCK, text)
  }

  /** The keys with a text that holds `query`, which is not empty and in lower case; in no particular order. */
  async find(query: string): Promise<FileHash[]> {
    const yieldNow = makeYielder(this.#clock)
    const found: FileHash[] = []
    const [blocks, keys] = [this.#blocks, this.#keys]
    for (const [index, block] of blocks.entries()) {
      for (const slot of block.find(query)) found.push(keys[index * BLOCK + slot] ?? '')
      await yieldNow()
    }
    return found
  }

  /** Forgets everything. */
  clear(): void {
    this.#slots.clear()
    this.#keys = []
    this.#blocks = []
  }
}

/** Texts in one string, which is searched in one go. */
class Block {
  #text = ''
  readonly #ends: number[] = []

  set(slot: number, text: string): void {
    const start = this.#ends[slot - 1] ?? 0
    const end = this.#ends[slot] ?? this.#text.length
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end)
    const shift = text.length - (end - start)
    this.#ends[slot] = end + shift
    for (let later = slot + 1; later < this.#ends.length; later++) {
      this.#ends[later] = (this.#ends[later] ?? 0) + shift
    }
  }

  *find(query: string): Generator<number> {
    let slot = 0
    let at = this.#text.indexOf(query)
    while (at >= 0) {
      while ((this.#ends[slot] ?? 0) <= at) slot++
      yield slot
      at = this.#text.indexOf(query, this.#ends[slot])
    }
  }
}
