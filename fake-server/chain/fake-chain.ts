import { type NativeAmount, nativeAmount } from '../../kernel/base/amount.ts'
import { isWalletError, WalletError } from '../../kernel/base/errors.ts'
import type { Json } from '../../kernel/base/json.ts'
import type { Clock } from '../../kernel/io/io.ts'
import type { Txid } from '../../kernel/types/ids.ts'
import { admit, leastFeeOf, readmit } from './admission.ts'
import { makeCoinbase, workBlock } from './block.ts'
import { type ChainNetwork, MAX_BLOCK_WEIGHT, type Payment, POLICY, subsidyAt } from './chain-params.ts'
import { type ChainState, type ChainView, parentsFirst } from './chain-state.ts'
import { refuse, UNREADABLE } from './check.ts'
import { type Faucet, type FeeRates, feeRateFor, parseFeeRates, usualFeeRates } from './faucet.ts'
import { saveChain } from './saved-chain.ts'
import { scriptHashOf, scriptOf } from './script.ts'
import { type ChainCoin, type ChainTransaction, decodeTransaction } from './transaction.ts'

/** The changes of one call. */
export interface ChainChange {
  readonly isTipNew: boolean
  /** Electrum names of the scripts whose history may be another now. */
  readonly scriptHashes: ReadonlySet<string>
}

/** The balance of a script. `unconfirmed` is the change by the mempool, negative if it spends. */
export interface ChainBalance {
  readonly confirmed: NativeAmount
  readonly unconfirmed: NativeAmount
}

/** The clock and random numbers of a chain, and the report of a listener that threw. */
export interface ChainPorts {
  readonly clock: Clock
  readonly random: (count: number) => Uint8Array
  readonly onListenerError?: (error: unknown) => void
}

/**
 * A network in memory, Bitcoin's regtest or a relative's, that judges transactions as a node does (architecture
 * decision 27).
 *
 * Every call is done when it returns, and a call that throws has changed nothing but, for `fund`, mined blocks.
 * Made by `openFakeChain`.
 */
export class FakeChain {
  readonly #state: ChainState
  readonly #faucet: Faucet
  readonly #ports: ChainPorts
  readonly #listeners = new Set<(change: ChainChange) => void>()
  #feeRates: ReadonlyMap<number, number>
  /** Native units for 1000 virtual bytes. */
  #leastFee = 0
  #announcedTip: string
  #mined = 0

  constructor(state: ChainState, faucet: Faucet, options: ChainPorts & { readonly feeRates?: FeeRates }) {
    this.#state = state
    this.#faucet = faucet
    this.#ports = options
    this.#feeRates = parseFeeRates(options.feeRates ?? usualFeeRates(state.network))
    this.#announcedTip = state.tip.hash
    state.scripts.takeTouched()
  }

  /** Blocks, transactions and scripts, to read. */
  get view(): ChainView {
    return this.#state
  }

  get network(): ChainNetwork {
    return this.#state.network
  }

  get height(): number {
    return this.#state.height
  }

  get clock(): Clock {
    return this.#ports.clock
  }

  /**
   * Mines blocks; the first takes in what waits, as far as it fits.
   *
   * @param to - an address or script that earns them; the faucet if left out
   * @returns the block hashes
   * @throws OPTION_INVALID unless `count` is 1 to 10,000; ADDRESS_INVALID
   */
  mine(count = 1, to?: string | Uint8Array): readonly string[] {
    checkCount('number of blocks', count, 10_000)
    const script = to === undefined ? this.#faucet.script : scriptOf(this.network, to)
    return this.#changing(() =>
      Array.from({ length: count }, () => this.#mineOne(script, this.#selectWaiting()))
    )
  }

  /**
   * Pays from the faucet with a real transaction, which then waits for a block.
   *
   * Mines blocks first if the faucet has nothing mature; these take in whatever waits.
   *
   * @param to - a regtest address, a script in hex, or a script
   * @returns the txid
   * @throws ADDRESS_INVALID, AMOUNT_INVALID, BROADCAST_REFUSED (`dust`), INSUFFICIENT_FUNDS if it cannot mine enough
   */
  fund(to: string | Uint8Array, amount: string): string {
    return this.fundMany([{ to, amount }])
  }

