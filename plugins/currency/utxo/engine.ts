import {
  type AddressRequest,
  type BalanceDetails,
  type ConnectionLoss,
  type CryptoPort,
  type CurrencyEngine,
  type EngineCallbacks,
  type EngineRequest,
  type EngineTransaction,
  type FreshAddress,
  type Io,
  isWalletError,
  type Json,
  type NativeAmount,
  type PaymentSight,
  type SigningOptions,
  type SpendInfo,
  type SpentTarget,
  WalletError,
  type WalletKeys
} from '../../../kernel/plugin-api.ts'
import { addressOf } from './chain/address.ts'
import { parseRawTx } from './chain/transaction.ts'
import { ElectrumFault } from './electrum/connection.ts'
import type { ElectrumPool, PoolClient } from './electrum/pool.ts'
import { broadcast, findPayment } from './electrum/requests.ts'
import { type AccountKeys, readPublicKeys } from './keys/keys.ts'
import type { CoinRow, NetworkRow } from './params/coin.ts'
import { scan } from './scan.ts'
import { checkSigned } from './spend/check-signed.ts'
import { balanceDetailsOf, type SpendSource } from './spend/choose-coins.ts'
import { makeDraft, maxSpendableOf } from './spend/make-spend.ts'
import { signContextOf, signDraft } from './spend/sign.ts'
import type { LedgerTx } from './wallet/ledger.ts'
import { SeenSteps, type StoreChanges } from './wallet/saved-state.ts'
import { isDirty, isUsed } from './wallet/scripts.ts'
import { freshAddressOf, WalletState } from './wallet/wallet-state.ts'

/** What an engine is made from besides the kernel's request. */
export interface EngineParts {
  readonly coin: CoinRow
  readonly network: NetworkRow
  readonly io: Io
  readonly pool: ElectrumPool
}

/** Opens the engine of one wallet with what its store remembers. @throws KEY_INTEGRITY without public keys of this network */
export const openEngine = async (parts: EngineParts, request: EngineRequest): Promise<CurrencyEngine> => {
  const keys = readPublicKeys(parts.network, request.walletInfo.keys)
  if (keys === undefined)
    throw new WalletError('KEY_INTEGRITY', { rule: 'the public keys are of another form' })
  const engine = new UtxoEngine(parts, request, keys)
  await engine.load()
  return engine
}

/** The engine of one wallet: scripts, ledger and scan, joined to the kernel's calls. */
class UtxoEngine implements CurrencyEngine {
  readonly #parts: EngineParts
  readonly #request: EngineRequest
  readonly #state: WalletState
  readonly #voice: EngineVoice
  readonly #client: PoolClient
  readonly #steps: SeenSteps
  #detach: (() => void) | undefined
  #scanning: Promise<void> | undefined
  #mustScanAgain = false
  #isStarted = false
  #isDead = false
  #isResetting = false
  #height = 0

