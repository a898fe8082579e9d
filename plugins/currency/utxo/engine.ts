import {
  type AddressRequest,
  type CurrencyEngine,
  compact,
  type EngineCoin,
  type EngineRequest,
  type EngineTransaction,
  type FreshAddress,
  isWalletError,
  type Json,
  type MessageOptions,
  type PaymentSight,
  type SpendInfo,
  type SpentTarget,
  WalletError,
  type WalletKeys
} from '../../../kernel/plugin-api.ts'
import { ElectrumFault } from './electrum/connection.ts'
import type { ChainTip } from './electrum/headers.ts'
import type { ElectrumPool } from './electrum/pool.ts'
import type { PoolClient } from './electrum/pool-clients.ts'
import { broadcast, findPayment } from './electrum/requests.ts'
import { SubscriptionLimit } from './electrum/server-scores.ts'
import type { WalletSeat } from './electrum/spread.ts'
import type { Witness } from './electrum/witness.ts'
import { EngineReports } from './engine-reports.ts'
import { regrade, releaseHeld, SecondOpinion } from './grades.ts'
import { type AccountKeys, readPublicKeys } from './keys/keys.ts'
import { signUtxoMessage } from './messages.ts'
import { ScanLoop, scan } from './scan.ts'
import { checkSigned } from './spend/check-signed.ts'
import { balancePartsOf, listCoins, type SpendSource } from './spend/choose-coins.ts'
import { makeDraft, maxSpendableOf } from './spend/make-spend.ts'
import { signUtxoDraft } from './spend/sign.ts'
import type { LedgerTx } from './wallet/ledger.ts'
import { SeenSteps, type StoreChanges } from './wallet/saved-state.ts'
import { isDirty, isUsed } from './wallet/scripts.ts'
import { freshAddressOf, reportOf, type WalletContext, WalletState } from './wallet/wallet-state.ts'

/** What an engine is made from besides the kernel's request. */
export interface UtxoEngineOptions extends Pick<WalletContext, 'coin' | 'network' | 'io'> {
  /** Gives the wallet its place among the connections to the servers. */
  readonly seatOf: (client: PoolClient) => WalletSeat
  /** Absent where the user named one server. */
  readonly witness?: Witness | undefined
}

/** Opens the engine of one wallet with what its store remembers. @throws KEY_INTEGRITY without public keys of this network */
export const openEngine = async (
  options: UtxoEngineOptions,
  request: EngineRequest
): Promise<CurrencyEngine> => {
  const keys = readPublicKeys(options.network, request.walletInfo.keys)
  if (keys === undefined)
    throw new WalletError('KEY_INTEGRITY', { rule: 'the public keys are of another form' })
  const engine = new UtxoEngine(options, request, keys)
  await engine.load()
  return engine
}

type SweepArguments = Parameters<NonNullable<CurrencyEngine['sweepPrivateKeys']>>

/**
 * The engine of one wallet: scripts, ledger and scan, joined to the kernel's calls. It reports each fact once, and nothing
 * any more once it is killed.
 */
