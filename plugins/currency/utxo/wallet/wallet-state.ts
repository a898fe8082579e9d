import {
  type EngineStore,
  type EngineTransaction,
  type FreshAddress,
  type Io,
  type JsonObject,
  makeYielder,
  type NativeAmount,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { addressOf, base58AddressOf, parseAddress } from '../chain/address.ts'
import { parseRawTx } from '../chain/transaction.ts'
import { type AccountKeys, branchDescriptorsOf } from '../keys/keys.ts'
import type { CoinRow, NetworkRow } from '../params/coin.ts'
import { confirmedHeightOf, Ledger, type LedgerTx, ReservedCoins } from './ledger.ts'
import { SavedState, type StoreChanges } from './saved-state.ts'
import {
  type BranchScripts,
  isUsed,
  type KeptHistory,
  type ScriptRecord,
  type ScriptSource,
  ScriptTable,
  type WatchedBranch
} from './scripts.ts'

/** The coin of a wallet, its scripts and its transactions, as spends see them. */
export interface WalletContext {
  readonly coin: CoinRow
  readonly network: NetworkRow
  readonly io: Io
  readonly table: ScriptTable
  readonly ledger: Ledger
  /** Stays when everything else is forgotten. */
  readonly reserved: ReservedCoins
  /** The coins that no draft may take, `txid:vout` each. */
  readonly frozen: ReadonlySet<string>
  /** No lock time goes above it: `LinkedHeaders.safeHeight`. */
  readonly safeHeight?: number
}

/** The scripts and transactions of one wallet, in memory and in its store. */
export class WalletState implements WalletContext {
  readonly coin: CoinRow
  readonly network: NetworkRow
  readonly io: Io
  readonly saved: SavedState
  readonly reserved: ReservedCoins
  frozen: ReadonlySet<string> = new Set()
  /** For servers that need to know keys. */
  readonly scripts: ScriptSource = {
    placeOf: scripthash => {
      const record = this.#table.findHash(scripthash)
      const first = record && this.#table.branchById(record.branch.id)?.records[0]
      return first && { first: addressOf(this.network, first.program), index: record.index }
    },
    branches: () => this.#branches(),
    likely: () => this.#table.likely(),
    kept: () => this.#kept()
  }
  readonly #keys: AccountKeys
  #table: ScriptTable
  #ledger: Ledger

  constructor(
    { coin, network, io }: Pick<WalletContext, 'coin' | 'network' | 'io'>,
    keys: AccountKeys,
    store: EngineStore
  ) {
    this.coin = coin
    this.network = network
    this.io = io
    this.#keys = keys
    this.saved = new SavedState(store, io)
    this.reserved = new ReservedCoins(io.crypto)
    this.#table = new ScriptTable(keys, coin.gapLimit)
    this.#ledger = new Ledger(this.#table)
  }

  get table(): ScriptTable {
    return this.#table
  }

  get ledger(): Ledger {
    return this.#ledger
  }

  /** What a comparison with another server needs, as it is now. */
  get known(): Pick<WalletState, 'ledger' | 'scripts' | 'table'> {
    return { ledger: this.#ledger, scripts: this.scripts, table: this.#table }
  }

  /** What a call works with to its end: a resync puts others in their places. */
  now(safeHeight = 0): WalletContext {
    const { coin, network, io, table, ledger, reserved, frozen } = this
    return { coin, network, io, table, ledger, reserved, frozen, safeHeight }
  }

  /** Takes in a payment that was sent. False if a block, or the mempool of a server, has it: then nothing changes. */
  keepSent({ signedTx }: EngineTransaction): boolean {
    const bytes = this.io.crypto.fromHex(signedTx)
    const raw = parseRawTx(bytes)
    const known = this.#ledger.find(raw.txid)
    if (known !== undefined && known.height >= 0) return false
    const date = known?.date ?? Math.floor(this.io.clock.now() / 1000)
    this.saved.keepBytes(raw.txid, bytes)
    this.#ledger.put(raw, { height: 0, date, isSeen: false })
    return true
  }

  /** The bytes of the unconfirmed payments that one spends, of which each was checked against its txid. */
  parentsOf({ signedTx }: EngineTransaction): readonly string[] {
    const { inputs } = parseRawTx(this.io.crypto.fromHex(signedTx))
    return [...new Set(inputs.map(({ txid }) => txid))].flatMap(txid => {
      const bytes = this.#ledger.find(txid)?.height === 0 ? this.saved.txBytes(txid) : undefined
      return bytes === undefined ? [] : [this.io.crypto.toHex(bytes)]
    })
  }

  /** Keeps the coins of these payments from others. True if one holds its coins no longer. */
  reserve(payments: readonly EngineTransaction[]): boolean {
    const freed = this.reserved.replace(payments)
    for (const txid of freed) {
      const tx = this.#ledger.find(txid)
      // Forgotten, and no server has ever shown it: nothing else would take it out of the balance's way.
      if (tx !== undefined && tx.height === 0 && !tx.isSeen) this.#ledger.drop(tx)
    }
    return freed.length > 0
  }

  /** Reads the store, or begins anew if it is empty or damaged. */
  async load(): Promise<void> {
    const isLoaded = await this.saved.load(this.#table, this.#ledger, makeYielder(this.io.clock))
    if (!isLoaded) await this.#clear()
    await this.#fillWindow()
  }

  /** Forgets what the chain has; what the user marked stays. */
  async forget(): Promise<void> {
    const marked = [...this.#table.records()].filter(({ isMarked }) => isMarked)
    const minimums = this.#table.branches.map(({ branch, minimum }) => ({ id: branch.id, minimum }))
    await this.#clear()
    const changes: StoreChanges = new Map()
    for (const { id, minimum } of minimums) await this.#watchAtLeast(id, minimum, changes)
    for (const { branch, index } of marked) {
      await this.#watchAtLeast(branch.id, index + 1, changes)
      const record = this.#table.branchById(branch.id)?.records[index]
      if (record !== undefined) this.#mark(record, changes)
    }
    await this.saved.write(changes)
    await this.#fillWindow()
  }

  /** Marks addresses of ours as used and widens the window behind them. False if nothing changed. */
  async markUsed(addresses: readonly string[]): Promise<boolean> {
    const changes: StoreChanges = new Map()
    for (const address of addresses) {
      const record = this.findAddress(address)
      if (record !== undefined && !record.isMarked) this.#mark(record, changes)
    }
    if (changes.size === 0) return false
    for (const scripts of this.#table.branches) {
      await this.#watchAtLeast(scripts.branch.id, this.#table.wantedOf(scripts), changes)
    }
    await this.saved.write(changes)
    return true
  }

  /** Watches the receive branches up to an index. False if they were watched already. @throws ADDRESS_INVALID */
  async watchIndex(index: number): Promise<boolean> {
    if (!Number.isInteger(index) || index < 0 || index > MAX_INDEX) {
      throw new WalletError('ADDRESS_INVALID', { rule: `index must be 0 to ${MAX_INDEX}` })
    }
    const changes: StoreChanges = new Map()
    for (const { branch } of this.#table.branches) {
      if (branch.change === 0) await this.#watchAtLeast(branch.id, index + 1, changes)
    }
    await this.saved.write(changes)
    return changes.size > 0
  }

  /** The script of an address, if it is ours. @throws ADDRESS_INVALID */
  findAddress(address: string): ScriptRecord | undefined {
    return this.#table.findScript(parseAddress(this.coin, this.network, address).script)
  }

  #branches(): readonly WatchedBranch[] {
    return this.#table.branches.flatMap(({ branch, records }) => {
      const account = this.#keys.accounts.get(branch.purpose)
      const [first] = records
      if (account === undefined || first === undefined) return []
      return {
        first: addressOf(this.network, first.program),
        descriptors: branchDescriptorsOf(this.network, account, branch),
        count: records.length
      }
    })
  }

  #kept(): readonly KeptHistory[] {
    const cursor = this.saved.cursor()
    if (cursor === undefined) return []
    const counts = this.#table.branches.flatMap(({ branch, records: [first] }) => {
      const count = cursor.counts.get(branch.id)
      if (first === undefined || count === undefined) return []
      return [[addressOf(this.network, first.program), count] as const]
    })
    const { saved } = this
    const ledger = this.#ledger
    return [
      {
        ...{ cursor: cursor.block, counts: new Map(counts) },
        *payments() {
          for (const { txid, height } of ledger.all()) {
            const bytes = saved.txBytes(txid)
            if (bytes !== undefined) yield { txid, height, bytes }
          }
        }
      }
    ]
  }

  /** The address at an index, or the first unused. @throws KEY_INTEGRITY if the cache is damaged; it is cleared then */
  async addressAt(scripts: BranchScripts, index: number | undefined): Promise<string> {
    const record = index === undefined ? this.#table.firstUnused(scripts) : scripts.records[index]
    // A damaged cache must never make somebody pay to a script that is not ours.
    if (record === undefined || !this.#table.isGenuine(record)) {
      await this.saved.clear()
      throw new WalletError('KEY_INTEGRITY', {
        rule: 'the cached addresses are damaged; open the wallet again'
      })
    }
    return addressOf(this.network, record.program)
  }

  /** Figures for support; no addresses, no keys. */
  summary(): JsonObject {
    return {
      network: this.network.name,
      // Else only the server says that a block is one.
      isWorkChecked: typeof this.network.work === 'object',
      format: this.#keys.format,
      transactions: this.#ledger.size,
      branches: this.#table.branches.map(({ branch, records }) => ({
        branch: branch.id,
        watched: records.length,
        used: records.filter(isUsed).length
      }))
    }
  }

  async #clear(): Promise<void> {
    await this.saved.clear()
    this.#table = new ScriptTable(this.#keys, this.coin.gapLimit)
    this.#ledger = new Ledger(this.#table)
  }

  async #fillWindow(): Promise<void> {
    const changes: StoreChanges = new Map()
    for (const scripts of this.#table.branches) {
      const before = scripts.records.length
      const wanted = this.#table.wantedOf(scripts)
      if (wanted <= before) continue
      await this.#table.extend(scripts, wanted, this.io.clock)
      this.saved.noteScripts(changes, scripts, before)
    }
    await this.saved.write(changes)
  }

  #mark(record: ScriptRecord, changes: StoreChanges): void {
    record.isMarked = true
    this.saved.noteMark(changes, record)
  }

  /** Has the first `count` scripts of a branch, and wants them at each later start, too. */
  async #watchAtLeast(branchId: string, count: number, changes: StoreChanges): Promise<void> {
    const scripts = this.#table.branchById(branchId)
    if (scripts === undefined) return
    // Also of scripts that the branch has for another reason: only those that are wanted are watched for ever.
    if (count > this.#table.wantedOf(scripts)) {
      scripts.minimum = count
      this.saved.noteMinimum(changes, scripts)
    }
    const before = scripts.records.length
    if (before >= count) return
    await this.#table.extend(scripts, count, this.io.clock)
    this.saved.noteScripts(changes, scripts, before)
  }
}