  constructor(parts: EngineParts, request: EngineRequest, keys: AccountKeys) {
    this.#parts = parts
    this.#request = request
    this.#state = new WalletState(parts, keys, request.store)
    this.#steps = new SeenSteps(this.#state.saved, request.seenTxCheckpoint)
    this.#voice = new EngineVoice(request, parts.network, parts.io.crypto)
    this.#client = {
      onOpen: () => this.#scanSoon(),
      onTip: ({ height }) => this.#setHeight(height),
      onScript: (scripthash, status) => this.#hearScript(scripthash, status),
      onLost: loss => this.#voice.tellConnection(loss),
      onReady: () => {
        this.#voice.tellStatus('')
        this.#voice.tellConnection(undefined)
      },
      onTrouble: text => this.#voice.tellStatus(text)
    }
  }

  async load(): Promise<void> {
    await this.#state.load()
    this.#steps.begin(this.#state.ledger)
    this.#height = this.#state.saved.height()
    this.#voice.tellAddress(this.#state)
  }

  async startEngine(): Promise<void> {
    if (this.#isStarted || this.#isDead) return
    this.#isStarted = true
    this.#attach()
    this.#voice.tellHeight(this.#height)
    this.#tellBalance()
    this.#tellTransactions(this.#steps.unseen(this.#state.ledger))
    await this.#write(new Map())
  }

  /** A height alone can ripen coins, and a signed payment reserve them. */
  #tellBalance(): void {
    this.#voice.tellBalance(this.#state)
    const { ledger, reserved } = this.#state
    this.#voice.tellDetails(
      balanceDetailsOf({ coin: this.#parts.coin, height: this.#height, ledger, reserved })
    )
  }

  async killEngine(): Promise<void> {
    this.#isDead = true
    this.#voice.silence()
    this.#detach?.()
    this.#detach = undefined
  }

  async syncNetwork(): Promise<number> {
    this.#checkAlive()
    this.#attach()
    await this.#parts.pool.whenReady(READY_MS)
    await this.#scanNow().catch(this.#asNetworkFailure)
    return LOOK_AGAIN_MS
  }

  async resyncBlockchain(): Promise<void> {
    this.#checkAlive()
    this.#isResetting = true
    try {
      await this.#scanning?.catch(() => undefined)
      await this.#state.forget()
    } finally {
      this.#isResetting = false
    }
    this.#voice.restart()
    await this.#scanNow().catch(this.#asNetworkFailure)
  }

  async getFreshAddress({ tokenId, forceIndex }: AddressRequest): Promise<FreshAddress> {
    if (tokenId !== null) throw new WalletError('NOT_SUPPORTED', { what: 'tokens' })
    if (forceIndex !== undefined && (await this.#state.watchIndex(forceIndex))) this.#scanSoon()
    return freshAddressOf(this.#state, forceIndex)
  }

  async addGapLimitAddresses(addresses: readonly string[]): Promise<void> {
    if (!(await this.#state.markUsed(addresses))) return
    this.#voice.tellAddress(this.#state)
    this.#scanSoon()
  }

  async isAddressUsed(address: string): Promise<boolean> {
    const record = this.#state.findAddress(address)
    return record !== undefined && isUsed(record)
  }

  async makeSpend(spend: SpendInfo): Promise<EngineTransaction> {
    this.#checkAlive()
    return makeDraft(await this.#spendSource(), spend)
  }

  async getMaxSpendable(spend: SpendInfo): Promise<string> {
    this.#checkAlive()
    return maxSpendableOf(await this.#spendSource(), spend)
  }

  async signTx(
    transaction: EngineTransaction,
    privateKeys: WalletKeys,
    options: SigningOptions = {}
  ): Promise<EngineTransaction> {
    return signDraft(signContextOf(this.#parts, this.#state), transaction, { privateKeys, ...options })
  }

  async checkSignedTx(transaction: EngineTransaction, targets: readonly SpentTarget[]): Promise<void> {
    checkSigned(signContextOf(this.#parts, this.#state), transaction, targets)
  }

  async broadcastTx(transaction: EngineTransaction): Promise<EngineTransaction> {
    this.#checkAlive()
    this.#attach()
    await broadcast(this.#parts.pool, transaction)
    return transaction
  }

  async saveTx(transaction: EngineTransaction): Promise<void> {
    const { ledger, saved } = this.#state
    const bytes = this.#parts.io.crypto.fromHex(transaction.signedTx)
    const raw = parseRawTx(bytes)
    const known = ledger.find(raw.txid)
    if (known !== undefined && known.height >= 0) return
    const date = known?.date ?? Math.floor(this.#parts.io.clock.now() / 1000)
    saved.keepBytes(raw.txid, bytes)
    ledger.put(raw, { height: 0, date, isSeen: false })
    await this.#step(new Map())
  }

  async reservePayments(payments: readonly EngineTransaction[]): Promise<void> {
    const { ledger, reserved } = this.#state
    const freed = reserved.replace(payments)
    for (const txid of freed) {
      const tx = ledger.find(txid)
      // Forgotten, and no server has ever shown it: nothing else would take it out of the balance's way.
      if (tx !== undefined && tx.height === 0 && !tx.isSeen) ledger.drop(tx)
    }
    if (freed.length > 0 && !this.#isDead) await this.#step(new Map())
    if (this.#isStarted) this.#tellBalance()
  }

  async findPayment(payment: EngineTransaction): Promise<PaymentSight> {
    this.#checkAlive()
    const { ledger, reserved } = this.#state
    return findPayment({ pool: this.#parts.pool, ledger, reserved }, payment)
  }

  async dumpData(): Promise<Json> {
    const { network, pool } = this.#parts
    return { network: network.name, height: this.#height, isOnline: pool.isOpen, ...this.#state.summary() }
  }

  #attach(): void {
    if (this.#detach === undefined && !this.#isDead) this.#detach = this.#parts.pool.attach(this.#client)
    const { tip } = this.#parts.pool
    if (tip !== undefined) this.#setHeight(tip.height)
  }

  #checkAlive(): void {
    if (this.#isDead) throw new WalletError('LOGGED_OUT', {})
  }

  /** Starts a scan in the background; its failure is a status, because the next connection or look tries again. */
  #scanSoon(): void {
    this.#scanNow().catch((error: unknown) => {
      const text = error instanceof Error ? error.message : 'The scan failed'
      this.#voice.tellStatus(text)
    })
  }

  #scanNow(): Promise<void> {
    if (this.#isDead || this.#isResetting || !this.#parts.pool.isOpen) return Promise.resolve()
    this.#mustScanAgain = true
    this.#scanning ??= this.#scanLoop().finally(() => (this.#scanning = undefined))
    return this.#scanning
  }

  async #scanLoop(): Promise<void> {
    const { io, pool } = this.#parts
    while (this.#mustScanAgain && !this.#isDead) {
      this.#mustScanAgain = false
      const { table, ledger, saved } = this.#state
      try {
        await scan({
          ...{ io, pool, table, ledger, saved },
          maxSupply: this.#parts.coin.maxSupply,
          client: this.#client,
          onStep: (changes, ratio) => this.#step(changes, ratio)
        })
      } catch (error) {
        if (this.#isDead) return
        pool.blame(error)
        throw error
      }
    }
  }

  /** Tells what changed, then keeps it; a failed write only means that the chain is asked again next time. */
  async #step(changes: StoreChanges, ratio?: number): Promise<void> {
    if (this.#isDead) throw new WalletError('LOGGED_OUT', {})
    const { ledger, saved } = this.#state
    // Each transaction may be small enough; only liars tell of more in all.
    if (ledger.balance() > this.#parts.coin.maxSupply)
      throw new ElectrumFault('The server tells of more coins than there can be')
    const changed = ledger.takeChanges()
    this.#steps.mark(changed)
    for (const tx of changed) saved.noteTx(changes, tx)
    this.#tellTransactions(changed)
    if (changed.length > 0 || ratio === 1) this.#tellBalance()
    this.#voice.tellAddress(this.#state)
    if (ratio !== undefined) this.#voice.tellRatio(ratio)
    await this.#write(changes)
  }

  /** Of an engine that is not started, an earlier one may have left transactions untold. */
  #tellTransactions(changed: readonly LedgerTx[]): void {
    this.#voice.tellTransactions(this.#state, changed)
    if (this.#isStarted) this.#voice.tellCheckpoint(this.#steps.checkpoint)
  }

  async #write(changes: StoreChanges): Promise<void> {
    try {
      await this.#state.saved.write(changes)
    } catch {
      this.#request.log.warn('The wallet cache could not be written')
      this.#voice.tellStatus('The wallet cache could not be written')
    }
  }

  #hearScript(scripthash: string, status: string | null): void {
    const record = this.#state.table.findHash(scripthash)
    if (record === undefined) return
    if (status !== record.serverStatus) record.pushes++
    record.serverStatus = status
    if (isDirty(record)) this.#scanSoon()
  }

  #setHeight(height: number): void {
    if (height === this.#height || this.#isDead) return
    this.#height = height
    this.#voice.tellHeight(height)
    if (this.#isStarted) this.#tellBalance()
    void this.#write(new Map([['h', String(height)]]))
  }

  readonly #asNetworkFailure = (error: unknown): never => {
    throw isWalletError(error) ? error : this.#parts.pool.lossOf(error)
  }

  async #spendSource(): Promise<SpendSource> {
    const { coin, network, io, pool } = this.#parts
    const { table, ledger, reserved } = this.#state
    const estimates = await pool.refreshFees()
    const { otherFees: otherEstimates } = pool
    return { coin, network, io, table, ledger, reserved, estimates, otherEstimates, height: this.#height }
  }
}

const READY_MS = 20_000
const LOOK_AGAIN_MS = 10_000

/** Tells the kernel what changed, each fact once, and nothing any more once silenced. */
class EngineVoice {
  readonly #callbacks: EngineCallbacks
  readonly #network: NetworkRow
  readonly #crypto: CryptoPort
  #isSilent = false
  #balance: string | undefined
  #details: string | undefined
  #address: string | undefined
  #height = 0
  #ratio = -1
  #status = ''
  #checkpoint: string | undefined

  constructor(
    { callbacks, seenTxCheckpoint }: Pick<EngineRequest, 'callbacks' | 'seenTxCheckpoint'>,
    network: NetworkRow,
    crypto: CryptoPort
  ) {
    this.#callbacks = callbacks
    this.#checkpoint = seenTxCheckpoint
    this.#network = network
    this.#crypto = crypto
  }

  silence(): void {
    this.#isSilent = true
  }

  /** Empty: what was said before holds no longer. */
  tellStatus(text: string): void {
    if (this.#isSilent || (text === '' && this.#status === '')) return
    this.#status = text
    this.#callbacks.onStatus(text)
  }

  tellConnection(lost: ConnectionLoss | undefined): void {
    if (!this.#isSilent) this.#callbacks.onConnectionChanged(lost)
  }

  tellHeight(height: number): void {
    if (this.#isSilent || height === this.#height) return
    this.#height = height
    this.#callbacks.onBlockHeightChanged(height)
  }

  /** Grows only; a wallet that was complete stays so until `restart`. */
  tellRatio(ratio: number): void {
    if (this.#isSilent || ratio <= this.#ratio) return
    this.#ratio = ratio
    this.#callbacks.onAddressesChecked(ratio)
  }

  /** The wallet is being read anew. */
  restart(): void {
    this.#ratio = -1
    this.tellRatio(0)
  }

  tellBalance({ ledger }: WalletState): void {
    if (this.#isSilent) return
    const balance = String(ledger.balance())
    if (balance === this.#balance) return
    this.#balance = balance
    this.#callbacks.onTokenBalanceChanged(null, balance)
  }

  tellDetails(details: BalanceDetails): void {
    const text = JSON.stringify(details)
    if (this.#isSilent || text === this.#details) return
    this.#details = text
    this.#callbacks.onBalanceDetailsChanged(null, details)
  }

  /** The first call only remembers; the kernel asks for the address itself. */
  tellAddress({ table }: WalletState): void {
    if (this.#isSilent) return
    const record = table.firstUnused(table.mainBranch(0))
    const before = this.#address
    this.#address = record?.scripthash
    if (before !== undefined && before !== this.#address) this.#callbacks.onAddressChanged()
  }

  tellTransactions(state: WalletState, changed: readonly LedgerTx[]): void {
    if (this.#isSilent) return
    const reports = changed.flatMap(tx => this.#reportOf(state, tx) ?? [])
    if (reports.length > 0) this.#callbacks.onTransactionsChanged(reports)
  }

  /** Everything up to here has been told. */
  tellCheckpoint(checkpoint: string): void {
    if (this.#isSilent || checkpoint === this.#checkpoint) return
    this.#checkpoint = checkpoint
    this.#callbacks.onSeenTxCheckpoint(checkpoint)
  }

  #reportOf({ ledger, saved }: WalletState, tx: LedgerTx): EngineTransaction | undefined {
    const { net, fee, isSend } = ledger.effectOf(tx)
    if (tx.ours.length === 0 && !isSend) return undefined
    // What we sent can be sent again, so its bytes go along.
    const bytes = isSend ? saved.txBytes(tx.txid) : undefined
    return {
      tokenId: null,
      txid: tx.txid,
      date: tx.date,
      blockHeight: tx.height,
      nativeAmount: String(net) as NativeAmount,
      networkFee: String(fee) as NativeAmount,
      ourReceiveAddresses: tx.ours.map(({ record }) => addressOf(this.#network, record.program)),
      memos: tx.memos,
      signedTx: bytes === undefined ? '' : this.#crypto.toHex(bytes),
      isSend
    }
  }
}
