import type { Clock } from '../../io/io.ts'
import type { Repo } from '../../repo/repo.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
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
  /** The code of a token; undefined for one that nobody knows. */
  tokenCode(tokenId: string): string | undefined
  /** What was survived: a file that cannot be read and is kept, a row that could not be written yet. */
  report(error: unknown): void
}

/** The chain of a wallet at a height. */
export const chainAt = ({ info }: HistoryParts, height: number): ChainView => ({
  height,
  required: info.requiredConfirmations ?? DEFAULT_REQUIRED
})

/** An asset with the code under which older files know it; '' where that code is the chain's own coin's. */
export const assetNameOf = ({ info, tokenCode }: HistoryParts, tokenId: string | null): AssetName => {
  if (tokenId === null) return { tokenId, currencyCode: info.currencyCode }
  const currencyCode = tokenCode(tokenId) ?? ''
  return { tokenId, currencyCode: currencyCode === info.currencyCode ? '' : currencyCode }
}

/** What the transactions in the history of an asset are shown with, at a height. */
export const viewPlaceOf = (parts: HistoryParts, height: number, tokenId: string | null): ViewPlace => {
  const { walletId, info, tokenCode } = parts
  return {
    walletId,
    currencyCode: info.currencyCode,
    fiatCode: parts.fiatCode(),
    chain: chainAt(parts, height),
    asset: assetNameOf(parts, tokenId),
    assetCode: tokenId === null ? info.currencyCode : (tokenCode(tokenId) ?? '')
  }
}

/** How deep a transaction must lie where its currency does not say (specification §9). */
const DEFAULT_REQUIRED = 1
