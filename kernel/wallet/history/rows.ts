import { compact } from '../../base/compact.ts'
import { isRecord, tryParseJson } from '../../base/json.ts'
import type { BulkChange, BulkRow, BulkTable, SearchedRow, WriteOptions } from '../../repo/store/bulk.ts'
import type { Repo } from '../../sync/repo.ts'
import type { ChangedFiles } from '../../sync/repo-files.ts'
import type { FileHash, TokenId } from '../../types/ids.ts'
import { type HistoryRow, heightTagOf, isListedFor, parseRow, rowDateOf, rowText, tokenIdsOf } from './row.ts'
import { type ListedRow, mainList, type RowList, tokenList, UNLISTED } from './row-list.ts'
import { SEARCH_FORM, searchTextOf } from './search.ts'

/** A row before and after a change; absent is none. */
export interface RowChange {
  readonly before?: HistoryRow | undefined
  readonly after?: HistoryRow | undefined
  /** The text of the row after it, if it is known already. */
  readonly text?: string | undefined
}

/** Changes that are written all or nothing; `onHeld` is that of {@link WriteOptions}. */
export interface HistoryChanges {
  /** By key. */
  readonly rows?: ReadonlyMap<FileHash, RowChange>
  /** Texts of synced files, by path. */
  readonly files?: ReadonlyMap<string, string>
  /** The texts that files must still have, as {@link HistoryRows.readToEdit} gave them: nothing is written otherwise. */
  readonly expect?: ReadonlyMap<string, string | undefined>
  readonly state?: Partial<HistoryState>
  /** Gives what else is written with them, by keys of the part of the repo that never syncs. */
  readonly localChanges?: () => ReadonlyMap<string, string | null>
  readonly onHeld?: WriteOptions['onHeld']
}

interface WritePlan {
  readonly localChanges: ReadonlyMap<string, BulkChange | string | null>
  readonly next: HistoryState
}

/**
 * The rows of one history in the tables of its repo, and its state; each write is durable as a whole.
 *
 * The key of a row is the hash that stands in the names of its files, so that engine and files meet in it without
 * anything being opened (docs/adr/0027). Each token has an index beside the rows, because its list is another one.
 */
export class HistoryRows {
  readonly #repo: Repo
  /** Revisions of the repo that are writes of our own, with rows: their files need not be applied again. */
  #ownRevisions: Set<number> | undefined
  #ownFiles = 0
  #state: HistoryState

  constructor(repo: Repo) {
    this.#repo = repo
    this.#state = parseState(repo.local.get(STATE_KEY))
  }

  get state(): HistoryState {
    return this.#state
  }

  /** The number of files that this device has written since files were last applied. */
  get ownFiles(): number {
    return this.#ownFiles
  }

  /** The files that others have changed since files were last applied, and the revision of the repo up to which that is. */
  changedFiles(): Promise<ChangedFiles> {
    return this.#repo.changedSince(this.#state.taken, this.#ownRevisions)
  }

