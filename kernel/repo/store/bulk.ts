import type { EngineStore } from '../../types/engine.ts'

/** A text for a table of many, with the two numbers by which it is found without being read. */
export interface BulkChange {
  readonly text: string
  /** Where it stands in its table: the highest first. 0 by default. */
  readonly order?: number
  /** A whole number of 32 bits for {@link BulkTable.keysWhere}; 0 by default. */
  readonly mark?: number
  /** What {@link BulkTable.scanSearchTexts} gives, so that a search reads no row; it may hold no half of a character. '' counts as none. */
  readonly search?: string
}

/** The text of a change; null for a deletion. */
export const textIn = (change: string | BulkChange | null): string | null =>
  change === null || typeof change === 'string' ? change : change.text

/** One row of a table, its key without the prefix. */
export interface BulkRow {
  readonly key: string
  readonly text: string
  readonly order: number
  readonly mark: number
}

/** What a search reads of a row: its search text, or the row itself where none of the wanted form is kept. */
export type SearchedRow = Pick<BulkRow, 'key'> &
  ({ readonly search: string } | { readonly search?: undefined; readonly text: string })

/** Changes by key: a text, a row of a table, or null for a deletion. */
export type StoreChanges = ReadonlyMap<string, string | BulkChange | null>

/**
 * A table of many texts that are not in memory: the entries of one bulk prefix.
 *
 * Keys are without the prefix. Every read sees what was written before it was called. Rows stand in descending
 * order; of equal ones the one that came later stands later, and one that is written again with the same order
 * keeps its place.
 */
export interface BulkTable {
  count(): Promise<number>
  has(key: string): Promise<boolean>
  get(key: string): Promise<string | undefined>
  /** One answer for each key, in the order of the keys. */
  getMany(keys: readonly string[]): Promise<(string | undefined)[]>
  /** The rows at up to `limit` places from `offset` on; those on damaged parts of the disk are left out. */
  page(offset: number, limit: number): Promise<BulkRow[]>
  /** The place of a row, or undefined if there is none of this key. */
  offsetOf(key: string): Promise<number | undefined>
  /** How many rows have a higher order. */
  offsetAt(order: number): Promise<number>
  /**
   * Every row, in batches, with pauses: as they are stored, or from the highest order on if `ordered`.
   *
   * What is written meanwhile may or may not be among them.
   */
  scan(options?: { readonly ordered?: boolean }): AsyncIterable<readonly BulkRow[]>
  /**
   * What a search reads of every row, as {@link scan}: a row is read only where it has no search text of this form.
   *
   * @param form - what texts of the form begin with, which is not given with them
   */
  scanSearchTexts(form: string): AsyncIterable<readonly SearchedRow[]>
  /** The keys of the rows that pass a test; the others are not read. */
  keysWhere(test: (mark: number, order: number) => boolean): Promise<string[]>
}

/** Options of {@link BulkStore.write}. */
export interface WriteOptions {
  /**
   * Given with what the network has given. If that cannot be saved, the store holds it: reads show it until the store is closed, the
   * next batch saves it, too, and the write resolves after this was called with the failure. Where the store does not know what is
   * stored, it holds nothing, and the write fails like any other.
   */
  readonly onHeld?: ((failure: unknown) => void) | undefined
}

/** A store with two parts: entries in memory that are read at once, and tables of many. */
export interface BulkStore extends EngineStore {
  /**
   * Writes all or nothing, over both parts; null deletes. Resolves when durable.
   *
   * @throws STORAGE_FULL, STORAGE_FAILED; the store then is as before, unless that says `mayBeSaved`
   */
  write(changes: StoreChanges, options?: WriteOptions): Promise<void>
  /** The table of a bulk prefix. @throws TypeError if it was not declared at opening */
  table(prefix: string): BulkTable
}

/** The part of a store whose keys begin with `root`, under keys without it. */
export const storeBelow = (store: BulkStore, root: string): BulkStore => new StorePart(store, root)

/** A class and no object of functions: there are hundreds. */
class StorePart implements BulkStore {
  readonly #store: BulkStore
  readonly #root: string

  constructor(store: BulkStore, root: string) {
    this.#store = store
    this.#root = root
  }

  get(key: string): string | undefined {
    return this.#store.get(this.#root + key)
  }

  *entries(prefix: string): Generator<[key: string, text: string]> {
    for (const [key, text] of this.#store.entries(this.#root + prefix))
      yield [key.slice(this.#root.length), text]
  }

  write(changes: StoreChanges, options?: WriteOptions): Promise<void> {
    return this.#store.write(changesBelow(changes, this.#root), options)
  }

  table(prefix: string): BulkTable {
    return this.#store.table(this.#root + prefix)
  }
}

/** The same changes with `root` before each key. */
export const changesBelow = (
  changes: StoreChanges,
  root: string
): Map<string, string | BulkChange | null> => {
  const moved = new Map<string, string | BulkChange | null>()
  for (const [key, change] of changes) moved.set(root + key, change)
  return moved
}

/** Which keys of a store are rows of tables. */
export interface BulkPrefixes {
  /** The table that a key belongs to, or undefined for an entry. */
  tableOf(key: string): string | undefined
}

/**
 * Reads the prefixes of tables, of which none begins with another.
 *
 * One that ends with `+/` stands for a family: `w/t/+/` makes `w/t/a/` and `w/t/b/` tables of their own.
 */
export const parseBulkPrefixes = (prefixes: readonly string[]): BulkPrefixes => {
  const roots = prefixes.map(prefix => (isFamily(prefix) ? prefix.slice(0, -FAMILY.length) : prefix))
  const families = prefixes.map(isFamily)
  return {
    tableOf(key) {
      for (let i = 0; i < roots.length; i += 1) {
        const root = roots[i] ?? ''
        if (!key.startsWith(root)) continue
        if (families[i] !== true) return root
        const end = key.indexOf('/', root.length)
        return end < 0 ? undefined : key.slice(0, end + 1)
      }
      return undefined
    }
  }
}

const FAMILY = '+/'

const isFamily = (prefix: string): boolean => prefix.endsWith(FAMILY)
