import type { NativeAmount } from '../base/amount.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { AbortSignalLike } from '../io/io.ts'
import type { Token, TokenMap } from './currency.ts'
import type { PluginId, TokenId, Txid, WalletId } from './ids.ts'
import type { PublicWalletInfo, WalletInfo, WalletKeys } from './keys.ts'
import type { EngineTransaction, Grade, SentState, SpendInfo, SpentTarget } from './transaction.ts'

/** The content of a URI or address (BIP-21 and its relatives). */
export interface ParsedUri {
  readonly publicAddress?: string
  /** The address as it was written, if that is an old spelling that other currencies share. */
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

/**
 * The functions of a currency that need no wallet: keys and URIs. Made once for each plugin.
 *
 * @example
 * ```ts
 * import type { CurrencyTools } from 'holdfast/plugin'
 *
 * declare const addressOf: (privateKey: string) => string
 * const tools: CurrencyTools = {
 *   createPrivateKey: async () => ({ tollarKey: io.crypto.toHex(io.random(32)) }),
 *   derivePublicKey: async ({ keys }) => ({ address: addressOf(String(keys.tollarKey)) }),
 *   parseUri: async uri => ({ publicAddress: uri.replace(/^tollar:/, '') }),
 *   encodeUri: async ({ publicAddress }) => `tollar:${publicAddress}`
 * }
 * ```
 */
export interface CurrencyTools {
  /** Makes the private keys of a new wallet. */
  createPrivateKey(walletType: string, options?: JsonObject): Promise<WalletKeys>
  /** Derives the keys that an engine may see. The result must not be able to spend. */
  derivePublicKey(walletInfo: WalletInfo): Promise<JsonObject>
  /** Reads an address or a payment URI. @throws ADDRESS_INVALID */
  parseUri(uri: string): Promise<ParsedUri>
  /** Writes a request for payment as a URI. */
  encodeUri(request: UriRequest): Promise<string>
  /**
   * Returns an address without an owner, of the largest kind that can be paid. It serves to estimate fees before the recipient
   * is known, so that the quoted fee also covers the real one. Absent: an address of the wallet is used.
   */
  sampleAddress?(): Promise<string>
  /** Returns false if cached public keys are of an older form and must be derived again. */
  checkPublicKey?(keys: JsonObject): Promise<boolean>
  /** Reads private keys that a person has. Only where the currency says `canImportKeys`. */
  importPrivateKey?(text: string, options?: JsonObject): Promise<WalletKeys>
  /**
   * Returns the keys as a person writes them down, such as a mnemonic; a secret. Absent: the keys have no such form.
   */
  getDisplayPrivateKey?(walletInfo: WalletInfo): Promise<string>
  /**
   * Returns the public keys for a watch-only wallet, such as an extended public key. Absent: the keys have no such form.
   */
  getDisplayPublicKey?(walletInfo: PublicWalletInfo): Promise<string>
  /** Returns the wallet types that the keys of a wallet can be split into. Absent: none. */
  getSplittableTypes?(walletInfo: WalletInfo): Promise<readonly string[]>
  /**
   * Returns those of some addresses that belong to a wallet, derived from its public keys alone, within a span that the
   * currency chooses. The kernel refuses swaps that pay one; absent: it compares those that it has seen.
   */
  findOwnAddresses?(publicKeys: JsonObject, addresses: readonly string[]): Promise<readonly string[]>
  /** Returns where below its keys a wallet has its addresses, from its public keys. Absent: the currency has no such paths. */
  getKeyPaths?(publicKeys: JsonObject): Promise<KeyPaths>
  /** Verifies the signature of a text by the key of an address. Absent: the currency has no messages. @throws ADDRESS_INVALID */
  verifyMessage?(signed: SignedMessage): Promise<MessageVerdict>
  /**
   * Returns the id of a token that a user describes. Absent: it is the contract address (specification §5).
   *
   * @throws NOT_SUPPORTED, or the error of the token's fault
   */
  getTokenId?(token: Token): Promise<TokenId>
}

/**
 * The derivation paths of a wallet's addresses, as people keep them beside its words: a program that looks at others finds other
 * addresses.
 *
 * @example
 * ```ts
 * import type { KeyPaths } from 'holdfast/plugin'
 *
 * export const paths: KeyPaths = { givenOut: ["m/84'/0'/0'/0/*"], watched: ["m/84'/0'/0'/0/*", "m/84'/0'/0'/1/*"] }
 * ```
 */
export interface KeyPaths {
  /** Of the addresses that it gives out. */
  readonly givenOut: readonly string[]
  /** Of all addresses whose coins it finds. */
  readonly watched: readonly string[]
}

/**
 * The tools of a currency whose info has `signing`: the kernel makes, imports and shows the private key. `derivePublicKey` gets
 * `{ publicKey }` as keys, in hex: 32 bytes of ed25519, 33 of secp256k1.
 *
 * @example
 * ```ts
 * import type { KeylessTools } from 'holdfast/plugin'
 *
 * export const tools: KeylessTools = {
 *   derivePublicKey: async ({ keys }) => ({ address: String(keys.publicKey) }),
 *   parseUri: async uri => ({ publicAddress: uri.replace(/^tollar:/, '') }),
 *   encodeUri: async ({ publicAddress }) => `tollar:${publicAddress}`
 * }
 * ```
 */
export type KeylessTools = Omit<
  CurrencyTools,
  'createPrivateKey' | 'getDisplayPrivateKey' | 'getSplittableTypes' | 'importPrivateKey'
>

/** A request for a receive address. */
export interface AddressRequest {
  readonly tokenId: TokenId | null
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
  /** Present if the chain that it shows is not believed. */
  readonly refused?: ChainRefusalReason
}

/**
 * Why the chain of a server is not believed: `forged` breaks a rule of its network, `weaker` has less work than the one that is
 * known, `stale` ends too long ago. `clock`: its blocks are good, and do not fit the clock of this device, which is probably wrong.
 */
export type ChainRefusalReason = 'clock' | 'forged' | 'stale' | 'weaker'

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
  /** What could be spent if its coins were not frozen. Absent: the currency freezes none. */
  readonly frozen?: NativeAmount
  /**
   * `agreed` if two servers have the same history of every coin that is not incoming, otherwise `claimed`: no proof shows that a coin
   * was not spent since. Absent: the engine does not grade.
   */
  readonly grade?: Exclude<Grade, 'proven'>
  /** The weakest grade of the payments that brought these coins. `proven` says that they were received, and no more. */
  readonly paymentsGrade?: Grade
}

