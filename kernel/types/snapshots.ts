import type { AmountUnits } from '../base/amount.ts'
import type { Json } from '../base/json.ts'
import type { CustomFeeField } from './currency.ts'
import type { BalanceDetails, StakingStatus } from './engine.ts'
import type { LocalLoginId, PluginId, TokenId, Txid, Username, WalletId } from './ids.ts'
import type { OrderState } from './swap.ts'
import type { Confirmations, SentState } from './transaction.ts'

/** The level of a log line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One line of the log. `source`: the plugin or kernel module that wrote it. */
export interface LogLine {
  readonly source: string
  readonly level: LogLevel
  readonly text: string
  /** ISO text. */
  readonly at: string
}

/** The kind of a plugin. */
export type PluginKind = 'currency' | 'rates' | 'swap' | 'storage' | 'policy' | 'observer'

/** A plugin that was applied, failed or is missing. */
export interface PluginSnapshot {
  readonly pluginId: PluginId
  readonly kind: PluginKind | undefined
  readonly state: 'applied' | 'failed' | 'missing'
  /** The calls, beyond signing, for which a currency asks for private keys. */
  readonly needsKeysTo: readonly ('sync' | 'spend' | 'broadcast')[]
  /** Of an applied currency. */
  readonly currency?: CurrencySnapshot
  /** The code, if a failed plugin threw an error of the catalogue. */
  readonly errorCode?: string
  /** The sentence of a failed plugin, or the reason why it is missing. */
  readonly message?: string
  /** What is wrong with what the plugin says of itself. */
  readonly mistake?: PluginMistake
}

/** A field of a plugin that has the wrong shape, in words. */
export interface PluginMistake {
  /** Such as `info.denominations[0].multiplier`. */
  readonly field: string
  /** Such as `a number (8)`. */
  readonly found: string
  /** Such as `a whole number as text`. */
  readonly expected: string
  /** What to do about it, in a sentence. */
  readonly hint?: string
}

/** The names of a currency, the units of its amounts, and the numbers of its fees. */
export interface CurrencySnapshot extends AmountUnits {
  /** Such as `wallet:bitcoin`. */
  readonly walletType: string
  /** The kernel makes its keys and signs with them; the plugin gets no private key. */
  readonly isSignedByKernel?: boolean
  /** The numbers that a custom fee consists of. Absent: its payments take levels only. */
  readonly customFeeTemplate?: readonly CustomFeeField[]
}

/** One user of this device, without keys. */
export interface UserSnapshot {
  readonly loginId: LocalLoginId
  readonly username?: Username
  readonly lastLogin?: string
  readonly isPinLoginEnabled: boolean
  readonly isLoggedIn: boolean
  /** No login server knows the account. */
  readonly isDeviceOnly?: true
}

/** The progress of one login attempt. */
export interface LoginSnapshot {
  readonly attemptId: string
  readonly method: 'create' | 'password' | 'pin' | 'key' | 'edge' | 'recovery'
  readonly stage: 'deriving' | 'asking' | 'opening' | 'ready' | 'failed'
  readonly errorCode?: string
}

/** An open account. */
export interface AccountSnapshot {
  readonly accountId: string
  readonly username?: Username
  readonly appId: string
  readonly isLoggedIn: boolean
  /**
   * The login methods that the owner can use after a log-out, as far as this device knows: password or recovery on any
   * device, PIN on this one, approval by another device. If it is empty, only the login key opens the account again.
   */
  readonly loginMethods?: readonly ('password' | 'pin' | 'recovery' | 'edge')[]
  /** The wallets of known currencies that are not deleted, in the account's order; the other lists are parts of it. */
  readonly walletIds: readonly WalletId[]
  /** Those that are not archived. */
  readonly activeWalletIds: readonly WalletId[]
  readonly archivedWalletIds: readonly WalletId[]
  readonly hiddenWalletIds: readonly WalletId[]
  readonly isPaused: boolean
  /** No login server knows the account, and no sync server has its files. */
  readonly isDeviceOnly?: true
}

/** A login request between two devices. */
export interface LobbySnapshot {
  readonly lobbyId: string
  readonly state: 'pending' | 'started' | 'done' | 'error' | 'closed'
  readonly username?: Username
  /** The last failure, also of a request that goes on. */
  readonly errorCode?: string
  /** The number of replies that could not be used; absent for none. */
  readonly skippedReplies?: number
}

