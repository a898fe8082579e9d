import type { Txid } from '../../kernel/types/ids.ts'
import { type Block, type ChainBlock, faultOfCoinbase, genesisBlock } from './block.ts'
import { type ChainNetwork, subsidyAt } from './chain-params.ts'
import { Mempool } from './mempool.ts'
import { ScriptIndex } from './script-index.ts'
import { type ChainCoin, type ChainTimes, type ChainTransaction, CoinTable, coinsOf } from './transaction.ts'

/** A transaction in the block at `height`, at `position`; both are undefined while it is in the mempool. */
export interface FoundTransaction {
  readonly tx: ChainTransaction
  readonly height?: number
  readonly position?: number
}

/** The read-only view of a chain. */
export interface ChainView extends ChainTimes {
  readonly network: ChainNetwork
  readonly tip: ChainBlock
  readonly mempool: Pick<Mempool, 'size' | 'get' | 'has' | 'entries' | 'spenderOf' | 'withAncestors'>
  readonly scripts: Pick<ScriptIndex, 'historyOf' | 'waitingOf' | 'utxosOf' | 'balanceOf' | 'statusOf'>
  blockAt(height: number): ChainBlock | undefined
  find(txid: Txid): FoundTransaction | undefined
}

/** The blocks, the coins they left, the mempool and the script index, always in step with each other. */
export class ChainState implements ChainView {
  readonly coins: CoinTable = new CoinTable()
  readonly mempool: Mempool = new Mempool()
  readonly scripts: ScriptIndex = new ScriptIndex(this.mempool)
  readonly network: ChainNetwork
  readonly #blocks: ChainBlock[]
  readonly #places = new Map<string, Required<FoundTransaction>>()

  constructor(network: ChainNetwork) {
    this.network = network
    this.#blocks = [genesisBlock(network)]
  }

  get height(): number {
    return this.#blocks.length - 1
  }

  get tip(): ChainBlock {
    return this.#blocks[this.height] as ChainBlock
  }

  blockAt(height: number): ChainBlock | undefined {
    return this.#blocks[height]
  }

  medianTimeAt(height: number): number {
    const times = this.#blocks.slice(Math.max(0, height - 10), height + 1).map(block => block.header.time)
    return times.sort((a, b) => a - b)[times.length >> 1] ?? 0
  }

  find(txid: Txid): FoundTransaction | undefined {
    const tx = this.mempool.get(txid)?.tx
    return tx === undefined ? this.#places.get(txid) : { tx }
  }

  /** A coin that the next transaction may name: confirmed, or of a waiting transaction. Spent by waiting ones or not. */
  findCoin(txid: Txid, index: number): ChainCoin | undefined {
    return this.coins.get(txid, index) ?? this.mempool.coin(txid, index)
  }

  /**
   * Puts a block on top, checks it by the rules of consensus except signatures, and takes its transactions out of
   * the mempool. The block must not conflict with what waits there.
   *
   * @throws Error with the reason of a node; the state is then unusable
   */
  connect(block: Block): void {
    const height = this.height + 1
    if (block.header.previous !== this.tip.hash) throw new Error('bad-prevblk')
    if (block.header.time <= this.medianTimeAt(this.height)) throw new Error('time-too-old')
    const [coinbase, ...others] = block.transactions
    if (coinbase === undefined) throw new Error('bad-cb-missing')
    const fault = faultOfCoinbase(coinbase, { network: this.network, height, transactions: others })
    if (fault !== undefined) throw new Error(fault)
    const isSorted = this.network.usesForkId === true
    if (isSorted && others.some(({ txid }, at) => at > 0 && txid <= (others[at - 1]?.txid ?? '')))
      throw new Error('tx-ordering')
    const order = isSorted ? parentsFirst(block.transactions) : [...block.transactions.keys()]
    const spent = this.#apply(block, order)
    let earned = subsidyAt(this.network, height)
    for (const [position, tx] of block.transactions.entries())
      if (position > 0) earned += feeOf(tx, spent[position] ?? [])
    if (coinbase.outputs.reduce((sum, output) => sum + output.amount, 0n) > earned)
      throw new Error('bad-cb-amount')
  }

