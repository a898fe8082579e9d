import { InFlightWrites, Mutex } from '../../base/mutex.ts'
import { makeYielder } from '../../base/yielder.ts'
import type { BulkChange, BulkStore, BulkTable, StoreChanges } from './bulk.ts'
import type { BulkPrefixes } from './bulk-prefixes.ts'
import {
  isLarge,
  type LargeWrite,
  plainTextOf,
  rowIn,
  settleEntries,
  sortWrite,
  takeAlong,
  touch,
  untouch,
  unwritableOf
} from './large-write.ts'
import { closedError, type LocalStore } from './local-store.ts'
import { OpenTables } from './open-tables.ts'
import { Overlay, type OverlayRow, overlayText } from './overlay.ts'
import { LIMITS, type PagedPlace, type StoreLimits } from './paged-place.ts'
import { halfCharacterError } from './segment.ts'
import type { StagedChange } from './staged-change.ts'
import type { TableFiles } from './table-files.ts'
import { type FileNumbers, isManifestKey, MANIFEST } from './table-manifest.ts'

/** The entries and rows of a store by key. */
export type StoreContents = readonly (readonly [key: string, change: string | BulkChange])[]

/** The number of times that the tables are read again because others have taken their place. */
const MAX_TRIES = 5

/** What a paged store is made of. */
export interface PagedParts {
  readonly place: PagedPlace
  readonly front: LocalStore
  readonly files: TableFiles
  /** After entries were lost no manifest can be trusted: the files of each table, as far as they tell. */
  readonly suspects?: ReadonlyMap<string, FileNumbers>
}

/**
 * A durable, encrypted store with two parts (decision 16): entries in memory, and tables of many rows on the disk.
 *
 * The rows of small writes begin as entries, so that a write is one new chunk; when they have
 * grown to about 1 MB they move to segments. The rows of a large write go to segments at once. What a write
 * means becomes true with one write of entries: those of the manifests say which files count.
 */
export class PagedStore implements BulkStore {
  readonly #place: PagedPlace
  readonly #front: LocalStore
  readonly #files: TableFiles
  readonly #suspects: ReadonlyMap<string, FileNumbers> | undefined
  readonly #limits: StoreLimits
  readonly #prefixes: BulkPrefixes
  readonly #overlay: Overlay
  readonly #turns = new Mutex()
  /** Undefined until one is wanted: many stores have entries only. */
  #tables: OpenTables | undefined
  #larges: readonly LargeWrite[] = []
  readonly #running = new InFlightWrites()
  #isFlushing = false
  #isClosing = false
  #flushAt: number
  #isClosed = false

  constructor({ place, front, files, suspects }: PagedParts) {
    this.#place = place
    this.#front = front
    this.#files = files
    this.#suspects = suspects
    this.#limits = place.limits ?? LIMITS
    this.#flushAt = this.#limits.gathered
    this.#prefixes = place.bulk
    this.#overlay = new Overlay(front, this.#prefixes)
  }