/** A synced repo. */
export interface RepoSnapshot {
  readonly repoId: string
  /** The account that owns it. */
  readonly accountId: string
  /** The wallet whose files are in it; absent for those of the account itself. */
  readonly walletId?: WalletId
  /** False once its wallet or account has closed; it emits no further changes then. */
  readonly isOpen: boolean
  readonly pendingCount: number
  readonly lastHash?: string
  /** Unix seconds; 0 before the first sync. */
  readonly lastSync: number
  readonly isSyncing: boolean
  readonly errorCode?: string
  /** Its account is on this device only, so that it is not synced. */
  readonly isDeviceOnly?: true
  /** The number of texts kept after a server deleted or replaced them, if any; they can be restored for 30 days. */
  readonly keptCount?: number
  /** When a sync server last had an older state, in Unix seconds; this device's newer files were uploaded again. */
  readonly rolledBackAt?: number
  /** The number of files that were older then. */
  readonly rolledBackFiles?: number
  /** Files that two devices changed at once and that were merged, since the repo was opened; absent for none. */
  readonly mergedCount?: number
  /**
   * Files in which an edit may be lost, because an app did not report its base or a write came late; absent for none.
   */
  readonly doubtfulCount?: number
}

/** The files that one sync of a repo has exchanged; a plain event. */
export interface ExchangeSnapshot {
  readonly repoId: string
  /** The paths that the server accepted. */
  readonly sent: readonly string[]
  /** The paths that the server changed on this device. */
  readonly received: readonly string[]
}

/** The public facts of a wallet. Balances are native amounts by token id, the chain's own coin under ''. */
export interface WalletSnapshot {
  readonly walletId: WalletId
  readonly pluginId: PluginId
  readonly type: string
  readonly name: string | null
  readonly fiatCurrencyCode: string
  /** Ascending; tokens that are on in every wallet of the currency are among them. */
  readonly enabledTokenIds: readonly TokenId[]
  /** Tokens that the engine detected, enabled or not. Ascending. */
  readonly detectedTokenIds: readonly TokenId[]
  /** Tokens that the chain does not let the wallet use yet. */
  readonly unactivatedTokenIds: readonly TokenId[]
  /** The tokens that are enabled or detected; ids that the currency does not know are left out. */
  readonly tokens: readonly TokenSnapshot[]
  readonly stakingStatus: StakingStatus
  readonly balances: Readonly<Record<string, string>>
  /** The parts of the balances, by the same ids; absent if the engine reports only the sum. */
  readonly balanceDetails?: Readonly<Record<string, BalanceDetails>>
  /** Signed and not confirmed, oldest first; what they spend is reserved. */
  readonly openPayments: readonly OpenPaymentSnapshot[]
  readonly isPaused: boolean
  /** Present for a wallet that holds public keys alone. */
  readonly isWatchOnly?: true
}

/** A signed payment that may still be mined, without its bytes. Amounts are native; `nativeAmount` is what left in all. */
export interface OpenPaymentSnapshot {
  readonly txid: Txid
  readonly tokenId: TokenId | null
  readonly currencyCode: string
  readonly nativeAmount: string
  /** In the coin of the chain. */
  readonly networkFee: string
  /** Every network fee, one for each asset, if one of them is paid in a token. */
  readonly networkFees?: readonly { readonly tokenId: TokenId | null; readonly nativeAmount: string }[]
  readonly targets: readonly { readonly publicAddress: string; readonly nativeAmount: string }[]
  /** Milliseconds since 1970. */
  readonly at: number
  /** `signed`: it was never sent from here. `refused`: a server refused it, but another server may still have it. */
  readonly state: SentState | 'refused' | 'signed'
  /** The words of the server that refused it. */
  readonly reason?: string
  readonly replaces?: Txid
  readonly replacedBy?: Txid
}

/** The names of a token and the units of its amounts. */
export interface TokenSnapshot extends AmountUnits {
  readonly tokenId: TokenId
}

