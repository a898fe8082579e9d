import { compact } from '../../base/compact.ts'
import { WalletError } from '../../base/errors.ts'
import type { FileHash, Txid } from '../../types/ids.ts'
import type { EngineTransaction } from '../../types/transaction.ts'
import {
  LEGACY_TRANSACTIONS,
  newFileOf,
  parseTransactionFilePath,
  rowFileOf,
  type TransactionFile,
  transactionFilePath
} from './file-format.ts'
import { filesThatCount, fileText, isLegacy, mergeFiles, type TransactionFiles } from './files.ts'
import {
  type ChainHeight,
  EMPTY_ROW,
  type HistoryRow,
  newRowText,
  parseRow,
  reportOf,
  withReport
} from './row.ts'
import type { HistoryRows, RowChange } from './rows.ts'
import { confirmationsIn, type HistoryOptions } from './view.ts'

/** The history that changes are worked out for, as it stands then. */
export interface ChangeContext {
  readonly options: HistoryOptions
  readonly rows: HistoryRows
  readonly files: TransactionFiles
  /** The chain by which rows were judged last. */
  readonly chain: ChainHeight
  /** The wallet's fiat currency, in which an engine's `amountFiat` is. */
  readonly fiatCode: string
  /** Now, in Unix seconds. */
  readonly seconds: number
  yieldNow(): Promise<void> | undefined
}

/** Which transactions are new, and which have changed. */
export interface TxidChanges {
  readonly created: readonly Txid[]
  readonly changed: readonly Txid[]
}

/** The changes that follow from reports; nothing is written yet. */
interface ReportChanges {
  readonly rows: Map<FileHash, RowChange & { readonly after: HistoryRow }>
  /** Files for incoming transactions seen for the first time. */
  readonly files: Map<string, string>
  readonly created: Txid[]
  readonly changed: Txid[]
}

/**
 * Joins what an engine reports with the rows there are; what is known already costs next to nothing.
 *
 * An incoming transaction that has no file gets one, dated now.
 *
 * @see protocol §6.4 "Incoming batch"
 */
export const reportChanges = async (
  context: ChangeContext,
  transactions: readonly EngineTransaction[]
): Promise<ReportChanges> => {
  const reports = await prepare(context, transactions)
  const texts = await knownTexts(context.rows, reports)
  const drafts = new Map<FileHash, ReportDraft>()
  for (let start = 0; start < reports.length; start += GROUP) {
    draftReports(drafts, reports.slice(start, start + GROUP), { texts, chain: context.chain })
    await context.yieldNow()
  }
  return collectChanges(context, drafts)
}

/** The number of reports that are processed without a pause. */
const GROUP = 64

interface Prepared {
  readonly key: FileHash
  readonly tx: EngineTransaction
  readonly report: EngineTransaction
  readonly text: string
}

interface ReportDraft {
  readonly before: HistoryRow | undefined
  after: HistoryRow
  /** The first report of it. */
  readonly first: Prepared
}

const draftReports = (
  drafts: Map<FileHash, ReportDraft>,
  reports: readonly Prepared[],
  { texts, chain }: { readonly texts: ReadonlyMap<string, string>; readonly chain: ChainHeight }
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
  context: ChangeContext,
  transactions: readonly EngineTransaction[]
): Promise<Prepared[]> => {
  const reports: Prepared[] = []
  for (let start = 0; start < transactions.length; start += GROUP) {
    for (const tx of transactions.slice(start, start + GROUP)) {
      const prepared = prepareOne(context, tx)
      if (prepared !== undefined) reports.push(prepared)
    }
    await context.yieldNow()
  }
  return reports
}

