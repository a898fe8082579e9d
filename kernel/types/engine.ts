import type { NativeAmount } from '../base/amount.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { AbortSignalLike } from '../io/io.ts'
import type { Token, TokenMap } from './currency.ts'
import type { PublicWalletInfo, WalletInfo, WalletKeys } from './keys.ts'
import type { EngineTransaction, SentState, SpendInfo, SpentTarget } from './transaction.ts'

/** The content of a URI or address (BIP-21 and its relatives). */
export interface ParsedUri {
  readonly publicAddress?: string
  /** The address as it was written, where that is an old spelling that addresses of another currency have, too. */
  readonly legacyAddress?: string
  readonly nativeAmount?: NativeAmount
  readonly currencyCode?: string
  readonly label?: string
  readonly message?: string
}

/** A request for payment to write as a URI. */
export interface UriRequest {
  readonly publicAddress: string
  readonly nativeAmount?: NativeAmount
  readonly label?: string
  readonly message?: string
}

/** The functions of a currency that need no wallet: keys and URIs. Made once per plugin. */
export interface CurrencyTools {
  createPrivateKey(walletType: string, options?: JsonObject): Promise<WalletKeys>
  /** The keys an engine may see; nothing in the result can spend. */
  derivePublicKey(walletInfo: WalletInfo): Promise<JsonObject>
  /** @throws ADDRESS_INVALID */
  parseUri(uri: string): Promise<ParsedUri>
  encodeUri(request: UriRequest): Promise<string>
  /**
   * An address without an owner, of the largest kind that can be paid. It serves to estimate fees before the recipient
   * is known, so that the quoted fee also covers the real one. Absent: an address of the wallet serves.
   */
  sampleAddress?(): Promise<string>
  /** False if cached public keys are of an older form and must be derived again. */
  checkPublicKey?(keys: JsonObject): Promise<boolean>
  /** Only where the currency says `canImportKeys`. */
  importPrivateKey?(text: string, options?: JsonObject): Promise<WalletKeys>
  /** The keys as a person writes them down, such as a mnemonic; a secret. Absent: the keys have no such form. */
  getDisplayPrivateKey?(walletInfo: WalletInfo): Promise<string>
  /** The public keys for a watch-only wallet, such as an extended public key. Absent: the keys have no such form. */
  getDisplayPublicKey?(walletInfo: PublicWalletInfo): Promise<string>
  /** The wallet types that the keys of a wallet can be split into; none if absent. */
  getSplittableTypes?(walletInfo: WalletInfo): Promise<readonly string[]>
  /**
   * Returns those of some addresses that belong to a wallet, derived from its public keys alone, within a span that the
   * currency chooses. The kernel refuses swaps that pay one; absent: it compares those that it has seen.
   */
  findOwnAddresses?(publicKeys: JsonObject, addresses: readonly string[]): Promise<readonly string[]>
  /**
   * The id of a token that a user describes. Absent: it is the contract address (specification §5).
   *
   * @throws NOT_SUPPORTED, or what is wrong with the token
   */
  getTokenId?(token: Token): Promise<string>
}

/** A request for a receive address. */
export interface AddressRequest {
  readonly tokenId: string | null
  readonly forceIndex?: number
}

/** A receive address in every form the currency has. */
export interface FreshAddress {
  readonly publicAddress: string
  readonly segwitAddress?: string
  readonly legacyAddress?: string
}

/** The reason why an engine lost the connection to its chain. */
export interface ConnectionLoss {
  /** The address of the server that was lost. */
  readonly server: string
  /** In words. */
  readonly reason: string
}

/** The parts of a balance, in native units; together they are the balance. */
export interface BalanceDetails {
  /** Confirmed, or change of own payments. */
  readonly spendable: NativeAmount
  /** Unconfirmed, from another wallet; its sender can still take it back. */
  readonly incoming: NativeAmount
  /** Earned by a block, and too young to be spent. */
  readonly immature: NativeAmount
  /** Kept for signed payments that may still be mined. */
  readonly reserved: NativeAmount
}

