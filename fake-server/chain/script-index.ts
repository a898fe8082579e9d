import { bytesToHex } from '@noble/hashes/utils.js'
import { utf8 } from '@scure/base'
import { sha256 } from '@scure/btc-signer/utils.js'
import type { Txid } from '../../kernel/types/ids.ts'
import type { Mempool, MempoolEntry } from './mempool.ts'
import { type ChainCoin, type ChainTransaction, outpointOf } from './transaction.ts'

/** One transaction in the history of a script. */
export interface ScriptHistoryItem {
  readonly txid: Txid
  /** The block; 0 while it waits, -1 while it waits for another one that waits. */
  readonly height: number
  /** Native units, only while it waits. */
  readonly fee?: bigint
}

/** The balance of a script in native units; `unconfirmed` is the change by the mempool. */
export interface ScriptBalance {
  readonly confirmed: bigint
  readonly unconfirmed: bigint
}

/** A transaction in a block, with the coins that it spends and creates there. */
export interface Confirmation {
  readonly tx: ChainTransaction
  readonly height: number
  readonly spent: readonly ChainCoin[]
  readonly created: readonly ChainCoin[]
}

/** Histories and coins of each script, updated block by block, with the scripts that changed. */
export class ScriptIndex {
  readonly #scripts = new Map<string, ScriptRow>()
  readonly #mempool: Mempool
  #touched = new Set<string>()

  constructor(mempool: Mempool) {
    this.#mempool = mempool
  }

  /** Confirmed transactions in the order of the chain, then waiting ones: height 0 first, then by txid. */
  historyOf(scriptHash: string): readonly ScriptHistoryItem[] {
    return [...(this.#scripts.get(scriptHash)?.history ?? []), ...this.waitingOf(scriptHash)]
  }

  /** The waiting part of the history. */
  waitingOf(scriptHash: string): readonly ScriptHistoryItem[] {
    return this.#entriesOf(scriptHash)
      .map(({ tx, fee, parents }) => ({ txid: tx.txid, height: parents.size > 0 ? -1 : 0, fee }))
      .sort((a, b) => b.height - a.height || (a.txid < b.txid ? -1 : 1))
  }

  /** The coins that no block and no waiting transaction has spent; unconfirmed ones have height 0 and come last. */
  utxosOf(scriptHash: string): readonly ChainCoin[] {
    const confirmed = [...(this.#scripts.get(scriptHash)?.coins.values() ?? [])]
    const waiting = this.#entriesOf(scriptHash).flatMap(({ tx }) => this.#outputsTo(tx, scriptHash))
    return [...confirmed, ...waiting].filter(
      coin => this.#mempool.spenderOf(coin.txid, coin.index) === undefined
    )
  }

  balanceOf(scriptHash: string): ScriptBalance {
    let confirmed = 0n
    for (const coin of this.#scripts.get(scriptHash)?.coins.values() ?? []) confirmed += coin.amount
    let unconfirmed = 0n
    for (const { tx, coins } of this.#entriesOf(scriptHash)) {
      for (const output of tx.outputs) if (output.scriptHash === scriptHash) unconfirmed += output.amount
      for (const coin of coins) if (coin.scriptHash === scriptHash) unconfirmed -= coin.amount
    }
    return { confirmed, unconfirmed }
  }

  /** The Electrum status: SHA-256 of `txid:height:` of the whole history, in hex; null if there is none. */
  statusOf(scriptHash: string): string | null {
    const row = this.#scripts.get(scriptHash)
    if (row === undefined) return null
    row.status ??= statusOfHistory(this.historyOf(scriptHash))
    return row.status
  }

  /** A block took in a transaction. */
  confirm({ tx, height, spent, created }: Confirmation): void {
    for (const scriptHash of scriptsOf(tx, spent))
      this.#open(scriptHash).history.push({ txid: tx.txid, height })
    for (const coin of spent) this.#open(coin.scriptHash).coins.delete(outpointOf(coin.txid, coin.index))
    for (const coin of created) this.#open(coin.scriptHash).coins.set(outpointOf(coin.txid, coin.index), coin)
  }

  /** The inverse of `confirm`, for the last transaction that was confirmed. */
  unconfirm({ tx, spent, created }: Confirmation): void {
    for (const coin of created) this.#open(coin.scriptHash).coins.delete(outpointOf(coin.txid, coin.index))
    for (const coin of spent) this.#open(coin.scriptHash).coins.set(outpointOf(coin.txid, coin.index), coin)
    for (const scriptHash of scriptsOf(tx, spent)) {
      this.#open(scriptHash).history.pop()
      this.#forgetUnused(scriptHash)
    }
  }

  /** A transaction entered the mempool. */
  enter(tx: ChainTransaction, coins: readonly ChainCoin[]): void {
    for (const scriptHash of scriptsOf(tx, coins)) this.#open(scriptHash).waiting.add(tx.txid)
  }

  /** A transaction left the mempool. */
  leave(tx: ChainTransaction, coins: readonly ChainCoin[]): void {
    for (const scriptHash of scriptsOf(tx, coins)) {
      this.#open(scriptHash).waiting.delete(tx.txid)
      this.#forgetUnused(scriptHash)
    }
  }

  /** The parents of a waiting transaction changed, and with them the height that histories show. */
  touch({ tx, coins }: MempoolEntry): void {
    for (const scriptHash of scriptsOf(tx, coins)) this.#open(scriptHash)
  }

  /** The scripts whose history may have changed since the last call. */
  takeTouched(): ReadonlySet<string> {
    const touched = this.#touched
    this.#touched = new Set()
    return touched
  }

  #open(scriptHash: string): ScriptRow {
    let row = this.#scripts.get(scriptHash)
    if (row === undefined) {
      row = { history: [], waiting: new Set(), coins: new Map(), status: undefined }
      this.#scripts.set(scriptHash, row)
    }
    row.status = undefined
    this.#touched.add(scriptHash)
    return row
  }

  #forgetUnused(scriptHash: string): void {
    const row = this.#scripts.get(scriptHash)
    if (row?.history.length === 0 && row.waiting.size === 0) this.#scripts.delete(scriptHash)
  }

  #entriesOf(scriptHash: string): readonly MempoolEntry[] {
    const txids = [...(this.#scripts.get(scriptHash)?.waiting ?? [])]
    return txids.flatMap(txid => this.#mempool.get(txid) ?? [])
  }

  #outputsTo(tx: ChainTransaction, scriptHash: string): readonly ChainCoin[] {
    return tx.outputs.flatMap((output, index) =>
      output.scriptHash === scriptHash ? (this.#mempool.coin(tx.txid, index) ?? []) : []
    )
  }
}

interface ScriptRow {
  readonly history: ScriptHistoryItem[]
  readonly waiting: Set<string>
  readonly coins: Map<string, ChainCoin>
  status: string | undefined
}

const statusOfHistory = (history: readonly ScriptHistoryItem[]): string =>
  bytesToHex(sha256(utf8.decode(history.map(({ txid, height }) => `${txid}:${height}:`).join(''))))

const scriptsOf = (tx: ChainTransaction, coins: readonly ChainCoin[]): ReadonlySet<string> => {
  const hashes = new Set(coins.map(coin => coin.scriptHash))
  for (const output of tx.outputs) if (output.script[0] !== 0x6a) hashes.add(output.scriptHash)
  return hashes
}
