import type { AmountUnits } from '../base/amount.ts'
import type { JsonObject } from '../base/json.ts'
import type { PluginId, TokenId } from './ids.ts'

/** A token of a chain, under its token id. */
export interface Token extends AmountUnits {
  readonly networkLocation?: JsonObject
}

/** Tokens by token id. */
export type TokenMap = Readonly<Record<string, Token>>

/**
 * The tokens and settings of one currency in an account, without its wallets (specification §3 "Account settings per plugin").
 *
 * The maps have no prototype: token ids are text from outside.
 */
export interface CurrencyConfigSnapshot {
  /** Tokens that the plugin brings. Empty until it has answered. */
  readonly builtinTokens: TokenMap
  /** True once the plugin has answered; until then an unlisted id may still be a token. */
  readonly areBuiltinTokensKnown: boolean
  /** Tokens that the user added. */
  readonly customTokens: TokenMap
  /** Both; a token of the user replaces one of the plugin with the same id. */
  readonly allTokens: TokenMap
  /** Tokens that are on in every wallet of this currency. */
  readonly alwaysEnabledTokenIds: readonly TokenId[]
  /** The plugin's own settings, such as the servers to use. */
  readonly userSettings: JsonObject
}

/** The kind of a memo. */
export type MemoType = 'hex' | 'number' | 'text'

/** A kind of memo that a currency accepts. */
export interface MemoOption {
  readonly type: MemoType
  /** The chain's name for it, such as `OP_RETURN` or `destination tag`. */
  readonly memoName?: string
  /** Text: characters. Hex: bytes. */
  readonly maxLength?: number
  readonly minLength?: number
  /** Numbers only: the largest, decimal text. */
  readonly maxValue?: string
}

/** The description of a currency for the kernel and its interfaces; data only (specification §3, §7.2 of the peer). */
export interface CurrencyInfo extends AmountUnits {
  readonly pluginId: PluginId
  /** Such as `wallet:bitcoin`. */
  readonly walletType: string
  /** Depth at which a transaction is confirmed; 1 if absent. */
  readonly requiredConfirmations?: number
  /** The kinds of memo that a payment may carry; the kernel refuses others. Absent: the engine judges them. */
  readonly memoOptions?: readonly MemoOption[]
  /** The most memos of one payment, 0 for none. Absent: the engine judges that. */
  readonly maxMemos?: number
  /** The engine gets the private keys with every sync (specification §6). */
  readonly needsKeysToSync?: boolean
  /** The engine gets the private keys with every draft of a spend. */
  readonly needsKeysToSpend?: boolean
  /** The engine gets the private keys with every broadcast. */
  readonly needsKeysToBroadcast?: boolean
  readonly canImportKeys?: boolean
  readonly customFeeTemplate?: readonly CustomFeeField[]
  /** The most native units that can ever exist, as decimal text; a larger balance is refused. Absent: no bound. */
  readonly maxSupply?: string
  readonly addressExplorer?: string
  readonly transactionExplorer?: string
}

/** One number that a custom fee consists of, such as satoshis per virtual byte. */
export interface CustomFeeField {
  readonly key: string
  readonly displayName: string
  readonly unit: string
}
