import type { NativeAmount } from '../base/amount.ts'
import type { JsonObject } from '../base/json.ts'
import type { MemoType } from './currency.ts'
import type { PluginId, TokenId, Txid, WalletId } from './ids.ts'

/** A note for the recipient that travels on the chain. Hex has no leading 0x. */
export interface Memo {
  readonly type: MemoType
  readonly value: string
  readonly memoName?: string
  readonly isHidden?: boolean
}

/** The confirmation state of a transaction (specification §4). A number is a depth that is not yet enough. */
export type Confirmations = 'confirmed' | 'dropped' | 'syncing' | 'unconfirmed' | number

/**
 * How well a fact of a chain is known: `proven` by a Merkle proof to a header that is linked by work to a checkpoint, `agreed` by two
 * independent servers, or `claimed` by one.
 */
export type Grade = 'agreed' | 'claimed' | 'proven'

/** The user's notes on a transaction. */
export interface Metadata {
  readonly name?: string
  readonly category?: string
  readonly notes?: string
  readonly bizId?: number
  /** Fiat value by code, such as `{ 'iso:USD': 12.5 }`. */
  readonly exchangeAmount?: Readonly<Record<string, number>>
  /** The one of `exchangeAmount` that is in the fiat currency of the wallet. */
  readonly amountFiat?: number
}

/** A change of metadata: null deletes, absent keeps. */
export interface MetadataChange {
  readonly name?: string | null
  readonly category?: string | null
  readonly notes?: string | null
  readonly bizId?: number | null
  readonly exchangeAmount?: Readonly<Record<string, number | null>>
  /** Sets or deletes the value in the fiat currency of the wallet; it wins over `exchangeAmount`. */
  readonly amountFiat?: number | null
}

/** One recipient of a spend. */
export interface SpendTarget {
  readonly publicAddress?: string
  readonly nativeAmount?: NativeAmount
  /** The memo of single-memo currencies, copied here for older readers. */
  readonly memo?: string
  readonly uniqueIdentifier?: string
  readonly otherParams?: JsonObject
}

/** A recipient as recorded with the transaction. */
export interface SpentTarget {
  readonly currencyCode: string
  readonly nativeAmount: NativeAmount
  readonly publicAddress: string
  readonly memo?: string
  readonly uniqueIdentifier?: string
}

/** A named fee level, or numbers of the user's own. */
export type NetworkFeeOption = 'high' | 'standard' | 'low' | 'custom'

/**
 * A payment that the user requests.
 *
 * @example
 * ```ts
 * import { nativeAmount, type SpendInfo } from 'holdfast'
 *
 * const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
 * const request: SpendInfo = {
 *   tokenId: null,
 *   spendTargets: [{ publicAddress, nativeAmount: nativeAmount('150000') }],
 *   networkFeeOption: 'low',
 *   metadata: { name: 'Landlady', notes: 'Rent' }
 * }
 * const draft = await wallet.makeSpend(request)
 * ```
 */
export interface SpendInfo {
  /** null: the chain's own coin. */
  readonly tokenId: TokenId | null
  readonly spendTargets: readonly SpendTarget[]
  readonly memos?: readonly Memo[]
  readonly networkFeeOption?: NetworkFeeOption
  readonly customNetworkFee?: JsonObject
  /**
   * `true`: confirmed coins only. `false`: also incoming coins, which their sender can still take back, if no
   * others suffice. If left out: the spendable part of the balance, which is confirmed coins and change of the wallet's own.
   */
  readonly noUnconfirmed?: boolean
  /**
   * The most that the network may take, in native units of the chain's own coin. If left out, a fee above a tenth of
   * the amount and above ten times the usual one is not signed.
   */
  readonly maxNetworkFee?: NativeAmount
  /**
   * The txid of an open payment of the wallet. The new payment replaces it: it spends at least one of its coins, so
   * that the network can accept only one of the two.
   */
  readonly replaces?: Txid
  /**
   * The txid of an unconfirmed payment that leaves a coin to the wallet. The draft has no targets: it spends that coin, pays it to the
   * wallet again, and leaves so high a fee that miners take both.
   */
  readonly bumps?: Txid
  /** The coins to pay with, `txid:vout` each: all of these, and no others. */
  readonly coins?: readonly string[]
  readonly metadata?: Metadata
  readonly otherParams?: JsonObject
}

