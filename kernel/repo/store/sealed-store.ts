import { isWalletError, type ReportError, WalletError } from '../../base/errors.ts'
import { equalBytes, isWellFormed } from '../../crypto/encoding.ts'
import type { Store, StoreChange } from '../../io/store.ts'
import { closedError } from '../../store/chunk.ts'
import { keyPages } from '../../store/store-disk.ts'
import { type BlockCrypto, blockKey, halfCharacterError, openHead, parseBlockKey } from './block.ts'
import {
  type BulkChange,
  type BulkPrefixes,
  type BulkStore,
  type BulkTable,
  type StoreChanges,
  textIn,
  type WriteOptions
} from './bulk.ts'
import { type EntryPlan, SealedEntries } from './sealed-entries.ts'
import { SealedTable } from './sealed-table.ts'
import type { TablePlan } from './table-plan.ts'
import { isUnclear, UnsavedStore } from './unsaved-store.ts'

/** The entries and rows of a store by key. */
export type StoreContents = readonly (readonly [key: string, change: string | BulkChange])[]

/** Options of {@link openSealedStore}. */
export interface SealedStoreOptions extends BlockCrypto {
  readonly store: Store
  /** Stands in errors. */
  readonly name: string
  /** Which of its keys are rows of tables. */
  readonly bulk: BulkPrefixes
  readonly report: ReportError
  /**
   * Is called when something turns out to be damaged or missing, and gives the entries that note it: they are written before, or
   * with, the first write that is made of the damage.
   */
  readonly damaged?: ((get: (key: string) => string | undefined) => StoreChanges) | undefined
  /** Whether the store below has lost something, so that it may show older values. */
  readonly hasLost?: boolean
  /** About how many characters a full block has; 88,000 if left out. */
  readonly blockLength?: number | undefined
}

/**
 * Opens the encrypted store of one owner over a map of bytes: entries in memory, and tables of many rows. docs/store.md says how
 * they lie there.
 *
 * @throws STORAGE_FAILED
 */
export const openSealedStore = async (options: SealedStoreOptions): Promise<SealedStore> => {
  const store = new SealedStore(options)
  await store.open()
  return store
}

interface Write {
  readonly changes: StoreChanges
  /** It notes the damage that was found before it. */
  readonly isNote: boolean
  /** See {@link WriteOptions.onHeld}. */
  readonly onHeld: WriteOptions['onHeld']
  /** It settles what failed writes have left, and saves nothing. */
  readonly isSettling: boolean
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

type NewWrite = Pick<Write, 'changes'> & Partial<Pick<Write, 'isNote' | 'isSettling' | 'onHeld'>>

/** The key of the value by which a store below, {@link LogStoreOptions.lossMark}, remembers that it has lost something. */
export const LOSS_KEY: Uint8Array = Uint8Array.of(0)

/** One batch. */
interface Plan {
  readonly entries: EntryPlan
  readonly tables: readonly (readonly [SealedTable, TablePlan])[]
  /** What puts damaged values aside. */
  readonly aside: readonly StoreChange[]
}

/**
 * A durable, encrypted store of entries, which are in memory, and of tables, whose rows are not.
 *
 * A write is one batch of the store below, and writes that arrive while one is on its way share the next. Entries can be read
 * as soon as `write` is called, and no longer if it fails, unless it is there all the same; so can rows by their keys. Other reads
 * of a table wait for the writes that were begun before.
 */
export class SealedStore implements BulkStore {
  readonly #options: Omit<SealedStoreOptions, 'hasLost'>
  /** The store below. */
  readonly #unsaved: UnsavedStore
  readonly #entries: SealedEntries
  #tables: Map<string, SealedTable> | undefined
  /** Those that have not ended, oldest first. */
  #writes: Write[] = []
  #writing: Promise<void> | undefined
  /** Values that are damaged: the next batch puts them aside. */
  #lost: Uint8Array[] = []
  /** The store below has lost something, or says so, and that is to be noted. */
  #isMarked: boolean
  /** How often damage was found, and up to which of these times it is durably noted. */
  #damageFound = 0
  #damageNoted = 0
  /** A batch has failed: something of it may be there after a crash. */
  #hasFailed = false
  /** A batch has failed and may have been made all the same. */
  #isDoubtful = false
  /** A batch was given up without an answer, and may still be made. */
  #mayLand = false
  #readings = 0
  #isClosed = false

  constructor({
    hasLost = false,
    io,
    key,
    store,
    name,
    bulk,
    report,
    damaged,
    blockLength
  }: SealedStoreOptions) {
    // Hundreds are open at once: an object that others have spread takes 400 bytes more.
    this.#unsaved = new UnsavedStore(store)
    this.#options = { io, key, store: this.#unsaved, name, bulk, report, damaged, blockLength }
    this.#entries = new SealedEntries(this.#options)
    this.#isMarked = hasLost
  }

