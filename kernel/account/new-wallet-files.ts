import { TOKENS_PATH, tokenIdList } from '../wallet/tokens/token-file.ts'
import { FIAT_PATH, NAME_PATH } from '../wallet/wallet-settings.ts'

/** What a new wallet begins with. */
export interface NewWalletSettings {
  readonly name?: string | undefined
  /** Such as `iso:USD`. */
  readonly fiatCurrencyCode: string
  readonly enabledTokenIds?: readonly string[] | undefined
}

/** The files of a new wallet, for one write: there is no moment at which half of them is there (protocol §3.5). */
export const newWalletFiles = ({
  name,
  fiatCurrencyCode,
  enabledTokenIds
}: NewWalletSettings): ReadonlyMap<string, string> => {
  const files = new Map([[FIAT_PATH, JSON.stringify({ fiat: fiatCurrencyCode })]])
  if (name !== undefined) files.set(NAME_PATH, JSON.stringify({ walletName: name }))
  if (enabledTokenIds !== undefined) {
    const lists = { enabledTokenIds: tokenIdList(enabledTokenIds), detectedTokenIds: [] }
    files.set(TOKENS_PATH, JSON.stringify(lists))
  }
  return files
}