/**
 * The state of a sent payment, besides its confirmations.
 *
 * `notSeen`: sent, and no server has been asked yet. `seen`: the network shows it. `notInMempool`: a server was asked and
 * has it neither in its pool nor in a block; it can still be mined and is sent again. `replaced`: another transaction has
 * spent one of its coins. `expired`: by its own terms it can no longer be mined. `dropped`: the coins it spends no longer exist.
 */
export type SentState = 'notSeen' | 'seen' | 'notInMempool' | 'replaced' | 'expired' | 'dropped'

/** A request to move the funds of foreign keys. `privateKeys`: each in the form of its currency; secret. */
export interface SweepInfo extends SpendInfo {
  readonly privateKeys: readonly string[]
}

/** The record of a swap, kept with the transaction that pays for it. */
export interface SwapData {
  readonly orderId?: string
  readonly orderUri?: string
  readonly isEstimate: boolean
  readonly plugin: {
    readonly pluginId: PluginId
    readonly displayName: string
    readonly supportEmail?: string
  }
  readonly payoutAddress: string
  readonly payoutCurrencyCode: string
  readonly payoutNativeAmount: NativeAmount
  readonly payoutWalletId: WalletId
  readonly refundAddress?: string
}

/** What a network takes in one asset, in native units; never negative. */
export interface NetworkFee {
  /** null: the chain's own coin. */
  readonly tokenId: TokenId | null
  readonly nativeAmount: NativeAmount
}

/** A transaction as an engine reports or makes it. Amounts are native and signed: negative leaves the wallet. */
export interface EngineTransaction {
  readonly tokenId: TokenId | null
  readonly txid: Txid
  /** Unix seconds: block time, or when first seen. */
  readonly date: number
  /** 0: unconfirmed; negative: dropped. */
  readonly blockHeight: number
  readonly nativeAmount: NativeAmount
  readonly networkFee: NativeAmount
  /** The fee of a token's transaction, in the chain's own coin. */
  readonly parentNetworkFee?: NativeAmount
  /**
   * Every fee, one for each asset, of a transaction that costs fees in several: such as gas in the coin and a protocol fee in another
   * token. Those in the transaction's own asset and in the coin are the amounts of `networkFee` and `parentNetworkFee`. Absent: there
   * are no others.
   */
  readonly networkFees?: readonly NetworkFee[]
  /** Of a draft: its fee in the chain's own coin by other sources than the one of `networkFee`. */
  readonly usualNetworkFee?: NativeAmount
  readonly ourReceiveAddresses: readonly string[]
  /** Hex or base64, as the chain's tools write it; empty before signing. */
  readonly signedTx: string
  readonly memos?: readonly Memo[]
  readonly isSend?: boolean
  /** The code of the asset, if the engine knows it better than the list of tokens. */
  readonly currencyCode?: string
  /** Only set by an engine that knows that the transaction is final; otherwise the kernel counts the depth. */
  readonly confirmations?: Confirmations
  /** How well it is known that the transaction is in its block. Absent: the engine does not say. */
  readonly grade?: Grade
  /** The action of the transaction beyond moving coins, such as a swap or a stake. */
  readonly action?: JsonObject
  /** The engine's notes on a new incoming transaction; they never replace the user's notes. */
  readonly metadata?: Metadata
  readonly feeRateUsed?: JsonObject
  readonly txSecret?: string
  /**
   * The coins that a draft spends, each by a name that only one payment of the chain can spend, such as `txid:vout` of an
   * output or the nonce of an account. The kernel uses them to keep two payments from spending the same coin.
   */
  readonly spentCoins?: readonly string[]
  /** Data that the engine needs again to sign or broadcast; JSON only, no keys. */
  readonly otherParams?: JsonObject
}

/** A transaction as an application sees it (specification §3). */
export interface Transaction extends EngineTransaction {
  readonly walletId: WalletId
  readonly currencyCode: string
  readonly confirmations: Confirmations
  readonly isSend: boolean
  readonly memos: readonly Memo[]
  readonly metadata: Metadata
  readonly networkFeeOption?: NetworkFeeOption
  readonly requestedCustomFee?: JsonObject
  /** See {@link SpendInfo.maxNetworkFee}. */
  readonly maxNetworkFee?: NativeAmount
  readonly spendTargets?: readonly SpentTarget[]
  readonly swapData?: SwapData
  readonly deviceDescription?: string
  /** The open payment that it replaces. */
  readonly replaces?: Txid
  /** Set for a payment from this device that is not long confirmed. */
  readonly sentState?: SentState
  /** The transaction that has spent a coin of it. */
  readonly replacedBy?: Txid
}
