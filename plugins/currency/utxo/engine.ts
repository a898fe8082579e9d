import {
  type AddressRequest,
  type CurrencyEngine,
  type EngineRequest,
  type EngineTransaction,
  type FreshAddress,
  type Io,
  isWalletError,
  type Json,
  type PaymentSight,
  type SigningOptions,
  type SpendInfo,
  type SpentTarget,
  WalletError,
  type WalletKeys
} from '../../../kernel/plugin-api.ts'
import { broadcast } from './backend/broadcast.ts'
import { ElectrumFault } from './backend/electrum-error.ts'
import type { ElectrumPool, PoolClient } from './backend/electrum-pool.ts'
import { findPayment } from './backend/find-payment.ts'
import { checkSigned } from './build/check-signed.ts'
import { balanceDetailsOf, type SpendSource } from './build/choose-coins.ts'
import { makeDraft, maxSpendableOf } from './build/make-spend.ts'
import { signDraft } from './build/sign.ts'
import { signContextOf } from './build/sign-context.ts'
import { EngineVoice } from './engine-voice.ts'
import { type AccountKeys, readPublicKeys } from './keys/account-keys.ts'
import type { LedgerTx } from './ledger/ledger-tx.ts'
import type { CoinRow, NetworkRow } from './params/coin-row.ts'
import { freshAddressOf } from './scan/fresh-address.ts'
import type { StoreChanges } from './scan/saved-state.ts'
import { scan } from './scan/scanner.ts'
import { isDirty, isUsed } from './scan/script-record.ts'
import { SeenSteps } from './scan/seen-steps.ts'
import { WalletState } from './scan/wallet-state.ts'
import { parseRawTx } from './tx/raw-tx.ts'

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
