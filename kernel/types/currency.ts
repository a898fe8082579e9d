import type { AmountUnits } from '../base/amount.ts'
import type { JsonObject } from '../base/json.ts'

/** A token of a chain, under its token id. */
export interface Token extends AmountUnits {
  readonly networkLocation?: JsonObject
}

/** Tokens by token id. */
export type TokenMap = Readonly<Record<string, Token>>

/**
 * What an account knows of one currency besides its wallets (specification §3 "Account settings per plugin").
 *
 * The maps have no prototype: token ids are text from outside.
 */
export interface CurrencyConfigSnapshot {
  /** Tokens that the plugin brings. Empty until it has answered. */
  readonly builtinTokens: TokenMap
  /** Whether it has answered; before, an id that is not here may be a token all the same. */
  readonly areBuiltinTokensKnown: boolean
  /** Tokens that the user added. */
  readonly customTokens: TokenMap
  /** Both; a token of the user wins over one of the plugin with the same id. */
  readonly allTokens: TokenMap
  /** Tokens that are on in every wallet of this currency. */
  readonly alwaysEnabledTokenIds: readonly string[]
  /** The plugin's own settings, such as the servers to use. */
  readonly userSettings: JsonObject
}

/** The kind of a memo. */
export type MemoType = 'hex' | 'number' | 'text'

/** What a currency accepts as memo. */
export interface MemoOption {
  readonly type: MemoType
  /** What the chain calls it, such as `OP_RETURN` or `destination tag`. */
  readonly memoName?: string
  /** Text: characters. Hex: bytes. */
  readonly maxLength?: number
  /** Numbers only: the largest, decimal text. */
  readonly maxValue?: string
}

/** What the kernel and its interfaces know of a currency; data only (specification §3, §7.2 of the peer). */
export interface CurrencyInfo extends AmountUnits {
  readonly pluginId: string
  /** Such as `wallet:bitcoin`. */
  readonly walletType: string
  /** Depth at which a transaction is confirmed; 1 if absent. */
  readonly requiredConfirmations?: number
  readonly memoOptions?: readonly MemoOption[]
  /** The engine gets the private keys with every sync (specification §6). */
  readonly needsKeysToSync?: boolean
  /** The engine gets the private keys with every draft of a spend. */
  readonly needsKeysToSpend?: boolean
  /** The engine gets the private keys with every broadcast. */
  readonly needsKeysToBroadcast?: boolean
  readonly canImportKeys?: boolean
  readonly customFeeTemplate?: readonly CustomFeeField[]
  /** No more native units than these can ever be, as decimal text; a balance above is refused. Absent: without a bound. */
  readonly maxSupply?: string
  readonly addressExplorer?: string
  readonly transactionExplorer?: string
}

/** One number a custom fee asks for, such as satoshis per virtual byte. */
export interface CustomFeeField {
  readonly key: string
  readonly displayName: string
  readonly unit: string
}
