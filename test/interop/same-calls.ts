import type { JsonObject, Token } from '../../kernel/index.ts'
import { transactionPicture } from './picture.ts'
import type { CurrencyEdit } from './storage-calls.ts'

// Where the interfaces of both cores have the same form, they are called by the same code.

/** The settings of a currency, whichever core has them. */
export interface TokenConfig {
  addCustomToken(token: Token): Promise<string>
  changeCustomToken(tokenId: string, token: Token): Promise<void>
  removeCustomToken(tokenId: string): Promise<void>
  changeAlwaysEnabledTokenIds(tokenIds: readonly string[]): Promise<void>
  changeUserSettings(settings: JsonObject): Promise<void>
}

/** Texts by item and store, whichever core has them. */
export interface ItemStore {
  listStoreIds(): Promise<readonly string[]>
  listItemIds(storeId: string): Promise<readonly string[]>
  getItem(storeId: string, itemId: string): Promise<string>
  setItem(storeId: string, itemId: string, text: string): Promise<void>
  deleteItem(storeId: string, itemId: string): Promise<void>
}

/** Changes the tokens and settings of a currency, one after another. */
export const changeCurrency = async (config: TokenConfig, edit: CurrencyEdit): Promise<void> => {
  for (const token of edit.add ?? []) await config.addCustomToken(token)
  for (const [tokenId, token] of Object.entries(edit.change ?? {}))
    await config.changeCustomToken(tokenId, token)
  for (const tokenId of edit.remove ?? []) await config.removeCustomToken(tokenId)
  if (edit.always !== undefined) await config.changeAlwaysEnabledTokenIds(edit.always)
  if (edit.userSettings !== undefined) await config.changeUserSettings(edit.userSettings)
}

/** Writes items of a store; null deletes. */
export const changeItems = async (
  store: ItemStore,
  storeId: string,
  items: Readonly<Record<string, string | null>>
): Promise<void> => {
  for (const [itemId, text] of Object.entries(items)) {
    if (text === null) await store.deleteItem(storeId, itemId)
    else await store.setItem(storeId, itemId, text)
  }
}

/** All texts by item, by store. */
export const itemsOf = async (store: ItemStore): Promise<Record<string, Record<string, string>>> => {
  const stores: Record<string, Record<string, string>> = {}
  for (const storeId of await store.listStoreIds()) {
    const items: Record<string, string> = {}
    for (const itemId of await store.listItemIds(storeId))
      items[itemId] = await store.getItem(storeId, itemId)
    stores[storeId] = items
  }
  return stores
}

/** The transactions of a wallet by txid, by asset; '' is the chain's own coin. */
export const historyOf = async (
  wallet: { getTransactions(query: object): Promise<readonly { readonly txid: string }[]> },
  tokenIds: readonly string[]
): Promise<Record<string, Record<string, JsonObject>>> => {
  const history: Record<string, Record<string, JsonObject>> = {}
  for (const tokenId of [null, ...tokenIds]) {
    const list = await wallet.getTransactions({ tokenId })
    history[tokenId ?? ''] = Object.fromEntries(list.map(tx => [tx.txid, transactionPicture(tx)]))
  }
  return history
}
