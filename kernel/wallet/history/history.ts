import { compact } from '../../base/compact.ts'
import { isWalletError, WalletError } from '../../base/errors.ts'
import { Mutex } from '../../base/mutex.ts'
import { makeYielder } from '../../base/yielder.ts'
import type { PaymentSight } from '../../types/engine.ts'
import type { FileHash, TokenId, Txid } from '../../types/ids.ts'
import type { EngineTransaction, MetadataChange, Transaction } from '../../types/transaction.ts'
import {
  type ChangeContext,
  editChanges,
  type FileChange,
  fileChanges,
  heightChanges,
  reportChanges,
  type TxidChanges
} from './changes.ts'
import { newTransactionFile, withMetadata } from './file-format.ts'
import { TransactionFiles } from './files.ts'
import { checkMetadata, mergeMetadata, withFiatCode } from './metadata.ts'
import { type ChainHeight, type HistoryRow, parseRow, reportOf, withReport } from './row.ts'
import type { RowList } from './row-list.ts'
import { type HistoryChanges, HistoryRows, isPartial, type RowChange } from './rows.ts'
import { SearchIndex } from './search-index.ts'
import { assetNameOf, chainAt, confirmationsIn, type HistoryOptions, viewContextOf, viewOf } from './view.ts'

/** What goes with a change of a transaction's files. */
export interface EditOptions {
  /** Is reported in the same write, unless the engine knows the transaction by now, and better. */
  readonly sent?: EngineTransaction
  /** Gives what else is written with it, by keys of the part of the repo that never syncs. */
  readonly localChanges?: NonNullable<HistoryChanges['localChanges']>
  /** Runs before the write, which is not made if it fails. No report is taken in until the write has ended. */
  readonly first?: () => Promise<void>
}

/**
 * The history of one wallet: what its engine says, joined with the synced files, in tables on the device.
 *
 * It is derived: what is missing, damaged or of another version is built again from the files and from what the
 * engine reports again. Changes are applied one after another; nothing of the transactions stays in memory
 * but the text of a search.
 */
export class History {
  readonly options: HistoryOptions
  readonly #sent: SentPayments | undefined
  readonly #rows: HistoryRows
  /** Made for the first search. */
  #search: SearchIndex | undefined
  readonly #mutex = new Mutex()
  /** Files that a sync has named and that are not applied yet. */
  #namedPaths: readonly string[] = []
  /** Reports that came while the storage could not be read: they are applied with the next ones. */
  #unapplied: readonly EngineTransaction[] = []
  #opening: Promise<void> | undefined
  /** The height by which rows were judged last, and the one by which they are shown. */
  #height: number
  #shownHeight: number
  #isClosed = false

  /** @param sent - what was sent from this device, whose state is shown beside the confirmations */
  constructor(options: HistoryOptions, sent?: SentPayments) {
    this.options = options
    this.#sent = sent
    this.#rows = new HistoryRows(options.repo)
    this.#height = this.#rows.state.height
    this.#shownHeight = this.#height
  }

  /** The checkpoint to give the engine at its next start; undefined if it must report everything. */
  async checkpoint(): Promise<string | undefined> {
    await this.#open()
    return this.#rows.state.checkpoint
  }

