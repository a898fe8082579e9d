import type { NativeAmount } from '../base/amount.ts'
import {
  allowTexts,
  requireObject,
  requireObjects,
  requireTextList,
  requireTexts,
  requireTokenId
} from '../base/arguments.ts'
import { compact } from '../base/compact.ts'
import { copyData, looseCopy } from '../base/copy-data.ts'
import { WalletError } from '../base/errors.ts'
import { allSettledOrThrow, Mutex } from '../base/mutex.ts'
import { bindReadable, type Readable } from '../base/observable.ts'
import type { PauseOptions } from '../base/pause-switch.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type {
  BalanceDetails,
  FreshAddress,
  MessageOptions,
  ParsedUri,
  SigningOptions,
  UriRequest
} from '../types/engine.ts'
import type { PluginId, TokenId, Txid, WalletId } from '../types/ids.ts'
import type { EngineSnapshot, OpenPaymentSnapshot, WalletSnapshot } from '../types/snapshots.ts'
import type { MetadataChange, SpendInfo, SweepInfo, Transaction } from '../types/transaction.ts'
import { type AddressChange, type AddressRecord, readAddresses } from './addresses.ts'
import {
  type CoinChange,
  type CoinNote,
  changeCoin,
  listCoins,
  readCoinNotes,
  type WalletCoin
} from './coins.ts'
import { dumpWallet, type WalletDump } from './dump-wallet.ts'
import { type OtherMethods, otherMethodsOf } from './engine/other-methods.ts'
import type { EngineSupervisor } from './engine/supervisor.ts'
import { checkFreshAddress, readParsedUri, readPluginText } from './engine/validate.ts'
import {
  listTransactions,
  type StreamQuery,
  /**
   * Lists the history in batches, each read when it is requested.
   *
   * @throws TX_NOT_FOUND for `beforeTxid`
   *
   * @example
   * ```ts
   * for await (const batch of wallet.streamTransactions()) console.log(batch.length)
   * ```
   */
  streamTransactions,
  type TransactionQuery
} from './history/list.ts'
import type { WalletContext, WalletOptions } from './options.ts'
import { WalletRuntime } from './runtime.ts'
import { writeFiatCode, writeWalletName } from './settings.ts'
import { getMaxSpendable, makeSpend } from './spend/draft.ts'
import type { SpendIntent } from './spend/journal.ts'
import { similarPaymentsOf } from './spend/open-payments.ts'
import type { SignOptions } from './spend/sign.ts'
import { readSignedTx } from './spend/signed-tx.ts'
import type { Spender } from './spend/spender.ts'
import { resendTx } from './spend/watch-payments.ts'
import { balanceDetailsIn, balanceIn, WalletState } from './state.ts'
import { type SyncStatus, syncStatusOf } from './sync-status.ts'
import { callTools, sampleAddress } from './tools.ts'

/** An open wallet for the application, and its runtime for the account. */
export interface OpenedWallet {
  readonly wallet: CurrencyWallet
  readonly runtime: WalletRuntime
}

/**
 * Opens a wallet: files, tokens, history; its engine is made and started in the background, where what a crash left
 * of its spends is finished.
 *
 * Resolves as soon as the wallet can be used; a failure of the engine shows in the wallet's `engine` snapshot.
 *
 * @throws PLUGIN_FOR_TYPE, STORAGE_FAILED
 */
export const openWallet = async (options: WalletOptions): Promise<OpenedWallet> => {
  const { services, walletInfo } = options
  const { io, disk } = services
  const info = services.plugins.infoOf(walletInfo.type)
  const context: WalletContext = {
    ...options,
    walletId: walletInfo.id,
    info,
    keys: walletInfo.keys,
    clock: io.clock,
    disk,
    mutex: new Mutex(),
    fiatCode: () => state.snapshot.getSnapshot().fiatCurrencyCode,
    report: error => services.report(`wallet ${info.pluginId}`, error)
  }
  const state = new WalletState(context)
  const runtime = new WalletRuntime(context, state)
  try {
    await runtime.open()
  } catch (error) {
    await runtime.close()
    throw error
  }
  return { wallet: new CurrencyWallet(context, runtime), runtime }
}

