import type { NativeAmount } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import type { TokenId } from '../../types/ids.ts'
import { otherFeesOf } from '../../types/network-fee.ts'
import type { Confirmations, EngineTransaction } from '../../types/transaction.ts'
import { parseTransactionFilePath, type RowFile } from './file-format.ts'

/** A transaction in the tables of the history. */
export interface HistoryRow {
  /** The engine's reports, one for each asset; none while only a file is known. */
  readonly reports: readonly EngineTransaction[]
  /** It was deep enough once, so that it counts as confirmed for good. */
  readonly isFinal?: boolean
  readonly paths: readonly string[]
  /** The content of the files; read once the engine has reported the transaction, absent if none is readable. */
  readonly file?: RowFile
}

/** The row of a transaction of which nothing is known. */
export const EMPTY_ROW: HistoryRow = { reports: [], paths: [] }

/** The chain as it is seen now. */
export interface ChainHeight {
  readonly height: number
  readonly required: number
}

/** Copies the fields of an engine's transaction that are kept, in one order, so that equal ones are equal texts. */
export const reportOf = (tx: EngineTransaction): EngineTransaction => {
  const { confirmations, tokenId } = tx
  const isFinal = confirmations === 'confirmed' || confirmations === 'dropped'
  return withoutUndefined({
    txid: tx.txid,
    date: tx.date,
    blockHeight: tx.blockHeight,
    tokenId: tokenId === '' ? null : tokenId,
    nativeAmount: tx.nativeAmount,
    networkFee: tx.networkFee,
    parentNetworkFee: tx.parentNetworkFee,
    networkFees: tx.networkFees,
    ourReceiveAddresses: tx.ourReceiveAddresses,
    signedTx: tx.signedTx,
    memos: tx.memos,
    isSend: tx.isSend,
    currencyCode: tx.currencyCode,
    confirmations: isFinal ? confirmations : undefined,
    grade: tx.grade,
    action: tx.action,
    feeRateUsed: tx.feeRateUsed,
    txSecret: tx.txSecret,
    otherParams: tx.otherParams
  })
}

/** Returns the row with a report about one asset; all assets of a transaction lie in one block. */
export const withReport = (row: HistoryRow, report: EngineTransaction, chain: ChainHeight): HistoryRow => {
  const { blockHeight, confirmations, tokenId } = report
  const before = row.reports[0]
  const isDropped = blockHeight < 0 || confirmations === 'dropped'
  const isFinal =
    !isDropped &&
    (confirmations === 'confirmed' ||
      (row.isFinal === true && before?.blockHeight === blockHeight) ||
      confirmationsOf({ blockHeight, chainHeight: chain.height, required: chain.required }) === 'confirmed')
  const others = row.reports.filter(other => other.tokenId !== tokenId)
  const reports = others.length === 0 ? [report] : [...others.map(other => inBlockOf(report, other)), report]
  const { paths, file } = row
  if (file === undefined) return isFinal ? { reports, isFinal, paths } : { reports, paths }
  return isFinal ? { reports, isFinal, paths, file } : { reports, paths, file }
}

/** Returns the report about another asset, with the place in the chain that all of them share. */
const inBlockOf = (
  { date, blockHeight, confirmations }: EngineTransaction,
  { confirmations: _earlier, ...other }: EngineTransaction
): EngineTransaction => reportOf({ ...other, date, blockHeight, ...compact({ confirmations }) })

/** Returns true if the history of an asset lists a transaction; also the assets that pay only its fees do. */
export const isListedFor = ({ reports }: HistoryRow, tokenId: TokenId | null): boolean =>
  reports.some(report => report.tokenId === tokenId || feeIn(report, tokenId) !== undefined)

/** Returns the fee that another asset pays for a transaction; undefined for its own, and for one that pays none. */
export const feeIn = (report: EngineTransaction, asset: TokenId | null): NativeAmount | undefined => {
  if (asset === null) return report.tokenId === null ? undefined : report.parentNetworkFee
  return otherFeesOf(report).find(({ tokenId }) => tokenId === asset)?.nativeAmount
}

/** The tokens whose history lists a transaction, as one or the other of its rows has it. */
export const tokenIdsOf = (...rows: readonly (HistoryRow | undefined)[]): TokenId[] => {
  const tokenIds: TokenId[] = []
  for (const row of rows) {
    for (const report of row?.reports ?? NONE)
      for (const { tokenId } of [report, ...otherFeesOf(report)])
        if (tokenId !== null && !tokenIds.includes(tokenId)) tokenIds.push(tokenId)
  }
  return tokenIds
}

const NONE: readonly EngineTransaction[] = []

/** The date by which a transaction is listed, in seconds: the earlier one of engine and file. */
export const rowDateOf = (row: HistoryRow): number => {
  const [path = ''] = row.paths
  const fileDate = row.file?.creationDate ?? parseTransactionFilePath(path)?.creationDate
  const date = row.reports[0]?.date ?? fileDate ?? 0
  return fileDate === undefined ? date : Math.min(date, fileDate)
}

/** The tag of rows whose confirmations no height changes. */
const SETTLED = -1
const MAX_TAG = 0x7fff_ffff

/** Returns the tag by which rows are found that a new height may change: their block, or nothing above zero. */
export const heightTagOf = ({ reports, isFinal }: HistoryRow): number => {
  const [report] = reports
  if (report === undefined || isFinal || report.confirmations !== undefined) return SETTLED
  return report.blockHeight < 0 ? SETTLED : Math.min(report.blockHeight, MAX_TAG)
}

/** The text of a row in its table. */
export const rowText = (row: HistoryRow): string => JSON.stringify(row)

/** Joins the text of a row whose one report and whose file are texts already: they come by the thousand. */
export const newRowText = ({ isFinal, paths }: HistoryRow, report: string, file: string): string => {
  const flag = isFinal ? '"isFinal":true,' : ''
  return `{"reports":[${report}],${flag}"paths":${JSON.stringify(paths)},"file":${file}}`
}

/** Reads back what {@link rowText} wrote; the text is our own, sealed and of one version, so nothing is checked. */
export const parseRow = (text: string): HistoryRow => JSON.parse(text) as HistoryRow

const withoutUndefined = (
  draft: { [K in keyof EngineTransaction]: EngineTransaction[K] | undefined }
): EngineTransaction => draft as EngineTransaction

/** The heights that decide how deep a transaction lies. */
export interface Depth {
  /** 0: unconfirmed; negative: dropped. */
  readonly blockHeight: number
  readonly chainHeight: number
  readonly required: number
}

/**
 * Returns the confirmations of a transaction (pure).
 *
 * @see specification §4 "Transaction confirmations"
 */
export const confirmationsOf = ({ blockHeight, chainHeight, required }: Depth): Confirmations => {
  if (blockHeight < 0) return 'dropped'
  if (blockHeight === 0) return 'unconfirmed'
  const depth = chainHeight - blockHeight + 1
  if (depth <= 0) return 'syncing'
  return depth >= required ? 'confirmed' : depth
}
