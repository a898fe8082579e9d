import type { Clock } from '../../kernel/io/io.ts'
import type { Txid } from '../../kernel/types/ids.ts'
import type { Block } from '../chain/block.ts'
import type { ChainNetwork } from '../chain/chain-params.ts'
import { ChainState, type ChainView } from '../chain/chain-state.ts'
import { refuse } from '../chain/check.ts'
import type { ChainChange } from '../chain/fake-chain.ts'
import { type ChainTransaction, decodeTransaction } from '../chain/transaction.ts'
import type { ServedChain } from '../electrum/methods.ts'
import { type NodeCall, NodeFault } from './litecoin-node.ts'

/** Options of {@link NodeChain.open}. */
export interface NodeChainOptions {
  readonly network: ChainNetwork
  readonly clock: Clock
  /** Called when the node cannot be followed, or a listener threw. */
  readonly onError?: (error: unknown) => void
}

/**
 * The chain of a real node on regtest, in the form in which Electrum sessions serve it: its blocks and its mempool are read by RPC
 * and indexed here; what is broadcast goes to the node, which judges it.
 */
export class NodeChain implements ServedChain {
  readonly clock: Clock
  readonly network: ChainNetwork
  readonly #call: NodeCall
  readonly #state: ChainState
  readonly #onError: (error: unknown) => void
  readonly #heights = new Map<string, number>()
  readonly #listeners = new Set<(change: ChainChange) => void>()
  #relayFee = 0
  #following: Promise<void> = Promise.resolve()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  /** Reads the chain of a node, and follows it until it is closed. @throws NodeFault, or Error where the node is unreachable */
  static async open(call: NodeCall, options: NodeChainOptions): Promise<NodeChain> {
    const chain = new NodeChain(call, options)
    chain.#relayFee = Math.round((await call('getmempoolinfo')).minrelaytxfee * 1e8)
    await chain.follow()
    chain.#look()
    return chain
  }

  private constructor(call: NodeCall, { network, clock, onError = () => {} }: NodeChainOptions) {
    this.clock = clock
    this.network = network
    this.#call = call
    this.#onError = onError
    this.#state = new ChainState(network)
    this.#heights.set(this.#state.tip.hash, 0)
  }

  get view(): ChainView {
    return this.#state
  }

  get relayFee(): number {
    return this.#relayFee
  }

  /** A node on regtest has seen too few blocks for an estimate. */
  feeRate(): undefined {
    return undefined
  }

  onChange(listener: (change: ChainChange) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async broadcast(text: string): Promise<string> {
    const txid: string = await this.#call('sendrawtransaction', text).catch((error: unknown) => {
      if (error instanceof NodeFault) refuse(transactionOf(text), error.reason)
      throw error
    })
    await this.follow()
    return txid
  }

  /** Takes over what the node has now; listeners have heard of it once this resolves. */
  follow(): Promise<void> {
    const run = this.#following.then(() => this.#follow())
    this.#following = run.catch(() => {})
    return run
  }

  /** Stops following. The node goes on. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#following
  }

  #look(): void {
    this.#timer = setTimeout(async () => {
      await this.follow().catch(error => this.#isClosed || this.#onError(error))
      if (!this.#isClosed) this.#look()
    }, LOOK_MS)
    this.#timer.unref()
  }

  async #follow(): Promise<void> {
    const before = this.#state.tip.hash
    for (;;) {
      const best: string = await this.#call('getbestblockhash')
      const blocks = await this.#newBlocks(best)
      const txids: readonly string[] = await this.#call('getrawmempool')
      const waiting = await this.#newTransactions(txids)
      // With a block in between, the two halves would not be those of one moment.
      if ((await this.#call('getbestblockhash')) !== best || waiting === undefined) continue
      this.#takeOver(best, blocks, { txids, waiting })
      break
    }
    const scriptHashes = this.#state.scripts.takeTouched()
    const isTipNew = this.#state.tip.hash !== before
    if (!isTipNew && scriptHashes.size === 0) return
    for (const listener of [...this.#listeners]) {
      try {
        listener({ isTipNew, scriptHashes })
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  /** The blocks from the last one that is known here up to the best one of the node. */
  async #newBlocks(best: string): Promise<readonly NodeBlock[]> {
    const blocks: NodeBlock[] = []
    for (let hash = best; !this.#heights.has(hash); hash = blocks[0]?.header.previous ?? '') {
      const [block, headerHex] = await Promise.all([
        this.#call('getblock', hash, 2),
        this.#call('getblockheader', hash, false)
      ])
      const { version, previousblockhash: previous, merkleroot: merkleRoot, time, nonce, height } = block
      const header = { version, previous, merkleRoot, time, bits: Number.parseInt(block.bits, 16), nonce }
      const transactions = block.tx.map(({ hex }: { readonly hex: string }) => decodeTransaction(hex))
      blocks.unshift({ hash, headerHex, header, transactions, height })
    }
    return blocks
  }

  /** The waiting transactions that are not known here; undefined if one of them is gone by now. */
  async #newTransactions(txids: readonly string[]): Promise<readonly ChainTransaction[] | undefined> {
    const missing = txids.filter(txid => !this.#state.mempool.has(txid as Txid))
    try {
      const texts: readonly string[] = await Promise.all(
        missing.map(txid => this.#call('getrawtransaction', txid))
      )
      return texts.map(decodeTransaction)
    } catch (error) {
      if (error instanceof NodeFault) return undefined
      throw error
    }
  }

  #takeOver(best: string, blocks: readonly NodeBlock[], mempool: NodeMempool): void {
    const state = this.#state
    const base = blocks[0] === undefined ? this.#heights.get(best) : blocks[0].height - 1
    const waiting = [...mempool.waiting]
    if (state.tip.hash !== best) {
      // Blocks go on and off below an empty mempool; what still waits is admitted again.
      const before = [...state.mempool.entries()].map(({ tx }) => tx)
      state.evict(before.map(({ txid }) => txid))
      waiting.unshift(...before.filter(({ txid }) => mempool.txids.includes(txid)))
      while (state.height > (base ?? 0)) this.#heights.delete(state.disconnect().hash)
      for (const { height, ...block } of blocks) {
        state.append(block)
        this.#heights.set(block.hash, height)
      }
    }
    const present = new Set(mempool.txids)
    state.evict([...state.mempool.entries()].map(({ tx }) => tx.txid).filter(txid => !present.has(txid)))
    for (let left = waiting; left.length > 0; ) {
      const later = left.filter(tx => !this.#enter(tx))
      // What spends a coin that is not known here would be a fault of the node's.
      if (later.length === left.length) break
      left = later
    }
  }

  /** Takes a waiting transaction in; false if it spends one that has not been taken in yet. */
  #enter(tx: ChainTransaction): boolean {
    const coins = tx.inputs.flatMap(({ txid, index }) => this.#state.findCoin(txid, index) ?? [])
    if (coins.length < tx.inputs.length) return false
    let fee = 0n
    for (const { amount } of coins) fee += amount
    for (const { amount } of tx.outputs) fee -= amount
    this.#state.enter(tx, fee, coins)
    return true
  }
}

const transactionOf = (text: string): ChainTransaction | undefined => {
  try {
    return decodeTransaction(text)
  } catch {
    return undefined
  }
}

interface NodeBlock extends Block {
  readonly height: number
}

interface NodeMempool {
  /** All that wait at the node. */
  readonly txids: readonly string[]
  /** Those that are not known here. */
  readonly waiting: readonly ChainTransaction[]
}

const LOOK_MS = 100
