import { WalletError } from '../../base/errors.ts'
import type { EngineTransaction } from '../../types/transaction.ts'
import type { HistoryFiles } from './history-files.ts'
import {
  type ChainView,
  EMPTY_ROW,
  type HistoryRow,
  newRowText,
  parseRow,
  reportOf,
  withReport
} from './history-row.ts'
import type { HistoryRows, RowChange } from './history-rows.ts'
import { keptFileOf, newFileOf, transactionFilePath } from './transaction-file.ts'

/** What reports are taken into. */
export interface ReportPlace {
  readonly pluginId: string
  /** The wallet's fiat currency, in which an engine's `amountFiat` is. */
  readonly fiatCode: string
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
  const texts = await knownTexts(place.rows, reports)
  const drafts = new Map<string, Draft>()
  for (let start = 0; start < reports.length; start += GROUP) {
    draftSome(drafts, reports.slice(start, start + GROUP), { texts, chain: place.chain })
    await place.breathe()
  }
  return settle(place, drafts)
}

/** How many reports are looked at without a pause. */
const GROUP = 64

interface Prepared {
  readonly key: string
  readonly tx: EngineTransaction
  readonly report: EngineTransaction
  readonly text: string
}

interface Draft {
  readonly before: HistoryRow | undefined
  after: HistoryRow
  /** The first report of it. */
  readonly first: Prepared
}

const draftSome = (
  drafts: Map<string, Draft>,
  reports: readonly Prepared[],
  { texts, chain }: { readonly texts: ReadonlyMap<string, string>; readonly chain: ChainView }
): void => {
  for (const first of reports) {
    let draft = drafts.get(first.key)
    if (draft === undefined) {
      const known = texts.get(first.key)
      if (known?.includes(first.text)) continue
      const before = known === undefined ? undefined : parseRow(known)
      draft = { before, after: before ?? EMPTY_ROW, first }
      drafts.set(first.key, draft)
    }
    draft.after = withReport(draft.after, first.report, chain)
  }
}

const prepare = async (
  place: ReportPlace,
  transactions: readonly EngineTransaction[]
): Promise<Prepared[]> => {
  const reports: Prepared[] = []
  for (let start = 0; start < transactions.length; start += GROUP) {
    for (const tx of transactions.slice(start, start + GROUP)) {
      const prepared = prepareOne(place, tx)
      if (prepared !== undefined) reports.push(prepared)
    }
    await place.breathe()
  }
  return reports
}

const prepareOne = (
  { pluginId, hashOf, report: tell }: ReportPlace,
  tx: EngineTransaction
): Prepared | undefined => {
  try {
    const report = reportOf(tx)
    const text = JSON.stringify(report)
    if (text.length > MAX_LENGTH) throw new RangeError('The transaction is too large')
    if (report.tokenId !== null) encodeURIComponent(report.tokenId)
    return { key: hashOf(tx.txid), tx, report, text }
  } catch (error) {
    if (error instanceof WalletError) throw error
    tell(new WalletError('BOGUS_TX', { pluginId, path: 'otherParams' }, error))
    return undefined
  }
}

const knownTexts = async (
  rows: HistoryRows,
  reports: readonly Prepared[]
): Promise<ReadonlyMap<string, string>> => {
  const keys = [...new Set(reports.map(({ key }) => key))]
  const known = new Map<string, string>()
  const texts = await rows.texts(keys)
  for (let at = 0; at < keys.length; at += 1) {
    const text = texts[at]
    if (text !== undefined) known.set(keys[at] ?? '', text)
  }
  return known
}

const settle = async (place: ReportPlace, drafts: ReadonlyMap<string, Draft>): Promise<TakenReports> => {
  const taken: TakenReports = { rows: new Map(), files: new Map(), created: [], changed: [] }
  const orphans: string[] = []
  const all = [...drafts]
  for (let start = 0; start < all.length; start += GROUP) {
    for (const [key, draft] of all.slice(start, start + GROUP)) {
      settleOne(taken, draft, place)
      if (draft.before?.reports.length === 0) orphans.push(key)
    }
    await place.breathe()
  }
  await addFiles(place, taken, orphans)
  return taken
}

const settleOne = (taken: TakenReports, draft: Draft, place: ReportPlace): void => {
  const { before, after, first } = draft
  const isNew = before === undefined && !isSend(first.tx)
  if (isNew) addNew(taken, draft, place)
  else taken.rows.set(first.key, { before, after, text: undefined })
  ;(isNew ? taken.created : taken.changed).push(first.tx.txid)
}

/** Opens the files that came before the engine told of their transactions. */
const addFiles = async (
  { files }: ReportPlace,
  { rows }: TakenReports,
  keys: readonly string[]
): Promise<void> => {
  const merged = await files.mergeAll(keys.map(key => rows.get(key)?.after.paths ?? []))
  for (const [index, key] of keys.entries()) {
    const [file, change] = [merged[index], rows.get(key)]
    if (file === undefined || change === undefined) continue
    rows.set(key, { ...change, after: { ...change.after, file: keptFileOf(file) } })
  }
}

const addNew = (
  taken: TakenReports,
  { after: { reports, isFinal }, first }: Draft,
  { seconds, fiatCode }: ReportPlace
): void => {
  const { key, tx } = first
  const file = newFileOf(tx.txid, reports, { creationDate: seconds, metadata: tx.metadata, fiatCode })
  const text = JSON.stringify(file)
  const path = transactionFilePath(seconds, key)
  const paths = [path]
  const after: HistoryRow = isFinal ? { reports, isFinal, paths, file } : { reports, paths, file }
  const isOnlyReport = reports.length === 1 && reports[0] === first.report
  taken.files.set(path, text)
  taken.rows.set(key, {
    before: undefined,
    after,
    text: isOnlyReport ? newRowText(after, first.text, text) : undefined
  })
}

const isSend = (tx: EngineTransaction): boolean => tx.isSend ?? tx.nativeAmount.startsWith('-')

/** Characters of one report; a transaction of the largest block is not as long. */
const MAX_LENGTH = 4_000_000
