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
  const files = new Map([['Currency.json', JSON.stringify({ fiat: fiatCurrencyCode })]])
  if (name !== undefined) files.set('WalletName.json', JSON.stringify({ walletName: name }))
  if (enabledTokenIds !== undefined) {
    const lists = { enabledTokenIds: [...new Set(enabledTokenIds)].sort(), detectedTokenIds: [] }
    files.set('Tokens.json', JSON.stringify(lists))
  }
  return files
}
