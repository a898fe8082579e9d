/** What somebody may hold out to a wallet. */
export type UriKind = 'key sweep' | 'login' | 'payment protocol' | 'payment' | 'WalletConnect'

/** Names the kind of a link by its form alone; whether it is valid is for the currency to say. */
export const uriKindOf = (uri: string): UriKind => {
  const text = uri.trim()
  if (/^wc:/i.test(text)) return 'WalletConnect'
  if (/^[a-z][a-z0-9+.-]*:\/\/edge\/|^https:\/\/[^/]+\/edge\//i.test(text)) return 'login'
  if (/[?&]r=https?(?::|%3a)/i.test(text) || /^https:\/\/[^?]*\/i\//i.test(text)) return 'payment protocol'
  const bare = text.replace(/^[a-z][a-z0-9+.-]*:(?:\/\/)?/i, '').replace(/\?.*$/, '')
  return isPrivateKey(bare) ? 'key sweep' : 'payment'
}

/** A key in the wallet import format, an extended private key, or words. */
const isPrivateKey = (text: string): boolean =>
  /^(?:[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}|[a-z]prv[1-9A-HJ-NP-Za-km-z]{100,})$/.test(text) ||
  /^(?:[a-z]{3,8}\s+){11,}[a-z]{3,8}$/.test(text)