/** The engine of a wallet. */
export interface EngineSnapshot {
  readonly walletId: WalletId
  readonly pluginId: PluginId
  readonly state: 'created' | 'started' | 'stopped' | 'failed'
  readonly isPaused: boolean
  /** 0 to 1. */
  readonly syncRatio: number
  /** 0 before it is known. */
  readonly blockHeight: number
  /** Unix seconds: the last change between states, between paused and not, or between failing and not. */
  readonly since: number
  /** The engine's own words about its present work. */
  readonly status?: string
  /** Why it could not start, or why its last sync failed; absent after the next success. */
  readonly failure?: string
  readonly errorCode?: string
}

/** Transactions that appeared or changed; a plain event. */
export interface TransactionsSnapshot {
  readonly walletId: WalletId
  readonly created: readonly Txid[]
  readonly changed: readonly Txid[]
  /**
   * Their assets by token id, '' for the chain's own coin, if the engine reported all of these changes. Absent if some came from
   * files or from a new height: then any asset may have changed.
   */
  readonly tokenIds?: readonly string[]
}

/** A wallet whose fresh receive address has changed; a plain event. */
export interface AddressSnapshot {
  readonly walletId: WalletId
}

/** Tokens that an engine found and that were switched on for it; a plain event. */
export interface DetectedTokensSnapshot {
  readonly walletId: WalletId
  readonly tokenIds: readonly TokenId[]
}

/**
 * The purpose of a request for private keys. `spend`, `sweep` and `message` sign; `show` shows or exports the keys of a wallet,
 * `login key` the key of the account; `backup` writes all keys of the account into a sealed text; `approve login` hands the keys of an app to another device; `sync`, `draft` and
 * `broadcast` hand the keys to a currency plugin that declares that it needs them there.
 */
export type KeyUse =
  | 'approve login'
  | 'backup'
  | 'broadcast'
  | 'draft'
  | 'login key'
  | 'message'
  | 'show'
  | 'spend'
  | 'sweep'
  | 'sync'

/**
 * A use of private keys that is about to happen; amounts are native. If no wallet is concerned, its fields are '';
 * a use that moves no money has no targets, and 0 as amount and fee.
 */
export interface SpendSnapshot {
  readonly use: KeyUse
  readonly correlationId: string
  readonly walletId: WalletId
  readonly pluginId: PluginId
  readonly currencyCode: string
  readonly tokenId: TokenId | null
  readonly nativeAmount: string
  readonly networkFee: string
  /** Every network fee of a payment, one for each asset, those in other assets than its own included. */
  readonly networkFees?: readonly { readonly tokenId: TokenId | null; readonly nativeAmount: string }[]
  readonly targets: readonly { readonly publicAddress: string; readonly nativeAmount: string }[]
  /** The name of the program that asks for a payment; absent if a person does. */
  readonly requestedBy?: string
  /** The text that is signed, of the use `message`. */
  readonly message?: string
  /** Whose keys go to another device, of the use `approve login`; '' for the whole account. */
  readonly appId?: string
}

/** The progress of a spend between its review and the saved file (architecture decision 14). */
export interface SpendProgressSnapshot {
  readonly correlationId: string
  readonly walletId: WalletId
  readonly stage: 'intended' | 'signed' | 'broadcast' | 'saved' | 'refused'
  readonly txid?: Txid
  readonly confirmations?: Confirmations
}

/** A price, and where and when it is from. */
export interface RateSnapshot {
  readonly fromCurrency: string
  readonly toCurrency: string
  readonly rate: number
  /** The rate plugin. */
  readonly source: PluginId
  /** Unix seconds. */
  readonly at: number
}

/** The state of a rate provider. */
export interface RateProviderSnapshot {
  readonly pluginId: PluginId
  readonly displayName: string
  readonly bias: number
  /** `silent`: still asked, although the time limit of the last round has passed. */
  readonly state: 'idle' | 'asked' | 'answered' | 'silent' | 'failed' | 'retired'
  /** The number of pairs in its last answer. */
  readonly pairCount: number
  /** When it answered last, in Unix seconds. */
  readonly answeredAt?: number
  readonly durationMs?: number
  readonly errorCode?: string
  /** Why it failed last, is retired, or is `idle` for lack of something, such as a key. */
  readonly message?: string
}

/** The result of a round of rates, or a late answer; a plain event. */
export interface RatesSnapshot {
  /** Only those that came. */
  readonly pairs: readonly RateSnapshot[]
  readonly providers: readonly RateProviderSnapshot[]
}

