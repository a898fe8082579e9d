import type { NativeAmount } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { withDeadline } from '../base/deadline.ts'
import { errorOf, isWalletError } from '../base/errors.ts'
import { type PauseOptions, PauseSwitch } from '../base/pause-switch.ts'
import type {
  BalanceDetails,
  ConnectionLoss,
  CurrencyEngine,
  KeptCoins,
  StakingStatus
} from '../types/engine.ts'
import type { TokenId, Txid } from '../types/ids.ts'
import type { RatePair } from '../types/rates.ts'
import type { EngineTransaction } from '../types/transaction.ts'
import { readAddresses, SavedAddresses } from './addresses.ts'
import { frozenAmong, frozenCoinsOf, isCoinPath } from './coins.ts'
import type { EngineConfig } from './engine/config.ts'
import { ENGINE_FOLDER } from './engine/engine-files.ts'
import { type EngineHost, EngineSupervisor } from './engine/supervisor.ts'
import { TransactionThrottle } from './events.ts'
import type { TxidChanges } from './history/changes.ts'
import { History } from './history/history.ts'
import type { WalletContext } from './options.ts'
import { readWalletSettings, WALLET_SETTINGS_PATHS } from './settings.ts'
import { SpendJournal } from './spend/journal.ts'
import { isPaymentOpen, openPaymentsOf, reservedPaymentsOf } from './spend/open-payments.ts'
import { Spender } from './spend/spender.ts'
import { keepSentRows, watchPayments } from './spend/watch-payments.ts'
import type { WalletState } from './state.ts'
import { OLD_TOKENS_PATH, TOKENS_PATH, tokenIdList, tokenSnapshotsOf, WalletTokens } from './tokens.ts'

/**
 * Runs one open wallet: reacts to changes of its engine, its files, its currency's settings and its pause.
 */
export class WalletRuntime implements EngineHost {
  readonly state: WalletState
  readonly history: History
  readonly tokens: WalletTokens
  readonly engine: EngineSupervisor
  readonly journal: SpendJournal
  readonly pause: PauseSwitch
  readonly #context: WalletContext
  #addresses: SavedAddresses | undefined
  #spender: Spender | undefined
  #throttle: TransactionThrottle | undefined
  /** The assets of the changes that the next event carries. */
  #changedAssets: ReadonlySet<string> | 'unknown' | undefined
  #fallbackName: string | null = null
  #height: number | undefined
  #pausing: Promise<void> | undefined
  #watching: Promise<void> | undefined
  /** Txids with news since the last round of {@link watchPayments}; undefined: no round is wanted. */
  #changedTxids: Set<string> | undefined
  #hasStrayNote = false
  /** The coins that are frozen will be listed once more. */
  #willFreeze = false
  #unsubscribes: (() => void)[] = []

  constructor(context: WalletContext, state: WalletState) {
    const { repo, scheduler, walletId, paused, isPaused } = context
    this.#context = context
    this.state = state
    this.pause = new PauseSwitch({ scheduler, key: `pause ${walletId}`, parent: paused, isSet: isPaused })
    this.journal = new SpendJournal(repo.local)
    this.history = new History(context, this.journal)
    this.tokens = new WalletTokens(context, this)
    this.engine = new EngineSupervisor(context, this)
  }

  /** Reads the files, shows the wallet, and starts its engine in the background. @throws STORAGE_FAILED */
  async open(): Promise<void> {
    const { repo, config } = this.#context
    await Promise.all([this.readSettings(), this.tokens.read()])
    this.tokensChanged()
    this.state.set({ openPayments: openPaymentsOf(this.journal) })
    this.state.open()
    this.#unsubscribes = [
      repo.onServerChange(paths => this.#filesChanged(paths)),
      config.subscribe(() => this.tokens.configChanged())
    ]
    this.pause.subscribe(() => this.#pauseChanged())
    this.#pauseChanged()
    this.#inBackground(this.engine.start())
  }

  /** Stops everything; what was reported and what was changed is durable when it resolves. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe()
    this.pause.close()
    await this.engine.close()
    await this.engine.reportsIdle()
    await this.history.close()
    await this.tokens.close()
  }

  /** The addresses that the wallet remembers, to be edited. */
  get addresses(): SavedAddresses {
    this.#addresses ??= new SavedAddresses(this.#context, this.#context.hashOf)
    return this.#addresses
  }

  /** The rate pairs for its balances: its coin, and every token with a balance, in its fiat. */
  *ratePairs(): Generator<RatePair> {
    const { info, config } = this.#context
    const { balances, fiatCurrencyCode: toCurrency } = this.state.snapshot.getSnapshot()
    yield { fromCurrency: info.currencyCode, toCurrency }
    const { allTokens } = config.getSnapshot()
    for (const tokenId of Object.keys(balances)) {
      const token = Object.hasOwn(allTokens, tokenId) ? allTokens[tokenId] : undefined
      if (token !== undefined) yield { fromCurrency: token.currencyCode, toCurrency }
    }
  }

  /** Makes the spends of this wallet; made when first needed, since most wallets never spend. */
  get spender(): Spender {
    const { services, walletId, info, rules } = this.#context
    const { engine, history, journal } = this
    this.#spender ??= new Spender({
      ...{ services, walletId, info, engine, history, journal, rules },
      balanceOf: tokenId => this.state.balanceOf(tokenId),
      freezeCoins: () => this.#freezeCoins(),
      frozenAmong: outpoints => frozenAmong(this.#context, outpoints),
      txChanged: txid => this.#emitTransactions({ created: [], changed: [txid] }),
      lookAgain: () => this.#watch([]),
      openPaymentsChanged: () => this.state.set({ openPayments: openPaymentsOf(this.journal) })
    })
    return this.#spender
  }

