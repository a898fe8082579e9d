import type { ScriptRecord } from '../scan/script-record.ts'
import { memosOf } from '../tx/memo.ts'
import type { RawTx } from '../tx/raw-tx.ts'
import type { Coin, LedgerEffect, LedgerTx, OwnOutput } from './ledger-tx.ts'

/** When and where a transaction stands. */
export interface Standing {
  readonly height: number
  readonly date: number
  readonly isSeen: boolean
}

/**
 * The transactions of one wallet and the coins they leave, kept consistent under confirmations, reorgs,
 * replacements and drops (pure state; no I/O).
 *
 * Of two transactions that spend the same coin at most one is alive: a confirmed one beats an unconfirmed one,
 * otherwise the newer news wins, and what was built on the loser falls with it.
 */
export class Ledger {
  readonly #findScript: (script: Uint8Array) => ScriptRecord | undefined
  readonly #txs = new Map<string, LedgerTx>()
  readonly #outputs = new Map<string, { readonly tx: LedgerTx; readonly output: OwnOutput }>()
  readonly #spenders = new Map<string, Set<LedgerTx>>()
  readonly #changed = new Set<LedgerTx>()

  constructor(findScript: (script: Uint8Array) => ScriptRecord | undefined) {
    this.#findScript = findScript
  }

  get size(): number {
    return this.#txs.size
  }

  find(txid: string): LedgerTx | undefined {
    return this.#txs.get(txid)
  }

  all(): Iterable<LedgerTx> {
    return this.#txs.values()
  }