/** One step of a route: a pair, in one direction. */
export interface RouteHopSnapshot {
  readonly fromCurrency: string
  readonly toCurrency: string
  /** The price of one `fromCurrency` in `toCurrency`, already inverted if `isInverted`. */
  readonly rate: number
  readonly source: PluginId
  /** Unix seconds. */
  readonly at: number
  readonly ageSeconds: number
  readonly bias: number
  /** True if the provider quotes the pair in the other direction. */
  readonly isInverted: boolean
  /** `age / (30 + age) + bias + 1`, or 1.1 if inverted (specification §9). */
  readonly cost: number
}

/** The route of one conversion. */
export interface RouteSnapshot {
  readonly fromCurrency: string
  readonly toCurrency: string
  readonly rate: number
  readonly hops: readonly RouteHopSnapshot[]
  readonly cost: number
  /** True if a hop is so old that the rate may mislead. */
  readonly isStale: boolean
}

/** The request of a swap. */
export interface SwapRequestSnapshot {
  readonly fromWalletId: WalletId
  readonly fromPluginId: PluginId
  readonly fromTokenId: TokenId | null
  readonly fromCurrencyCode: string
  readonly toWalletId: WalletId
  readonly toPluginId: PluginId
  readonly toTokenId: TokenId | null
  readonly toCurrencyCode: string
  readonly nativeAmount: string
  readonly quoteFor: 'from' | 'max' | 'to'
}

/** One provider in one round of quotes. */
export interface QuoteSnapshot {
  readonly roundId: string
  /** The request of the round; the same object for each of its providers. */
  readonly request: SwapRequestSnapshot
  readonly pluginId: PluginId
  readonly displayName: string
  readonly isDex: boolean
  readonly state: 'pending' | 'resolved' | 'failed' | 'timed out'
  /** Names the quote, for as long as its round is open. */
  readonly quoteId?: string
  readonly fromNativeAmount?: string
  readonly toNativeAmount?: string
  readonly minReceiveAmount?: string
  readonly networkFee?: string
  readonly isEstimate?: boolean
  readonly canBePartial?: boolean
  /** Unix milliseconds. */
  readonly expiresAt?: number
  readonly maxFulfillmentSeconds?: number
  readonly hasPromoCode?: boolean
  /** The outcome of a resolved quote. */
  readonly fate?: 'approved' | 'closed' | 'expired'
  /** The place of its quote among those of the round, best first; from 1 on. */
  readonly rank?: number
  /** The reason why it ranks before the next quote. */
  readonly rankReason?: string
  readonly durationMs?: number
  readonly errorCode?: string
  readonly message?: string
  /** The limit that an error names, in native units of its direction. */
  readonly limit?: string
  readonly direction?: 'from' | 'to'
}

/** An order of a swap that was paid for, and how far it is. Times are Unix milliseconds. */
export interface OrderSnapshot {
  /** Of the transaction that paid for it; names the order. */
  readonly txid: Txid
  /** Of the wallet that paid. */
  readonly walletId: WalletId
  /** Of the exchange. */
  readonly pluginId: PluginId
  readonly displayName: string
  readonly orderId?: string
  readonly orderUri?: string
  readonly payoutWalletId: WalletId
  readonly payoutCurrencyCode: string
  readonly payoutNativeAmount: string
  readonly paidAt: number
  readonly state: OrderState
  /** Since when it is in this state. */
  readonly since: number
  /** When the exchange last said so. */
  readonly checkedAt?: number
  readonly payoutTxid?: Txid
  readonly refundTxid?: Txid
  /** False once nothing more is expected, or if the plugin of the exchange is not there. */
  readonly isFollowed: boolean
  /** Why the exchange could not be asked last, in a sentence; absent since it answered. */
  readonly failure?: string
}

/** An isolated failure of a plugin; a plain event. */
export interface FaultSnapshot {
  readonly pluginId: PluginId
  readonly hook: string
  readonly errorName: string
  readonly errorCode?: string
  readonly message: string
}

/** One run of one tap; a plain event, made only while an observer listens. */
export interface TapSnapshot {
  readonly hook: string
  readonly pluginId: PluginId
  readonly correlationId?: string
  readonly durationMs: number
  readonly outcome: 'done' | 'answered' | 'failed'
}

/** Proves at compile time that a snapshot is JSON. */
export type JsonSafe<T> = T extends Json ? T : { readonly [K in keyof T]: JsonSafe<T[K]> }
