import type {
  Account,
  CurrencyTools,
  CurrencyWallet,
  EngineTransaction,
  Json,
  LocalUser,
  PluginId,
  SpendSnapshot,
  TokenId,
  Transaction,
  Txid,
  WalletId,
  WalletInfo,
  WalletKeys
} from '../../kernel/index.ts'
import { normalizeUsername } from '../../kernel/login/derive.ts'
import type { UserQuery } from '../../kernel/login/stashes.ts'
import type { FileHash, LoginId, Username } from '../../kernel/types/ids.ts'

/** Compiled by the type check, never run: what must not type-check is marked, and an unused mark is an error. */

declare const walletId: WalletId
declare const txid: Txid
declare const pluginId: PluginId
declare const tokenId: TokenId
declare const loginId: LoginId
declare const fileHash: FileHash
declare const text: string

/** No id stands for one of another kind. */
export const mixedUp = (): void => {
  // @ts-expect-error A txid is no wallet id.
  const wallet: WalletId = txid
  // @ts-expect-error A wallet id is no txid.
  const transaction: Txid = walletId
  // @ts-expect-error A token id is no plugin id.
  const plugin: PluginId = tokenId
  // @ts-expect-error A plugin id is no token id.
  const token: TokenId = pluginId
  // @ts-expect-error The name of a file hides a txid, and is none.
  const hidden: Txid = fileHash
  // @ts-expect-error Nor does null help.
  const asset: TokenId | null = walletId
  // @ts-expect-error Nor do lists of them mix.
  const wallets: readonly WalletId[] = [txid]
  // @ts-expect-error Ids of two kinds are never the same.
  const isSame = walletId === txid
  void [wallet, transaction, plugin, token, hidden, asset, wallets, isSame]
}

/** The public calls and snapshots take part. */
export const calls = (account: Account, wallet: CurrencyWallet, tx: Transaction, user: LocalUser): void => {
  // @ts-expect-error The wallet with this txid?
  void account.openWallet(tx.txid)
  // @ts-expect-error The transaction with this wallet id?
  void wallet.broadcastTx({ ...tx, txid: wallet.id })
  // @ts-expect-error The balance of a wallet as a token?
  wallet.balanceDetailsOf(wallet.id)
  // @ts-expect-error A fact of a spend belongs where it says.
  const swapped: Pick<SpendSnapshot, 'pluginId' | 'tokenId'> = { pluginId: tokenId, tokenId: pluginId }
  // @ts-expect-error The base58 id of a user is not the base64 id of its login.
  const sameLogin: LoginId = user.loginId
  void [swapped, sameLogin]
}

/** Users of the device are found by base58 id or by the one spelling of a name. */
export const users = (): readonly UserQuery[] => [
  { loginId: text },
  { username: normalizeUsername(text) },
  // @ts-expect-error Base64 finds no file.
  { loginId },
  // @ts-expect-error An id is no name.
  { username: walletId }
]

/** Plain text passes everywhere, and every id is plain text: a caller notices nothing. */
export const free = async (account: Account, tools: CurrencyTools, tx: EngineTransaction): Promise<void> => {
  const ids: readonly WalletId[] = [text, 'abc', `${walletId}-2`]
  const wallet = await account.openWallet(text)
  wallet.balanceDetailsOf(text)
  const words: readonly string[] = [walletId, txid, pluginId, tokenId, normalizeUsername(text)]
  const json: Json = { walletId, txid, tokenId }
  const table = new Map([[tx.txid, 1]])
  const named: Username = text.toLowerCase()
  if (pluginId === 'bitcoin' && table.has(text)) await tools.parseUri(txid)
  void [ids, words, json, named]
}

/** A plugin reads its own keys by name, and may give those of its own making. */
export const keys = (info: WalletInfo, made: Record<string, Json>): WalletKeys => {
  const { dataKey, syncKey = '', imported = false, bitcoinKey, format } = info.keys
  const known: readonly [string | undefined, string, boolean] = [dataKey, syncKey, imported]
  const own: Json | undefined = bitcoinKey
  // @ts-expect-error What a plugin stored may be anything.
  const unchecked: string = format
  // @ts-expect-error The data key is text.
  const wrong: WalletKeys = { dataKey: 5 }
  // @ts-expect-error A function is no key.
  const lazy: WalletKeys = { bitcoinKey: () => '' }
  void [known, own, unchecked, wrong, lazy, { ...info.keys, bitcoinKey: text } satisfies WalletKeys]
  return made
}