/** An unspent coin of a wallet. */
export interface EngineCoin {
  readonly txid: Txid
  readonly vout: number
  readonly publicAddress: string
  readonly nativeAmount: NativeAmount
  /** 0 while it is in no block. */
  readonly blockHeight: number
  /** The part of the balance that it belongs to: `frozen` only if it could be spent otherwise. */
  readonly state: 'frozen' | 'immature' | 'incoming' | 'reserved' | 'spendable'
}

/**
 * The callbacks by which an engine reports to the kernel. The kernel checks and coalesces the reports; no callback throws.
 *
 * @example
 * ```ts
 * import type { EngineRequest } from 'holdfast/plugin'
 *
 * const report = ({ callbacks }: EngineRequest) => {
 *   callbacks.onBlockHeightChanged(7)
 *   callbacks.onTokenBalanceChanged(null, '150000')
 *   callbacks.onAddressesChecked(1) // in sync
 * }
 * ```
 */
export interface EngineCallbacks {
  /** Reports that the next fresh address has changed. */
  onAddressChanged(): void
  /** Reports the progress of the sync, 0 to 1; passed on once the transactions reported before are in the history. */
  onAddressesChecked(ratio: number): void
  /** Reports the balance of an asset in native units; null as token id for the chain's own coin. */
  onTokenBalanceChanged(tokenId: TokenId | null, nativeAmount: string): void
  /** Reports the parts of the balance of an asset, beside the balance, by engines that know them. */
  onBalanceDetailsChanged(tokenId: TokenId | null, details: BalanceDetails): void
  /**
   * Reports the height of the chain, and the time of its newest block in Unix seconds: budgets of a day move on only with
   * a time that the chain confirms.
   */
  onBlockHeightChanged(height: number, blockTime?: number): void
  /** Reports new and changed transactions. */
  onTransactionsChanged(transactions: readonly EngineTransaction[]): void
  /** Reports a passing fact for a person, such as "server 2 of 3 does not answer"; an empty text withdraws it. */
  onStatus(text: string): void
  /**
   * Reports the loss of the server that the engine followed, with the reason; without an argument, that a server is there again.
   * Call it at once: until then the wallet counts as up to date.
   */
  onConnectionChanged(lost?: ConnectionLoss): void
  /** Reports tokens that the wallet turned out to hold; those that are new are switched on. */
  onNewTokens(tokenIds: readonly TokenId[]): void
  /** Reports the stakes of the wallet. */
  onStakingStatusChanged(status: StakingStatus): void
  /** Reports every enabled token that the chain does not let the wallet use yet. */
  onUnactivatedTokenIdsChanged(tokenIds: readonly TokenId[]): void
  /**
   * Reports the point up to which transactions have been reported; the kernel keeps it once all reported before it is durable.
   */
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
 * Everything is in memory after opening, so that reads are synchronous.
 *
 * @example
 * ```ts
 * import type { EngineRequest } from 'holdfast/plugin'
 *
 * const load = async ({ store }: EngineRequest) => {
 *   const height = Number(store.get('height') ?? 0)
 *   await store.write(new Map([['height', String(height + 1)]]))
 * }
 * ```
 */
export interface EngineStore {
  /** Reads one text; undefined if there is none. */
  get(key: string): string | undefined
  /** Lists the entries whose key begins with `prefix`, in no particular order. */
  entries(prefix: string): Iterable<readonly [key: string, text: string]>
  /**
   * Writes all or nothing; null deletes. Resolves when durable.
   *
   * @throws BOGUS_DATA for what is no text
   */
  write(changes: ReadonlyMap<string, string | null>): Promise<void>
}

/**
 * Files of one wallet for its engine, texts and bytes, encrypted. A path has the form of `checkPath`; a file has the form that it was
 * last written in, and reads as undefined in the other.
 *
 * @example
 * ```ts
 * import type { EngineRequest } from 'holdfast/plugin'
 *
 * const keepProof = async ({ localFiles }: EngineRequest, proof: Uint8Array) => {
 *   await localFiles.setData('proofs/newest', proof)
 *   return localFiles.list('proofs') // ['proofs/newest']
 * }
 * ```
 */
export interface EngineFiles {
  getText(path: string): Promise<string | undefined>
  /** Durable when it resolves. @throws QUOTA_EXCEEDED, PATH_REFUSED, STORAGE_FULL, STORAGE_FAILED */
  setText(path: string, text: string): Promise<void>
  getData(path: string): Promise<Uint8Array | undefined>
  /** As {@link EngineFiles.setText}; bytes count 4/3 characters each. */
  setData(path: string, data: Uint8Array): Promise<void>
  /** Deletes a file; no error if there is none. */
  delete(path: string): Promise<void>
  /** Lists all files below a folder, at any depth, in ascending order; '' lists everything. */
  list(folder: string): Promise<readonly string[]>
}

/** The parts from which a plugin makes the engine of one wallet. */
export interface EngineRequest {
  /** Identity and public keys; nothing that can spend. */
  readonly walletInfo: PublicWalletInfo
  readonly callbacks: EngineCallbacks
  readonly store: EngineStore
  /** On this device only, up to 2 million characters in 1000 files; a cache that the chain can rebuild. */
  readonly localFiles: EngineFiles
  /**
   * On every device of the user, up to 200,000 characters in 100 files; for what no chain has, such as the channels of a
   * wallet. Servers see neither paths nor contents. Of two edits of a file at once, the later one counts.
   */
  readonly syncedFiles: EngineFiles
  readonly log: EngineLog
  readonly enabledTokenIds: readonly TokenId[]
  readonly customTokens: TokenMap
  readonly userSettings: JsonObject
  /** The last `onSeenTxCheckpoint` of an earlier engine of this wallet; all that it reported before is known. */
  readonly seenTxCheckpoint?: string
}

/**
 * Log lines of one plugin or engine; text only, and never a secret.
 *
 * @example
 * ```ts
 * import type { RateHost } from 'holdfast/plugin'
 *
 * const apply = ({ log, options }: RateHost) => {
 *   if (options.apiKey === undefined) log.warn('no API key: asked at most once a minute')
 * }
 * ```
 */
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
 * Life: made → `syncNetwork` and `startEngine` → … → `killEngine`, after which it reports nothing and is dropped;
 * a paused wallet that resumes gets a new engine, unless the engine has `changePaused`. `startEngine` reports every transaction that is known from the
 * store and that `seenTxCheckpoint` does not cover. `docs/write-a-plugin.md` has a whole one.
 *
 * @example
 * ```ts
 * import type { CurrencyEngine, EngineRequest } from 'holdfast/plugin'
 *
 * declare const fetchBalance: (address: string) => Promise<string>
 * const syncing = ({ walletInfo, callbacks }: EngineRequest): Pick<CurrencyEngine, 'syncNetwork'> => ({
 *   async syncNetwork() {
 *     callbacks.onTokenBalanceChanged(null, await fetchBalance(String(walletInfo.keys.address)))
 *     callbacks.onAddressesChecked(1)
 *     return 10_000 // milliseconds until the next look
 *   }
 * })
 * ```
 */
export interface CurrencyEngine {
  /** Starts from the store, without waiting for the network. */
  startEngine(): Promise<void>
  /** Stops. The engine must not use its callbacks afterwards. */
  killEngine(): Promise<void>
  /**
   * Pauses a started engine without ending it: it keeps what it has in memory, closes connections, cancels timers and looks at
   * nothing until it is resumed; other calls still come, such as for an address. A resume is followed by `syncNetwork`. The engine
   * is killed if a pause fails or takes more than 5 s. Absent: a pause kills it, and another is made.
   */
  changePaused?(isPaused: boolean): Promise<void>
  /** Looks at the network once; resolves to the milliseconds until the next look. */
  syncNetwork(keys: KeysArgument): Promise<number>
  /** Drops the cached chain data and looks again. */
  resyncBlockchain(): Promise<void>
  /** Returns an unused receive address. */
  getFreshAddress(request: AddressRequest): Promise<FreshAddress>
  /** Marks addresses as used, so that the gap limit counts on from them. */
  addGapLimitAddresses(addresses: readonly string[]): Promise<void>
  /** Returns true if the chain has a transaction with this address of the wallet. */
  isAddressUsed(address: string): Promise<boolean>
  /**
   * Drafts a payment without signing it.
   *
   * @throws INSUFFICIENT_FUNDS, DUST_SPEND, NO_AMOUNT_SPECIFIED, PENDING_FUNDS, SPEND_TO_SELF, ADDRESS_INVALID
   */
  makeSpend(spend: SpendInfo, keys: KeysArgument): Promise<EngineTransaction>
  /** Signs a draft and returns it with `signedTx` and `txid`. */
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
   * Sends a signed transaction.
   *
   * @throws BROADCAST_REFUSED if a server refuses; any other failure means that no server was reached. Neither proves
   *   that no server has the bytes: the kernel keeps them and their coins in both cases
   */
  broadcastTx(transaction: EngineTransaction, keys: KeysArgument): Promise<EngineTransaction>
  /** Adds a sent transaction to the engine's own view at once. */
  saveTx(transaction: EngineTransaction): Promise<void>
  /**
   * Reserves the coins of these signed payments: other drafts must not spend them, since the payments may have left and may still
   * be mined. The list replaces the previous one, stays through `resyncBlockchain`, and comes before `startEngine` and after each
   * change; the network must not be asked. A draft that `replaces` one of them must spend a coin of it. Coins of a
   * payment that lost to a confirmed conflict are free.
   *
   * Absent: the currency can neither reserve nor replace.
   */
  reservePayments?(payments: readonly EngineTransaction[]): Promise<void>
  /** Lists the unspent coins. Absent: the currency has no coins, or shows none. */
  listCoins?(): Promise<readonly EngineCoin[]>
  /**
   * Freezes these coins, `txid:vout` each: no draft takes them, and none that has them is signed, but for a replacement of a
   * payment that spends them already. The list replaces the previous one, and comes when {@link CurrencyEngine.reservePayments} does.
   */
  freezeCoins?(outpoints: readonly string[]): Promise<void>
  /** Returns the state of a sent payment; may ask the network. Absent: only the history shows it. */
  findPayment?(payment: EngineTransaction): Promise<PaymentSight>
  /** Returns the exact maximum that can be spent. Absent: the kernel searches with `makeSpend`. */
  getMaxSpendable?(spend: SpendInfo, keys: KeysArgument): Promise<string>
  /** Signs a message, which shows who holds the keys of the wallet. */
  signMessage?(message: string, privateKeys: WalletKeys, options: MessageOptions): Promise<string>
  /**
   * Makes a transaction that moves the funds of foreign keys to the targets: a draft if the engine has
   * {@link CurrencyEngine.signSweep}, else a signed one, whose amounts no policy learns. Of an engine that names what it
   * spends, a transaction with a coin that a wallet of the account keeps back is dropped, and the engine called again with that coin in `kept`.
   * A search for the coins may take half an hour; it reports how far it is, and stops when the signal aborts.
   */
  sweepPrivateKeys?(
    spend: SpendInfo,
    foreignKeys: readonly string[],
    kept: KeptCoins,
    options?: SigningOptions
  ): Promise<EngineTransaction>
  /** Signs a draft of {@link CurrencyEngine.sweepPrivateKeys} with its keys, once policies have agreed to all amounts. */
  signSweep?(draft: EngineTransaction, foreignKeys: readonly string[]): Promise<EngineTransaction>
  changeUserSettings?(settings: JsonObject): Promise<void>
  changeCustomTokens?(tokens: TokenMap): Promise<void>
  changeEnabledTokenIds?(tokenIds: readonly TokenId[]): Promise<void>
  /** Another device has changed files of `syncedFiles`. */
  syncedFilesChanged?(): Promise<void>
  /**
   * The methods that `otherMethods` of the info declares, by name, each with one object of arguments. They get no keys. A method
   * that is not declared is never called.
   */
  readonly otherMethods?: Readonly<Record<string, (args: JsonObject) => Promise<Json | undefined>>>
  getStakingStatus?(): Promise<StakingStatus>
  /** The assets that can pay to activate this wallet, or tokens of it. */
  getActivationAssets?(request: EngineActivationAssetsRequest): Promise<readonly ActivationAsset[]>
  /** Returns the cost of activating this wallet, or tokens of it; nothing is spent yet. */
  activateWallet?(request: EngineActivationRequest): Promise<ActivationOffer>
  /** Returns facts for support, without secrets. */
  dumpData?(): Promise<Json>
}

/** A signature of the kernel, in hex. */
export interface KernelSignature {
  readonly publicKey: string
  /** 64 bytes: of ed25519, or r and s of ECDSA with the low s. */
  readonly signature: string
  /** Of secp256k1: which of the public keys that fit is the one, 0 to 3. */
  readonly recovery?: number
}

/**
 * The engine of a currency whose info has `signing`: in place of `signTx` it says which bytes are to be signed, and puts the signatures
 * in. The kernel asks for them once the payment is approved and every policy has agreed.
 *
 * @example
 * ```ts
 * import type { KeylessEngine } from 'holdfast/plugin'
 *
 * declare const hashOf: (draft: unknown) => string
 * export const signing: Pick<KeylessEngine, 'addSignatures' | 'getBytesToSign'> = {
 *   getBytesToSign: async ({ otherParams }) => [hashOf(otherParams)],
 *   addSignatures: async (tx, [first]) => ({ ...tx, txid: hashOf(tx.otherParams), signedTx: first?.signature ?? '' })
 * }
 * ```
 */
export interface KeylessEngine
  extends Omit<CurrencyEngine, 'signMessage' | 'signSweep' | 'signTx' | 'sweepPrivateKeys'> {
  /** Returns what a draft has to be signed over, each in hex: hashes of 32 bytes for secp256k1, messages for ed25519. */
  getBytesToSign(transaction: EngineTransaction): Promise<readonly string[]>
  /** Returns the draft with `signedTx` and `txid`, made of one signature for each of those, in their order. */
  addSignatures(
    transaction: EngineTransaction,
    signatures: readonly KernelSignature[]
  ): Promise<EngineTransaction>
}

/** Coins that wallets of an account keep back, `txid:vout` each: frozen by a person, or reserved for an open payment. */
export interface KeptCoins {
  readonly frozen: readonly string[]
  readonly reserved: readonly string[]
}

/** The state of a sent payment, as far as an engine knows. */
export interface PaymentSight {
  readonly state: SentState
  /** The transaction that has spent one of its coins. */
  readonly replacedBy?: Txid
  /** True if it can never be mined, unless confirmed blocks are undone. */
  readonly isFinal?: boolean
}

/**
 * The options to follow and stop a long signature, or the search for the coins of a sweep; an engine that answers at once needs neither.
 *
 * @example
 * ```ts
 * import type { SigningOptions } from 'holdfast/plugin'
 *
 * const signAll = (count: number, { signal, onProgress }: SigningOptions) => {
 *   for (let done = 1; done <= count && signal?.aborted !== true; done += 1) onProgress?.(done / count)
 * }
 * ```
 */
export interface SigningOptions {
  /** Aborted once the answer is no longer needed. */
  readonly signal?: AbortSignalLike
  /** Reports the finished share, from 0 to 1. */
  onProgress?(ratio: number): void
}

/**
 * The options of a message signature. `otherParams`: further input of the currency. Those of Bitcoin's family read
 * `publicAddress`, an address of the wallet, and `format`: `legacy` or `bip322`.
 */
export interface MessageOptions {
  readonly otherParams?: JsonObject
}

/** A text, and its signature by the key of an address. */
export interface SignedMessage {
  readonly message: string
  readonly address: string
  readonly signature: string
}

/**
 * The judgement of a message signature. `inconclusive`: it may be valid, and is of a kind that this version does not judge, such as one
 * of several keys.
 */
export type MessageVerdict = 'inconclusive' | 'invalid' | 'valid'

/** A wallet of the account, as engines see it. */
export interface WalletRef {
  readonly walletId: WalletId
  readonly pluginId: PluginId
  readonly type: string
}

/** A request to an engine for the assets that can pay for an activation. */
export interface EngineActivationAssetsRequest {
  /** Tokens to activate; absent: the wallet itself. */
  readonly tokenIds?: readonly TokenId[]
  /** The active wallets of the account. */
  readonly wallets: readonly WalletRef[]
}

/** An asset that can pay for an activation. `walletId`: one wallet alone; absent: any of the currency. */
export interface ActivationAsset {
  readonly walletId?: WalletId
  readonly pluginId: PluginId
  readonly tokenId: TokenId | null
}

/** A request to an engine for an activation. */
export interface EngineActivationRequest {
  /** Tokens to activate; absent: the wallet itself. */
  readonly tokenIds?: readonly TokenId[]
  /** The asset and wallet that pay, with an address of that wallet; absent: the wallet itself. */
  readonly payment?: WalletRef & { readonly tokenId: TokenId | null; readonly publicAddress: string }
}

/** The cost of an activation; data only, the kernel reviews and signs the spends of the paying wallet. */
export interface ActivationOffer {
  readonly fromNativeAmount: NativeAmount
  readonly networkFee: { readonly tokenId: TokenId | null; readonly nativeAmount: NativeAmount }
  /** The payments of the paying wallet, in this order. */
  readonly spends: readonly SpendInfo[]
}
