import { WalletError } from '../../base/errors.ts'
import { Mutex } from '../../base/mutex.ts'
import { makeYielder } from '../../base/yielder.ts'
import type { Clock } from '../../io/io.ts'
import type { Repo } from '../../sync/repo.ts'
import type { CurrencyConfigSnapshot, CurrencyInfo } from '../../types/currency.ts'
import type { PaymentSight } from '../../types/engine.ts'
import type { EngineTransaction, MetadataChange, Transaction } from '../../types/transaction.ts'
import type { TxidChanges } from '../events.ts'
import {
  editChanges,
  type FileChange,
  type FileContext,
  fileChanges,
  heightChanges,
  type ReportContext,
  reportChanges
} from './changes.ts'
import { type AssetName, newTransactionFile, withMetadata } from './file-format.ts'
import { TransactionFiles } from './files.ts'
import { checkMetadata, mergeMetadata, withFiatCode } from './metadata.ts'
import type { ChainHeight, HistoryRow } from './row.ts'
import type { RowList } from './row-list.ts'
import { HistoryRows } from './rows.ts'
import { SearchIndex, searchTexts } from './search.ts'
import { confirmationsIn, searchableOf, type ViewContext, viewOf } from './view.ts'

/**
 * The history of one wallet: what its engine says, joined with the synced files, in tables on the device.
 *
 * It is derived: what is missing, damaged or of another version is built again from the files and from what the
 * engine tells anew. Changes are taken in one after another; nothing of the transactions stays in memory
 * but the text of a search.
 */
export class History {
  readonly #options: HistoryOptions
  readonly #sent: SentPayments | undefined
  readonly #rows: HistoryRows
  /** Made for the first search. */
  #search: SearchIndex | undefined
  readonly #mutex = new Mutex()
  /** Files that a sync has named and that are not taken in yet. */
  #namedPaths: readonly string[] = []
  #opening: Promise<void> | undefined
  /** The height by which rows were judged last, and the one by which they are shown. */
  #height: number
  #shownHeight: number
  #searchedFiat = ''
  #isClosed = false

  /** @param sent - what was sent from this device, whose state is shown beside the confirmations */
  constructor(options: HistoryOptions, sent?: SentPayments) {
    this.#options = options
    this.#sent = sent
    this.#rows = new HistoryRows(options.repo)
    this.#height = this.#rows.state.height
    this.#shownHeight = this.#height
  }

  /** What the engine asked to be told at its next start; undefined if it must tell everything. */
  async checkpoint(): Promise<string | undefined> {
    await this.#open()
    return this.#rows.state.checkpoint
  }

  /**
   * Takes in what the engine reports, durably, and writes a file for each incoming transaction seen for the first time.
   *
   * What cannot be written is reported, shown all the same, and written when there is room again.
   *
   * @param checkpoint - what the engine wants to be told at its next start; kept once everything it said is durable
   * @returns the txids that are new and that changed; unchanged ones are in neither
   */
  applyReports(transactions: readonly EngineTransaction[], checkpoint?: string): Promise<TxidChanges> {
    return this.#mutex.run(() => this.#applyReports(transactions, checkpoint))
  }