const prepareOne = (
  { options: { info, hashOf, report: reportError } }: ChangeContext,
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
    reportError(new WalletError('BOGUS_TX', { pluginId: info.pluginId, path: 'otherParams' }, error))
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

const collectChanges = async (
  context: ChangeContext,
  drafts: ReadonlyMap<FileHash, ReportDraft>
): Promise<ReportChanges> => {
  const changes: ReportChanges = { rows: new Map(), files: new Map(), created: [], changed: [] }
  const orphans: string[] = []
  const all = [...drafts]
  for (let start = 0; start < all.length; start += GROUP) {
    for (const [key, draft] of all.slice(start, start + GROUP)) {
      addChange(changes, draft, context)
      if (draft.before?.reports.length === 0) orphans.push(key)
    }
    await context.yieldNow()
  }
  await addFiles(context, changes, orphans)
  return changes
}

const addChange = (changes: ReportChanges, draft: ReportDraft, context: ChangeContext): void => {
  const { before, after, first } = draft
  const isNew = before === undefined && !isSend(first.tx)
  if (isNew) addNew(changes, draft, context)
  else changes.rows.set(first.key, { before, after, text: undefined })
  ;(isNew ? changes.created : changes.changed).push(first.tx.txid)
}

/** Opens the files that came before the engine's reports of their transactions. */
const addFiles = async (
  { files }: ChangeContext,
  { rows }: ReportChanges,
  keys: readonly FileHash[]
): Promise<void> => {
  const merged = await files.mergeAll(keys.map(key => rows.get(key)?.after.paths ?? []))
  for (const [index, key] of keys.entries()) {
    const [file, change] = [merged[index], rows.get(key)]
    if (file === undefined || change === undefined) continue
    rows.set(key, { ...change, after: { ...change.after, file: rowFileOf(file) } })
  }
}

const addNew = (
  changes: ReportChanges,
  { after: { reports, isFinal }, first }: ReportDraft,
  { seconds, fiatCode }: ChangeContext
): void => {
  const { key, tx } = first
  const file = newFileOf(tx.txid, reports, { creationDate: seconds, metadata: tx.metadata, fiatCode })
  const text = JSON.stringify(file)
  const path = transactionFilePath(seconds, key)
  const paths = [path]
  const after: HistoryRow = isFinal ? { reports, isFinal, paths, file } : { reports, paths, file }
  const isOnlyReport = reports.length === 1 && reports[0] === first.report
  changes.files.set(path, text)
  changes.rows.set(key, {
    before: undefined,
    after,
    text: isOnlyReport ? newRowText(after, first.text, text) : undefined
  })
}

const isSend = (tx: EngineTransaction): boolean => tx.isSend ?? tx.nativeAmount.startsWith('-')

/** Characters of one report; a transaction of the largest block is not as long. */
const MAX_LENGTH = 4_000_000

/** The rows that follow from changed files, some at a time; each lot is to be written before the next is asked for. */
export async function* fileChanges(
  context: ChangeContext,
  paths: readonly string[]
): AsyncGenerator<ReadonlyMap<FileHash, RowChange>> {
  const keys = [...(await keysOfFiles(context, paths))]
  for (let start = 0; start < keys.length; start += FILES_AT_ONCE) {
    yield await changesOf(context, new Map(keys.slice(start, start + FILES_AT_ONCE)))
  }
}

const FILES_AT_ONCE = 1000

/** Which row each of some changed files belongs to: paths by key. Files of no transaction are left out. */
const keysOfFiles = async (
  context: ChangeContext,
  paths: readonly string[]
): Promise<Map<FileHash, string[]>> => {
  const keys = new Map<FileHash, string[]>()
  const add = (key: FileHash, path: string): void => {
    const known = keys.get(key)
    if (known === undefined) keys.set(key, [path])
    else known.push(path)
  }
  const gone = new Set<string>()
  let hashes: readonly (FileHash | undefined)[] = []
  for (const [index, path] of paths.entries()) {
    if (index % FILES_AT_ONCE === 0)
      hashes = await context.files.hashesOf(paths.slice(index, index + FILES_AT_ONCE))
    const key = hashes[index % FILES_AT_ONCE]
    if (key !== undefined) add(key, path)
    else if (isLegacy(path) && !(await context.options.repo.has(path))) gone.add(path)
    await context.yieldNow()
  }
  if (gone.size > 0) for (const [owner, path] of await ownersOf(context, gone)) add(owner, path)
  return keys
}

/**
 * The rows after some of their files changed. Of a transaction that the engine has not reported, only the paths are
 * kept: its files are opened when it is reported.
 *
 * @param changed - paths by key, as {@link keysOfFiles} gives them
 */
const changesOf = async (
  context: ChangeContext,
  changed: ReadonlyMap<FileHash, readonly string[]>
): Promise<Map<FileHash, RowChange>> => {
  const drafts: FileDraft[] = []
  const keys = [...changed.keys()]
  const texts = await context.rows.texts(keys)
  for (const [at, key] of keys.entries()) {
    const text = texts[at]
    const before = text === undefined ? undefined : parseRow(text)
    drafts.push({ key, before, paths: await presentPaths(context, before, changed.get(key) ?? []) })
    await context.yieldNow()
  }
  const reported = drafts.filter(({ before }) => before !== undefined && before.reports.length > 0)
  const merged = await context.files.mergeAll(reported.map(({ paths }) => paths))
  const files = new Map(reported.map(({ key }, index) => [key, merged[index]]))
  const rows = new Map<FileHash, RowChange>()
  for (const { key, before = EMPTY_ROW, paths } of drafts) {
    const { file: _replaced, ...rest } = before
    const file = files.get(key)
    const after = { ...rest, paths, ...compact({ file: file === undefined ? undefined : rowFileOf(file) }) }
    const isKept = before.reports.length > 0 || paths.length > 0
    if (before !== EMPTY_ROW) rows.set(key, isKept ? { before, after } : { before })
    else if (isKept) rows.set(key, { after })
  }
  return rows
}

interface FileDraft {
  readonly key: FileHash
  readonly before: HistoryRow | undefined
  readonly paths: readonly string[]
}

const presentPaths = async (
  { options: { repo } }: ChangeContext,
  before: HistoryRow | undefined,
  changed: readonly string[]
): Promise<string[]> => {
  const paths = new Set(before?.paths)
  for (const path of changed) {
    if (await repo.has(path)) paths.add(path)
    else paths.delete(path)
  }
  return sortedPaths([...paths])
}

/** Paths once each, the oldest first: a row whose files are not open yet then has the date of the one that counts. */
const sortedPaths = (paths: readonly string[]): string[] =>
  [...new Set(paths)].sort((a, b) => dateIn(a) - dateIn(b))

const dateIn = (path: string): number => parseTransactionFilePath(path)?.creationDate ?? 0

/** Files of the oldest form that are gone say no more whose they were; the rows do. */
const ownersOf = async (
  { rows }: ChangeContext,
  gone: ReadonlySet<string>
): Promise<[owner: FileHash, path: string][]> => {
  const owners: [owner: FileHash, path: string][] = []
  for await (const batch of rows.scan()) {
    for (const { key, text } of batch) {
      if (!text.includes(`"${LEGACY_TRANSACTIONS}/`)) continue
      for (const path of parseRow(text).paths) if (gone.has(path)) owners.push([key, path])
    }
  }
  return owners
}

/** The changes that follow from a new height; nothing is written yet. */
interface HeightChanges {
  readonly rows: ReadonlyMap<FileHash, RowChange>
  /** The txids whose confirmations it changes. */
  readonly txids: Txid[]
}

/**
 * Judges rows by a new height.
 *
 * Only rows in blocks that are not deep enough by both heights are read. A row that was confirmed stays so: when the
 * height falls, those it would judge otherwise are marked for good.
 *
 * @see specification §4 "Transaction confirmations"
 */
export const heightChanges = async (
  { rows, chain, yieldNow }: ChangeContext,
  height: number
): Promise<HeightChanges> => {
  const next = { ...chain, height }
  const keys = await rows.keysAbove(Math.min(chain.height, height) - chain.required + 1)
  const txids: Txid[] = []
  const marked = new Map<FileHash, RowChange>()
  for (let start = 0; start < keys.length; start += ROWS_AT_ONCE) {
    const some = keys.slice(start, start + ROWS_AT_ONCE)
    for (const [at, text] of (await rows.texts(some)).entries()) {
      await yieldNow()
      if (text === undefined) continue
      const row = parseRow(text)
      const before = confirmationsIn(row, chain)
      if (before === confirmationsIn(row, next)) continue
      if (before !== 'confirmed') txids.push(txidOf(row))
      else marked.set(some[at] ?? '', { before: row, after: { ...row, isFinal: true } })
    }
  }
  return { rows: marked, txids }
}

/** So many rows are in memory at once: of a new wallet all may lie above the height. */
const ROWS_AT_ONCE = 1000

const txidOf = ({ reports }: HistoryRow): Txid => reports[0]?.txid ?? ''

/** The changes of an edit; nothing is written yet. */
interface EditChanges {
  readonly after: HistoryRow
  /** By path. */
  readonly texts: ReadonlyMap<string, string>
}

/** A transaction whose files are edited. */
interface EditedTransaction {
  /** The hash in the names of the files. */
  readonly key: FileHash
  readonly before: HistoryRow | undefined
  /** The present texts of its files. */
  readonly texts: readonly (string | undefined)[]
}

/** Makes a file of what all earlier changes left; undefined if there is none yet. */
export type FileChange = (file: TransactionFile | undefined) => TransactionFile

/**
 * Changes the files of a transaction.
 *
 * If two devices have written one each, both get the change, so that it holds whichever counts. A legacy file stays as
 * it is, beside a new one of the same date.
 *
 * @throws CORRUPT_FILE if there is one that cannot be read
 */
export const editChanges = (
  { files, options: { info } }: ChangeContext,
  { key, before, texts: present }: EditedTransaction,
  change: FileChange
): EditChanges => {
  const found = files.parse(before?.paths ?? [], present)
  const next = change(mergeFiles(found, info.currencyCode))
  const texts = new Map<string, string>()
  for (const { path, file, isLegacy } of found) if (!isLegacy) texts.set(path, fileText(change(file)))
  const [first] = filesThatCount(found)
  const isWritable = first !== undefined && !first.isLegacy
  texts.set(isWritable ? first.path : transactionFilePath(next.creationDate, key), fileText(next))
  const paths = sortedPaths([...(before?.paths ?? []), ...texts.keys()])
  return { texts, after: { ...(before ?? EMPTY_ROW), paths, file: rowFileOf(next) } }
}
