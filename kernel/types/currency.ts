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
  /** The kernel makes the keys and signs with them, so that the plugin never gets one: see {@link KernelSigning}. */
  readonly signing?: KernelSigning
  /** The numbers that a custom fee consists of, for the form that asks for them. */
  readonly customFeeTemplate?: readonly CustomFeeField[]
  /** The most native units that can ever exist, as decimal text; a larger balance is refused. Absent: no bound. */
  readonly maxSupply?: string
  /** The methods of its engines that applications may call on a wallet, by name: see {@link MethodSchema}. */
  readonly otherMethods?: Readonly<Record<string, MethodSchema>>
  /** Settings of the plugin where the user has set none: engines get these, with the settings of the user over them. */
  readonly defaultSettings?: JsonObject
  /** The name of the chain where it differs from that of its coin: `Arbitrum One`, whose coin is called `Ethereum`. */
  readonly chainDisplayName?: string
  /** Digits after the point in which the progress of a sync is shown, 0 to 6; for chains of which one percent takes hours. */
  readonly syncDisplayPrecision?: number
  /** Addresses of pages about a block, an address, a transaction or an extended public key, with `%s` in its place. */
  readonly blockExplorer?: string
  readonly addressExplorer?: string
  readonly transactionExplorer?: string
  readonly xpubExplorer?: string
}

/** A curve that the kernel can sign on. */
export type SigningCurve = 'ed25519' | 'secp256k1'

/**
 * How the kernel signs for a currency whose wallets have one private key. Its plugin has {@link KeylessTools} and {@link KeylessEngine}: it gets
 * public keys and signatures, and no private key, not even while a wallet is made.
 *
 * @example
 * ```ts
 * import type { KernelSigning } from 'holdfast/plugin'
 *
 * export const signing: KernelSigning = { curve: 'ed25519', keyName: 'tollarKey' }
 * ```
 */
export interface KernelSigning {
  readonly curve: SigningCurve
  /** The name under which a wallet's keys have the private key: 64 hex digits. */
  readonly keyName: string
}

/**
 * The shape of a value, in words of JSON Schema. A field that an object does not list is refused in arguments, and left out of
 * results.
 */
export interface ValueSchema {
  readonly type: 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string'
  /** For people and programs that call the method. */
  readonly description?: string
  /** The only texts that there are. */
  readonly enum?: readonly string[]
  /** `native-amount`: a text of digits. */
  readonly format?: 'native-amount'
  /** Characters of a text. */
  readonly maxLength?: number
  /** Of numbers. */
  readonly minimum?: number
  readonly maximum?: number
  /** The shape of every item of an array. */
  readonly items?: ValueSchema
  readonly maxItems?: number
  /** The fields of an object; those in `required` must be there. */
  readonly properties?: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
}

/**
 * A method of a currency's engines beyond those that every currency has, such as the allowance of a contract. The kernel checks
 * arguments and result, and hands no keys to it.
 *
 * @example
 * ```ts
 * import type { MethodSchema } from 'holdfast/plugin'
 *
 * export const getAllowance: MethodSchema = {
 *   description: 'What a contract may still take of a token',
 *   arguments: { type: 'object', properties: { spender: { type: 'string', maxLength: 100 } }, required: ['spender'] },
 *   result: { type: 'string', format: 'native-amount' }
 * }
 * ```
 */
export interface MethodSchema {
  /** What it does, in a sentence. */
  readonly description: string
  /** An object: the method gets its arguments by name. */
  readonly arguments: ValueSchema
  readonly result: ValueSchema
}

/** One number that a custom fee consists of, such as satoshis per virtual byte. */
export interface CustomFeeField {
  readonly key: string
  readonly displayName: string
  readonly unit: string
}
