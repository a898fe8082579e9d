import type { Clock } from '../../io/io.ts'
import type { Repo } from '../../sync/repo.ts'
import type { CurrencyConfigSnapshot, CurrencyInfo } from '../../types/currency.ts'
import type { PaymentSight } from '../../types/engine.ts'
import type { ChainView } from './history-row.ts'
import type { AssetName } from './transaction-file.ts'
import type { ViewPlace } from './transaction-view.ts'

/** What the history needs of its wallet. */
export interface HistoryParts {
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
export interface SentPayments {
  /** What has become of a payment; undefined of any other transaction, and of one that is confirmed. */
  sightOf(txid: string): PaymentSight | undefined
}

/** The chain of a wallet at a height. */
export const chainAt = ({ info }: HistoryParts, height: number): ChainView => ({
  height,
  required: info.requiredConfirmations ?? DEFAULT_REQUIRED
})

/** An asset with the code under which older files know it; '' where that code is the chain's own coin's. */
export const assetNameOf = (parts: HistoryParts, tokenId: string | null): AssetName => {
  const currencyCode = codeOf(parts, tokenId)
  const isShared = tokenId !== null && currencyCode === parts.info.currencyCode
  return { tokenId, currencyCode: isShared ? '' : currencyCode }
}

/** What the transactions in the history of an asset are shown with, at a height. */
export const viewPlaceOf = (parts: HistoryParts, height: number, tokenId: string | null): ViewPlace => {
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
export const codeOf = ({ info, config }: HistoryParts, tokenId: string | null): string => {
  if (tokenId === null) return info.currencyCode
  const { allTokens } = config.getSnapshot()
  return Object.hasOwn(allTokens, tokenId) ? (allTokens[tokenId]?.currencyCode ?? '') : ''
}

/** How deep a transaction must lie where its currency does not say (specification §9). */
const DEFAULT_REQUIRED = 1
