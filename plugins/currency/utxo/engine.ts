import {
  type AddressRequest,
  type CurrencyEngine,
  type EngineCallbacks,
  type EngineRequest,
  type EngineTransaction,
  type FreshAddress,
  type Io,
  type Json,
  type NativeAmount,
  type SpendInfo,
  WalletError,
  type WalletKeys
} from '../../../kernel/plugin-api.ts'
import { addressOf, parseAddress } from './address/address.ts'
import { broadcast } from './backend/broadcast.ts'
import type { ElectrumPool, PoolClient } from './backend/electrum-pool.ts'
import type { SpendSource } from './build/choose-coins.ts'
import { makeDraft, maxSpendableOf } from './build/make-spend.ts'
import { signDraft } from './build/sign.ts'
import { type AccountKeys, readPublicKeys } from './keys/account-keys.ts'
import { Ledger } from './ledger/ledger.ts'
import type { LedgerTx } from './ledger/ledger-tx.ts'
import type { CoinRow, NetworkRow } from './params/coin-row.ts'
import { SavedState, type StoreChanges } from './scan/saved-state.ts'
import { scan } from './scan/scanner.ts'
import { isUsed, type ScriptRecord } from './scan/script-record.ts'
import { type BranchScripts, ScriptTable } from './scan/script-table.ts'
import { makeYielder } from './scan/yielder.ts'
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
  readonly #keys: AccountKeys
  readonly #saved: SavedState
  readonly #client: PoolClient
  #table: ScriptTable
  #ledger: Ledger
  #detach: (() => void) | undefined
  #scanning: Promise<void> | undefined
  #mustScanAgain = false
  #isStarted = false
  #isDead = false
  #height = 0
  #toldBalance: string | undefined
  #toldAddress: string | undefined
  #toldRatio = -1

  constructor(parts: EngineParts, request: EngineRequest, keys: AccountKeys) {
    this.#parts = parts
    this.#request = request
    this.#keys = keys
    this.#saved = new SavedState(request.store, parts.io.crypto)
    this.#table = this.#makeTable()
    this.#ledger = this.#makeLedger()
    this.#client = {
      onOpen: () => this.#scanSoon(),
      onTip: ({ height }) => this.#setHeight(height),
      onScript: (scripthash, status) => this.#hearScript(scripthash, status),
      onTrouble: text => this.#tell(callbacks => callbacks.onStatus?.(text))
    }
  }

  async load(): Promise<void> {
    const { clock } = this.#parts.io
    const isLoaded = await this.#saved.load(this.#table, this.#ledger, makeYielder(clock))
    if (!isLoaded) await this.#forget()
    this.#height = this.#saved.height()
    for (const scripts of this.#table.branches) {
      await this.#table.extend(scripts, this.#table.wantedOf(scripts), clock)
    }
    this.#toldAddress = this.#firstAddress()
  }

  async startEngine(): Promise<void> {
    if (this.#isStarted || this.#isDead) return
    this.#isStarted = true
    this.#attach()
    if (this.#height > 0) this.#tell(callbacks => callbacks.onBlockHeightChanged(this.#height))
    this.#tellBalance()
    // The kernel may have stopped before it wrote what it was told last.
    const recent = [...this.#ledger.all()].filter(
      tx => tx.height <= 0 || tx.height > this.#height - RETOLD_BLOCKS
    )
    this.#tellTransactions(recent)
  }

  async killEngine(): Promise<void> {
    this.#isDead = true
    this.#detach?.()
    this.#detach = undefined
    await this.#scanning?.catch(() => undefined)
  }

  async syncNetwork(): Promise<number> {
    this.#checkAlive()
    this.#attach()
    await this.#parts.pool.whenReady(READY_MS)
    await this.#scanNow()
    return LOOK_AGAIN_MS
  }

  async resyncBlockchain(): Promise<void> {
    this.#checkAlive()
    await this.#scanning?.catch(() => undefined)
    const marked = [...this.#table.records()].filter(({ isMarked }) => isMarked)
    const minimums = this.#table.branches.map(({ branch, minimum }) => ({ id: branch.id, minimum }))
    await this.#forget()
    const changes: StoreChanges = new Map()
    for (const { id, minimum } of minimums) await this.#watchAtLeast(id, minimum, changes)
    for (const { branch, index } of marked) {
      await this.#watchAtLeast(branch.id, index + 1, changes)
      const record = this.#table.branchById(branch.id)?.records[index]
      if (record !== undefined) this.#mark(record, changes)
    }
    await this.#saved.write(changes)
    this.#toldRatio = -1
    this.#tell(callbacks => callbacks.onAddressesChecked(0))
    if (this.#parts.pool.isOpen) await this.#scanNow()
  }

  async getFreshAddress({ tokenId, forceIndex }: AddressRequest): Promise<FreshAddress> {
    if (tokenId !== null) throw new WalletError('NOT_SUPPORTED', { what: 'tokens' })
    if (forceIndex !== undefined) await this.#watchIndex(forceIndex)
    const main = this.#table.mainBranch(0)
    const publicAddress = this.#addressAt(main, forceIndex)
    if (main.branch.purpose !== 84) return { publicAddress }
    const nested = this.#table.branchOf(49, 0)
    if (nested === undefined) return { publicAddress, segwitAddress: publicAddress }
    return {
      publicAddress,
      segwitAddress: publicAddress,
      legacyAddress: this.#addressAt(nested, forceIndex)
    }
  }

  async addGapLimitAddresses(addresses: readonly string[]): Promise<void> {
    const changes: StoreChanges = new Map()
    for (const address of addresses) {
      const record = this.#findAddress(address)
      if (record !== undefined && !record.isMarked) this.#mark(record, changes)
    }
    if (changes.size === 0) return
    for (const scripts of this.#table.branches) {
      await this.#watchAtLeast(scripts.branch.id, this.#table.wantedOf(scripts), changes)
    }
    await this.#saved.write(changes)
    this.#tellAddress()
    this.#scanSoon()
  }

  async isAddressUsed(address: string): Promise<boolean> {
    const record = this.#findAddress(address)
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

  async signTx(transaction: EngineTransaction, privateKeys: WalletKeys): Promise<EngineTransaction> {
    const { coin, network, io } = this.#parts
    const coinValue = (txid: string, vout: number): bigint | undefined =>
      this.#ledger.find(txid)?.ours.find(output => output.vout === vout)?.value
    return signDraft({ coin, network, io, table: this.#table, coinValue }, transaction, privateKeys)
  }

  async broadcastTx(transaction: EngineTransaction): Promise<EngineTransaction> {
    this.#checkAlive()
    this.#attach()
    await broadcast(this.#parts.pool, transaction)
    return transaction
  }

  async saveTx(transaction: EngineTransaction): Promise<void> {
    const bytes = this.#parts.io.crypto.fromHex(transaction.signedTx)
    const raw = parseRawTx(bytes)
    const known = this.#ledger.find(raw.txid)
    if (known !== undefined && known.height >= 0) return
    const date = known?.date ?? Math.floor(this.#parts.io.clock.now() / 1000)
    this.#saved.keepBytes(raw.txid, bytes)
    this.#ledger.put(raw, { height: 0, date, isSeen: false })
    await this.#step(new Map(), this.#toldRatio)
  }

  async dumpData(): Promise<Json> {
    return {
      network: this.#parts.network.name,
      format: this.#keys.format,
      height: this.#height,
      transactions: this.#ledger.size,
      server: this.#parts.pool.isOpen ? 'connected' : 'not connected',
      branches: this.#table.branches.map(({ branch, records }) => ({
        branch: branch.id,
        watched: records.length,
        used: records.filter(isUsed).length
      }))
    }
  }

  #makeTable(): ScriptTable {
    return new ScriptTable(this.#keys, this.#parts.coin.gapLimit)
  }

  #makeLedger(): Ledger {
    return new Ledger(script => this.#table.findScript(script))
  }

  async #forget(): Promise<void> {
    await this.#saved.clear()
    this.#table = this.#makeTable()
    this.#ledger = this.#makeLedger()
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
      this.#tell(callbacks => callbacks.onStatus?.(text))
    })
  }

  #scanNow(): Promise<void> {
    if (this.#isDead || !this.#parts.pool.isOpen) return Promise.resolve()
    this.#mustScanAgain = true
    this.#scanning ??= this.#scanLoop().finally(() => {
      this.#scanning = undefined
    })
    return this.#scanning
  }

  async #scanLoop(): Promise<void> {
    const { io, pool } = this.#parts
    while (this.#mustScanAgain && !this.#isDead) {
      this.#mustScanAgain = false
      try {
        await scan({
          io,
          pool,
          client: this.#client,
          table: this.#table,
          ledger: this.#ledger,
          saved: this.#saved,
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
  async #step(changes: StoreChanges, ratio: number): Promise<void> {
    if (this.#isDead) throw new WalletError('LOGGED_OUT', {})
    const changed = this.#ledger.takeChanges()
    for (const tx of changed) this.#saved.noteTx(changes, tx)
    this.#tellTransactions(changed)
    if (changed.length > 0 || ratio === 1) this.#tellBalance()
    this.#tellAddress()
    if (ratio !== this.#toldRatio) {
      this.#toldRatio = ratio
      this.#tell(callbacks => callbacks.onAddressesChecked(ratio))
    }
    try {
      await this.#saved.write(changes)
    } catch {
      this.#request.log.warn('The wallet cache could not be written')
      this.#tell(callbacks => callbacks.onStatus?.('The wallet cache could not be written'))
    }
  }

  #hearScript(scripthash: string, status: string | null): void {
    const record = this.#table.findHash(scripthash)
    if (record === undefined) return
    record.serverStatus = status
    if (status !== record.status) this.#scanSoon()
  }

  #setHeight(height: number): void {
    if (height === this.#height || this.#isDead) return
    this.#height = height
    this.#tell(callbacks => callbacks.onBlockHeightChanged(height))
    const changes: StoreChanges = new Map()
    this.#saved.noteHeight(changes, height)
    this.#saved.write(changes).catch(() => this.#request.log.warn('The wallet cache could not be written'))
  }

  #tell(call: (callbacks: EngineCallbacks) => void): void {
    if (!this.#isDead) call(this.#request.callbacks)
  }

  #tellBalance(): void {
    const balance = String(this.#ledger.balance())
    if (balance === this.#toldBalance) return
    this.#toldBalance = balance
    this.#tell(callbacks => callbacks.onTokenBalanceChanged(null, balance))
  }

  #tellAddress(): void {
    const address = this.#firstAddress()
    if (address === this.#toldAddress) return
    this.#toldAddress = address
    this.#tell(callbacks => callbacks.onAddressChanged())
  }

  #tellTransactions(changed: readonly LedgerTx[]): void {
    const reports = changed.flatMap(tx => this.#reportOf(tx) ?? [])
    if (reports.length > 0) this.#tell(callbacks => callbacks.onTransactionsChanged(reports))
  }

  #reportOf(tx: LedgerTx): EngineTransaction | undefined {
    const { net, fee, isSend } = this.#ledger.effectOf(tx)
    if (tx.ours.length === 0 && !isSend) return undefined
    const bytes = isSend ? this.#saved.txBytes(tx.txid) : undefined
    return {
      tokenId: null,
      txid: tx.txid,
      date: tx.date,
      blockHeight: tx.height,
      nativeAmount: String(net) as NativeAmount,
      networkFee: String(fee) as NativeAmount,
      ourReceiveAddresses: tx.ours.map(({ record }) => addressOf(this.#parts.network, record.program)),
      signedTx: bytes === undefined ? '' : this.#parts.io.crypto.toHex(bytes),
      isSend
    }
  }

  async #spendSource(): Promise<SpendSource> {
    const { coin, network, io, pool } = this.#parts
    const estimates = await pool.refreshFees()
    return { coin, network, io, table: this.#table, ledger: this.#ledger, estimates, height: this.#height }
  }

  #firstAddress(): string | undefined {
    const record = this.#table.firstUnused(this.#table.mainBranch(0))
    return record === undefined ? undefined : addressOf(this.#parts.network, record.program)
  }

  #addressAt(scripts: BranchScripts, index: number | undefined): string {
    const record = index === undefined ? this.#table.firstUnused(scripts) : scripts.records[index]
    // A damaged cache must never make somebody pay to a script that is not ours.
    if (record === undefined || !this.#table.isGenuine(record)) {
      this.#saved.clear().catch(() => this.#request.log.error('The wallet cache could not be cleared'))
      throw new WalletError('KEY_INTEGRITY', {
        rule: 'the cached addresses are damaged; open the wallet again'
      })
    }
    return addressOf(this.#parts.network, record.program)
  }

  #findAddress(address: string): ScriptRecord | undefined {
    const { coin, network } = this.#parts
    return this.#table.findScript(parseAddress(coin, network, address).script)
  }

  #mark(record: ScriptRecord, changes: StoreChanges): void {
    record.isMarked = true
    this.#saved.noteMark(changes, record)
  }

  async #watchIndex(index: number): Promise<void> {
    if (!Number.isInteger(index) || index < 0 || index > MAX_INDEX) {
      throw new WalletError('ADDRESS_INVALID', { rule: `index must be 0 to ${MAX_INDEX}` })
    }
    const changes: StoreChanges = new Map()
    for (const { branch } of this.#table.branches) {
      if (branch.change === 0) await this.#watchAtLeast(branch.id, index + 1, changes)
    }
    if (changes.size === 0) return
    await this.#saved.write(changes)
    this.#scanSoon()
  }

  async #watchAtLeast(branchId: string, count: number, changes: StoreChanges): Promise<void> {
    const scripts = this.#table.branchById(branchId)
    if (scripts === undefined || scripts.records.length >= count) return
    const before = scripts.records.length
    scripts.minimum = Math.max(scripts.minimum, count)
    await this.#table.extend(scripts, count, this.#parts.io.clock)
    this.#saved.noteScripts(changes, scripts, before)
    this.#saved.noteMinimum(changes, scripts)
  }
}

const READY_MS = 20_000
const LOOK_AGAIN_MS = 10_000
const RETOLD_BLOCKS = 144
const MAX_INDEX = 99_999
