import { WalletError } from '../../errors/wallet-error.ts'
import type { EngineTransaction } from '../../types/transaction.ts'
import { fileText, type HistoryFiles } from './history-files.ts'
import { type ChainView, EMPTY_ROW, type HistoryRow, parseRow, reportOf, withReport } from './history-row.ts'
import type { HistoryRows, RowChange } from './history-rows.ts'
import { type KeptFile, keptFileOf, newFileOf, transactionFilePath } from './transaction-file.ts'

/** What reports are taken into. */
export interface ReportPlace {
  readonly pluginId: string
  readonly rows: HistoryRows
  readonly files: HistoryFiles
  readonly chain: ChainView
  /** The wallet's file-name hash. */
  hashOf(text: string): string
  /** Unix seconds. */
  readonly seconds: number
  /** A transaction that cannot be kept. */
  report(error: unknown): void
  breathe(): Promise<void> | undefined
}

/** What some reports come to; nothing is written yet. */
export interface TakenReports {
  readonly rows: Map<string, RowChange & { readonly after: HistoryRow }>
  /** Files for incoming transactions seen for the first time. */
  readonly files: Map<string, string>
  readonly created: string[]
  readonly changed: string[]
}

/**
 * Joins what an engine reports with the rows there are; what is known already costs next to nothing.
 *
 * An incoming transaction that has no file gets one, dated now.
 *
 * @see protocol §6.4 "Incoming batch"
 */
export const takeReports = async (
  place: ReportPlace,
  transactions: readonly EngineTransaction[]
): Promise<TakenReports> => {
  const reports = await prepare(place, transactions)
  const known = await knownTexts(place.rows, reports)
  const drafts = new Map<string, Draft>()
  for (const { key, report, text, tx } of reports) {
    const draft = drafts.get(key)
    const before = known.get(key)
    if (draft === undefined && before?.includes(text)) continue
    const present = draft ?? draftOf(before === undefined ? undefined : parseRow(before), tx)
    drafts.set(key, { ...present, after: withReport(present.after, report, place.chain) })
    await place.breathe()
  }
  return settle(place, drafts)
}

interface Prepared {
  readonly key: string
  readonly tx: EngineTransaction
  readonly report: EngineTransaction
  readonly text: string
}

interface Draft extends RowChange {
  readonly after: HistoryRow
  readonly tx: EngineTransaction
}

const draftOf = (before: HistoryRow | undefined, tx: EngineTransaction): Draft =>
  before === undefined ? { after: EMPTY_ROW, tx } : { before, after: before, tx }

const prepare = async (
  { pluginId, hashOf, report: tell, breathe }: ReportPlace,
  transactions: readonly EngineTransaction[]
): Promise<Prepared[]> => {
  const reports: Prepared[] = []
  for (const tx of transactions) {
    try {
      const report = reportOf(tx)
      const text = JSON.stringify(report)
      if (text.length > MAX_LENGTH) throw new RangeError('The transaction is too large')
      encodeURIComponent(report.tokenId ?? '')
      reports.push({ key: hashOf(tx.txid), tx, report, text })
    } catch (error) {
      if (error instanceof WalletError) throw error
      tell(new WalletError('BOGUS_TX', { pluginId, path: 'otherParams' }, error))
    }
    await breathe()
  }
  return reports
}

const knownTexts = async (
  rows: HistoryRows,
  reports: readonly Prepared[]
): Promise<ReadonlyMap<string, string>> => {
  const keys = [...new Set(reports.map(({ key }) => key))]
  const known = new Map<string, string>()
  for (const [at, text] of (await rows.texts(keys)).entries()) {
    if (text !== undefined) known.set(keys[at] ?? '', text)
  }
  return known
}

const settle = async (place: ReportPlace, drafts: ReadonlyMap<string, Draft>): Promise<TakenReports> => {
  const taken: TakenReports = { rows: new Map(), files: new Map(), created: [], changed: [] }
  for (const [key, { before, after, tx }] of drafts) {
    const isNew = after.paths.length === 0 && before === undefined && !isSend(tx)
    if (isNew) {
      const file = newFileOf(tx.txid, after.reports, { creationDate: place.seconds, metadata: tx.metadata })
      const path = transactionFilePath(file.creationDate, key)
      taken.files.set(path, fileText(file))
      taken.rows.set(key, { after: { ...after, paths: [path], file: keptFileOf(file) } })
    } else {
      const isOrphan = before !== undefined && before.reports.length === 0
      const file = isOrphan ? await readFile(place.files, after.paths) : {}
      taken.rows.set(key, { ...(before === undefined ? {} : { before }), after: { ...after, ...file } })
    }
    ;(isNew ? taken.created : taken.changed).push(tx.txid)
    await place.breathe()
  }
  return taken
}

const readFile = async (
  files: HistoryFiles,
  paths: readonly string[]
): Promise<{ readonly file?: KeptFile }> => {
  const file = await files.merged(paths)
  return file === undefined ? {} : { file: keptFileOf(file) }
}

const isSend = (tx: EngineTransaction): boolean => tx.isSend ?? tx.nativeAmount.startsWith('-')

/** Characters of one report; a transaction of the largest block is not as long. */
const MAX_LENGTH = 4_000_000