/** The callbacks by which an engine reports to the kernel; the kernel checks, coalesces and never throws back. */
export interface EngineCallbacks {
  /** The next fresh address is another one now. */
  onAddressChanged(): void
  /** 0 to 1; passed on once the transactions that were reported before are in the history. */
  onAddressesChecked(ratio: number): void
  onTokenBalanceChanged(tokenId: string | null, nativeAmount: string): void
  /** The parts of the balance of an asset, reported beside the balance by engines that know them. */
  onBalanceDetailsChanged(tokenId: string | null, details: BalanceDetails): void
  onBlockHeightChanged(height: number): void
  /** New and changed transactions. */
  onTransactionsChanged(transactions: readonly EngineTransaction[]): void
  /** Unsettled facts for a person, such as "server 2 of 3 does not answer"; empty takes back what was said. */
  onStatus(text: string): void
  /**
   * The server that the engine followed is lost, with the reason; without one, a server is there again. To be called at once:
   * until then the wallet counts as up to date.
   */
  onConnectionChanged(lost?: ConnectionLoss): void
  /** Tokens that the wallet turned out to hold; those that are new are switched on. */
  onNewTokens(tokenIds: readonly string[]): void
  onStakingStatusChanged(status: StakingStatus): void
  /** Every enabled token that the chain does not let the wallet use yet. */
  onUnactivatedTokenIdsChanged(tokenIds: readonly string[]): void
  /** The point up to which the engine has reported its transactions; kept once all that was reported before is durable. */
  onSeenTxCheckpoint(checkpoint: string): void
}

/** The stakes of a wallet. */
export interface StakingStatus {
  readonly stakedAmounts: readonly {
    readonly nativeAmount: NativeAmount
    /** ISO text; absent where nothing says when. */
    readonly unlockDate?: string
    readonly otherParams?: JsonObject
  }[]
}

/**
 * Durable, encrypted key-value text of one engine, on this device only; a cache that the chain can rebuild.
 *
 * Everything is in memory after opening, so reads are synchronous.
 */
export interface EngineStore {
  get(key: string): string | undefined
  /** All entries whose key begins with `prefix`, in no particular order. */
  entries(prefix: string): Iterable<readonly [key: string, text: string]>
  /** Writes all or nothing; null deletes. Resolves when durable. */
  write(changes: ReadonlyMap<string, string | null>): Promise<void>
}

/** The parts from which a plugin makes the engine of one wallet. */
export interface EngineRequest {
  /** Identity and public keys; nothing that can spend. */
  readonly walletInfo: PublicWalletInfo
  readonly callbacks: EngineCallbacks
  readonly store: EngineStore
  readonly log: EngineLog
  readonly enabledTokenIds: readonly string[]
  readonly customTokens: TokenMap
  readonly userSettings: JsonObject
  /** The last `onSeenTxCheckpoint` of an earlier engine of this wallet; all that it reported before is known. */
  readonly seenTxCheckpoint?: string
}

/** Log lines of one plugin or engine; text only, and never a secret. */
export interface EngineLog {
  debug(text: string): void
  info(text: string): void
  warn(text: string): void
  error(text: string): void
}

/** Private keys, for the one call that needs them. The engine must not keep them. */
export interface KeysArgument {
  readonly privateKeys?: WalletKeys
}

/**
 * The part of a wallet that knows its chain. Every call has a deadline and its result is checked.
 *
 * Life: made → `syncNetwork` and `startEngine` → … → `killEngine`, after which it says nothing more and is dropped;
 * a paused wallet that resumes gets a new engine. `startEngine` reports every transaction that is known from the
 * store and that `seenTxCheckpoint` does not cover.
 */
