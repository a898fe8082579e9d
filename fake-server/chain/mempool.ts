import type { Txid } from '../../kernel/types/ids.ts'
import { type ChainCoin, type ChainTransaction, outpointOf } from './transaction.ts'

/** A transaction that waits for a block. */
export interface MempoolEntry {
  readonly tx: ChainTransaction
  /** Native units that its inputs have more than its outputs. */
  readonly fee: bigint
  /** The coin of each input, in order. */
  readonly coins: readonly ChainCoin[]
  /** Waiting transactions whose outputs it spends. */
  readonly parents: ReadonlySet<string>
  /** Waiting transactions that spend its outputs. */
  readonly children: ReadonlySet<string>
}

/** The transactions that wait for a block, in order of arrival: a parent always stands before its children. */
export class Mempool {
  readonly #entries = new Map<string, Linked>()
  readonly #spenders = new Map<string, string>()

  get size(): number {
    return this.#entries.size
  }

  get(txid: Txid): MempoolEntry | undefined {
    return this.#entries.get(txid)
  }

  has(txid: Txid): boolean {
    return this.#entries.has(txid)
  }

  entries(): IterableIterator<MempoolEntry> {
    return this.#entries.values()
  }

  /** The waiting transaction that spends an output, if there is one. */
  spenderOf(txid: Txid, index: number): string | undefined {
    return this.#spenders.get(outpointOf(txid, index))
  }

  /** An output of a waiting transaction, as a coin of height 0. Spent ones are found, too. */
  coin(txid: Txid, index: number): ChainCoin | undefined {
    const tx = this.#entries.get(txid)?.tx
    const output = tx?.outputs[index]
    if (output === undefined || output.script[0] === 0x6a) return undefined
    return { txid, index, ...output, height: 0, isCoinbase: false }
  }

  /** Takes a transaction that was admitted. */
  add(tx: ChainTransaction, fee: bigint, coins: readonly ChainCoin[]): void {
    const parents = new Set<string>()
    for (const input of tx.inputs) {
      this.#spenders.set(outpointOf(input.txid, input.index), tx.txid)
      const parent = this.#entries.get(input.txid)
      if (parent === undefined) continue
      parents.add(input.txid)
      parent.children.add(tx.txid)
    }
    this.#entries.set(tx.txid, { tx, fee, coins, parents, children: new Set() })
  }

  /** Takes one transaction out, because it confirmed or because all of its descendants go, too. */
  remove(txid: Txid): void {
    const entry = this.#entries.get(txid)
    if (entry === undefined) return
    this.#entries.delete(txid)
    for (const input of entry.tx.inputs) this.#spenders.delete(outpointOf(input.txid, input.index))
    for (const parent of entry.parents) this.#entries.get(parent)?.children.delete(txid)
    for (const child of entry.children) this.#entries.get(child)?.parents.delete(txid)
  }

  /** All waiting transactions that these depend on, themselves included. */
  withAncestors(txids: Iterable<string>): ReadonlySet<string> {
    return this.#reach(txids, entry => entry.parents)
  }

  /** All waiting transactions that depend on these, themselves included. */
  withDescendants(txids: Iterable<string>): ReadonlySet<string> {
    return this.#reach(txids, entry => entry.children)
  }

  #reach(txids: Iterable<string>, next: (entry: Linked) => Iterable<string>): ReadonlySet<string> {
    const found = new Set<string>()
    const queue = [...txids]
    for (let txid = queue.pop(); txid !== undefined; txid = queue.pop()) {
      const entry = this.#entries.get(txid)
      if (entry === undefined || found.has(txid)) continue
      found.add(txid)
      queue.push(...next(entry))
    }
    return found
  }
}

interface Linked extends MempoolEntry {
  readonly parents: Set<string>
  readonly children: Set<string>
}