/**
 * One wallet of one currency: its addresses, transactions, notes and spends (specification §3, §5).
 *
 * `subscribe` and `getSnapshot` show its state, `engine` that of its engine. Amounts are native.
 *
 * @example
 * ```ts
 * import { amountText, nativeAmount } from 'holdfast'
 *
 * console.log(wallet.name, amountText(wallet.balanceOf(null), wallet.currencyInfo))
 * const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
 * const spendTargets = [{ publicAddress, nativeAmount: nativeAmount('150000') }]
 * const draft = await wallet.makeSpend({ tokenId: null, spendTargets })
 * const { txid } = await wallet.spend(draft)
 * ```
 */
export class CurrencyWallet implements Readable<WalletSnapshot> {
  readonly id: WalletId
  readonly type: string
  readonly currencyInfo: CurrencyInfo
  readonly #context: WalletContext
  readonly #runtime: WalletRuntime
  /** Made at the first access: most of many wallets are never watched. */
  #shown: Readable<WalletSnapshot> | undefined
  #shownEngine: Readable<EngineSnapshot> | undefined
  #otherMethods: OtherMethods | undefined

  constructor(context: WalletContext, runtime: WalletRuntime) {
    this.id = context.walletId
    this.type = context.walletInfo.type
    this.currencyInfo = context.info
    this.#context = context
    this.#runtime = runtime
  }

  get subscribe(): Readable<WalletSnapshot>['subscribe'] {
    return this.#show().subscribe
  }

  get getSnapshot(): Readable<WalletSnapshot>['getSnapshot'] {
    return this.#show().getSnapshot
  }

  /** True for a wallet that holds public keys alone: it shows and receives, and cannot pay. */
  get isWatchOnly(): boolean {
    return this.getSnapshot().isWatchOnly === true
  }

  get engine(): Readable<EngineSnapshot> {
    this.#shownEngine ??= bindReadable(this.#runtime.engine)
    return this.#shownEngine
  }

  /**
   * The methods that only this currency has, as `currencyInfo.otherMethods` declares them. Arguments and results are checked by
   * their schemas; a method gets no keys, and answers within a minute.
   *
   * A call throws OPTION_INVALID naming the argument, BOGUS_DATA naming the field of the result, NOT_SUPPORTED or what the method throws.
   *
   * @example
   * ```ts
   * const allowance = await wallet.otherMethods.getAllowance?.({ spender: '0x…' })
   * ```
   */
  get otherMethods(): OtherMethods {
    this.#otherMethods ??= otherMethodsOf(this.#runtime.engine, this.currencyInfo)
    return this.#otherMethods
  }

  get name(): string | null {
    return this.getSnapshot().name
  }

  /**
   * Returns the balance of an asset, null for the chain's own coin; zero before the engine has reported it.
   *
   * @example
   * ```ts
   * wallet.subscribe(() => console.log(wallet.balanceOf(null)))
   * ```
   */
  balanceOf(tokenId: TokenId | null): NativeAmount {
    requireTokenId(tokenId)
    return balanceIn(this.getSnapshot(), tokenId)
  }

  /**
   * Returns the parts of an asset's balance: the spendable amount, and those that cannot be spent yet.
   *
   * @example
   * ```ts
   * const { spendable, incoming } = wallet.balanceDetailsOf(null)
   * ```
   */
  balanceDetailsOf(tokenId: TokenId | null): BalanceDetails {
    requireTokenId(tokenId)
    return balanceDetailsIn(this.getSnapshot(), tokenId)
  }