  get(key: string): string | undefined {
    if (this.#prefixes.tableOf(key) !== undefined || isManifestKey(key)) return undefined
    for (let i = this.#larges.length - 1; i >= 0; i -= 1) {
      const change = this.#larges[i]?.changes.get(key)
      if (change === undefined) continue
      if (this.#larges[i]?.touched.has(key)) break
      return plainTextOf(change) ?? undefined
    }
    return this.#front.get(key)
  }

  *entries(prefix: string): Generator<[key: string, text: string]> {
    const onTheirWay = new Set<string>()
    for (const { changes } of this.#larges) {
      for (const key of changes.keys()) if (key.startsWith(prefix)) onTheirWay.add(key)
    }
    for (const key of onTheirWay) {
      const text = this.get(key)
      if (text !== undefined) yield [key, text]
    }
    for (const entry of this.#front.entries(prefix)) {
      const [key] = entry
      if (!onTheirWay.has(key) && this.#prefixes.tableOf(key) === undefined && !isManifestKey(key))
        yield entry
    }
  }

  /** What is written may not change until it is durable. Without changes it ends when all that was written before has. */
  write(changes: StoreChanges): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError(this.#place.folder))
    if (changes.size === 0) return this.#written()
    if (isLarge(changes, this.#prefixes, this.#limits.large)) return this.#running.add(this.#run(changes))
    const path = unwritableOf(changes, this.#prefixes)
    return path === undefined ? this.#writeSmall(changes) : Promise.reject(halfCharacterError(path))
  }

  /** Makes sure that a crash leaves nothing of a write that failed, though it had arrived all the same. @throws STORAGE_FAILED */
  forgetFailed(): Promise<void> {
    return this.#front.forgetFailed()
  }

  table(prefix: string): BulkTable {
    if (this.#prefixes.tableOf(prefix) !== prefix) throw new TypeError(`There is no table ${prefix}`)
    return this.#opened.open(prefix).table
  }

  /**
   * Everything in the store: its entries, then the rows of each table from the highest order on. Written into an empty store in
   * this order they make an equal one.
   *
   * Entries are as they are at one time; what is written to tables meanwhile may be among the rows.
   */
  async contents(): Promise<StoreContents> {
    for (let tries = 1; ; tries += 1) {
      const contents: [string, string | BulkChange][] = [...this.entries('')]
      const tables = this.#tableNames()
      for (const prefix of tables) {
        for await (const rows of this.table(prefix).scan({ ordered: true }))
          for (const { key, ...row } of rows) contents.push([prefix + key, row])
      }
      // A table that took the place of another one does not go with the entries that were read before.
      if (tries === MAX_TRIES || this.#tableNames().join() === tables.join()) return contents
    }
  }

  #tableNames(): string[] {
    const names = new Set<string>()
    for (const [key] of this.#front.entries('')) {
      const name = isManifestKey(key) ? key.slice(MANIFEST.length) : key
      const prefix = this.#prefixes.tableOf(name)
      if (prefix !== undefined) names.add(prefix)
    }
    for (const { changes } of this.#larges)
      for (const key of changes.keys()) names.add(this.#prefixes.tableOf(key) ?? '')
    names.delete('')
    return [...names].sort()
  }

  /** Puts the files of tables in order that want it, in the background; what fails is tried again later. */
  tidySoon(): void {
    this.#turns
      .run(() => this.#opened.tidy(back => back.isUntidy && !this.#isClosing))
      .catch(this.#place.report)
  }

  /** Resolves when every write has ended, well or not, and the files are in order. */
  async settled(): Promise<void> {
    await this.#turns.run(async () => {})
    await this.#tables?.settled()
    await this.#front.settled()
  }

  /** Finishes what was begun, then refuses writes. What is in memory stays readable. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#turns.run(async () => this.#tables?.tidy(back => back.isSlow)).catch(this.#place.report)
    // Until here damage could show, which is noted with a write.
    this.#isClosed = true
    await this.settled()
    await this.#front.close()
  }

  get #opened(): OpenTables {
    this.#tables ??= new OpenTables({
      place: this.#place,
      front: this.#front,
      files: this.#files,
      suspects: this.#suspects,
      recent: (prefix, key) => this.#recent(prefix, key),
      rowsInMemory: prefix => this.#rowsInMemory(prefix),
      written: () => this.#running.ended(),
      wantsTidying: () => this.tidySoon()
    })
    return this.#tables
  }

  #recent(prefix: string, key: string): OverlayRow | undefined {
    if (this.#larges.length === 0) return this.#overlay.find(prefix, key)
    const whole = prefix + key
    for (let i = this.#larges.length - 1; i >= 0; i -= 1) {
      const large = this.#larges[i] as LargeWrite
      const row = rowIn(large, whole, key)
      if (row === undefined) continue
      if (large.touched.has(whole)) break
      return row
    }
    return this.#overlay.find(prefix, key)
  }

  /** The rows of a table among the entries, and those that a large write is taking from there. */
  *#rowsInMemory(prefix: string): Generator<OverlayRow> {
    for (const { moved, touched } of this.#larges) {
      for (const [key, row] of moved)
        if (!touched.has(key) && this.#prefixes.tableOf(key) === prefix) yield row
    }
    yield* this.#overlay.rowsOf(prefix)
  }

  #writeSmall(changes: StoreChanges): Promise<void> {
    const texts = new Map<string, string | null>()
    const prefixes = new Set<string>()
    const larges = this.#larges
    for (const [key, change] of changes) {
      for (const large of larges) touch(large, key)
      const prefix = this.#prefixes.tableOf(key)
      if (prefix !== undefined) prefixes.add(prefix)
      texts.set(key, prefix === undefined ? plainTextOf(change) : this.#entryOf(prefix, key, change))
    }
    if (prefixes.size === 0 && larges.length === 0) return this.#front.write(texts)
    const hasFailed = (): void => {
      for (const key of changes.keys()) for (const large of larges) untouch(large, key)
      for (const prefix of prefixes) this.#tables?.known(prefix)?.table.forget()
    }
    return this.#front.write(texts, hasFailed).then(() => this.#flushIfFull())
  }

  #entryOf(prefix: string, key: string, change: string | BulkChange | null): string | null {
    const row = this.#overlay.rowOf(prefix, key.slice(prefix.length), change)
    this.#tables?.known(prefix)?.table.note(row)
    const isUnknown = change === null && this.#larges.length === 0 && this.#opened.open(prefix).back.isEmpty
    return isUnknown ? null : overlayText(row)
  }

  /** @throws what a write of either size throws that was on its way */
  async #written(): Promise<void> {
    await Promise.all([this.#front.write(new Map()), this.#running.durable()])
  }

  /** Brings rows to segments, after the large writes before. */
  async #run(changes: StoreChanges): Promise<void> {
    const large: LargeWrite = { changes, touched: new Map(), moved: new Map() }
    this.#larges = [...this.#larges, large]
    try {
      await this.#turns.run(() => this.#commit(large))
    } finally {
      this.#larges = this.#larges.filter(other => other !== large)
    }
    this.tidySoon()
  }

  async #commit(large: LargeWrite): Promise<void> {
    const staged: StagedChange[] = []
    if (this.#overlay.length > 0) {
      // What was written before is durable then, or is not there.
      await this.#front.write(new Map()).catch(() => {})
      takeAlong(large, this.#overlay.durable(), this.#prefixes)
    }
    const { tables, entries } = await sortWrite(large, this.#prefixes, makeYielder(this.#place.io.clock))
    try {
      for (const [prefix, { rows, deleted }] of tables) {
        const { back } = this.#opened.open(prefix)
        if (rows.length > 0 || !back.isEmpty) staged.push(await back.stage(rows, deleted))
      }
    } catch (error) {
      for (const change of staged) await this.#opened.open(change.prefix).back.discard(change)
      throw error
    }
    const hasMoved = large.moved.size > 0
    // Only then is it known which small writes of the same keys count.
    if (staged.length + entries.size > 0 || hasMoved)
      await this.#opened.confirm(staged, () => settleEntries(large, entries), large)
    // Even if none has moved: some of what was counted may have been written over, or never have come.
    if (hasMoved || large.changes.size === 0) this.#overlay.rowsLeft()
  }

  #flushIfFull(): void {
    if (this.#isFlushing || this.#isClosing || this.#overlay.length < this.#flushAt) return
    this.#isFlushing = true
    // On a full disk the next try comes when as much again has gathered.
    this.#flushAt = this.#overlay.length + this.#limits.gathered
    this.#run(new Map())
      .then(() => {
        this.#flushAt = this.#limits.gathered
      }, this.#place.report)
      .finally(() => {
        this.#isFlushing = false
      })
  }
}