  /**
   * Begins anew if rows were lost with a damaged part of the disk, or belong to no state. Those that can be read are taken along, so
   * that they are shown until the engine has reported everything again.
   */
  async resetIfDamaged(): Promise<void> {
    const isDamaged = this.#state.damage !== this.#repo.damage
    if (!isDamaged && (await this.#table.count()) === this.#state.count) return
    const rows = new Map<FileHash, RowChange>()
    for await (const found of this.#table.scan())
      for (const { key, text } of found) rows.set(key, { after: parseRow(text), text })
    this.#state = this.#anew()
    this.#ownRevisions = undefined
    // In one write: what a crash left of several would be taken for all there is.
    await this.write({ rows })
  }

  /** Leaves the rows there are for new tables without any; {@link deleteOldRows} deletes them. */
  async reset(): Promise<void> {
    const next = this.#anew()
    await this.#repo.local.write(new Map([[STATE_KEY, stateText(next)]]))
    this.#commit(next)
    this.#ownRevisions = undefined
  }

  /** The state of new tables, without rows. */
  #anew(): HistoryState {
    const { generation, oldest, height } = this.#state
    return { ...newState(generation + 1, oldest), damage: this.#repo.damage, height }
  }

  /** Deletes some rows of tables that are no longer in use; false when there are none left. */
  async deleteOldRows(): Promise<boolean> {
    const { generation, oldest } = this.#state
    if (oldest >= generation) return false
    const rows: BulkRow[] = []
    for await (const some of this.#repo.local.table(tableName(oldest)).scan()) {
      rows.push(...some)
      if (rows.length >= BATCH) break
    }
    if (rows.length === 0) await this.write({ state: { oldest: oldest + 1 } })
    const deletions = new Map<string, null>()
    for (const { key, text } of rows) {
      deletions.set(tableName(oldest) + key, null)
      for (const tokenId of tokenIdsOf(parseRow(text))) deletions.set(tableName(oldest, tokenId) + key, null)
    }
    if (deletions.size > 0) await this.#repo.local.write(deletions)
    return true
  }

  /** The texts of rows, one for each key; undefined where there is none. */
  texts(keys: readonly FileHash[]): Promise<(string | undefined)[]> {
    return this.#table.getMany(keys)
  }

  /** One row. */
  async find(key: FileHash): Promise<HistoryRow | undefined> {
    const [text] = await this.texts([key])
    return text === undefined ? undefined : parseRow(text)
  }

  /** The keys of rows in a block above `height`; only those whose confirmations a new height may change. */
  keysAbove(height: number): Promise<FileHash[]> {
    return this.#table.keysWhere(mark => mark > 0 && mark > height)
  }

  /** Every row as text, in no particular order. */
  scan(): AsyncIterable<readonly ListedRow[]> {
    return this.#table.scan()
  }

  /** What a search reads of every row, in no particular order. */
  scanSearchTexts(): AsyncIterable<readonly SearchedRow[]> {
    return this.#table.scanSearchTexts(SEARCH_FORM)
  }

  /** The history of one asset. */
  list(tokenId: TokenId | null): RowList {
    return tokenId === null ? mainList(this.#table) : tokenList(this.#tokenTable(tokenId), this.#table)
  }

  /** The texts of files that are to be edited, by path; undefined where there is none. @throws CORRUPT_FILE */
  async readToEdit(paths: readonly string[]): Promise<Map<string, string | undefined>> {
    const texts = new Map<string, string | undefined>()
    for (const path of paths) texts.set(path, await this.#repo.getText(path))
    return texts
  }

  /**
   * Writes rows, files and state, all or nothing.
   *
   * @returns false if a sync has changed a file that they were made of; nothing is written then
   * @throws STORAGE_FULL, STORAGE_FAILED
   */
  async write(changes: HistoryChanges): Promise<boolean> {
    const { files = NO_FILES, expect = NO_FILES, onHeld } = changes
    const { localChanges, next } = this.#planOf(changes)
    try {
      if (files.size === 0) {
        await this.#repo.local.write(localChanges, { onHeld })
      } else {
        const { isStale, revision } = await this.#repo.write({ texts: files, expect, localChanges, onHeld })
        if (isStale) return false
        this.#addOwnRevision(revision, files.size)
      }
    } catch (error) {
      // It may have been made all the same.
      this.#state = parseState(this.#repo.local.get(STATE_KEY))
      throw error
    }
    this.#commit(next)
    return true
  }

  #planOf({ rows = NO_ROWS, state = {}, localChanges: others }: HistoryChanges): WritePlan {
    const localChanges = new Map<string, BulkChange | string | null>(others?.())
    let { count } = this.#state
    for (const [key, change] of rows) {
      this.#addRow(localChanges, key, change)
      count += Number(change.after !== undefined) - Number(change.before !== undefined)
    }
    const next = { ...this.#state, count, ...state }
    localChanges.set(STATE_KEY, stateText(next))
    return { localChanges, next }
  }

  #addOwnRevision(revision: number | undefined, files: number): void {
    if (revision === undefined) return
    this.#ownRevisions ??= new Set()
    this.#ownRevisions.add(revision)
    this.#ownFiles += files
  }

  #commit(state: HistoryState): void {
    if (state.taken !== this.#state.taken) {
      for (const revision of this.#ownRevisions ?? [])
        if (revision <= state.taken) this.#ownRevisions?.delete(revision)
      this.#ownFiles = 0
    }
    this.#state = state
  }

  get #table(): BulkTable {
    return this.#repo.local.table(tableName(this.#state.generation))
  }

  #tokenTable(tokenId: TokenId): BulkTable {
    return this.#repo.local.table(tableName(this.#state.generation, tokenId))
  }

  #addRow(
    localChanges: Map<string, BulkChange | string | null>,
    key: FileHash,
    { before, after, text }: RowChange
  ): void {
    const { generation } = this.#state
    const date = after === undefined ? 0 : rowDateOf(after)
    for (const tokenId of tokenIdsOf(before, after)) {
      const isListed = after !== undefined && isListedFor(after, tokenId)
      const wasListed = before !== undefined && isListedFor(before, tokenId)
      if (isListed && wasListed && before !== undefined && rowDateOf(before) === date) continue
      localChanges.set(tableName(generation, tokenId) + key, isListed ? { text: '', order: date } : null)
    }
    const order = after !== undefined && isListedFor(after, null) ? date : UNLISTED
    const changed = (row: HistoryRow): BulkChange => ({
      ...{ text: text ?? rowText(row), order, mark: heightTagOf(row) },
      search: SEARCH_FORM + searchTextOf(row)
    })
    localChanges.set(tableName(generation) + key, after === undefined ? null : changed(after))
  }
}

/** The number of deletions in one write; they pass the entries in memory. */
const BATCH = 6000

const NO_ROWS: ReadonlyMap<FileHash, RowChange> = new Map()
const NO_FILES: ReadonlyMap<string, string> = new Map()

const tableName = (generation: number, tokenId?: TokenId): string =>
  `t/${generation}${tokenId === undefined ? '' : `.${encodeURIComponent(tokenId)}`}/`

/** The state of a wallet's history beside its rows; it is derived, so that an unreadable one starts from nothing. */
interface HistoryState {
  /** Names the tables in use: a new one is a new beginning. */
  readonly generation: number
  /** The revision of the repo up to which the files have been applied. */
  readonly taken: number
  /** The number of rows; if there are fewer, some were lost with a damaged part of the disk. */
  readonly count: number
  /** The damage of the repo when this generation began: a later damage may have cost rows of any table. */
  readonly damage: string
  /** The height of the chain, as far as it decides about a row. */
  readonly height: number
  /** The checkpoint to give the engine at its next start. */
  readonly checkpoint?: string
  /** The oldest generation whose rows may not all be deleted yet. */
  readonly oldest: number
  /** True once the engine has reported everything into this generation; needed for none but the first. */
  readonly isWhole?: boolean
}

/** Returns true if rows may be missing that an earlier generation had. */
export const isPartial = ({ generation, isWhole }: HistoryState): boolean =>
  generation > 1 && isWhole !== true

/** The key of the state, in the part of a repo that never syncs. */
export const STATE_KEY = 'history'

// A row or a state of another form is of another version; then everything is derived again. Its tables must have other names, too:
// rows whose state was lost are taken along.
const VERSION = 1

/** The state of a history of which nothing is known but the generations that were in use. */
const newState = (generation: number, oldest: number): HistoryState => ({
  generation,
  oldest,
  taken: 0,
  count: 0,
  damage: '',
  height: 0
})

/** The text of a state. */
const stateText = (state: HistoryState): string => JSON.stringify({ version: VERSION, ...state })

/** Reads a state; anything else, and any other version, is a new beginning under a generation not used yet. */
const parseState = (text: string | undefined): HistoryState => {
  const value = tryParseJson(text)
  if (!isRecord(value)) return newState(1, 1)
  const { version, generation, oldest, taken, count, damage, height, checkpoint, isWhole: isReported } = value
  if (!isCount(generation)) return newState(1, 1)
  const from = isCount(oldest) ? Math.min(oldest, generation) : generation
  const isWhole =
    version === VERSION && isCount(oldest) && isCount(taken) && isCount(count) && isCount(height)
  if (!isWhole) return newState(generation + 1, from)
  return {
    generation,
    oldest: from,
    taken,
    count,
    damage: typeof damage === 'string' ? damage : '',
    height,
    ...compact({
      isWhole: isReported === true ? true : undefined,
      checkpoint: typeof checkpoint === 'string' ? checkpoint : undefined
    })
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
