import { type NativeAmount, ZERO } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import type { Clock } from '../../io/io.ts'
import type { Repo } from '../../sync/repo.ts'
import type { CurrencyConfigSnapshot, CurrencyInfo } from '../../types/currency.ts'
import type { FileHash, TokenId, WalletId } from '../../types/ids.ts'
import type {
  Confirmations,
  EngineTransaction,
  Metadata,
  SpentTarget,
  Transaction
} from '../../types/transaction.ts'
import { type AssetName, type AssetRecord, type FilePayee, payeesOf, type RowFile } from './file-format.ts'
import { mergeMetadata, shownMetadata } from './metadata.ts'
import { type ChainHeight, confirmationsOf, feeIn, type HistoryRow, rowDateOf } from './row.ts'

/** The options of a wallet's history. */
export interface HistoryOptions {
  readonly walletId: WalletId
  readonly info: CurrencyInfo
  readonly repo: Repo
  readonly clock: Clock
  /** The wallet's file-name hash. */
  hashOf(text: string): FileHash
  /** The fiat currency that the wallet is shown in now, such as `iso:USD`. */
  fiatCode(): string
  /** The tokens of its currency as they are known now. */
  readonly config: { getSnapshot(): Pick<CurrencyConfigSnapshot, 'allTokens'> }
  /** Told of the payment of a swap whenever its file was read again. */
  sawSwap(payment: Pick<Transaction, 'date' | 'swapData' | 'txid' | 'walletId'>): void
  /** Hands a failure that was survived to the application: a file that cannot be read, a row that is not written yet. */
  report(error: unknown): void
}

/** The facts of a wallet that a view of a transaction needs. */
export interface ViewContext {
  readonly walletId: WalletId
  /** Of the chain's own coin. */
  readonly currencyCode: string
  readonly fiatCode: string
  readonly chain: ChainHeight
  /** The asset whose history is shown, and the code under which older files know it. */
  readonly asset: AssetName
  /** The code that the asset is shown with, unless the engine knows better. */
  readonly assetCode: string
}

/**
 * A transaction as an application sees it in the history of one asset; undefined if it is not in it (pure).
 *
 * Metadata is that of the chain's own coin, overlaid by that of the asset.
 *
 * @see specification §3 "Transaction as exposed to the app"; protocol §6.4
 */
export const viewOf = (row: HistoryRow, context: ViewContext): Transaction | undefined => {
  const { asset, chain, fiatCode } = context
  const report = reportFor(row, asset.tokenId)
  if (report === undefined) return undefined
  const { file } = row
  const view: ViewDraft = {
    tokenId: report.tokenId,
    txid: report.txid,
    date: rowDateOf(row),
    blockHeight: report.blockHeight,
    nativeAmount: report.nativeAmount,
    networkFee: report.networkFee,
    ourReceiveAddresses: report.ourReceiveAddresses,
    signedTx: report.signedTx,
    walletId: context.walletId,
    currencyCode: report.currencyCode ?? context.assetCode,
    confirmations: confirmationsIn(row, chain),
    isSend: report.isSend ?? report.nativeAmount.startsWith('-'),
    memos: report.memos ?? [],
    metadata: shownMetadata(file === undefined ? {} : metadataIn(file, context), fiatCode)
  }
  addReported(view, report)
  if (file !== undefined) addRecorded(view, file)
  return view
}

/** Returns the confirmations of a row's transaction (specification §4). */
export const confirmationsIn = ({ reports, isFinal }: HistoryRow, chain: ChainHeight): Confirmations => {
  const [report] = reports
  if (report === undefined) return 'unconfirmed'
  if (report.blockHeight < 0 || report.confirmations === 'dropped') return 'dropped'
  if (isFinal || report.confirmations === 'confirmed') return 'confirmed'
  const { height: chainHeight, required } = chain
  return confirmationsOf({ blockHeight: report.blockHeight, chainHeight, required })
}

/** Finds the report about one asset; one that pays only a fee of the transaction has that as its part in it. */
const reportFor = ({ reports }: HistoryRow, tokenId: TokenId | null): EngineTransaction | undefined => {
  const own = reports.find(report => report.tokenId === tokenId) ?? feeReportFor(reports, tokenId)
  if (tokenId === null || own === undefined || own.parentNetworkFee !== undefined) return own
  const parent = reports.find(report => report.tokenId === null)
  return parent === undefined ? own : { ...own, parentNetworkFee: parent.networkFee }
}