  /** Reads the entries. Called once, before anything else. */
  async open(): Promise<void> {
    const [mark] = await this.#options.store.getMany([LOSS_KEY])
    this.#isMarked ||= mark !== undefined
    await this.#loadEntries()
    if (this.#isMarked && this.#damageFound === 0) this.#noteDamage()
  }

  /** Grows when the entries are read anew: whoever has derived something from them derives it again. */
  get readings(): number {
    return this.#readings
  }

  get(key: string): string | undefined {
    if (this.#options.bulk.tableOf(key) !== undefined) return undefined
    const recent = this.#recent(key)
    return recent === undefined ? this.#entries.get(key) : (textIn(recent) ?? undefined)
  }

  *entries(prefix: string): Generator<[key: string, text: string]> {
    const onTheirWay = new Set<string>()
    for (const { changes } of this.#writes)
      for (const key of changes.keys())
        if (key.startsWith(prefix) && this.#options.bulk.tableOf(key) === undefined) onTheirWay.add(key)
    for (const key of onTheirWay) {
      const text = this.get(key)
      if (text !== undefined) yield [key, text]
    }
    for (const entry of this.#entries.all(prefix)) if (!onTheirWay.has(entry[0])) yield entry
  }

  /**
   * Writes all or nothing; null deletes. Resolves when durable. What is written may not change until then.
   *
   * Without changes it ends when everything written before has, and fails if any of that does.
   *
   * @throws STORAGE_FULL, STORAGE_FAILED; the store then is as before and can be written again. Where STORAGE_FAILED says
   *   `mayBeSaved` it shows what is there
   */
  async write(changes: StoreChanges, { onHeld }: WriteOptions = {}): Promise<void> {
    if (this.#isClosed) throw closedError(this.#options.name)
    if (changes.size === 0) {
      await Promise.all(this.#writes.map(({ done }) => done))
      return this.#unsaved.isHolding ? this.#enqueue({ changes }) : this.settleFailed()
    }
    for (const [key, change] of changes)
      if (this.#options.bulk.tableOf(key) !== undefined && !hasUtf8(key, change))
        throw halfCharacterError(key)
    return this.#enqueue({ changes, onHeld })
  }

  /**
   * Settles what writes that failed have left: after a crash nothing is there of them that is not shown by now. @throws STORAGE_FAILED
   */
  async settleFailed(): Promise<void> {
    // A batch of nothing: a log deletes first what may have arrived, and what became of a database's batch is read again.
    if (this.#hasFailed || this.#isDoubtful) await this.#enqueue({ changes: new Map(), isSettling: true })
  }

  table(prefix: string): BulkTable {
    if (this.#options.bulk.tableOf(prefix) !== prefix) throw new TypeError(`There is no table ${prefix}`)
    return this.#tableOf(prefix)
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
      const tables = await this.#tableNames()
      for (const prefix of tables) {
        for await (const rows of this.table(prefix).scan({ ordered: true }))
          for (const { key, ...row } of rows) contents.push([prefix + key, row])
      }
      // A table that took the place of another one does not go with the entries that were read before.
      if (tries === MAX_TRIES || (await this.#tableNames()).join() === tables.join()) return contents
    }
  }

  /** Resolves when every write has ended, well or not. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  /** Finishes what was begun, then refuses writes and closes the store below. The entries stay readable. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.settled()
    await this.#saveHeld().catch(this.#options.report)
    await this.#unsaved.close()
  }

  async #saveHeld(): Promise<void> {
    if (!this.#unsaved.isHolding) return
    if (this.#isDoubtful) await this.#readAgain()
    await this.#unsaved.batch([])
  }

  #enqueue({ changes, isNote = false, onHeld, isSettling = false }: NewWrite): Promise<void> {
    let resolve: () => void = () => {}
    let reject: (error: unknown) => void = () => {}
    const done = new Promise<void>((onResolve, onReject) => {
      resolve = onResolve
      reject = onReject
    })
    // Who waits for it hears of a failure; this only keeps it from being unhandled twice.
    done.catch(() => {})
    this.#writes.push({ changes, isNote, onHeld, isSettling, done, resolve, reject })
    this.#writing ??= this.#writeAll()
    return done
  }

  async #writeAll(): Promise<void> {
    // The writes of one turn share a batch.
    await Promise.resolve()
    while (this.#writes.length > 0) {
      let writes = this.#writes.slice()
      try {
        if (this.#isDoubtful) await this.#readAgain()
        for (;;) {
          const found = this.#damageFound
          writes = this.#writes.slice()
          const plan = await this.#planOf([
            ...writes.map(({ changes }) => changes),
            ...this.#missingNotes(writes)
          ])
          // What notes the damage that was found meanwhile goes with what is made of it.
          if (this.#damageFound !== found) continue
          await this.#commit(plan, writes)
          this.#damageNoted = found
          break
        }
        this.#writes = this.#writes.slice(writes.length)
        for (const { resolve } of writes) resolve()
      } catch (error) {
        this.#hasFailed = true
        // Before anyone hears of it: what readers have is no longer what is there.
        if (this.#isDoubtful) await this.#readAgain().catch(this.#options.report)
        const isHeld = await this.#hold(writes)
        this.#writes = this.#writes.slice(writes.length)
        for (const { onHeld, resolve, reject } of writes) {
          if (onHeld === undefined || !isHeld) reject(error)
          else {
            onHeld(error)
            resolve()
          }
        }
      }
    }
    this.#writing = undefined
  }

  async #planOf(all: readonly StoreChanges[]): Promise<Plan> {
    const entries = new Map<string, string | null>()
    const rows = new Map<string, { changes: Map<string, string | BulkChange | null>; moved: Set<string> }>()
    for (const changes of all) {
      for (const [key, change] of changes) {
        const prefix = this.#options.bulk.tableOf(key)
        if (prefix === undefined) entries.set(key, textIn(change))
        else {
          const some = rows.get(prefix) ?? { changes: new Map(), moved: new Set() }
          rows.set(prefix, some)
          const name = key.slice(prefix.length)
          const before = some.changes.get(name)
          if (before === null || (before !== undefined && orderOf(before) !== orderOf(change))) {
            some.moved.add(name)
            some.changes.delete(name)
          }
          some.changes.set(name, change)
        }
      }
    }
    for (const [prefix, table] of this.#tables ?? [])
      if (table.isDamaged && !rows.has(prefix)) rows.set(prefix, { changes: new Map(), moved: new Set() })
    const tables: [SealedTable, TablePlan][] = []
    for (const [prefix, changes] of rows) {
      const table = this.#tableOf(prefix)
      tables.push([table, await table.plan(changes)])
    }
    return { entries: this.#entries.plan(entries), tables, aside: await this.#putAside(this.#lost) }
  }

  async #commit(plan: Plan, writes: readonly Write[]): Promise<void> {
    const lost = this.#lost.length
    const changes = this.#changesOf(plan)
    const isSettling = changes.length === 0 && writes.every(write => write.isSettling)
    try {
      await (isSettling ? this.#unsaved.settle() : this.#unsaved.batch(changes))
    } catch (error) {
      this.#isDoubtful ||= isUnclear(error)
      this.#mayLand ||= isWalletError(error, 'STORAGE_TIMEOUT')
      throw error
    }
    this.#adopt(plan, lost)
    this.#hasFailed = false
  }

  /** Holds those writes that are to be held of some that failed. @returns false where it is not known what is there to hold them over */
  async #hold(writes: readonly Write[]): Promise<boolean> {
    const held = writes.filter(({ onHeld }) => onHeld !== undefined).map(({ changes }) => changes)
    try {
      while (!this.#isDoubtful && held.length > 0) {
        const found = this.#damageFound
        const plan = await this.#planOf([...held, ...this.#missingNotes([])])
        if (this.#damageFound !== found) continue
        this.#unsaved.hold(this.#changesOf(plan))
        this.#adopt(plan, this.#lost.length)
        this.#damageNoted = found
        return true
      }
    } catch (error) {
      this.#options.report(error)
    }
    return false
  }

  #changesOf({ entries, tables, aside }: Plan): StoreChange[] {
    const changes = [...aside, ...entries.changes, ...tables.flatMap(([, plan]) => plan.changes)]
    if (this.#isMarked) changes.push({ key: LOSS_KEY, value: undefined })
    return changes
  }

  /** Shows what a plan makes, of which the first so many lost values are put aside. Nobody may read in between. */
  #adopt({ entries, tables }: Plan, lost: number): void {
    this.#entries.adopt(entries)
    for (const [table, plan] of tables) table.adopt(plan)
    this.#lost = this.#lost.slice(lost)
    this.#isMarked = false
  }

  /** What writes on their way make of a key; undefined if none does. */
  #recent(key: string): string | BulkChange | null | undefined {
    for (let i = this.#writes.length - 1; i >= 0; i -= 1) {
      const change = this.#writes[i]?.changes.get(key)
      if (change !== undefined) return change
    }
    return undefined
  }

  #tableOf(prefix: string): SealedTable {
    const { io, key, store, blockLength = BLOCK_LENGTH } = this.#options
    this.#tables ??= new Map()
    const known = this.#tables.get(prefix)
    if (known !== undefined) return known
    const recent = (name: string): string | BulkChange | null | undefined => this.#recent(prefix + name)
    const written = async (): Promise<void> =>
      void (await Promise.allSettled(this.#writes.map(({ done }) => done)))
    const lost = (name: Uint8Array): void => this.#lose(name)
    const mayLand = (): boolean => this.#mayLand
    const table = new SealedTable({ io, key, store, prefix, blockLength, recent, written, mayLand, lost })
    this.#tables.set(prefix, table)
    return table
  }

  /** The tables that have rows, in ascending order, as their heads say. */
  async #tableNames(): Promise<string[]> {
    const { store, bulk } = this.#options
    await this.settled()
    const names = new Set<string>()
    const seen = new Set<string>()
    for await (const keys of keyPages(store)) {
      for (const key of keys) {
        const { tag, part } = parseBlockKey(key) ?? {}
        if (tag === undefined || part !== 'head' || seen.has(tag.join())) continue
        const [value] = await store.getMany([key])
        if (value === undefined && !(await this.#isThere(key))) continue
        const head = value === undefined ? undefined : await openHead(this.#options, value)
        if (head === undefined) {
          this.#lose(key)
          continue
        }
        seen.add(tag.join())
        if (bulk.tableOf(head.table) === head.table) names.add(head.table)
      }
    }
    return [...names].sort()
  }

  /** Whether a key is still there once what was begun has ended. */
  async #isThere(key: Uint8Array): Promise<boolean> {
    await this.settled()
    const before = Uint8Array.of(...key, 0)
    const [last] = await this.#options.store.keys({ before, reverse: true, limit: 1 })
    return last !== undefined && equalBytes(last, key)
  }

  async #readAgain(): Promise<void> {
    await this.#unsaved.settleUnclear()
    for (const table of this.#tables?.values() ?? []) table.forget()
    await this.#loadEntries()
    this.#isDoubtful = false
  }

  async #loadEntries(): Promise<void> {
    for (const key of await this.#entries.load()) this.#lose(key)
    this.#readings += 1
  }

  #lose(key: Uint8Array): void {
    if (this.#lost.some(known => equalBytes(known, key))) return
    this.#lost.push(key)
    const rule = 'a part of what is stored on this device is damaged or missing'
    this.#options.report(new WalletError('CORRUPT_FILE', { path: this.#options.name, rule }))
    this.#noteDamage()
  }

  /** Notes damage in a write of its own; if that fails, as on a full disk, the next write notes it. */
  #noteDamage(): void {
    this.#damageFound += 1
    // What is still written before it closes notes it, too.
    if (this.#isClosed) return
    this.#enqueue({ changes: this.#damageNotes(), isNote: true }).catch(this.#options.report)
  }

  /** What notes damage whose own note has failed; nothing if there is none, or it is among these writes. */
  #missingNotes(writes: readonly Write[]): StoreChanges[] {
    const isMissing = this.#damageFound !== this.#damageNoted && !writes.some(({ isNote }) => isNote)
    return isMissing ? [this.#damageNotes()] : []
  }

  #damageNotes(): StoreChanges {
    return this.#options.damaged?.(key => this.get(key)) ?? new Map()
  }

  /** What moves damaged values, and the bodies of damaged heads, to keys that nobody reads: whoever can may still save them. */
  async #putAside(lost: readonly Uint8Array[]): Promise<StoreChange[]> {
    const keys = lost.flatMap(key => {
      const { tag, part, block = 0 } = parseBlockKey(key) ?? {}
      return tag === undefined || part !== 'head'
        ? [key]
        : [key, blockKey(tag, 'body', block), blockKey(tag, 'search', block)]
    })
    const values = keys.length === 0 ? [] : await this.#options.store.getMany(keys)
    return keys.flatMap((key, i) => {
      const value = values[i]
      const kept = value === undefined ? [] : [{ key: Uint8Array.of(...key, 0), value }]
      return [...kept, { key, value: undefined }]
    })
  }
}

const hasUtf8 = (key: string, change: string | BulkChange | null): boolean =>
  [key, textIn(change) ?? '', searchTextIn(change)].every(isWellFormed)

const searchTextIn = (change: string | BulkChange | null): string =>
  typeof change === 'object' ? (change?.search ?? '') : ''

const orderOf = (change: string | BulkChange | null): number =>
  typeof change === 'object' ? (change?.order ?? 0) : 0

/** Payload of a body in UTF-16 units, about. */
const BLOCK_LENGTH = 88_000
/** The number of times that the tables are read again because others have taken their place. */
const MAX_TRIES = 5