  /** Looks for every payment that is not over, for some seconds at most. */
  async lookAtPayments(): Promise<void> {
    if (!this.#hasPayments) return
    this.#watch([])
    const { clock } = this.#context
    const deadline = { clock, milliseconds: LOOK_MS, what: 'Looking for open payments' }
    await withDeadline(deadline, async () => this.#watching).catch(() => undefined)
  }

  /** Stops or starts the engine; one that failed is tried again at once. @throws ENGINE_FAILED, OPTION_INVALID */
  async changePaused(isPaused: boolean, options: PauseOptions): Promise<void> {
    this.pause.change(isPaused, options)
    await this.#pausing
    if (!this.pause.getSnapshot().isPaused) await this.engine.start()
  }

  /** Resolves when the engine runs or stands as the pause wants it. @throws ENGINE_FAILED */
  async pauseSettled(): Promise<void> {
    await this.#pausing
  }

  /** Forgets everything that came from the chain, and resyncs the engine (protocol §6.6). */
  async resync(): Promise<void> {
    this.engine.resetProgress()
    this.engine.suspendCheckpoints()
    await this.engine.reportsIdle()
    // Earlier reports of the engine may have been applied only now.
    this.engine.resetProgress()
    await this.history.clear()
    this.#height = undefined
    this.unactivatedChanged([])
    await this.tokens.forgetDetected()
    try {
      await this.engine.call('looking at the chain again', engine => {
        // Earlier reports are forgotten, so that an engine that fails here must repeat them at its next start.
        this.engine.suspendCheckpoints()
        return engine.resyncBlockchain()
      })
      this.engine.resumeCheckpoints()
      await this.engine.reportsIdle()
    } finally {
      // The network may have lost what was sent from here; this wallet must not.
      await keepSentRows(this.spender)
    }
  }

  /** Resolves when everything that was reported or synced so far has been applied. */
  async idle(): Promise<void> {
    await this.engine.reportsIdle()
    await this.history.idle()
  }

  get config(): EngineConfig {
    const { info, config } = this.#context
    const { userSettings: own, customTokens } = config.getSnapshot()
    const userSettings = info.defaultSettings === undefined ? own : { ...info.defaultSettings, ...own }
    return { userSettings, customTokens, enabledTokenIds: this.tokens.enabledTokenIds }
  }

  /** The payments whose coins engines must keep from every draft. */
  get reservedPayments(): readonly EngineTransaction[] {
    return reservedPaymentsOf(this.journal)
  }

  checkpoint(): Promise<string | undefined> {
    return this.history.checkpoint()
  }

  async usedAddresses(): Promise<readonly string[]> {
    const { repo, report } = this.#context
    const records = await readAddresses(repo, report)
    return records
      .filter(({ recycleable, address }) => !recycleable && address !== '')
      .map(({ address }) => address)
  }

  /** In the turn of `changeCoin`: an older reading must not undo what a person has just frozen. */
  #freezeCoins(): Promise<void> {
    return this.#context.mutex.run(() =>
      this.engine.callIfMade('freezing coins', async engine =>
        engine.freezeCoins?.(await this.frozenCoins(engine))
      )
    )
  }