  /**
   * Applies the engine's reports, durably, and writes a file for each incoming transaction seen for the first time.
   *
   * Where there is no room for them that is reported; they are shown all the same, and saved by a later write. While the storage cannot be
   * read they wait for the next call.
   *
   * @throws STORAGE_FAILED, STORAGE_TIMEOUT if they have to wait: no checkpoint may count them then
   * @param checkpoint - the engine gets it at its next start; kept once all earlier reports are durable
   * @returns the txids that are new and that changed; unchanged ones are in neither
   */
  applyReports(transactions: readonly EngineTransaction[], checkpoint?: string): Promise<TxidChanges> {
    return this.#mutex.run(async () => {
      const all = [...this.#unapplied, ...transactions]
      try {
        const changes = await this.#applyReports(all, checkpoint)
        this.#unapplied = []
        return changes
      } catch (error) {
        const isOutage = isWalletError(error) && error.code.startsWith('STORAGE_')
        this.#unapplied = isOutage ? all.slice(-MAX_UNAPPLIED) : []
        throw error
      }
    })
  }

  /**
   * Applies files that a sync changed. Where there is no room for that it is reported, and shown all the same; while the storage cannot be
   * read, the files wait for the next call.
   *
   * @returns the txids of which something else is shown now
   * @throws STORAGE_FAILED, STORAGE_TIMEOUT if they have to wait
   */
  applyFiles(paths: readonly string[]): Promise<Txid[]> {
    this.#namedPaths = this.#namedPaths.concat(paths)
    return this.#mutex.run(async () => {
      await this.#openNow()
      return this.#applyChangedFiles()
    })
  }

  /** Applies a new chain height; returns the txids whose depth changed. Confirmed and dropped ones stay as they are. */
  applyHeight(height: number): Promise<Txid[]> {
    // A lower one must wait until those that are final are marked so.
    this.#shownHeight = Math.max(this.#shownHeight, height)
    return this.#mutex.run(async () => {
      await this.#openNow()
      if (height === this.#height) {
        this.#shownHeight = height
        return []
      }
      const { rows, txids } = await heightChanges(this.#changeContext(), height)
      // Else the height that is kept judges all rows as this one does.
      if (txids.length + rows.size > 0) await this.#rows.write({ rows, state: { height } })
      this.#height = height
      this.#shownHeight = height
      return txids
    })
  }

  /** Checks if the engine knows a transaction and the network has not dropped it. */
  async has(txid: Txid): Promise<boolean> {
    return isKnown(await this.#find(txid), chainAt(this.options, this.#shownHeight))
  }

  /** Returns the time of the block of a transaction, in milliseconds since 1970; 0 if it is in none. Its file may be older. */
  async blockTimeOf(txid: Txid): Promise<number> {
    const report = (await this.#find(txid))?.reports[0]
    return report !== undefined && report.blockHeight > 0 ? report.date * 1000 : 0
  }

  /** One transaction in the history of an asset, complete with its file. */
  async find(txid: Txid, tokenId: TokenId | null = null): Promise<Transaction | undefined> {
    const row = await this.#find(txid)
    return row === undefined ? undefined : this.viewer(tokenId)(row)
  }

  /**
   * Changes what the files of a transaction say, durably; they keep the dates under which they were first written.
   *
   * @throws CORRUPT_FILE if there is one that cannot be read; it is left as it is
   */
  editFile(txid: Txid, change: FileChange, { sent, localChanges, first }: EditOptions = {}): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#openNow()
      const key = this.options.hashOf(txid)
      const before = await this.#rows.find(key)
      const chain = chainAt(this.options, this.#height)
      const isNews = sent !== undefined && !isKnown(before, chain)
      await first?.()
      for (;;) {
        const expect = await this.#rows.readToEdit(before?.paths ?? [])
        const edited = { key, before, texts: [...expect.values()] }
        const { after: filed, texts: files } = editChanges(this.#changeContext(), edited, change)
        const after = isNews ? withReport(filed, reportOf(sent), chain) : filed
        const rows = new Map([[key, before === undefined ? { after } : { before, after }]])
        const state = { height: this.#height }
        if (!(await this.#rows.write({ rows, files, expect, state, ...compact({ localChanges }) }))) continue
        this.#search?.update(rows)
        if (isNews) this.#reportSwaps(rows)
        return
      }
    })
  }

  /**
   * Changes what is noted on a transaction, durably; null deletes, absent keeps (protocol §6.4 "Metadata edit").
   *
   * @param tokenId - null: the chain's own coin, whose notes show for the tokens of the transaction too
   * @throws OPTION_INVALID, TX_NOT_FOUND; CORRUPT_FILE if its file cannot be read, which stays as it is
   */
  async saveMetadata(
    { txid, tokenId }: { readonly txid: Txid; readonly tokenId: TokenId | null },
    change: MetadataChange
  ): Promise<void> {
    checkMetadata(change)
    const tx = await this.find(txid, tokenId)
    if (tx === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
    const inFile = withFiatCode(change, this.options.fiatCode())
    await this.editFile(txid, present => {
      const file = present ?? newTransactionFile(tx, this.creationDateOf(tx.date))
      return withMetadata(file, assetNameOf(this.options, tokenId), metadata =>
        mergeMetadata(metadata, inFile)
      )
    })
  }

  /** The history of one asset, newest first. @throws LOGGED_OUT */
  async list(tokenId: TokenId | null): Promise<RowList> {
    this.#checkOpen()
    await this.#open()
    return this.#rows.list(tokenId)
  }

  /** The texts of rows, one for each key; undefined where there is none. @throws LOGGED_OUT */
  async rowTexts(keys: readonly FileHash[]): Promise<(string | undefined)[]> {
    this.#checkOpen()
    return this.#rows.texts(keys)
  }

  /** Shows rows as transactions in the history of an asset; undefined for one that is not in it. */
  viewer(tokenId: TokenId | null): (row: HistoryRow) => Transaction | undefined {
    const context = viewContextOf(this.options, this.#shownHeight, tokenId)
    const sent = this.#sent
    return row => {
      const view = viewOf(row, context)
      const sight = view?.isSend ? sent?.sightOf(view.txid) : undefined
      if (view === undefined || sight === undefined || view.confirmations === 'confirmed') return view
      const { state: sentState, replacedBy } = sight
      return { ...view, sentState, ...compact({ replacedBy }) }
    }
  }

  /**
   * The keys of all rows that match a query in the history of some asset, and of others that may; in no particular order.
   *
   * @param query - as `normalizeQuery` gives it
   * @throws LOGGED_OUT
   */
  async search(query: string): Promise<FileHash[]> {
    this.#checkOpen()
    await this.#open()
    for (;;) {
      this.#checkOpen()
      this.#search ??= this.#makeSearch()
      const search = this.#search
      const found = await search.find(query).finally(() => this.#checkOpen())
      // Otherwise a resync has put other rows in the place of those that were searched.
      if (search === this.#search) return found
    }
  }

  /** Forgets the engine's reports, as before a resync; the files stay, and the engine must report everything. */
  clear(): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#openNow()
      await this.#rows.reset()
      this.#unapplied = []
      this.#search?.clear()
      this.#search = undefined
      await this.#applyChangedFiles()
      this.#deleteOldRows()
    })
  }

  /** Returns true if reports were lost or forgotten, as by a resync, and the engine has not reported everything again. */
  async isPartial(): Promise<boolean> {
    await this.#open()
    return isPartial(this.#rows.state)
  }

  /** Notes that the engine has reported everything; a failed write is reported, and tried after the next sync. */
  async reportedAll(): Promise<void> {
    if (!isPartial(this.#rows.state)) return
    await this.#mutex
      .run(async () => {
        await this.#openNow()
        await this.#rows.write({ state: { isWhole: true } })
      })
      .catch(this.options.report)
  }

  /** Resolves when every change that was begun has been applied. */
  idle(): Promise<void> {
    return this.#mutex.settled()
  }

  /** Forgets the text of searches at once, and waits for what was begun. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#search?.clear()
    await this.#mutex
      .run(async () => this.#rows.ownFiles > 0 && this.#applyChangedFiles())
      .catch(this.options.report)
    this.#search?.clear()
  }

  /** The date to give a file that is written now: never later than the chain's own. */
  creationDateOf(date: number): number {
    return Math.min(date, this.options.clock.now() / 1000)
  }

  /** The history as it stands now, for working out changes. */
  #changeContext(): ChangeContext {
    const { options } = this
    return {
      ...{ options, rows: this.#rows, files: new TransactionFiles(options) },
      chain: chainAt(options, this.#height),
      fiatCode: options.fiatCode(),
      seconds: options.clock.now() / 1000,
      yieldNow: makeYielder(options.clock)
    }
  }

  /**
   * Writes what the network has given; where it cannot be saved that is reported, and it is shown all the same.
   *
   * @throws STORAGE_FAILED if it is not known what is stored: then it is not shown either, and the network must give it again
   */
  async #writeHeld(changes: HistoryChanges): Promise<void> {
    await this.#rows.write({ ...changes, onHeld: this.options.report })
    if (changes.rows !== undefined) this.#search?.update(changes.rows)
  }

  #makeSearch(): SearchIndex {
    const addSearchTexts = (keys: readonly FileHash[]): void => {
      this.#addSearchTexts(keys).catch(this.options.report)
    }
    return new SearchIndex({ rows: this.#rows, addSearchTexts }, this.options.clock)
  }

  /** Writes rows again as they are, with their search texts: an older version, or a backup, did not keep them. */
  async #addSearchTexts(keys: readonly FileHash[]): Promise<void> {
    for (let start = 0; start < keys.length && !this.#isClosed; start += ROWS_AT_ONCE) {
      const some = keys.slice(start, start + ROWS_AT_ONCE)
      // What else there is to do comes between two lots.
      await this.#mutex.run(async () => {
        const rows = new Map<FileHash, RowChange>()
        for (const [at, text] of (await this.#rows.texts(some)).entries()) {
          const row = text === undefined ? undefined : parseRow(text)
          if (row !== undefined) rows.set(some[at] ?? '', { before: row, after: row, text })
        }
        if (rows.size > 0) await this.#rows.write({ rows })
      })
    }
  }

  async #find(txid: Txid): Promise<HistoryRow | undefined> {
    await this.#open()
    return this.#rows.find(this.options.hashOf(txid))
  }

  /** Applies the changes since the last session, once; what waits in the queue comes after it. */
  #open(): Promise<void> {
    return this.#opening === undefined ? this.#mutex.run(() => this.#openNow()) : this.#opening
  }

  /** Opens the history within the mutex. */
  #openNow(): Promise<void> {
    this.#opening ??= (async () => {
      try {
        await this.#rows.resetIfDamaged()
        await this.#applyChangedFiles()
        this.#deleteOldRows()
      } catch (error) {
        this.#opening = undefined
        throw error
      }
    })()
    return this.#opening
  }

  async #applyReports(
    transactions: readonly EngineTransaction[],
    checkpoint: string | undefined
  ): Promise<TxidChanges> {
    await this.#openNow()
    const changes = await reportChanges(this.#changeContext(), transactions)
    const { rows, files } = changes
    const isNews = checkpoint !== undefined && checkpoint !== this.#rows.state.checkpoint
    if (rows.size > 0 || isNews) {
      await this.#writeHeld({
        rows,
        files,
        state: { height: this.#height, ...compact({ checkpoint: isNews ? checkpoint : undefined }) }
      })
    }
    this.#reportSwaps(rows)
    if (this.#rows.ownFiles > MANY_FILES) await this.#applyChangedFiles()
    return changes
  }

  async #applyChangedFiles(): Promise<Txid[]> {
    const { paths, revision } = await this.#rows.changedFiles()
    const named = new Set([...this.#namedPaths, ...paths])
    this.#namedPaths = []
    const txids: Txid[] = []
    try {
      for await (const rows of fileChanges(this.#changeContext(), [...named])) {
        await this.#writeHeld({ rows })
        this.#reportSwaps(rows)
        for (const { after } of rows.values())
          if (after?.reports[0] !== undefined) txids.push(after.reports[0].txid)
      }
    } catch (error) {
      this.#namedPaths = this.#namedPaths.concat(...named)
      throw error
    }
    if (revision !== this.#rows.state.taken)
      await this.#rows.write({ state: { taken: revision } }).catch(this.options.report)
    return txids
  }

  /** Reports the swaps among changed rows, which may have been paid on another device: nothing is read for that. */
  #reportSwaps(rows: ReadonlyMap<FileHash, RowChange>): void {
    const { walletId, sawSwap } = this.options
    for (const { after } of rows.values()) {
      const { file, reports: [report] = [] } = after ?? {}
      if (file?.swap === undefined || report === undefined) continue
      sawSwap({ txid: report.txid, walletId, date: file.creationDate, swapData: file.swap })
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
  }

  /** Deletes tables that are no longer in use, a few rows at a time between other work. */
  #deleteOldRows(): void {
    this.#mutex
      .run(async () => !this.#isClosed && (await this.#rows.deleteOldRows()))
      .then(isMore => isMore && this.#deleteOldRows(), this.options.report)
  }
}

/** Checks if the engine knows a transaction and the network has not dropped it. */
const isKnown = (row: HistoryRow | undefined, chain: ChainHeight): boolean =>
  row !== undefined && row.reports.length > 0 && confirmationsIn(row, chain) !== 'dropped'

/** The others come again after the next start. */
const MAX_UNAPPLIED = 50_000

/** Rows that are written again at once. */
const ROWS_AT_ONCE = 1000

/** After so many files of our own the repo is asked to pass over them, so that a crash leaves fewer to apply. */
const MANY_FILES = 20_000

/** The watched payments of this device. */
interface SentPayments {
  /** Returns the state of a payment; undefined for any other transaction, and for one that is confirmed. */
  sightOf(txid: Txid): PaymentSight | undefined
}
