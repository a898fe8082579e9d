import type { JsonObject, Metadata, MetadataChange, SwapData, Token, WalletKeys } from '../../kernel/index.ts'
import type { ChainTransaction } from './chain-transaction.ts'

/** How a wallet is to be made. */
export interface WalletPlan {
  readonly type: string
  readonly name?: string
  readonly fiatCurrencyCode?: string
  readonly enabledTokenIds?: readonly string[]
  readonly migratedFromWalletId?: string
  /** What its keys are made of; or a text that is imported. */
  readonly seed?: string
  readonly importText?: string
}

/** What changes in a wallet. */
export interface WalletEdit {
  readonly name?: string
  readonly fiatCurrencyCode?: string
  readonly enabledTokenIds?: readonly string[]
}

/** What an account remembers of a wallet and may change. */
export interface StatesEdit {
  readonly archived?: boolean
  readonly deleted?: boolean
  readonly hidden?: boolean
  readonly sortIndex?: number
}

/** What changes in the tokens and settings of a currency; `change` and `remove` take token ids. */
export interface CurrencyEdit {
  readonly add?: readonly Token[]
  readonly change?: Readonly<Record<string, Token>>
  readonly remove?: readonly string[]
  readonly always?: readonly string[]
  readonly userSettings?: JsonObject
}

/** What changes in the settings of a swap plugin. */
export interface SwapEdit {
  readonly isEnabled?: boolean
  readonly userSettings?: JsonObject
}

/** A payment with all that a file may hold of it. */
export interface PaymentPlan {
  readonly payTo: string
  readonly nativeAmount: string
  readonly tokenId?: string
  readonly memo?: string
  readonly networkFeeOption?: 'high' | 'standard' | 'low'
  readonly customNetworkFee?: JsonObject
  readonly metadata?: Metadata
  readonly swapData?: SwapData
}

/** A note of a transaction: of the chain's own coin, or of a token. */
export interface NotePlace {
  readonly txid: string
  readonly tokenId?: string
}

/** All that an account shows of what it keeps. Undefined fields are left out, so that two are easily compared. */
export interface AccountPicture {
  readonly activeWalletIds: readonly string[]
  readonly archivedWalletIds: readonly string[]
  readonly hiddenWalletIds: readonly string[]
  readonly wallets: Readonly<Record<string, WalletPicture>>
  readonly currencies: Readonly<Record<string, CurrencyPicture>>
  readonly swaps: Readonly<Record<string, SwapPicture>>
  /** Texts by item, by store. */
  readonly data: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** The settings of a currency. */
export interface CurrencyPicture {
  readonly customTokens: Readonly<Record<string, Token>>
  readonly userSettings: JsonObject
}

/** The settings of a swap plugin. */
export interface SwapPicture {
  readonly isEnabled: boolean
  readonly userSettings: JsonObject
}

/** A wallet; `open` only where it is active and of the lab. */
export interface WalletPicture {
  readonly type: string
  readonly archived: boolean
  readonly deleted: boolean
  readonly hidden: boolean
  readonly sortIndex: number
  readonly migratedFromWalletId?: string
  readonly keys: JsonObject
  readonly open?: OpenPicture
}

/** A wallet that runs. */
export interface OpenPicture {
  readonly name: string | null
  readonly fiatCurrencyCode: string
  readonly enabledTokenIds: readonly string[]
  readonly detectedTokenIds: readonly string[]
  readonly publicKeys: JsonObject
  readonly displayKeys: readonly string[]
  readonly splittableTypes: readonly string[]
  /** Addresses that the engine must not give out again. */
  readonly lockedAddresses: readonly string[]
  /** Transactions by txid, by the ids of the enabled tokens and '' for the chain's own coin. */
  readonly history: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
}

/** What an account can be asked to keep; wallets are those of the lab. */
export interface StorageCalls {
  /** Makes all with one call, and gives their ids. */
  createWallets(plans: readonly WalletPlan[]): Promise<readonly string[]>
  /** Adds keys of any type and gives their id; nothing is opened. */
  createKeys(type: string, keys: WalletKeys): Promise<string>
  splitWallet(walletId: string, type: string): Promise<string>
  changeWalletStates(changes: Readonly<Record<string, StatesEdit>>): Promise<void>
  changeWallet(walletId: string, edit: WalletEdit): Promise<void>
  changeCurrency(pluginId: string, edit: CurrencyEdit): Promise<void>
  changeSwap(pluginId: string, edit: SwapEdit): Promise<void>
  /** Null deletes an item. */
  changeData(storeId: string, items: Readonly<Record<string, string | null>>): Promise<void>
  deleteData(storeId: string): Promise<void>
  /** Lets the engine find tokens by itself. */
  findTokens(walletId: string, tokenIds: readonly string[]): Promise<void>
  lockAddress(walletId: string, address: string): Promise<void>
  /** Sends, saves, and tells what the chain has of it then. */
  pay(walletId: string, plan: PaymentPlan): Promise<ChainTransaction>
  writeMetadata(walletId: string, place: NotePlace, change: MetadataChange): Promise<void>
  picture(): Promise<AccountPicture>
}
