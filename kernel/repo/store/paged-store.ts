import { makeBreather } from '../breather.ts'
import type { BulkChange, BulkRow, BulkStore, BulkTable, StoreChanges } from './bulk.ts'
import type { ChunkPlace } from './load-chunks.ts'
import { type LocalStore, openLocalStore } from './local-store.ts'

/** Where a paged store is, and which of its keys are rows of tables. */
export interface PagedPlace extends ChunkPlace {
  /**
   * The prefixes of its tables; none begins with another.
   *
   * One that ends with `+/` stands for a family: `w/t/+/` makes `w/t/a/` and `w/t/b/` tables of their own.
   */
  readonly bulk: readonly string[]
}

/** Opens the store of one folder. @throws STORAGE_FAILED, PATH_REFUSED */
export const openPagedStore = async (place: PagedPlace): Promise<PagedStore> =>
  new PagedStore(place, await openLocalStore(place))

/** A durable, encrypted map of texts with tables of many. */
export class PagedStore implements BulkStore {
  readonly #place: PagedPlace
  readonly #front: LocalStore
  readonly #tables = new Map<string, FrontTable>()

  constructor(place: PagedPlace, front: LocalStore) {
    this.#place = place
    this.#front = front
  }

  get(key: string): string | undefined {
    return this.#prefixOf(key) === undefined ? this.#front.get(key) : undefined
  }

  *entries(prefix: string): Generator<[key: string, text: string]> {
    for (const entry of this.#front.entries(prefix)) {
      if (this.#prefixOf(entry[0]) === undefined) yield entry
    }
  }

  async write(changes: StoreChanges): Promise<void> {
    const texts = new Map<string, string | null>()
    const touched = new Set<string>()
    for (const [key, change] of changes) {
      const prefix = this.#prefixOf(key)
      if (prefix !== undefined) touched.add(prefix)
      texts.set(key, prefix === undefined ? plainText(change) : rowText(change))
    }
    const forget = (): void => {
      for (const prefix of touched) this.#tables.get(prefix)?.forget()
    }
    const done = this.#front.write(texts)
    forget()
    await done.finally(forget)
  }

  table(prefix: string): BulkTable {
    if (this.#prefixOf(prefix) !== prefix) throw new TypeError(`There is no table ${prefix}`)
    const known = this.#tables.get(prefix)
    if (known !== undefined) return known
    const table = new FrontTable(this.#place, this.#front, prefix)
    this.#tables.set(prefix, table)
    return table
  }

  /** Resolves when every write has ended, well or not. */
  settled(): Promise<void> {
    return this.#front.settled()
  }

  /** Finishes what was begun, then refuses writes. */
  close(): Promise<void> {
    return this.#front.close()
  }

  #prefixOf(key: string): string | undefined {
    for (const prefix of this.#place.bulk) {
      const found = prefix.endsWith(FAMILY) ? memberOf(prefix, key) : prefix
      if (found !== undefined && key.startsWith(found)) return found
    }
    return undefined
  }
}

const FAMILY = '+/'

const memberOf = (prefix: string, key: string): string | undefined => {
  const root = prefix.slice(0, -FAMILY.length)
  const end = key.startsWith(root) ? key.indexOf('/', root.length) : -1
  return end < 0 ? undefined : key.slice(0, end + 1)
}

const plainText = (change: string | BulkChange | null): string | null =>
  change === null || typeof change === 'string' ? change : change.text

const rowText = (change: string | BulkChange | null): string | null => {
  if (change === null) return null
  const { text, order = 0, mark = 0 } = typeof change === 'string' ? { text: change } : change
  return `${order} ${mark} ${text}`
}

class FrontTable implements BulkTable {
  readonly #place: PagedPlace
  readonly #front: LocalStore
  readonly #prefix: string
  #rows: BulkRow[] | undefined

  constructor(place: PagedPlace, front: LocalStore, prefix: string) {
    this.#place = place
    this.#front = front
    this.#prefix = prefix
  }

  forget(): void {
    this.#rows = undefined
  }

  async count(): Promise<number> {
    return this.#sorted().length
  }

  async has(key: string): Promise<boolean> {
    return this.#front.get(this.#prefix + key) !== undefined
  }

  async get(key: string): Promise<string | undefined> {
    const text = this.#front.get(this.#prefix + key)
    return text === undefined ? undefined : rowOf(key, text).text
  }

  getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    return Promise.all(keys.map(key => this.get(key)))
  }

  async page(offset: number, limit: number): Promise<BulkRow[]> {
    return this.#sorted().slice(offset, offset + limit)
  }

  async offsetOf(key: string): Promise<number | undefined> {
    const offset = this.#sorted().findIndex(row => row.key === key)
    return offset < 0 ? undefined : offset
  }

  async offsetAt(order: number): Promise<number> {
    return this.#sorted().filter(row => row.order > order).length
  }

  async *scan(): AsyncGenerator<readonly BulkRow[]> {
    const rows = this.#sorted()
    const breathe = makeBreather(this.#place.io.clock)
    for (let start = 0; start < rows.length; start += BATCH) {
      yield rows.slice(start, start + BATCH)
      await breathe()
    }
  }

  async keysWhere(test: (mark: number, order: number) => boolean): Promise<string[]> {
    return this.#sorted().flatMap(({ key, mark, order }) => (test(mark, order) ? [key] : []))
  }

  #sorted(): BulkRow[] {
    if (this.#rows !== undefined) return this.#rows
    const rows: BulkRow[] = []
    for (const [key, text] of this.#front.entries(this.#prefix)) {
      rows.push(rowOf(key.slice(this.#prefix.length), text))
    }
    this.#rows = rows.sort((left, right) => right.order - left.order)
    return this.#rows
  }
}

const BATCH = 256

const rowOf = (key: string, text: string): BulkRow => {
  const first = text.indexOf(' ')
  const second = text.indexOf(' ', first + 1)
  const order = Number(text.slice(0, first))
  return { key, text: text.slice(second + 1), order, mark: Number(text.slice(first + 1, second)) }
}