  /**
   * Takes files in that a sync changed; what cannot be written is reported, shown, and written when there is room.
   *
   * @returns the txids of which something else is shown now
   */
  applyFiles(paths: readonly string[]): Promise<string[]> {
    this.#namedPaths = this.#namedPaths.concat(paths)
    return this.#mutex.run(async () => {
      await this.#openNow()
      return this.#applyChangedFiles()
    })
  }

  /** Takes a new chain height; returns the txids whose depth changed. Confirmed and dropped ones stay as they are. */
  applyHeight(height: number): Promise<string[]> {
    // A lower one must wait until those that are final are marked so.
    this.#shownHeight = Math.max(this.#shownHeight, height)
    return this.#mutex.run(async () => {
      await this.#openNow()
      const context = {
        rows: this.#rows,
        chain: chainAt(this.#options, this.#height),
        yieldNow: this.makeYielder()
      }
      const txids = height === this.#height ? [] : await heightChanges(context, height)
      this.#height = height
      this.#shownHeight = height
      return txids
    })
  }

  /** Tells whether the engine knows a transaction and the network has not dropped it. */
  async has(txid: string): Promise<boolean> {
    const row = await this.#find(txid)
    if (row === undefined || row.reports.length === 0) return false
    return confirmationsIn(row, chainAt(this.#options, this.#shownHeight)) !== 'dropped'
  }

  /** One transaction in the history of an asset, complete with its file. */
  async find(txid: string, tokenId: string | null = null): Promise<Transaction | undefined> {
    const row = await this.#find(txid)
    return row === undefined ? undefined : this.viewer(tokenId)(row)
  }

  /**
   * Changes what the files of a transaction say, durably; they keep the dates under which they were first written.
   *
   * @throws CORRUPT_FILE if there is one that cannot be read; it is left as it is
   */
  editFile(txid: string, change: FileChange): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#openNow()
      const { hashOf, info } = this.#options
      const key = hashOf(txid)
      const before = await this.#rows.find(key)
      const edited = await this.#rows.edit(before?.paths ?? [], texts => {
        const context = { files: this.#files, key, currencyCode: info.currencyCode, before, texts }
        const { after, texts: files } = editChanges(context, change)
        const rows = new Map([[key, before === undefined ? { after } : { before, after }]])
        return { rows, files, state: { height: this.#height } }
      })
      if (edited.rows !== undefined) this.#search?.update(edited.rows)
    })
  }

  /** The history of one asset, newest first. @throws LOGGED_OUT */
  async list(tokenId: string | null): Promise<RowList> {
    this.#checkOpen()
    await this.#open()
    return this.#rows.list(tokenId)
  }

  /** The key of a transaction in every list. */
  keyOf(txid: string): string {
    return this.#options.hashOf(txid)
  }

  /** The texts of rows, one for each key; undefined where there is none. @throws LOGGED_OUT */
  async rowTexts(keys: readonly string[]): Promise<(string | undefined)[]> {
    this.#checkOpen()
    return this.#rows.texts(keys)
  }

  /** A pause for a loop over many rows. */
  makeYielder(): () => Promise<void> | undefined {
    return makeYielder(this.#options.clock)
  }

  /** Shows rows as transactions in the history of an asset; undefined for one that is not in it. */
  viewer(tokenId: string | null): (row: HistoryRow) => Transaction | undefined {
    const context = viewContextOf(this.#options, this.#shownHeight, tokenId)
    const sent = this.#sent
    return row => {
      const view = viewOf(row, context)
      const sight = view?.isSend ? sent?.sightOf(view.txid) : undefined
      if (view === undefined || sight === undefined || view.confirmations === 'confirmed') return view
      const { state: sentState, replacedBy } = sight
      return { ...view, sentState, ...(replacedBy === undefined ? {} : { replacedBy }) }
    }
  }

  /**
   * The keys of the rows that a query finds in the history of an asset, in no particular order.
   *
   * @throws LOGGED_OUT
   */
  async search(tokenId: string | null, query: string): Promise<string[]> {
    this.#checkOpen()
    const { fiatCode } = this
    if (this.#searchedFiat !== fiatCode) this.#search?.clear()
    this.#searchedFiat = fiatCode
    this.#search ??= this.#makeSearch()
    const keys = await this.#search.find(tokenId, query)
    // Another search may have cleared the text meanwhile, for another currency.
    return fiatCode === this.fiatCode ? keys : this.search(tokenId, query)
  }

  /** Forgets what the engine said, as before a resync; the files stay, and the engine must tell everything. */
  clear(): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#openNow()
      await this.#rows.reset()
      this.#search?.clear()
      await this.#applyChangedFiles()
      this.#deleteOldRows()
    })
  }

  /** Resolves when everything that was begun has been taken in. */
  idle(): Promise<void> {
    return this.#mutex.settled()
  }

  /** Forgets the text of searches at once, and waits for what was begun. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#search?.clear()
    await this.#mutex
      .run(async () => this.#rows.ownFiles > 0 && this.#applyChangedFiles())
      .catch(this.#options.report)
    this.#search?.clear()
  }

  /** The date to give a file that is written now: never later than the chain's own. */
  creationDateOf(date: number): number {
    return Math.min(date, this.#options.clock.now() / 1000)
  }

  /** An asset with the code under which older files know it. */
  assetName(tokenId: string | null): AssetName {
    return assetNameOf(this.#options, tokenId)
  }

  /** The code that an asset is shown with; '' for a token that is not known. */
  codeOf(tokenId: string | null): string {
    return codeOf(this.#options, tokenId)
  }

  /** The fiat currency that the wallet is shown in now. */
  get fiatCode(): string {
    return this.#options.fiatCode()
  }

  get #files(): TransactionFiles {
    const { hashOf, info, report } = this.#options
    return new TransactionFiles({
      ...{ hashOf, report },
      getTexts: paths => this.#rows.fileTexts(paths),
      legacy: () => ({ currencyCode: info.currencyCode, fiatCode: this.fiatCode })
    })
  }

  #makeSearch(): SearchIndex {
    const textsIn = (tokenId: string | null) => {
      const context = viewContextOf(this.#options, this.#height, tokenId)
      return (row: HistoryRow): readonly string[] => {
        const tx = searchableOf(row, context)
        return tx === undefined ? [] : searchTexts(tx, context.fiatCode)
      }
    }
    return new SearchIndex({ rows: this.#rows, clock: this.#options.clock, textsIn })
  }

  async #find(txid: string): Promise<HistoryRow | undefined> {
    await this.#open()
    return this.#rows.find(this.#options.hashOf(txid))
  }

  /** Takes in what changed while nobody watched, once; what waits in the queue comes after it. */
  #open(): Promise<void> {
    return this.#opening === undefined ? this.#mutex.run(() => this.#openNow()) : this.#opening
  }

  /** The same within the queue. */
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
    const { clock, hashOf, report, info } = this.#options
    const context: ReportContext = {
      fiatCode: this.fiatCode,
      ...{ pluginId: info.pluginId, rows: this.#rows, files: this.#files, hashOf, report },
      chain: chainAt(this.#options, this.#height),
      seconds: clock.now() / 1000,
      yieldNow: this.makeYielder()
    }
    const taken = await reportChanges(context, transactions)
    const { rows, files } = taken
    const isNews = checkpoint !== undefined && checkpoint !== this.#rows.state.checkpoint
    // A write of rows also writes those that had to wait.
    if (rows.size > 0 || (isNews && this.#rows.isDurable)) {
      const state = { height: this.#height, ...(isNews && { checkpoint }) }
      await this.#rows.write({ rows, files, state }).catch(error => {
        this.#rows.defer(taken)
        report(error)
      })
      this.#search?.update(rows)
    }
    if (this.#rows.ownFiles > MANY_FILES) await this.#applyChangedFiles()
    return taken
  }

  async #applyChangedFiles(): Promise<string[]> {
    const { repo } = this.#options
    const context: FileContext = { repo, rows: this.#rows, files: this.#files, yieldNow: this.makeYielder() }
    const { paths, revision } = await this.#rows.changedFiles()
    const named = new Set([...this.#namedPaths, ...paths])
    this.#namedPaths = []
    const txids: string[] = []
    for await (const rows of fileChanges(context, [...named])) {
      await this.#rows.write({ rows }).catch(error => {
        this.#rows.defer({ rows })
        this.#options.report(error)
      })
      this.#search?.update(rows)
      for (const { after } of rows.values())
        if (after?.reports[0] !== undefined) txids.push(after.reports[0].txid)
    }
    if (!this.#rows.isDurable) return txids
    if (revision !== this.#rows.state.taken)
      await this.#rows.write({ state: { taken: revision } }).catch(this.#options.report)
    return txids
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
  }

  /** Deletes tables that are no longer in use, a few rows at a time between other work. */
  #deleteOldRows(): void {
    this.#mutex
      .run(async () => !this.#isClosed && (await this.#rows.deleteOldRows()))
      .then(isMore => isMore && this.#deleteOldRows(), this.#options.report)
  }
}

/** After so many files of our own the repo is asked to pass over them, so that a crash has less to take in. */
const MANY_FILES = 20_000

/** What the history needs of its wallet. */
interface HistoryOptions {
  readonly walletId: string
  readonly info: CurrencyInfo
  readonly repo: Repo
  readonly clock: Clock
  /** The wallet's file-name hash. */
  hashOf(text: string): string
  /** The fiat currency that the wallet is shown in now, such as `iso:USD`. */
  fiatCode(): string
  /** The tokens of its currency as they are known now. */
  readonly config: { getSnapshot(): Pick<CurrencyConfigSnapshot, 'allTokens'> }
  /** What was survived: a file that cannot be read and is kept, a row that could not be written yet. */
  report(error: unknown): void
}

/** What was sent from this device and is watched. */
interface SentPayments {
  /** What has become of a payment; undefined of any other transaction, and of one that is confirmed. */
  sightOf(txid: string): PaymentSight | undefined
}

/** The chain of a wallet at a height. */
const chainAt = ({ info }: HistoryOptions, height: number): ChainHeight => ({
  height,
  required: info.requiredConfirmations ?? DEFAULT_REQUIRED
})

/** An asset with the code under which older files know it; '' where that code is the chain's own coin's. */
const assetNameOf = (parts: HistoryOptions, tokenId: string | null): AssetName => {
  const currencyCode = codeOf(parts, tokenId)
  const isShared = tokenId !== null && currencyCode === parts.info.currencyCode
  return { tokenId, currencyCode: isShared ? '' : currencyCode }
}

/** What the transactions in the history of an asset are shown with, at a height. */
const viewContextOf = (parts: HistoryOptions, height: number, tokenId: string | null): ViewContext => {
  const { walletId, info } = parts
  return {
    walletId,
    currencyCode: info.currencyCode,
    fiatCode: parts.fiatCode(),
    chain: chainAt(parts, height),
    asset: assetNameOf(parts, tokenId),
    assetCode: codeOf(parts, tokenId)
  }
}

/** The code of an asset; '' for a token that is not known. */
const codeOf = ({ info, config }: HistoryOptions, tokenId: string | null): string => {
  if (tokenId === null) return info.currencyCode
  const { allTokens } = config.getSnapshot()
  return Object.hasOwn(allTokens, tokenId) ? (allTokens[tokenId]?.currencyCode ?? '') : ''
}

/** How deep a transaction must lie where its currency does not say (specification §9). */
const DEFAULT_REQUIRED = 1

/** Which note is changed. */
export interface NotedAsset {
  readonly txid: string
  /** null: the chain's own coin, whose notes show for the tokens of the transaction too. */
  readonly tokenId: string | null
}

/**
 * Changes what is noted on a transaction, durably; null deletes, absent keeps (protocol §6.4 "Metadata edit").
 *
 * @throws OPTION_INVALID, TX_NOT_FOUND; CORRUPT_FILE if its file cannot be read, which stays as it is
 */
export const saveMetadata = async (
  history: History,
  { txid, tokenId }: NotedAsset,
  change: MetadataChange
): Promise<void> => {
  checkMetadata(change)
  const tx = await history.find(txid, tokenId)
  if (tx === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  const inFile = withFiatCode(change, history.fiatCode)
  await history.editFile(txid, present => {
    const file = present ?? newTransactionFile(tx, history.creationDateOf(tx.date))
    return withMetadata(file, history.assetName(tokenId), metadata => mergeMetadata(metadata, inFile))
  })
}