  /** How many transactions are in no block, dropped ones included. */
  unconfirmedCount(): number {
    let count = 0
    for (const { height } of this.#txs.values()) if (height <= 0) count += 1
    return count
  }

  /** Takes a transaction in, or brings a known one up to date, with scripts that were derived since. */
  put(raw: RawTx, standing: Standing): LedgerTx {
    let tx = this.#txs.get(raw.txid)
    if (tx === undefined) {
      tx = {
        txid: raw.txid,
        spends: raw.inputs.map(input => `${input.txid}:${input.vout}`),
        outputTotal: raw.outputs.reduce((total, { value }) => total + value, 0n),
        isCoinbase: raw.isCoinbase,
        isPegOut: raw.isPegOut,
        memos: memosOf(raw),
        ours: [],
        revision: 0,
        ...standing
      }
      this.#txs.set(tx.txid, tx)
      this.#changed.add(tx)
      if (!tx.isCoinbase) for (const outpoint of tx.spends) this.#addSpender(outpoint, tx)
    }
    this.#claimOutputs(tx, raw)
    this.place(tx, standing)
    return tx
  }

  /** Changes where a transaction stands. */
  place(tx: LedgerTx, { height, date, isSeen }: Standing): void {
    if (tx.height !== height || tx.date !== date) this.#changed.add(tx)
    if (tx.isSeen !== isSeen) this.#changed.add(tx)
    tx.height = height
    tx.date = date
    tx.isSeen = isSeen
    if (height >= 0) this.#settleConflicts(tx)
  }

  /** Takes a transaction out of the balance, and all that was built on it. */
  drop(tx: LedgerTx): void {
    const falling = [tx]
    for (let next = falling.pop(); next !== undefined; next = falling.pop()) {
      if (next.height === -1) continue
      next.height = -1
      this.#changed.add(next)
      for (const { vout } of next.ours) {
        for (const child of this.#spenders.get(`${next.txid}:${vout}`) ?? []) falling.push(child)
      }
    }
  }

  /** The transactions that changed since the last call. */
  takeChanges(): readonly LedgerTx[] {
    const changes = [...this.#changed]
    this.#changed.clear()
    return changes
  }

  effectOf(tx: LedgerTx): LedgerEffect {
    let net = 0n
    let spent = 0n
    let ourInputs = 0
    for (const outpoint of tx.spends) {
      const source = this.#outputs.get(outpoint)
      if (source === undefined) continue
      ourInputs++
      spent += source.output.value
    }
    for (const { value } of tx.ours) net += value
    const isAllOurs = ourInputs > 0 && ourInputs === tx.spends.length
    return {
      net: net - spent,
      fee: isAllOurs ? spent - tx.outputTotal : 0n,
      isSend: ourInputs > 0 && net < spent
    }
  }

  /** Every output of ours that no live transaction spends. */
  *coins(): Iterable<Coin> {
    const chains: Chains = new Map()
    for (const [outpoint, { tx, output }] of this.#outputs) {
      if (tx.height >= 0 && !this.isSpent(outpoint)) yield this.#coinOf(tx, output, chains)
    }
  }

  /** An output of ours whether spent or not; undefined if it is not ours, or what made it is dropped. */
  coinAt(outpoint: string): Coin | undefined {
    const found = this.#outputs.get(outpoint)
    return found === undefined || found.tx.height < 0 ? undefined : this.#coinOf(found.tx, found.output)
  }

  /** Live and dropped transactions that spend an output. `outpoint`: `txid:vout`. */
  spendersOf(outpoint: string): Iterable<LedgerTx> {
    return this.#spenders.get(outpoint) ?? []
  }

  /** Confirmed and unconfirmed together. */
  balance(): bigint {
    let total = 0n
    for (const [outpoint, { tx, output }] of this.#outputs) {
      if (tx.height >= 0 && !this.isSpent(outpoint)) total += output.value
    }
    return total
  }

  /** Whether a live transaction other than `except` spends an output. `outpoint`: `txid:vout`. */
  isSpent(outpoint: string, except?: string): boolean {
    for (const { height, txid } of this.#spenders.get(outpoint) ?? [])
      if (height >= 0 && txid !== except) return true
    return false
  }

  #coinOf(tx: LedgerTx, { vout, value, record }: OwnOutput, chains: Chains = new Map()): Coin {
    const { txid, height, isCoinbase, isPegOut } = tx
    const isOwnChange = this.#chainOf(tx, chains) <= MAX_CHAIN
    return { txid, vout, value, record, height, isCoinbase, isPegOut, isOwnChange }
  }

  /**
   * How many unconfirmed transactions a transaction of own coins alone is built on; infinite unless each of these is made of
   * own coins alone, too, and for too long a chain. A chain of forged ones begins with a receipt.
   *
   * @param chains - what is known of others: a server can make up ones that spend each other's outputs in many ways
   */
  #chainOf(tx: LedgerTx, chains: Chains, depth = 0): number {
    const known = chains.get(tx)
    if (known !== undefined) return known
    if (tx.isCoinbase || depth > MAX_CHAIN) return Number.POSITIVE_INFINITY
    let longest = 0
    for (const outpoint of tx.spends) {
      const source = this.#outputs.get(outpoint)?.tx
      if (source !== undefined && source.height > 0) continue
      const chain =
        source === undefined || source === tx
          ? Number.POSITIVE_INFINITY
          : 1 + this.#chainOf(source, chains, depth + 1)
      // What was not followed to its end may still be short, seen from another.
      if (chain > MAX_CHAIN) return chain
      longest = Math.max(longest, chain)
    }
    chains.set(tx, longest)
    return longest
  }

  #claimOutputs(tx: LedgerTx, raw: RawTx): void {
    const ours: OwnOutput[] = []
    raw.outputs.forEach(({ value, script }, vout) => {
      const record = this.#findScript(script)
      if (record !== undefined) ours.push({ vout, value, record })
    })
    if (ours.length === tx.ours.length) return
    tx.ours = ours
    this.#changed.add(tx)
    for (const output of ours) {
      const outpoint = `${tx.txid}:${output.vout}`
      this.#outputs.set(outpoint, { tx, output })
      output.record.txids.add(tx.txid)
      for (const spender of this.#spenders.get(outpoint) ?? []) {
        output.record.txids.add(spender.txid)
        this.#changed.add(spender)
      }
    }
  }

  #addSpender(outpoint: string, tx: LedgerTx): void {
    const spenders = this.#spenders.get(outpoint)
    if (spenders === undefined) this.#spenders.set(outpoint, new Set([tx]))
    else spenders.add(tx)
    this.#outputs.get(outpoint)?.output.record.txids.add(tx.txid)
  }

  #settleConflicts(tx: LedgerTx): void {
    if (tx.isCoinbase) return
    for (const outpoint of tx.spends) {
      for (const other of this.#spenders.get(outpoint) ?? []) {
        if (other === tx || other.height < 0) continue
        if (other.height > 0 && tx.height <= 0) {
          this.drop(tx)
          return
        }
        this.drop(other)
      }
    }
  }
}

/** How long the chains of unconfirmed transactions are that transactions are built on. */
type Chains = Map<LedgerTx, number>

/** Nodes relay no longer chains of unconfirmed transactions. */
const MAX_CHAIN = 25