  /** Renames the wallet on all devices; null removes its name. @throws OPTION_INVALID */
  async rename(name: string | null): Promise<void> {
    this.#checkOpen()
    if (name !== null) requireTexts({ name })
    await this.#context.mutex.run(() => writeWalletName(this.#context, name))
    await this.#runtime.readSettings()
  }

  /** Sets the fiat currency that the wallet is shown in, such as `iso:EUR`. @throws FIAT_CODE */
  async setFiatCurrencyCode(fiatCurrencyCode: string): Promise<void> {
    this.#checkOpen()
    requireTexts({ fiatCurrencyCode })
    await this.#context.mutex.run(() => writeFiatCode(this.#context, fiatCurrencyCode))
    await this.#runtime.readSettings()
  }

  /**
   * Returns an address to receive on; the same one until it is used or locked.
   *
   * @throws ENGINE_FAILED, BOGUS_DATA
   *
   * @example
   * ```ts
   * const { publicAddress } = await wallet.getReceiveAddress()
   * const uri = await wallet.encodeUri({ publicAddress, label: 'Alice' })
   * ```
   */
  async getReceiveAddress(
    options: { tokenId?: TokenId | null; forceIndex?: number } = {}
  ): Promise<FreshAddress> {
    requireObject('options', options)
    const request = {
      tokenId: options.tokenId ?? null,
      ...compact({ forceIndex: options.forceIndex })
    }
    const { pluginId } = this.currencyInfo
    return this.#runtime.engine.call('asking for an address', async engine =>
      checkFreshAddress(pluginId, await engine.getFreshAddress(request))
    )
  }

  /** Saves an address with a note, on all devices; it stays the fresh one. */
  saveReceiveAddress(address: string, metadata: MetadataChange = {}): Promise<void> {
    return this.#editAddress({ address, metadata, recycleable: true })
  }

  /**
   * Saves an address with a note and never offers it again: the next fresh one is another.
   *
   * @example
   * ```ts
   * const { publicAddress } = await wallet.getReceiveAddress()
   * await wallet.lockReceiveAddress(publicAddress, { name: 'Bob', notes: 'Invoice 17' })
   * ```
   */
  async lockReceiveAddress(address: string, metadata: MetadataChange = {}): Promise<void> {
    await this.#editAddress({ address, metadata, recycleable: false })
    await this.#runtime.engine.call('locking an address', engine => engine.addGapLimitAddresses([address]))
  }

  /** Lists the saved and the locked addresses. */
  async savedAddresses(): Promise<AddressRecord[]> {
    this.#checkOpen()
    return readAddresses(this.#context.repo, error => this.#report(error))
  }

  /**
   * Reads an address or payment URI of this currency.
   *
   * @throws ADDRESS_INVALID
   *
   * @example
   * ```ts
   * const { publicAddress, nativeAmount } = await wallet.parseUri('bitcoin:bc1q…?amount=0.01')
   * ```
   */
  async parseUri(uri: string): Promise<ParsedUri> {
    const { pluginId } = this.currencyInfo
    requireTexts({ uri })
    return callTools(this.#context.services, {
      pluginId,
      what: 'reading a URI',
      call: async tools => readParsedUri(pluginId, await tools.parseUri(uri))
    })
  }

  /**
   * Lists the unspent coins of the wallet, with what is noted of them.
   *
   * @throws NOT_SUPPORTED, BOGUS_DATA
   *
   * @example
   * ```ts
   * for (const { txid, vout, nativeAmount, state } of await wallet.listCoins()) console.log(txid, vout, nativeAmount, state)
   * ```
   */
  async listCoins(): Promise<readonly WalletCoin[]> {
    this.#checkOpen()
    return listCoins({ context: this.#context, engine: this.#runtime.engine })
  }

  /** Lists what is noted of coins, spent ones included. */
  async coinNotes(): Promise<readonly CoinNote[]> {
    this.#checkOpen()
    return readCoinNotes(this.#context)
  }

  /**
   * Freezes a coin, frees it, or changes its label, on all devices. `outpoint`: `txid:vout`.
   *
   * @throws OPTION_INVALID, NOT_SUPPORTED
   *
   * @example
   * ```ts
   * const [coin] = await wallet.listCoins()
   * if (coin !== undefined) await wallet.changeCoin(`${coin.txid}:${coin.vout}`, { isFrozen: true, label: 'Rainy days' })
   * ```
   */
  async changeCoin(outpoint: string, change: CoinChange): Promise<void> {
    this.#checkOpen()
    requireTexts({ outpoint })
    requireObject('change', change)
    await changeCoin({ context: this.#context, engine: this.#runtime.engine }, outpoint, change)
  }

  /** Returns an address to estimate fees with, before the recipient is known; it is never paid. */
  sampleAddress(): Promise<string> {
    const { pluginId } = this.currencyInfo
    return sampleAddress(this.#context.services, { pluginId, own: () => this.getReceiveAddress() })
  }

  /** Writes a payment URI. */
  async encodeUri(request: UriRequest): Promise<string> {
    const { pluginId } = this.currencyInfo
    requireData('request', request)
    requireTexts({ publicAddress: request.publicAddress })
    return callTools(this.#context.services, {
      pluginId,
      what: 'writing a URI',
      call: async tools =>
        readPluginText({ pluginId, what: 'payment URI' }, await tools.encodeUri(looseCopy(request)))
    })
  }

  /**
   * Drafts a payment; nothing is signed.
   *
   * @throws the spend errors of the catalogue, such as INSUFFICIENT_FUNDS, DUST_SPEND, ADDRESS_INVALID; WATCH_ONLY
   *
   * @example
   * ```ts
   * import { nativeAmount } from 'holdfast'
   *
   * const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
   * const spendTargets = [{ publicAddress, nativeAmount: nativeAmount('150000') }]
   * const draft = await wallet.makeSpend({ tokenId: null, spendTargets, metadata: { name: 'Rent' } })
   * console.log(draft.nativeAmount, draft.networkFee)
   * ```
   */
  async makeSpend(request: SpendInfo): Promise<Transaction> {
    checkSpendInfo(request)
    return makeSpend(this.#openSpender, request)
  }

  /**
   * Returns the largest amount that the first target can get.
   *
   * @example
   * ```ts
   * const spendTargets = [{ publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080' }]
   * const most = await wallet.getMaxSpendable({ tokenId: null, spendTargets })
   * ```
   */
  async getMaxSpendable(request: SpendInfo): Promise<NativeAmount> {
    checkSpendInfo(request)
    return getMaxSpendable(this.#openSpender, request)
  }

  /**
   * Signs, sends and saves an approved draft. After a crash at any point, the next opening finishes the payment.
   *
   * @throws FEE_UNUSUAL, MAX_FEE, SIGN_REFUSED, SIGNED_OTHERWISE, BROADCAST_REFUSED, BROADCAST_UNKNOWN; OPTION_INVALID
   *   for a draft of another wallet
   *
   * @example
   * ```ts
   * import { isWalletError, type Transaction } from 'holdfast'
   *
   * declare const draft: Transaction
   * try {
   *   const { txid } = await wallet.spend(draft)
   * } catch (error) {
   *   if (!isWalletError(error, 'FEE_UNUSUAL')) throw error
   *   console.log(`fee of ${error.details.networkFee}; nothing was signed`)
   * }
   * ```
   */
  async spend(draft: Transaction, options: SignOptions = {}): Promise<Transaction> {
    checkTransaction(draft)
    return this.#openSpender.spend(draft, options)
  }

  /**
   * Signs a draft without sending it; the bytes are kept until {@link saveTx} or {@link discardTx}.
   *
   * @throws FEE_UNUSUAL, MAX_FEE, SIGN_REFUSED
   *
   * @example
   * ```ts
   * import type { Transaction } from 'holdfast'
   *
   * declare const draft: Transaction
   * const signed = await wallet.signTx(draft)
   * await wallet.saveTx(await wallet.broadcastTx(signed))
   * ```
   */
  async signTx(draft: Transaction, options: SignOptions = {}): Promise<Transaction> {
    checkTransaction(draft)
    return this.#openSpender.signTx(draft, options)
  }

  /** Reads a signed transaction of this wallet that was kept outside, and checks it. @throws SIGNED_TX_INVALID */
  async readSignedTx(value: unknown): Promise<Transaction> {
    return readSignedTx(this.#openSpender, value)
  }

  /** Sends a signed transaction. @throws BROADCAST_REFUSED, BROADCAST_UNKNOWN */
  async broadcastTx(tx: Transaction): Promise<Transaction> {
    checkTransaction(tx)
    return this.#openSpender.broadcastTx(tx)
  }

  /** Drops a signed transaction that was never sent. @throws TX_NOT_FOUND, BROADCAST_UNKNOWN if it may have left */
  async discardTx(txid: Txid): Promise<void> {
    requireTexts({ txid })
    return this.#openSpender.discardTx(txid)
  }

  /** Sends the bytes of a signed payment of this device again, and saves it. @throws TX_NOT_FOUND, BROADCAST_REFUSED, … */
  async resendTx(txid: Txid): Promise<Transaction> {
    return resendTx(this.#openSpender, txid)
  }

  /**
   * Drops a signed payment that may have left, and frees the coins it spends. It can still be mined, also beside
   * another payment: ask a person first.
   *
   * @throws TX_NOT_FOUND; BROADCAST_UNKNOWN while it is being sent
   */
  async forgetTx(txid: Txid): Promise<void> {
    return this.#openSpender.forgetTx(txid)
  }

  /**
   * Looks for each signed payment that may still be mined, as far as the network answers, and returns them, oldest first.
   * Show them before another payment is made.
   *
   * @example
   * ```ts
   * for (const { txid, state } of await wallet.lookAtOpenPayments()) {
   *   if (state === 'notInMempool') await wallet.resendTx(txid)
   * }
   * ```
   */
  async lookAtOpenPayments(): Promise<readonly OpenPaymentSnapshot[]> {
    this.#checkOpen()
    await this.#runtime.lookAtPayments()
    return this.getSnapshot().openPayments
  }

  /**
   * Returns the open payments that pay a payee of this draft the same amount: ask before paying a second time. Give their txids
   * to `spend` as `knownSimilar`; it then refuses if another similar payment is open.
   *
   * @throws OPTION_INVALID
   *
   * @example
   * ```ts
   * import type { Transaction } from 'holdfast'
   *
   * declare const draft: Transaction
   * const knownSimilar = wallet.similarPayments(draft).map(({ txid }) => txid)
   * if (knownSimilar.length === 0) await wallet.spend(draft, { knownSimilar })
   * ```
   */
  similarPayments(draft: Transaction): readonly OpenPaymentSnapshot[] {
    requireObject('draft', draft)
    return similarPaymentsOf(this.getSnapshot().openPayments, draft)
  }

  /** Records a sent transaction with its payees, fees and notes. */
  async saveTx(tx: Transaction): Promise<void> {
    checkTransaction(tx)
    return this.#openSpender.saveTx(tx)
  }

  /**
   * Signs a text, which shows who holds the keys.
   *
   * @throws NOT_SUPPORTED, BOGUS_DATA
   *
   * @example
   * ```ts
   * const signature = await wallet.signMessage('I am Alice')
   * ```
   */
  async signMessage(message: string, options: MessageOptions = {}): Promise<string> {
    const { pluginId } = this.currencyInfo
    requireTexts({ message })
    requireData('options', options)
    return signMessage({ engine: this.#runtime.engine, pluginId }, message, options)
  }

  /**
   * Makes and signs a transaction that moves the coins of foreign keys here; {@link broadcastTx} sends it.
   *
   * @param options - stops the search for their coins, which can take minutes with a node of one's own, and receives its progress
   * @throws NOT_SUPPORTED, SIGN_STOPPED, …
   */
  async sweepPrivateKeys(request: SweepInfo, options: SigningOptions = {}): Promise<Transaction> {
    checkSpendInfo(request)
    requireTextList('privateKeys', request.privateKeys)
    // Few wallets ever sweep.
    const { sweepPrivateKeys } = await import('./spend/sweep.ts')
    return sweepPrivateKeys(this.#openSpender, request, options)
  }

  /** Lists the spends that began and have not finished, oldest first. */
  unfinishedSpends(): readonly SpendIntent[] {
    return this.#runtime.journal.list(error => this.#report(error))
  }

  /**
   * Lists the history of an asset, newest first, with its notes.
   *
   * @throws TX_NOT_FOUND for `beforeTxid`
   *
   * @example
   * ```ts
   * for (const { txid, nativeAmount, metadata } of await wallet.getTransactions({ limit: 20 })) {
   *   console.log(txid, nativeAmount, metadata.name)
   * }
   * ```
   */
  async getTransactions(query: TransactionQuery = {}): Promise<Transaction[]> {
    this.#checkOpen()
    requireObject('query', query)
    if (query.tokenId !== undefined) requireTokenId(query.tokenId)
    return listTransactions(this.#runtime.history, query)
  }

  /** The same in batches, each read when it is asked for. @throws TX_NOT_FOUND for `beforeTxid` */
  streamTransactions(query: StreamQuery = {}): AsyncIterable<Transaction[]> {
    this.#checkOpen()
    return streamTransactions(this.#runtime.history, query)
  }

  /** Returns one transaction in the history of an asset. @throws TX_NOT_FOUND */
  async getTransaction(txid: Txid, tokenId: TokenId | null = null): Promise<Transaction> {
    this.#checkOpen()
    requireTexts({ txid })
    requireTokenId(tokenId)
    const tx = await this.#runtime.history.find(txid, tokenId)
    if (tx === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
    return tx
  }

  /**
   * Changes the notes of a transaction on all devices; null deletes, absent keeps.
   *
   * @throws TX_NOT_FOUND
   *
   * @example
   * ```ts
   * const [newest] = await wallet.getTransactions({ limit: 1 })
   * if (newest !== undefined) await wallet.saveTxMetadata(newest.txid, { name: 'Rent', notes: null })
   * ```
   */
  async saveTxMetadata(txid: Txid, change: MetadataChange, tokenId: TokenId | null = null): Promise<void> {
    this.#checkOpen()
    requireTexts({ txid })
    requireObject('metadata', change)
    await this.#runtime.history.saveMetadata({ txid, tokenId }, change)
    this.#runtime.spender.txChanged(txid)
  }

  /** Uploads and downloads the wallet's files, syncs the engine unless it is paused, and applies all reports. */
  async sync(): Promise<void> {
    this.#checkOpen()
    const { syncLoop, repo } = this.#context
    const { isPaused } = this.#runtime.pause.getSnapshot()
    await allSettledOrThrow([syncLoop.syncNow(repo), isPaused ? undefined : this.#runtime.engine.syncNow()])
    await this.#runtime.idle()
  }

  /** Drops the cached chain data, found tokens included, and looks again. */
  async resyncBlockchain(): Promise<void> {
    this.#checkOpen()
    await this.#runtime.resync()
  }

  /**
   * The sync status of the wallet: its progress, its stage and since when, in words too.
   *
   * @example
   * ```ts
   * const { ratio, sentence } = wallet.syncStatus
   * ```
   */
  get syncStatus(): SyncStatus {
    return syncStatusOf(
      this.engine.getSnapshot(),
      this.#context.repo.state.getSnapshot(),
      this.currencyInfo.syncDisplayPrecision
    )
  }

  /**
   * Stops or starts the engine, now or later; a wallet of a paused account stays paused.
   *
   * @throws ENGINE_FAILED if it cannot start now; OPTION_INVALID
   */
  async changePaused(isPaused: boolean, options: PauseOptions = {}): Promise<void> {
    this.#checkOpen()
    await this.#runtime.changePaused(isPaused, options)
  }

  /**
   * Switches tokens on and off, on all devices; ids that the currency does not have are left out (specification §5).
   *
   * @throws STORAGE_FULL, STORAGE_FAILED; nothing has changed then
   */
  async changeEnabledTokenIds(tokenIds: readonly TokenId[]): Promise<void> {
    this.#checkOpen()
    requireTextList('tokenIds', tokenIds)
    await this.#runtime.tokens.changeEnabled(tokenIds)
  }

  /**
   * Returns facts of the wallet and its engine for support, as data; private keys are left out. @throws ENGINE_FAILED
   */
  dumpData(): Promise<WalletDump> {
    this.#checkOpen()
    return dumpWallet(this.#context, this.#runtime)
  }

  #show(): Readable<WalletSnapshot> {
    this.#shown ??= bindReadable(this.#runtime.state.snapshot)
    return this.#shown
  }

  get #openSpender(): Spender {
    this.#checkOpen()
    return this.#runtime.spender
  }

  #checkOpen(): void {
    if (this.#runtime.engine.isClosed) throw new WalletError('LOGGED_OUT', {})
  }

  async #editAddress(change: AddressChange): Promise<void> {
    this.#checkOpen()
    requireTexts({ address: change.address })
    requireObject('metadata', change.metadata)
    await this.#context.mutex.run(() => this.#runtime.addresses.edit(change))
  }

  #report(error: unknown): void {
    this.#context.services.report(`wallet ${this.currencyInfo.pluginId}`, error)
  }
}

/** @throws OPTION_INVALID unless it is an object of JSON, as a plugin can be given it */
const requireData = (option: string, value: object): void => {
  requireObject(option, value)
  copyData(value, {
    maxLength: Number.POSITIVE_INFINITY,
    refuse: rule => new WalletError('OPTION_INVALID', { option, rule })
  })
}

/** @throws OPTION_INVALID if a text of a request, or its list of targets, is something else */
const checkSpendInfo = (request: SpendInfo): void => {
  requireData('request', request)
  requireObjects('spendTargets', request.spendTargets)
  if (request.coins !== undefined) requireTextList('coins', request.coins)
  allowTexts({ bumps: request.bumps })
  for (const { publicAddress, nativeAmount } of request.spendTargets)
    allowTexts({ publicAddress, nativeAmount })
}

/** @throws OPTION_INVALID for what is no transaction at all; the rest is judged by what is made of it */
const checkTransaction = (tx: Transaction): void => {
  requireObject('transaction', tx)
  const { txid, nativeAmount, metadata } = tx
  requireTexts({ txid, nativeAmount })
  requireObject('metadata', metadata)
}

/**
 * Signs a text with the keys of a wallet.
 *
 * @throws NOT_SUPPORTED, BOGUS_DATA, or what a policy or the engine objects
 * @see specification §5
 */
const signMessage = async (
  { engine, pluginId }: { readonly engine: EngineSupervisor; readonly pluginId: PluginId },
  message: string,
  options: MessageOptions
): Promise<string> => {
  const isAble = await engine.call('signing a message', async made => made.signMessage !== undefined)
  if (!isAble) throw new WalletError('NOT_SUPPORTED', { what: 'signing messages' })
  const privateKeys = await engine.privateKeys({ use: 'message', message })
  const place = { pluginId, what: 'signature' }
  return engine.call('signing a message', async made =>
    readPluginText(place, await made.signMessage?.(message, privateKeys, looseCopy(options)))
  )
}