  /**
   * Puts a block on top that a real node has judged by rules of its own: those before segwit, or those of Bitcoin Cash, which sorts
   * the transactions of a block by their txids.
   *
   * @throws Error if it does not fit; the state is then unusable
   */
  append(block: Block): void {
    if (block.header.previous !== this.tip.hash) throw new Error('bad-prevblk')
    this.#apply(block, parentsFirst(block.transactions))
  }

  #apply(block: Block, order: readonly number[]): readonly (readonly ChainCoin[])[] {
    const height = this.height + 1
    const spent: (readonly ChainCoin[])[] = block.transactions.map(() => [])
    for (const position of order) {
      const tx = block.transactions[position] as ChainTransaction
      const coins = position === 0 ? [] : tx.inputs.map(input => this.#spend(input.txid, input.index, height))
      const created = coinsOf(tx, height)
      for (const coin of created) this.coins.add(coin)
      this.scripts.confirm({ tx, height, spent: coins, created })
      this.#places.set(tx.txid, { tx, height, position })
      spent[position] = coins
    }
    this.#blocks.push({ ...block, height, spent })
    this.#confirmWaiting(block.transactions.slice(1))
    return spent
  }

  /** Takes the last block off. The mempool must be empty; what waited is admitted again afterwards. */
  disconnect(): ChainBlock {
    const block = this.#blocks.pop() as ChainBlock
    for (const position of parentsFirst(block.transactions).toReversed()) {
      const tx = block.transactions[position] as ChainTransaction
      const spent = block.spent[position] ?? []
      const created = coinsOf(tx, block.height)
      for (const coin of created) this.coins.remove(coin)
      for (const coin of spent) this.coins.add(coin)
      this.scripts.unconfirm({ tx, height: block.height, spent, created })
      this.#places.delete(tx.txid)
    }
    return block
  }

  /** Puts an admitted transaction into the mempool. */
  enter(tx: ChainTransaction, fee: bigint, coins: readonly ChainCoin[]): void {
    this.mempool.add(tx, fee, coins)
    this.scripts.enter(tx, coins)
  }

  /** Takes waiting transactions out with all their descendants. Returns the txids, parents first. */
  evict(txids: Iterable<string>): readonly string[] {
    const gone = this.mempool.withDescendants(txids)
    if (gone.size === 0) return []
    const ordered = [...this.mempool.entries()].map(entry => entry.tx.txid).filter(txid => gone.has(txid))
    for (const txid of ordered) this.#leave(txid)
    return ordered
  }

  #spend(txid: Txid, index: number, height: number): ChainCoin {
    const coin = this.coins.get(txid, index)
    if (coin === undefined) throw new Error('bad-txns-inputs-missingorspent')
    if (coin.isCoinbase && height - coin.height < this.network.coinbaseMaturity) {
      throw new Error('bad-txns-premature-spend-of-coinbase')
    }
    this.coins.remove(coin)
    return coin
  }

  #confirmWaiting(confirmed: readonly ChainTransaction[]): void {
    for (const tx of confirmed) {
      const children = this.mempool.get(tx.txid)?.children ?? []
      const waiting = [...children].flatMap(child => this.mempool.get(child) ?? [])
      this.#leave(tx.txid)
      for (const child of waiting) this.scripts.touch(child)
    }
  }

  #leave(txid: Txid): void {
    const entry = this.mempool.get(txid)
    if (entry === undefined) return
    this.scripts.leave(entry.tx, entry.coins)
    this.mempool.remove(txid)
  }
}

const feeOf = (tx: ChainTransaction, coins: readonly ChainCoin[]): bigint => {
  let fee = 0n
  for (const coin of coins) fee += coin.amount
  for (const output of tx.outputs) fee -= output.amount
  if (fee < 0n) throw new Error('bad-txns-in-belowout')
  return fee
}

/** The places of transactions, each behind those of the list whose coins it spends. */
export const parentsFirst = (transactions: readonly ChainTransaction[]): readonly number[] => {
  const places = new Map(transactions.map(({ txid }, position) => [txid, position]))
  const order = new Set<number>()
  const visit = (position: number): void => {
    if (order.has(position)) return
    for (const { txid } of transactions[position]?.inputs ?? []) {
      const parent = places.get(txid)
      if (parent !== undefined) visit(parent)
    }
    order.add(position)
  }
  for (const position of transactions.keys()) visit(position)
  return [...order]
}
