import { type NativeAmount, ZERO } from '../../amount.ts'
import type {
  Confirmations,
  EngineTransaction,
  Metadata,
  SpentTarget,
  Transaction
} from '../../types/transaction.ts'
import { confirmationsOf } from './confirmations.ts'
import { type ChainView, dateOf, type HistoryRow } from './history-row.ts'
import { mergeMetadata, shownMetadata } from './metadata.ts'
import type { AssetName, AssetRecord, KeptFile, Payee } from './transaction-file.ts'

/** What a view of a transaction takes from its wallet. */
export interface ViewPlace {
  readonly walletId: string
  /** Of the chain's own coin. */
  readonly currencyCode: string
  readonly fiatCode: string
  readonly chain: ChainView
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
export const viewOf = (row: HistoryRow, place: ViewPlace): Transaction | undefined => {
  const { asset, chain, fiatCode } = place
  const report = reportFor(row, asset.tokenId)
  if (report === undefined) return undefined
  const { file } = row
  const view: Transaction = {
    ...report,
    walletId: place.walletId,
    currencyCode: report.currencyCode ?? place.assetCode,
    confirmations: confirmationsIn(row, chain),
    isSend: report.isSend ?? report.nativeAmount.startsWith('-'),
    memos: report.memos ?? [],
    metadata: shownMetadata(file === undefined ? {} : metadataIn(file, place), fiatCode),
    date: dateOf(row)
  }
  return file === undefined ? view : { ...view, ...recordedIn(file) }
}

/** How deep the transaction of a row lies (specification §4). */
export const confirmationsIn = ({ reports, isFinal }: HistoryRow, chain: ChainView): Confirmations => {
  const [report] = reports
  if (report === undefined) return 'unconfirmed'
  if (report.blockHeight < 0 || report.confirmations === 'dropped') return 'dropped'
  if (isFinal || report.confirmations === 'confirmed') return 'confirmed'
  const { height: chainHeight, required } = chain
  return confirmationsOf({ blockHeight: report.blockHeight, chainHeight, required })
}

/** What the engine says of one asset; the fee of a token's transaction is the chain's own coin's part in it. */
const reportFor = ({ reports }: HistoryRow, tokenId: string | null): EngineTransaction | undefined => {
  const own = reports.find(report => report.tokenId === tokenId)
  if (tokenId !== null) {
    if (own === undefined || own.parentNetworkFee !== undefined) return own
    const parent = reports.find(report => report.tokenId === null)
    return parent === undefined ? own : { ...own, parentNetworkFee: parent.networkFee }
  }
  if (own !== undefined) return own
  const paying = reports.find(({ parentNetworkFee }) => parentNetworkFee !== undefined)
  if (paying === undefined) return undefined
  const { parentNetworkFee, currencyCode: _ofToken, ...rest } = paying
  return { ...rest, tokenId: null, nativeAmount: ZERO, networkFee: parentNetworkFee as NativeAmount }
}

const metadataIn = (file: KeptFile, { asset, currencyCode }: ViewPlace): Metadata => {
  const parent = assetIn(file, { tokenId: null, currencyCode })?.metadata ?? {}
  if (asset.tokenId === null) return parent
  const own = assetIn(file, asset)?.metadata
  return own === undefined ? parent : mergeMetadata(parent, own)
}

const assetIn = (file: KeptFile, { tokenId, currencyCode }: AssetName): AssetRecord | undefined => {
  const key = tokenId ?? ''
  if (Object.hasOwn(file.tokens, key)) return file.tokens[key]
  return Object.hasOwn(file.currencies, currencyCode) ? file.currencies[currencyCode] : undefined
}

const recordedIn = (file: KeptFile): Partial<Transaction> => {
  const requested = file.feeRateRequested
  return {
    ...(file.deviceDescription === undefined ? {} : { deviceDescription: file.deviceDescription }),
    ...(requested === undefined
      ? {}
      : typeof requested === 'string'
        ? { networkFeeOption: requested }
        : { networkFeeOption: 'custom' as const, requestedCustomFee: requested }),
    ...(file.feeRateUsed === undefined ? {} : { feeRateUsed: file.feeRateUsed }),
    ...(file.payees === undefined ? {} : { spendTargets: file.payees.map(targetOf) }),
    ...(file.secret === undefined ? {} : { txSecret: file.secret }),
    ...(file.swap === undefined ? {} : { swapData: file.swap })
  }
}

const targetOf = ({ currency, amount, address, tag }: Payee): SpentTarget => ({
  currencyCode: currency,
  nativeAmount: amount as NativeAmount,
  publicAddress: address,
  ...(tag === undefined ? {} : { memo: tag, uniqueIdentifier: tag })
})