export interface CurrencyEngine {
  startEngine(): Promise<void>
  killEngine(): Promise<void>
  /** Looks at the network once; resolves to the milliseconds until it wants to look again. */
  syncNetwork(keys: KeysArgument): Promise<number>
  /** Forgets what it cached of the chain and looks again. */
  resyncBlockchain(): Promise<void>
  getFreshAddress(request: AddressRequest): Promise<FreshAddress>
  /** Marks addresses as used, so that the gap limit counts on from them. */
  addGapLimitAddresses(addresses: readonly string[]): Promise<void>
  isAddressUsed(address: string): Promise<boolean>
  /** @throws INSUFFICIENT_FUNDS, DUST_SPEND, NO_AMOUNT_SPECIFIED, PENDING_FUNDS, SPEND_TO_SELF, ADDRESS_INVALID */
  makeSpend(spend: SpendInfo, keys: KeysArgument): Promise<EngineTransaction>
  /** The draft with `signedTx` and `txid` filled in. */
  signTx(
    transaction: EngineTransaction,
    privateKeys: WalletKeys,
    options?: SigningOptions
  ): Promise<EngineTransaction>
  /**
   * Compares the fields of a signed transaction with its bytes: they spend this wallet's unspent coins, pay these
   * targets and no others, and leave this fee. Absent: the bytes are trusted.
   *
   * @throws SIGNED_TX_INVALID naming the field
   */
  checkSignedTx?(transaction: EngineTransaction, targets: readonly SpentTarget[]): Promise<void>
  /**
   * @throws BROADCAST_REFUSED if a server refuses; any other failure means that no server was reached. Neither proves
   *   that the bytes are nowhere: the kernel keeps them and their coins in both cases
   */
  broadcastTx(transaction: EngineTransaction, keys: KeysArgument): Promise<EngineTransaction>
  /** Takes a sent transaction into the engine's own view at once. */
  saveTx(transaction: EngineTransaction): Promise<void>
  /**
   * Keeps what these signed payments spend from every other draft: they may have left, and may still be mined. The list
   * takes the place of the one before, stays through `resyncBlockchain`, and comes before `startEngine` and whenever it
   * changes; the network must not be asked. A draft that `replaces` one of them must spend a coin of it. Coins of a
   * payment that a confirmed conflict has beaten are free.
   *
   * Absent: the currency can neither reserve nor replace.
   */
  reservePayments?(payments: readonly EngineTransaction[]): Promise<void>
  /** Returns the state of a payment that was sent; may ask the network. Absent: only the history shows it. */
  findPayment?(payment: EngineTransaction): Promise<PaymentSight>
  /** Exact maximum. Where absent, the kernel searches with `makeSpend`. */
  getMaxSpendable?(spend: SpendInfo, keys: KeysArgument): Promise<string>
  /** A signature that shows who holds the keys of the wallet. */
  signMessage?(message: string, privateKeys: WalletKeys, options: MessageOptions): Promise<string>
  /** A signed transaction that moves what foreign keys hold to the targets. */
  sweepPrivateKeys?(spend: SpendInfo, foreignKeys: readonly string[]): Promise<EngineTransaction>
  changeUserSettings?(settings: JsonObject): Promise<void>
  changeCustomTokens?(tokens: TokenMap): Promise<void>
  changeEnabledTokenIds?(tokenIds: readonly string[]): Promise<void>
  getStakingStatus?(): Promise<StakingStatus>
  /** The assets that can pay to activate this wallet, or tokens of it. */
  getActivationAssets?(request: EngineActivationAssetsRequest): Promise<readonly ActivationAsset[]>
  /** Returns the cost of activating this wallet, or tokens of it; nothing is spent yet. */
  activateWallet?(request: EngineActivationRequest): Promise<ActivationOffer>
  /** Facts for support, without secrets. */
  dumpData?(): Promise<Json>
}

/** The state of a payment that was sent, as far as an engine knows. */
export interface PaymentSight {
  readonly state: SentState
  /** The transaction that has taken one of its coins. */
  readonly replacedBy?: string
  /** It can never be mined, unless blocks that are confirmed are undone. */
  readonly isFinal?: boolean
}

/** The options to follow and stop a long signature; an engine that signs at once needs neither. */
export interface SigningOptions {
  /** Aborted once the signature is no longer needed. */
  readonly signal?: AbortSignalLike
  /** Takes how much is done, from 0 to 1. */
  onProgress?(ratio: number): void
}

/** The options of a message signature. `otherParams`: further input of the currency, such as an address of the wallet. */
export interface MessageOptions {
  readonly otherParams?: JsonObject
}

/** A wallet of the account as an engine may know it. */
export interface WalletRef {
  readonly walletId: string
  readonly pluginId: string
  readonly type: string
}

/** A request to an engine for the assets that can pay for an activation. */
export interface EngineActivationAssetsRequest {
  /** Tokens to activate; absent: the wallet itself. */
  readonly tokenIds?: readonly string[]
  /** The active wallets of the account. */
  readonly wallets: readonly WalletRef[]
}

/** An asset that can pay for an activation. `walletId`: one wallet alone; absent: any of the currency. */
export interface ActivationAsset {
  readonly walletId?: string
  readonly pluginId: string
  readonly tokenId: string | null
}

/** A request to an engine for an activation. */
export interface EngineActivationRequest {
  /** Tokens to activate; absent: the wallet itself. */
  readonly tokenIds?: readonly string[]
  /** The asset and wallet that pay, with an address of that wallet; absent: the wallet itself. */
  readonly payment?: WalletRef & { readonly tokenId: string | null; readonly publicAddress: string }
}

/** The cost of an activation; data only, the kernel reviews and signs the spends of the paying wallet. */
export interface ActivationOffer {
  readonly fromNativeAmount: NativeAmount
  readonly networkFee: { readonly tokenId: string | null; readonly nativeAmount: NativeAmount }
  /** In this order, of the paying wallet. */
  readonly spends: readonly SpendInfo[]
}