const feeReportFor = (
  reports: readonly EngineTransaction[],
  tokenId: TokenId | null
): EngineTransaction | undefined => {
  for (const report of reports) {
    const networkFee = feeIn(report, tokenId)
    if (networkFee === undefined) continue
    const { parentNetworkFee, currencyCode: _ofOther, ...rest } = report
    const coin = tokenId === null ? {} : compact({ parentNetworkFee })
    return { ...rest, ...coin, tokenId, nativeAmount: ZERO, networkFee }
  }
  return undefined
}

const metadataIn = (file: RowFile, { asset, currencyCode }: ViewContext): Metadata => {
  const parent = assetIn(file, { tokenId: null, currencyCode })?.metadata ?? {}
  if (asset.tokenId === null) return parent
  const own = assetIn(file, asset)?.metadata
  return own === undefined ? parent : mergeMetadata(parent, own)
}

const assetIn = (file: RowFile, { tokenId, currencyCode }: AssetName): AssetRecord | undefined => {
  const key = tokenId ?? ''
  if (Object.hasOwn(file.tokens, key)) return file.tokens[key]
  return Object.hasOwn(file.currencies, currencyCode) ? file.currencies[currencyCode] : undefined
}

type ViewDraft = { -readonly [K in keyof Transaction]: Transaction[K] }

// Assigned one by one: rows are shown by the thousand, and spreading them takes five times as long.
const addReported = (view: ViewDraft, report: EngineTransaction): void => {
  const { parentNetworkFee, networkFees, action, feeRateUsed, txSecret, otherParams, grade } = report
  if (grade !== undefined) view.grade = grade
  if (parentNetworkFee !== undefined) view.parentNetworkFee = parentNetworkFee
  if (networkFees !== undefined) view.networkFees = networkFees
  if (action !== undefined) view.action = action
  if (feeRateUsed !== undefined) view.feeRateUsed = feeRateUsed
  if (txSecret !== undefined) view.txSecret = txSecret
  if (otherParams !== undefined) view.otherParams = otherParams
}

/** Adds what the file says of the spend. */
const addRecorded = (view: ViewDraft, file: RowFile): void => {
  const { deviceDescription, feeRateRequested, feeRateUsed, secret, swap } = file
  const payees = payeesOf(file)
  if (deviceDescription !== undefined) view.deviceDescription = deviceDescription
  if (typeof feeRateRequested === 'string') view.networkFeeOption = feeRateRequested
  else if (feeRateRequested !== undefined) {
    view.networkFeeOption = 'custom'
    view.requestedCustomFee = feeRateRequested
  }
  if (feeRateUsed !== undefined) view.feeRateUsed = feeRateUsed
  if (payees !== undefined) view.spendTargets = payees.map(targetOf)
  if (secret !== undefined) view.txSecret = secret
  if (swap !== undefined) view.swapData = swap
}

/** A recipient that a file names, as an application sees it. */
export const targetOf = ({ currency, amount, address, tag }: FilePayee): SpentTarget => ({
  currencyCode: currency,
  nativeAmount: amount as NativeAmount,
  publicAddress: address,
  ...compact({ memo: tag, uniqueIdentifier: tag })
})

/** The chain of a wallet at a height. */
export const chainAt = ({ info }: HistoryOptions, height: number): ChainHeight => ({
  height,
  required: info.requiredConfirmations ?? DEFAULT_REQUIRED
})

/** An asset with the code under which older files know it; '' where that code is the chain's own coin's. */
export const assetNameOf = (options: HistoryOptions, tokenId: TokenId | null): AssetName => {
  const currencyCode = codeOf(options, tokenId)
  const isShared = tokenId !== null && currencyCode === options.info.currencyCode
  return { tokenId, currencyCode: isShared ? '' : currencyCode }
}

/** Returns the facts that the transactions in the history of an asset are shown with, at a height. */
export const viewContextOf = (
  options: HistoryOptions,
  height: number,
  tokenId: TokenId | null
): ViewContext => {
  const { walletId, info } = options
  return {
    walletId,
    currencyCode: info.currencyCode,
    fiatCode: options.fiatCode(),
    chain: chainAt(options, height),
    asset: assetNameOf(options, tokenId),
    assetCode: codeOf(options, tokenId)
  }
}

/** The code of an asset; '' for a token that is not known. */
export const codeOf = ({ info, config }: HistoryOptions, tokenId: TokenId | null): string => {
  if (tokenId === null) return info.currencyCode
  const { allTokens } = config.getSnapshot()
  return Object.hasOwn(allTokens, tokenId) ? (allTokens[tokenId]?.currencyCode ?? '') : ''
}

/** The required confirmations of a currency that does not say (specification §9). */
const DEFAULT_REQUIRED = 1
