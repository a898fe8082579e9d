import type { JsonObject, MetadataChange, Token, WalletKeys } from '../../kernel/index.ts'
import type { ItemStore, TokenConfig } from './same-calls.ts'
import type { StatesEdit } from './storage-calls.ts'

/** The part of an account's public interface that is about what it keeps. */
export interface CoreAccountStorage {
  readonly disklet: { getText(path: string): Promise<string> }
  readonly allKeys: readonly CoreWalletKeys[]
  readonly activeWalletIds: readonly string[]
  readonly archivedWalletIds: readonly string[]
  readonly hiddenWalletIds: readonly string[]
  readonly currencyConfig: Readonly<Record<string, CoreCurrencyConfig>>
  readonly swapConfig: Readonly<Record<string, CoreSwapConfig>>
  readonly dataStore: ItemStore & { deleteStore(storeId: string): Promise<void> }
  createCurrencyWallets(wallets: readonly Record<string, unknown>[]): Promise<readonly CoreResult[]>
  changeWalletStates(changes: Readonly<Record<string, StatesEdit>>): Promise<void>
  createWallet(type: string, keys: WalletKeys): Promise<string>
  splitWalletInfo(walletId: string, type: string): Promise<string>
  listSplittableWalletTypes(walletId: string): Promise<readonly string[]>
  getRawPrivateKey(walletId: string): Promise<JsonObject>
  getRawPublicKey(walletId: string): Promise<JsonObject>
  getDisplayPrivateKey(walletId: string): Promise<string>
  getDisplayPublicKey(walletId: string): Promise<string>
}

interface CoreResult {
  readonly ok: boolean
  readonly result?: { readonly id: string }
  readonly error?: unknown
}

interface CoreWalletKeys {
  readonly id: string
  readonly type: string
  readonly archived?: boolean | undefined
  readonly deleted?: boolean | undefined
  readonly hidden?: boolean | undefined
  readonly sortIndex?: number | undefined
  readonly migratedFromWalletId?: string
}

/** The settings of a currency. */
export interface CoreCurrencyConfig extends TokenConfig {
  readonly customTokens: Readonly<Record<string, Token>>
  readonly userSettings: JsonObject | undefined
}

interface CoreSwapConfig {
  readonly enabled: boolean
  readonly userSettings: JsonObject | undefined
  changeEnabled(isEnabled: boolean): Promise<void>
  changeUserSettings(settings: JsonObject): Promise<void>
}

/** The part of a wallet's public interface that is about what it keeps. */
export interface CoreWalletStorage {
  readonly enabledTokenIds: readonly string[]
  readonly detectedTokenIds: readonly string[]
  setFiatCurrencyCode(code: string): Promise<void>
  changeEnabledTokenIds(tokenIds: readonly string[]): Promise<void>
  lockReceiveAddress(address: {
    publicAddress: string
    metadata: MetadataChange
    nativeAmount: string
  }): Promise<void>
  makeSpend(spend: object): Promise<CoreTransaction>
  signTx(transaction: CoreTransaction): Promise<CoreTransaction>
  broadcastTx(transaction: CoreTransaction): Promise<CoreTransaction>
  saveTx(transaction: CoreTransaction): Promise<void>
  saveTxAction(action: object): Promise<void>
}

/** A transaction, as far as it is told on. */
export interface CoreTransaction {
  readonly txid: string
  readonly date: number
  readonly nativeAmount: string
  readonly networkFee: string
}