  /** Like `fund`, with up to 2000 payments in one transaction. */
  fundMany(payments: readonly { readonly to: string | Uint8Array; readonly amount: string }[]): string {
    checkCount('number of payments', payments.length, 2000)
    const parsed = payments.map(({ to, amount }) => ({
      script: scriptOf(this.network, to),
      amount: parseAmount(this.network, amount)
    }))
    return this.#changing(() => this.#accept(decodeTransaction(this.#payFromFaucet(parsed))))
  }

  /**
   * Replaces the last blocks by others without payments.
   *
   * @param options - `keepTransactions: false` forgets the transactions of the lost blocks; otherwise they wait again. `count`: how many
   * blocks come in their place, one more than there were if left out
   * @throws OPTION_INVALID if there are fewer blocks, or for more than 1000
   */
  reorg(
    depth: number,
    {
      keepTransactions = true,
      count = depth + 1
    }: { readonly keepTransactions?: boolean; readonly count?: number } = {}
  ): void {
    checkCount('depth', depth, Math.min(1000, this.height))
    checkCount('count', count, 1001)
    this.#changing(() => {
      const waiting = [...this.#state.mempool.entries()].map(entry => entry.tx)
      this.#state.evict(waiting.map(tx => tx.txid))
      const returned: ChainTransaction[] = []
      for (let i = 0; i < depth; i += 1) {
        const others = this.#state.disconnect().transactions.slice(1)
        returned.unshift(...parentsFirst(others).flatMap(at => others[at] ?? []))
      }
      for (let i = 0; i < count; i += 1) this.#mineOne(this.#faucet.script, [])
      for (const tx of keepTransactions ? [...returned, ...waiting] : waiting) this.#acceptAgain(tx)
    })
  }

  /**
   * Forgets a waiting transaction and all that depend on it, as a node does after two weeks.
   *
   * @returns the txids that are gone, parents first
   * @throws TX_NOT_FOUND if it does not wait
   */
  drop(txid: Txid): readonly string[] {
    if (!this.#state.mempool.has(txid)) throw new WalletError('TX_NOT_FOUND', { txid })
    return this.#changing(() => this.#state.evict([txid]))
  }

  /**
   * Takes a signed transaction in hex into the mempool.
   *
   * @returns the txid
   * @throws BROADCAST_REFUSED with the reason a node gives
   */
  broadcast(text: string): string {
    const tx = parseTransaction(text)
    return this.#changing(() => this.#accept(tx))
  }

  /**
   * Takes a payment with the unconfirmed ones that it spends, parents first: those that pay less than the mempool keeps stay if all
   * pay enough together.
   *
   * @returns the reasons of those that were refused, by txid; none if all are there
   * @throws BROADCAST_REFUSED if they are no parents with their child
   */
  broadcastPackage(texts: readonly string[]): ReadonlyMap<string, string> {
    const txs = texts.map(parseTransaction)
    const child = txs.at(-1)
    const parents = new Set(txs.slice(0, -1).map(({ txid }) => txid))
    const spent = new Set(child?.inputs.map(({ txid }) => txid))
    const isTree = txs.slice(0, -1).every(({ inputs }) => !inputs.some(({ txid }) => parents.has(txid)))
    if (
      txs.length < 2 ||
      txs.length > POLICY.maxAncestors ||
      !isTree ||
      ![...parents].every(txid => spent.has(txid))
    )
      refuse(child, 'package-not-child-with-parents')
    return this.#changing(() => this.#acceptPackage(txs))
  }

  #acceptPackage(txs: readonly ChainTransaction[]): ReadonlyMap<string, string> {
    const refusals = new Map<string, string>()
    const cheap: ChainTransaction[] = []
    for (const tx of txs) {
      if (this.#state.find(tx.txid) !== undefined) continue
      const refusal = this.#refusalOf(() => this.#accept(tx))
      // A child comes after parents that only it pays for.
      if (refusal?.startsWith('mempool min fee') === true || (refusal !== undefined && cheap.length > 0))
        cheap.push(tx)
      else if (refusal !== undefined) refusals.set(tx.txid, refusal)
    }
    for (const tx of cheap) {
      const refusal = this.#refusalOf(() => this.#accept(tx, 0))
      if (refusal !== undefined) refusals.set(tx.txid, refusal)
    }
    const entered = cheap.flatMap(({ txid }) => this.#state.mempool.get(txid) ?? [])
    const fee = entered.reduce((sum, entry) => sum + entry.fee, 0n)
    const least = leastFeeOf(
      entered.reduce((sum, { tx }) => sum + tx.vsize, 0),
      this.#leastFee
    )
    const isShort = fee < least || entered.length < cheap.length
    for (const { tx } of isShort ? entered : []) {
      refusals.set(tx.txid, refusals.get(tx.txid) ?? `mempool min fee not met, ${fee} < ${least}`)
      this.#state.evict([tx.txid])
    }
    return refusals
  }

  #refusalOf(work: () => unknown): string | undefined {
    try {
      work()
      return undefined
    } catch (error) {
      if (!isWalletError(error, 'BROADCAST_REFUSED')) throw error
      return error.details.reason
    }
  }

  /** Returns true for an address of this network. Some old kinds are the same on several. */
  takes(address: string): boolean {
    try {
      return scriptOf(this.network, address).length > 0
    } catch {
      return false
    }
  }

  /** The balance of an address or a script. @throws ADDRESS_INVALID */
  balance(target: string | Uint8Array): ChainBalance {
    const { confirmed, unconfirmed } = this.#state.scripts.balanceOf(
      scriptHashOf(scriptOf(this.network, target))
    )
    return { confirmed: nativeAmount(`${confirmed}`), unconfirmed: nativeAmount(`${unconfirmed}`) }
  }

  /** Sets what the network asks, by target blocks; none at all makes it answer that it does not know. */
  setFees(rates: FeeRates): void {
    const parsed = parseFeeRates(rates)
    this.#changing(() => {
      this.#feeRates = parsed
    })
  }

  /** Native units for each virtual byte to confirm within `blocks`; undefined if unknown. */
  feeRate(blocks: number): number | undefined {
    return feeRateFor(this.#feeRates, blocks)
  }

  /** The least native units for 1000 virtual bytes that is relayed. */
  get relayFee(): number {
    return Number(this.network.relayPerKvB)
  }

  /** The least native units for 1000 virtual bytes that the mempool keeps now. */
  get leastFee(): number {
    return Math.max(this.relayFee, this.#leastFee)
  }

  /**
   * Sets what the mempool keeps at least, in native units for 1000 virtual bytes, as a full one does. What waits and pays less goes,
   * unless those that spend it pay enough for both.
   *
   * @throws OPTION_INVALID
   */
  setLeastFee(perKvB: number): void {
    if (!Number.isSafeInteger(perKvB) || perKvB < 0)
      throw new WalletError('OPTION_INVALID', {
        option: 'least fee',
        rule: 'must be a whole number, 0 or more'
      })
    this.#leastFee = perKvB
    const { mempool } = this.#state
    this.#changing(() => {
      for (const { tx } of [...mempool.entries()]) {
        const relatives = [...mempool.withDescendants([tx.txid])].flatMap(txid => mempool.get(txid) ?? [])
        const pays = (entries: typeof relatives): boolean =>
          entries.reduce((sum, { fee }) => sum + fee, 0n) >=
          leastFeeOf(
            entries.reduce((sum, entry) => sum + entry.tx.vsize, 0),
            perKvB
          )
        if (!pays(relatives.filter(entry => entry.tx === tx)) && !pays(relatives))
          this.#state.evict([tx.txid])
      }
    })
  }

  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: (change: ChainChange) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Everything there is, the faucet's key included, for `openFakeChain`. */
  toJson(): Json {
    return saveChain(this.#state, this.#faucet.savedKey, this.#feeRates)
  }

  #changing<T>(work: () => T): T {
    try {
      return work()
    } finally {
      this.#announce()
    }
  }

  #announce(): void {
    const { hash } = this.#state.tip
    const change = { isTipNew: hash !== this.#announcedTip, scriptHashes: this.#state.scripts.takeTouched() }
    this.#announcedTip = hash
    for (const listener of [...this.#listeners]) {
      try {
        listener(change)
      } catch (error) {
        this.#ports.onListenerError?.(error)
      }
    }
  }

  #accept(tx: ChainTransaction, leastPerKvB = this.#leastFee): string {
    const { fee, coins, replaced } = admit(this.#state, tx, leastPerKvB)
    this.#state.evict(replaced)
    this.#state.enter(tx, fee, coins)
    return tx.txid
  }

  #acceptAgain(tx: ChainTransaction): void {
    try {
      const { fee, coins } = readmit(this.#state, tx)
      this.#state.enter(tx, fee, coins)
    } catch (error) {
      if (!(error instanceof WalletError)) throw error
    }
  }

  #selectWaiting(): readonly ChainTransaction[] {
    const chosen = new Map<string, ChainTransaction>()
    let weight = 0
    for (const { tx, parents } of this.#state.mempool.entries()) {
      if (weight + tx.weight > MAX_BLOCK_WEIGHT || [...parents].some(parent => !chosen.has(parent))) continue
      chosen.set(tx.txid, tx)
      weight += tx.weight
    }
    return [...chosen.values()]
  }

  #mineOne(script: Uint8Array, transactions: readonly ChainTransaction[], ageSeconds = 0): string {
    const height = this.height + 1
    let amount = subsidyAt(this.network, height)
    for (const tx of transactions) amount += this.#state.mempool.get(tx.txid)?.fee ?? 0n
    this.#mined += 1
    // The count makes blocks differ even if random bytes repeat, as a test's may.
    const extraNonce = Uint8Array.of(
      ...this.#ports.random(8),
      this.#mined >> 16,
      this.#mined >> 8,
      this.#mined
    )
    const { network } = this
    const coinbase = makeCoinbase({ network, height, script, amount, extraNonce, transactions })
    const now = Math.floor(this.#ports.clock.now() / 1000) - ageSeconds
    const time = Math.max(this.#state.medianTimeAt(this.height) + 1, Math.min(now, 0xffffffff))
    const others = network.usesForkId === true ? sortedByTxid(transactions) : transactions
    const block = workBlock({
      ...{ network, height, time },
      previous: this.#state.tip.hash,
      transactions: [coinbase, ...others]
    })
    this.#state.connect(block)
    return block.hash
  }

  #payFromFaucet(payments: readonly Payment[]): string {
    const maturity = this.network.coinbaseMaturity
    for (let mined = 0; mined <= 1000; mined += 1) {
      const signed = this.#faucet.pay(this.#faucetCoins(), payments)
      if (signed !== undefined) return signed
      const count = this.height < maturity ? maturity + SPARE_COINBASES - this.height : 1
      // Many blocks of one second would run ahead of the clock, and payments from them would look older.
      for (let left = count - 1; left >= 0; left -= 1) {
        this.#mineOne(this.#faucet.script, this.#selectWaiting(), left * this.network.blockSeconds)
      }
    }
    const needed = payments.reduce((sum, payment) => sum + payment.amount, 0n)
    throw new WalletError('INSUFFICIENT_FUNDS', {
      currencyCode: this.network.currencyCode,
      needed: `${needed}`
    })
  }

  #faucetCoins(): readonly ChainCoin[] {
    const { mempool, scripts } = this.#state
    const usable = scripts
      .utxosOf(this.#faucet.scriptHash)
      .filter(coin =>
        coin.isCoinbase
          ? this.height + 1 - coin.height >= this.network.coinbaseMaturity
          : coin.height > 0 || mempool.withAncestors([coin.txid]).size < POLICY.maxAncestors
      )
    const confirmedFirst = (coin: ChainCoin): number => (coin.height > 0 ? 0 : 1)
    return usable.sort(
      (a, b) =>
        confirmedFirst(a) - confirmedFirst(b) || (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1)
    )
  }
}

/** The order of Bitcoin Cash, which puts a parent anywhere. */
const sortedByTxid = (transactions: readonly ChainTransaction[]): readonly ChainTransaction[] =>
  transactions.toSorted((a, b) => (a.txid < b.txid ? -1 : 1))

/** Coinbases that are mature once the faucet is ready, so that most payments need no new block. */
const SPARE_COINBASES = 20

const parseTransaction = (text: string): ChainTransaction => {
  try {
    return decodeTransaction(text)
  } catch {
    return refuse(undefined, UNREADABLE)
  }
}

const parseAmount = ({ maxMoney }: ChainNetwork, text: string): bigint => {
  const amount = BigInt(nativeAmount(text))
  if (amount <= 0n || amount > maxMoney) {
    throw new WalletError('AMOUNT_INVALID', { rule: 'must be above zero and below all coins there can be' })
  }
  return amount
}

const checkCount = (option: string, count: number, most: number): void => {
  if (!Number.isInteger(count) || count < 1 || count > most) {
    throw new WalletError('OPTION_INVALID', { option, rule: `must be 1 to ${most}` })
  }
}