class UtxoEngine implements CurrencyEngine {
  readonly #request: EngineRequest
  readonly #seat: WalletSeat
  readonly #state: WalletState
  readonly #client: PoolClient
  readonly #steps: SeenSteps
  readonly #opinion: SecondOpinion
  readonly #scans = new ScanLoop({
    scan: () => this.#scan(),
    canScan: () => !this.#isDead && !this.#isResetting && this.#pool.isOpen,
    onDone: () => this.#onScanned()
  })
  #isStarted = false
  #isDead = false
  #isResetting = false
  readonly #reports: EngineReports
  #height = 0
  /** Of the newest block, in Unix seconds; undefined until a server has shown it. */
  #blockTime: number | undefined
  /** What does not work now; '' for nothing. */
  #fault = ''
  /** The connection of the last scan. */
  #scanned: { readonly pool: ElectrumPool; readonly generation: number } | undefined
  /** While no server has room for the wallet: why. */
  #refusal = ''

  constructor(options: UtxoEngineOptions, request: EngineRequest, keys: AccountKeys) {
    this.#request = request
    this.#opinion = new SecondOpinion(options.witness, options.io.clock)
    this.#state = new WalletState(options, keys, request.store)
    this.#steps = new SeenSteps(this.#state.saved, request.seenTxCheckpoint)
    this.#reports = new EngineReports(request.callbacks, request.seenTxCheckpoint)
    const state = this.#state
    this.#client = {
      scripts: state.scripts,
      get expected() {
        return state.table.wanted
      },
      onOpen: () => this.#scanSoon(),
      onTip: tip => this.#setTip(tip),
      onLinked: () => this.#regrade(),
      onScript: (scripthash, status) => this.#onScript(scripthash, status),
      onLost: loss => this.#reports.connection(loss),
      onReady: () => {
        this.#reportStatus('')
        this.#reports.connection(undefined)
      },
      onFault: text => this.#reportStatus(text)
    }
    this.#seat = options.seatOf(this.#client)
  }

  /** The connection that the wallet has now. */
  get #pool(): ElectrumPool {
    return this.#seat.pool
  }

  async load(): Promise<void> {
    await this.#state.load()
    this.#steps.begin(this.#state.ledger)
    if (!this.#opinion.mustAgree) releaseHeld(this.#state.ledger)
    this.#height = this.#state.saved.height()
    this.#reportAddress()
  }

  async startEngine(): Promise<void> {
    if (this.#isStarted || this.#isDead) return
    this.#isStarted = true
    this.#attach()
    this.#reports.height(this.#height, this.#blockTime)
    this.#reportBalance()
    this.#reportTransactions(this.#steps.unseen(this.#state.ledger))
    await this.#write(new Map())
  }

  async killEngine(): Promise<void> {
    this.#isDead = true
    this.#reports.end()
    this.#opinion.end()
    this.#seat.detach()
  }

  async syncNetwork(): Promise<number> {
    this.#checkAlive()
    this.#attach()
    await this.#seat.ready(READY_MS)
    await this.#scans.run().catch(this.#asNetworkFailure)
    const { reserved, ledger } = this.#state
    const isWaiting = this.#opinion.concern === '' && [...ledger.all()].some(({ heldSince }) => heldSince > 0)
    return reserved.isEmpty && !isWaiting ? LOOK_AGAIN_MS : PAYMENT_LOOK_MS
  }

  async resyncBlockchain(): Promise<void> {
    this.#checkAlive()
    this.#isResetting = true
    try {
      await this.#scans.settled()
      await this.#state.forget()
      this.#opinion.forget()
      await this.#pool.forgetHeaders()
    } finally {
      this.#isResetting = false
    }
    this.#reports.beginAgain()
    await this.#scans.run().catch(this.#asNetworkFailure)
  }

  async getFreshAddress({ tokenId, forceIndex }: AddressRequest): Promise<FreshAddress> {
    if (tokenId !== null) throw new WalletError('NOT_SUPPORTED', { what: 'tokens' })
    if (forceIndex !== undefined && (await this.#state.watchIndex(forceIndex))) this.#scanSoon()
    return freshAddressOf(this.#state, forceIndex)
  }

  async addGapLimitAddresses(addresses: readonly string[]): Promise<void> {
    if (!(await this.#state.markUsed(addresses))) return
    this.#reportAddress()
    this.#scanSoon()
  }

  async isAddressUsed(address: string): Promise<boolean> {
    const record = this.#state.findAddress(address)
    return record !== undefined && isUsed(record)
  }

  async makeSpend(spend: SpendInfo): Promise<EngineTransaction> {
    this.#checkAlive()
    if (spend.bumps === undefined) return makeDraft(await this.#spendSource(), spend)
    const { makeChild, reclaim } = await import('./spend/bump.ts')
    if (reclaim(this.#pool, this.#state, spend.bumps)) await this.#step(new Map())
    const { saved } = this.#state
    return this.#query(async () =>
      makeChild({ ...(await this.#spendSource()), pool: this.#pool, saved }, spend)
    )
  }

  async getMaxSpendable(spend: SpendInfo): Promise<string> {
    this.#checkAlive()
    return maxSpendableOf(await this.#spendSource(), spend)
  }

  async signTx(
    ...[tx, privateKeys, options]: Parameters<CurrencyEngine['signTx']>
  ): Promise<EngineTransaction> {
    // A resync puts others in their places, and a signature can take seconds.
    const wallet = this.#state.now(this.#pool.safeHeight)
    return signUtxoDraft(wallet, tx, { privateKeys, ...options })
  }

  async signMessage(message: string, privateKeys: WalletKeys, options: MessageOptions = {}): Promise<string> {
    return signUtxoMessage(this.#state, message, { privateKeys, ...options })
  }

  async sweepPrivateKeys(...[spend, keys, kept, following]: SweepArguments): Promise<EngineTransaction> {
    this.#checkAlive()
    this.#attach()
    await this.#seat.ready(READY_MS)
    const address = await this.#state.addressAt(this.#state.table.mainBranch(0), undefined)
    const found = { pool: this.#pool, address, kept, ...compact({ following }), ...this.#opinion.second }
    const source = { ...(await this.#spendSource()), ...found }
    // Few wallets ever sweep.
    const { draftSweep } = await import('./spend/sweep.ts')
    return this.#query(() => draftSweep(source, spend, keys))
  }

  async signSweep(draft: EngineTransaction, foreignKeys: readonly string[]): Promise<EngineTransaction> {
    this.#checkAlive()
    const { signSweep } = await import('./spend/sweep.ts')
    return signSweep(this.#state.now(), draft, foreignKeys)
  }

  async checkSignedTx(transaction: EngineTransaction, targets: readonly SpentTarget[]): Promise<void> {
    checkSigned(this.#state, transaction, targets)
  }

  async broadcastTx(transaction: EngineTransaction): Promise<EngineTransaction> {
    this.#checkAlive()
    this.#attach()
    await broadcast(this.#seat, transaction, this.#state.parentsOf(transaction))
    return transaction
  }

  async saveTx(transaction: EngineTransaction): Promise<void> {
    if (this.#state.keepSent(transaction)) await this.#step(new Map())
  }

  async reservePayments(payments: readonly EngineTransaction[]): Promise<void> {
    const hasFreed = this.#state.reserve(payments)
    if (hasFreed && !this.#isDead) await this.#step(new Map())
    if (this.#isStarted) this.#reportBalance()
  }

  async listCoins(): Promise<readonly EngineCoin[]> {
    return listCoins({ ...this.#state.now(), height: this.#height })
  }

  async freezeCoins(outpoints: readonly string[]): Promise<void> {
    this.#state.frozen = new Set(outpoints)
    if (this.#isStarted) this.#reportBalance()
  }

  async findPayment(payment: EngineTransaction): Promise<PaymentSight> {
    this.#checkAlive()
    return findPayment(this.#pool, this.#state, payment)
  }

  async dumpData(): Promise<Json> {
    return { ...this.#state.summary(), height: this.#height, isOnline: this.#pool.isOpen }
  }

  /** Requests from the server what a draft needs; one that lies is given up. */
  async #query<T>(query: () => Promise<T>): Promise<T> {
    try {
      return await query()
    } catch (error) {
      if (!this.#pool.isFault(error)) throw error
      this.#pool.blame(error)
      return this.#asNetworkFailure(error)
    }
  }

  #attach(): void {
    if (!this.#isDead) this.#seat.attach()
    const { tip } = this.#pool
    if (tip !== undefined) this.#setTip(tip)
  }

  #checkAlive(): void {
    if (this.#isDead) throw new WalletError('LOGGED_OUT', {})
  }

  /** Starts a scan in the background; its failure is a status, because the next connection or look tries again. */
  #scanSoon(): void {
    this.#scans.run().catch((error: unknown) => {
      const text = error instanceof Error ? error.message : 'The scan failed'
      this.#reportStatus(text)
    })
  }

  async #scan(): Promise<void> {
    if (this.#isDead) return
    const { coin, io, table, ledger, saved } = this.#state
    const { note: onRead, mustAgree } = this.#opinion
    const pool = this.#pool
    const { generation } = pool
    const context = {
      ...{ pool, client: this.#client, coin, io, table, ledger, saved },
      ...{ mustAgree, onRead }
    }
    try {
      for await (const { changes, ratio } of scan(context)) await this.#step(changes, ratio)
    } catch (error) {
      if (this.#isDead) return
      if (error instanceof SubscriptionLimit) await this.#onRefused(pool, error)
      // A later connection is not to blame for what an earlier one did.
      if (generation === pool.generation) pool.blame(error)
      throw error
    }
  }

  /** Goes to another server, and scans there. @throws SERVER_FULL where there is none with room */
  async #onRefused(pool: ElectrumPool, { server, limit }: SubscriptionLimit): Promise<void> {
    // The server has been asked to forget the wallet.
    for (const record of this.#state.table.records())
      if (record.generation === pool.generation) record.generation = 0
    if (pool === this.#pool && !this.#seat.move()) {
      const { failing } = this.#seat
      const refusal = new WalletError('SERVER_FULL', { server, limit, ...compact({ failing }) })
      this.#refusal = refusal.message
      throw refusal
    }
    await this.#seat.ready(READY_MS)
    this.#scanSoon()
  }

  #onScanned(): void {
    if (this.#refusal !== '') {
      this.#refusal = ''
      this.#reportStatus('')
    }
    this.#scanned = { pool: this.#pool, generation: this.#pool.generation }
    // In the background: a wallet does not wait for a second server.
    this.#opinion.compareSoon(
      () => this.#compared(),
      fresh => this.#onCompared(fresh)
    )
  }

  #compared(): ReturnType<Parameters<SecondOpinion['compareSoon']>[0]> {
    const { pool, generation } = this.#scanned ?? { pool: this.#pool, generation: -1 }
    const isCurrent = (): boolean => pool === this.#pool && pool.generation === generation
    return { pool, isCurrent, ...this.#state.known }
  }

  async #onCompared(differences: readonly string[]): Promise<void> {
    for (const text of differences) this.#request.log.warn(text)
    this.#showStatus()
    await this.#step(new Map())
    this.#reportBalance()
  }

  /** Reports changes, then saves them; a failed write only means that the chain is asked again next time. */
  async #step(changes: StoreChanges, ratio?: number): Promise<void> {
    if (this.#isDead) throw new WalletError('LOGGED_OUT', {})
    const { coin, ledger, saved } = this.#state
    // Each transaction may be small enough; only liars report more in all.
    if (ledger.balance() > coin.maxSupply)
      throw new ElectrumFault('The server reports more coins than there can be')
    const changed = ledger.takeChanges()
    this.#steps.mark(changed)
    for (const tx of changed) saved.noteTx(changes, tx)
    this.#reportTransactions(changed)
    if (changed.length > 0 || ratio === 1) this.#reportBalance()
    this.#reportAddress()
    if (ratio !== undefined) this.#reports.ratio(ratio)
    await this.#write(changes)
  }

  /** Grades what is known by the headers that are linked now, and asks again for what lies in another block. */
  #regrade(): void {
    if (this.#isDead) return
    const mustProve = regrade(this.#pool, this.#state.ledger, this.#height)
    if (mustProve) this.#scanSoon()
    this.#step(new Map()).catch(() => undefined)
  }

  async #write(changes: StoreChanges): Promise<void> {
    try {
      await this.#state.saved.write(changes)
    } catch {
      this.#request.log.warn('Could not write the wallet cache')
      this.#reportStatus('Could not write the wallet cache')
    }
  }

  #onScript(scripthash: string, status: string | null): void {
    const record = this.#state.table.findHash(scripthash)
    if (record === undefined) return
    if (status !== record.serverStatus) record.pushes++
    record.serverStatus = status
    if (isDirty(record)) this.#scanSoon()
  }

  #setTip({ height, header }: ChainTip): void {
    if (this.#isDead) return
    // The first block of a test network was made long before anyone used it, and says nothing of the time.
    this.#blockTime = height === 0 ? undefined : header.time
    const isSame = height === this.#height
    this.#height = height
    this.#reports.height(height, this.#blockTime)
    if (isSame) return
    if (this.#isStarted) this.#reportBalance()
    void this.#write(new Map([['h', String(height)]]))
  }

  readonly #asNetworkFailure = (error: unknown): never => {
    throw isWalletError(error) ? error : this.#pool.lossOf(error)
  }

  async #spendSource(): Promise<SpendSource> {
    const wallet = this.#state.now(this.#pool.safeHeight)
    const estimates = await this.#pool.refreshFees()
    return { ...wallet, estimates, otherEstimates: this.#pool.otherFees, height: this.#height }
  }

  /** Empty: what was said before holds no longer. */
  #reportStatus(text: string): void {
    this.#fault = text
    this.#showStatus()
  }

  /** Reports what does not work, or else what two servers differ about as long as they do. */
  #showStatus(): void {
    const faults = new Set([this.#fault, this.#refusal].filter(text => text !== ''))
    this.#reports.status(faults.size === 0 ? this.#opinion.concern : [...faults].join('; '))
  }

  /** A height alone can ripen coins, and a signed payment reserve them. */
  #reportBalance(): void {
    const { ledger } = this.#state
    this.#reports.balance(String(ledger.balance()), () =>
      balancePartsOf({ ...this.#state.now(), height: this.#height }, this.#opinion.isAgreed)
    )
  }

  #reportAddress(): void {
    const { table } = this.#state
    this.#reports.address(table.firstUnused(table.mainBranch(0))?.scripthash)
  }

  /** Of an engine that is not started, an earlier one may have left transactions unreported. */
  #reportTransactions(changed: readonly LedgerTx[]): void {
    if (this.#isDead) return
    this.#reports.transactions(changed.flatMap(tx => reportOf(this.#state, tx) ?? []))
    if (this.#isStarted) this.#reports.checkpoint(this.#steps.checkpoint)
  }
}

const READY_MS = 20_000
/** The server pushes what changes, and a new connection scans: a look finds what both have missed. */
const LOOK_AGAIN_MS = 60_000
/** With each look, the wallet asks what has become of its payments. */
const PAYMENT_LOOK_MS = 10_000