const MAX_INDEX = 99_999

/** The address to receive on, in every form the wallet has: at an index, or the first unused. @throws KEY_INTEGRITY */
export const freshAddressOf = async (
  state: WalletState,
  index: number | undefined
): Promise<FreshAddress> => {
  const { coin, network, table } = state
  const main = table.mainBranch(0)
  const publicAddress = await state.addressAt(main, index)
  if (network.cashaddr !== undefined) {
    const { program } = parseAddress(coin, network, publicAddress)
    return { publicAddress, legacyAddress: base58AddressOf(network, program) }
  }
  if (main.branch.purpose !== 84) return { publicAddress }
  const nested = table.branchOf(49, 0)
  if (nested === undefined) return { publicAddress, segwitAddress: publicAddress }
  return { publicAddress, segwitAddress: publicAddress, legacyAddress: await state.addressAt(nested, index) }
}

/** Returns a transaction as the kernel receives it; undefined if it is none of the wallet's. */
export const reportOf = (
  { network, io, ledger, saved }: WalletState,
  tx: LedgerTx
): EngineTransaction | undefined => {
  const { net, fee, isSend } = ledger.effectOf(tx)
  if (tx.ours.length === 0 && !isSend) return undefined
  // What we sent can be sent again, so its bytes go along.
  const bytes = isSend ? saved.txBytes(tx.txid) : undefined
  return {
    tokenId: null,
    txid: tx.txid,
    date: tx.date,
    blockHeight: confirmedHeightOf(tx),
    nativeAmount: String(net) as NativeAmount,
    networkFee: String(fee) as NativeAmount,
    ourReceiveAddresses: tx.ours.map(({ record }) => addressOf(network, record.program)),
    memos: tx.memos,
    signedTx: bytes === undefined ? '' : io.crypto.toHex(bytes),
    isSend,
    grade: tx.grade
  }
}