  async frozenCoins(engine: CurrencyEngine): Promise<readonly string[]> {
    this.#willFreeze = false
    const { frozen, hasStrayNote } = await frozenCoinsOf(this.#context, engine)
    this.#hasStrayNote = hasStrayNote
    return frozen
  }

  /** A coin may have come whose note cannot be read, so that it was not known to be frozen. */
  #freezeNewCoins(): void {
    if (!this.#hasStrayNote || this.#willFreeze) return
    this.#willFreeze = true
    this.#inBackground(this.#freezeCoins().finally(() => (this.#willFreeze = false)))
  }

  /** Finds which of some coins this wallet keeps back. */
  async keptCoins(outpoints: readonly string[]): Promise<KeptCoins> {
    const open = this.journal.signed().filter(isPaymentOpen)
    const spent = new Set(open.flatMap(({ tx }) => tx.spentCoins ?? []))
    return {
      frozen: await frozenAmong(this.#context, outpoints),
      reserved: outpoints.filter(outpoint => spent.has(outpoint))
    }
  }

  synced(): void {
    if (this.#hasPayments) this.#watch([])
    this.#inBackground(this.#noteWhole())
  }

  async #noteWhole(): Promise<void> {
    await this.engine.reportsIdle()
    if (this.engine.getSnapshot().syncRatio === 1) await this.history.reportedAll()
  }

  tokensChanged(): void {
    const { enabledTokenIds, detectedTokenIds } = this.tokens
    const tokens = tokenSnapshotsOf([enabledTokenIds, detectedTokenIds], this.#context.config.getSnapshot())
    this.state.set({ enabledTokenIds, detectedTokenIds, tokens })
    this.engine.configChanged()
  }

  addressChanged(): void {
    const { services, events, walletId } = this.#context
    const event = Object.freeze({ walletId })
    events.push(`address ${walletId}`, () => services.hooks.addressChanged.call(event))
  }

  balanceChanged(tokenId: TokenId | null, balance: NativeAmount): void {
    this.state.batchBalance(tokenId, balance)
  }

  balanceDetailsChanged(tokenId: TokenId | null, details: BalanceDetails): void {
    this.state.batchBalanceDetails(tokenId, details)
  }

  emitReports(): void {
    this.state.emitBatch()
  }

  heightChanged(blockHeight: number, blockTime?: number): void {
    if (blockTime !== undefined) this.#context.rules.sawBlockTime(blockTime * 1000)
    if (blockHeight === this.#height) return
    this.#height = blockHeight
    this.#inBackground(this.#applyHeight(blockHeight))
    if (!this.#context.services.config.skipBlockHeight) this.engine.batch({ blockHeight })
  }

  progressChanged(syncRatio: number): void {
    this.engine.batch({ syncRatio })
  }

  statusChanged(status: string): void {
    this.engine.batch({ status })
  }

  connectionChanged(lost: ConnectionLoss | undefined): void {
    this.engine.connectionChanged(lost)
  }

  stakingChanged(stakingStatus: StakingStatus): void {
    this.state.batch({ stakingStatus })
  }

  unactivatedChanged(tokenIds: readonly TokenId[]): void {
    this.state.batch({ unactivatedTokenIds: tokenIdList(tokenIds) })
  }

  tokensFound(tokenIds: readonly TokenId[]): void {
    const { services, walletId } = this.#context
    const found = this.tokens.detect(tokenIds)
    if (found.length === 0) return
    services.hooks.tokensDetected.call(Object.freeze({ walletId, tokenIds: found }))
  }

  async transactionsChanged(transactions: readonly EngineTransaction[], checkpoint?: string): Promise<void> {
    const changes = await this.history.applyReports(transactions, checkpoint)
    this.#emitTransactions(changes, assetsOf(transactions, changes))
    if (changes.created.length + changes.changed.length > 0) this.#freezeNewCoins()
    if (this.#hasPayments) this.#watch(transactions.map(({ txid }) => txid))
  }

  failed(thrown: unknown): void {
    const { services, info } = this.#context
    const error = errorOf(thrown)
    services.report(`engine ${info.pluginId}`, error)
    const isKnown = isWalletError(error)
    services.hooks.pluginFault.call(
      Object.freeze({
        pluginId: info.pluginId,
        hook: 'makeEngine',
        errorName: error.name.slice(0, 100),
        ...compact({ errorCode: isKnown ? error.code : undefined }),
        message: isKnown ? error.message : 'The engine sent something that could not be taken in'
      })
    )
  }

  /** Shows what the files of the wallet's settings say; a reading that was begun earlier is never shown later. */
  readSettings(): Promise<void> {
    return this.#context.mutex.run(() => this.#readSettings())
  }

  async #readSettings(): Promise<void> {
    const { services, walletInfo } = this.#context
    const { name, fiatCurrencyCode } = await readWalletSettings(this.#context)
    this.state.set({ name: name === undefined ? this.#fallbackName : name, fiatCurrencyCode })
    const appId = walletInfo.appIds.find(id => id !== '')
    if (name !== undefined || appId === undefined || this.#fallbackName !== null) return
    services.inBackground('app name', this.#nameAfter(appId))
  }

  /** A wallet that was never named is called like the app that made it (protocol §3.5 `WalletName.json`). */
  async #nameAfter(appId: string): Promise<void> {
    this.#fallbackName = await this.#context.nameOfApp(appId)
    await this.readSettings()
  }

  /** Reads the files that another device changed, and updates the engine (specification §4). */
  #filesChanged(paths: readonly string[]): void {
    const { services } = this.#context
    this.#inBackground(this.#emitChanged(this.history.applyFiles(paths)))
    const has = (known: readonly string[]): boolean => paths.some(path => known.includes(path))
    if (has(WALLET_SETTINGS_PATHS)) services.inBackground('wallet settings', this.readSettings())
    if (has([TOKENS_PATH, OLD_TOKENS_PATH])) services.inBackground('wallet tokens', this.#readTokens())
    if (paths.some(path => path.startsWith(`${ENGINE_FOLDER}/`)))
      this.#inBackground(
        this.engine.callIfMade('taking synced files', async engine => engine.syncedFilesChanged?.())
      )
    if (paths.some(isCoinPath)) this.#inBackground(this.#freezeCoins())
    if (!paths.some(path => path.startsWith('Addresses/'))) return
    this.#addresses = undefined
    const adding = this.engine.callIfMade('taking used addresses', async engine =>
      engine.addGapLimitAddresses(await this.usedAddresses())
    )
    this.#inBackground(adding)
  }

  async #readTokens(): Promise<void> {
    await this.tokens.read()
    this.tokensChanged()
  }

  async #emitChanged(txids: Promise<Txid[]>): Promise<void> {
    this.#emitTransactions({ created: [], changed: await txids })
  }

  async #applyHeight(blockHeight: number): Promise<void> {
    const changed = await this.history.applyHeight(blockHeight)
    this.#emitTransactions({ created: [], changed })
    if (changed.length > 0 && this.#hasPayments) this.#watch(changed)
  }

  /** True if a payment is unfinished, or was sent and is watched. */
  get #hasPayments(): boolean {
    return !this.journal.isEmpty || this.journal.sent().length > 0
  }

  /** Goes on with the payments that are not over, in one round at a time; what changes during one has the next. */
  #watch(txids: readonly Txid[]): void {
    this.#changedTxids ??= new Set()
    for (const txid of txids) this.#changedTxids.add(txid)
    if (this.#watching !== undefined) return
    this.#watching = this.#watchInRounds()
    this.#context.services.inBackground('unfinished spends', this.#watching)
  }

  async #watchInRounds(): Promise<void> {
    try {
      for (let changed = this.#changedTxids; changed !== undefined; changed = this.#changedTxids) {
        this.#changedTxids = undefined
        await watchPayments(this.spender, changed)
      }
    } finally {
      this.#watching = undefined
    }
  }

  /** Emits changed transactions; the throttle is made when first needed, since most wallets have none. */
  #emitTransactions(changes: TxidChanges, assets?: readonly string[]): void {
    if (changes.created.length + changes.changed.length === 0) return
    const { services, scheduler, walletId, rules } = this.#context
    rules.changed()
    if (assets === undefined) this.#changedAssets = 'unknown'
    else if (this.#changedAssets !== 'unknown')
      this.#changedAssets = new Set([...(this.#changedAssets ?? []), ...assets])
    this.#throttle ??= new TransactionThrottle(scheduler, walletId, ({ created, changed }) => {
      const known = this.#changedAssets
      const tokenIds = known === 'unknown' ? undefined : Object.freeze([...(known ?? [])].sort())
      this.#changedAssets = undefined
      services.hooks.transactionsChanged.call(
        Object.freeze({
          ...{ walletId, created: Object.freeze(created), changed: Object.freeze(changed) },
          ...compact({ tokenIds })
        })
      )
    })
    this.#throttle.add(changes)
  }

  #pauseChanged(): void {
    const { isSet, isPaused } = this.pause.getSnapshot()
    this.state.set({ isPaused: isSet })
    if (isPaused === this.engine.getSnapshot().isPaused) return
    this.#pausing = isPaused ? this.engine.pause() : this.engine.resume()
    this.#inBackground(this.#pausing)
  }

  #inBackground(work: Promise<unknown>): void {
    this.#context.services.inBackground(`engine ${this.#context.info.pluginId}`, work)
  }
}

/** The longest wait for the states of open payments. */
const LOOK_MS = 5000

/** The assets of the reports that changed something, '' for the chain's own coin (pure). */
const assetsOf = (
  transactions: readonly EngineTransaction[],
  { created, changed }: TxidChanges
): readonly string[] => {
  const txids = new Set([...created, ...changed])
  return transactions.flatMap(({ txid, tokenId }) => (txids.has(txid) ? [tokenId ?? ''] : []))
}
