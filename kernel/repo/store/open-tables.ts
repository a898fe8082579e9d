import type { LargeWrite } from './large-write.ts'
import type { LocalStore } from './local-store.ts'
import type { PagedPlace } from './paged-place.ts'
import type { StagedChange } from './staged-change.ts'
import { StoredTable, type TableMemory } from './stored-table.ts'
import { TableBack } from './table-back.ts'
import type { TableFiles } from './table-files.ts'
import { type FileNumbers, MANIFEST, manifestKey, parseManifest, suspectManifest } from './table-manifest.ts'

/** What the tables of a store need of it. */
export interface TablesPlace extends TableMemory {
  readonly place: PagedPlace
  readonly front: LocalStore
  readonly files: TableFiles
  /** After entries were lost no manifest can be trusted: the files of each table, as far as they tell. */
  readonly suspects: ReadonlyMap<string, FileNumbers> | undefined
  /** Hears that files want to be put in order. */
  readonly wantsTidying: () => void
}

/** A table that was asked for: its part on the disk, and what readers see. */
export interface OpenTable {
  readonly back: TableBack
  readonly table: StoredTable
}

/** The tables of a store that were asked for since it was opened, and the one way in which what they have on the disk changes. */
export class OpenTables {
  readonly #place: TablesPlace
  #tables: Map<string, OpenTable> | undefined
  /** Changes that could not be made true, as far as one can know. */
  #doubtful: readonly StagedChange[] = []
  #isSuspicious: boolean

  constructor(place: TablesPlace) {
    this.#place = place
    this.#isSuspicious = place.suspects !== undefined
  }

  /** The table of a prefix, if it was asked for. */
  known(prefix: string): OpenTable | undefined {
    return this.#tables?.get(prefix)
  }

  /** The table of a prefix. Nothing of it is loaded yet. */
  open(prefix: string): OpenTable {
    const known = this.known(prefix)
    if (known !== undefined) return known
    const { place, front, files, suspects } = this.#place
    const back = new TableBack({
      ...{ prefix, crypto: place, files, isSuspect: suspects !== undefined },
      manifest:
        suspects === undefined
          ? parseManifest(front.get(manifestKey(prefix)))
          : suspectManifest(suspects.get(prefix)),
      wantsTidying: this.#place.wantsTidying
    })
    const table = new StoredTable({ clock: place.io.clock, back, memory: this.#place })
    const opened = { back, table }
    this.#tables ??= new Map()
    this.#tables.set(prefix, opened)
    return opened
  }

  /**
   * Makes staged changes, and the large write that they are of, true with one write of entries.
   *
   * @param settle - tells the entries of the large write, when theirs is the next chunk
   */
  async confirm(
    staged: readonly StagedChange[],
    settle?: () => Map<string, string | null>,
    large?: LargeWrite
  ): Promise<void> {
    const entriesOf = (): Map<string, string | null> => {
      const entries = settle?.() ?? new Map<string, string | null>()
      for (const { prefix, manifest } of staged)
        entries.set(manifestKey(prefix), manifest === undefined ? null : JSON.stringify(manifest))
      return entries
    }
    try {
      await this.#place.front.write(entriesOf)
    } catch (error) {
      // The entries may have arrived all the same, and a crash would show them: the files go when newer entries are there.
      this.#doubtful = [...this.#doubtful, ...staged]
      throw error
    }
    // Nobody may read in between: rows have left the entries, and are in the index now.
    for (const change of staged) this.open(change.prefix).back.adopt(change)
    if (large !== undefined) large.moved = new Map()
    for (const { table } of this.#all()) table.forget()
    const doubtful = this.#doubtful
    this.#doubtful = []
    for (const change of doubtful) await this.open(change.prefix).back.discard(change)
  }

  /** Puts the files of those tables in order that pass a test. @throws STORAGE_FULL, STORAGE_FAILED */
  async tidy(isWanted: (back: TableBack) => boolean): Promise<void> {
    for (const { back } of this.#all()) if (isWanted(back)) await this.confirm([await back.tidy()])
    await this.#endSuspicion()
  }

  /** Resolves when the files that nobody needs any more are gone. */
  async settled(): Promise<void> {
    for (const { back } of this.#all()) await back.settled()
  }

  #all(): Iterable<OpenTable> {
    return this.#tables?.values() ?? []
  }

  /** Once each table that files were found of is in order, every manifest can be trusted again. */
  async #endSuspicion(): Promise<void> {
    const tables = [...(this.#tables ?? [])]
    if (!this.#isSuspicious || tables.some(([, { back }]) => back.isUntidy)) return
    const { front } = this.#place
    const isThere = new Set(
      tables.flatMap(([prefix, { back }]) => (back.isEmpty ? [] : [manifestKey(prefix)]))
    )
    const entries = new Map<string, null>()
    for (const [key] of front.entries(MANIFEST)) if (!isThere.has(key)) entries.set(key, null)
    await front.write(entries)
    this.#isSuspicious = false
  }
}
