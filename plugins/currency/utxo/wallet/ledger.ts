import type { CryptoPort, Grade, Memo, Txid } from '../../../../kernel/plugin-api.ts'
import { isNoOutpoint, memosOf, parseRawTx, type RawTx, tokenScriptOf } from '../chain/transaction.ts'
import type { ScriptRecord, ScriptTable } from './scripts.ts'

/** When and where a transaction stands. */
export interface Standing {
  readonly height: number
  readonly date: number
  readonly isSeen: boolean
  /** The block that was proven to hold it; absent without a proof. */
  readonly block?: string | undefined
  /** `claimed` if left out. */
  readonly grade?: Grade | undefined
  /** See {@link LedgerTx.heldSince}. */
  readonly heldSince?: number | undefined
}

/**
 * The transactions of one wallet and the coins they leave, kept consistent under confirmations, reorgs,
 * replacements and drops (pure state; no I/O).
 *
 * Of two transactions that spend the same coin at most one is alive: a confirmed one beats an unconfirmed one,
 * otherwise the newer news wins, and what was built on the loser falls with it.
 */
export class Ledger {
  readonly #scripts: Pick<ScriptTable, 'findScript'>
  readonly #txs = new Map<string, LedgerTx>()
  readonly #outputs = new Map<string, { readonly tx: LedgerTx; readonly output: OwnOutput }>()
  readonly #spenders = new Map<string, Set<LedgerTx>>()
  /** Outputs with tokens on them, by the script that they are of. */
  readonly #tokens = new Map<string, ScriptRecord>()
  readonly #changed = new Set<LedgerTx>()

  /** @param scripts - those of the wallet */
  constructor(scripts: Pick<ScriptTable, 'findScript'>) {
    this.#scripts = scripts
  }

  get size(): number {
    return this.#txs.size
  }

  find(txid: Txid): LedgerTx | undefined {
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
        ...standing,
        ...NEW
      }
      this.#txs.set(tx.txid, tx)
      this.#changed.add(tx)
      if (!tx.isCoinbase)
        for (const outpoint of tx.spends) if (!isNoOutpoint(outpoint)) this.#addSpender(outpoint, tx)
    }
    this.#claimOutputs(tx, raw)
    this.place(tx, standing)
    return tx
  }

  /** Changes where a transaction stands. */
  place(
    tx: LedgerTx,
    { height, date, isSeen, block = '', grade = 'claimed', heldSince: since = 0 }: Standing
  ): void {
    const heldSince = height > 0 && grade === 'claimed' ? since : 0
    if (tx.height !== height || tx.date !== date || tx.heldSince !== heldSince) this.#changed.add(tx)
    if (tx.isSeen !== isSeen || tx.block !== block || tx.grade !== grade) this.#changed.add(tx)
    tx.heldSince = heldSince
    tx.block = block
    tx.grade = grade
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
      next.block = ''
      next.grade = 'claimed'
      next.heldSince = 0
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

  /**
   * The grade of a coin: that of its transaction, and of unconfirmed own change, which nobody else can have made, the weakest of
   * those that it was made from.
   */
  gradeOf({ txid, height, isOwnChange }: Coin): Grade {
    const tx = this.#txs.get(txid)
    if (tx === undefined || height > 0 || !isOwnChange) return tx?.grade ?? 'claimed'
    const grades = new Set<Grade>()
    const [seen, waiting] = [new Set([tx]), [tx]]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const outpoint of next.spends) {
        const source = this.#outputs.get(outpoint)?.tx
        if (source === undefined || seen.has(source)) continue
        seen.add(source)
        if (confirmedHeightOf(source) > 0) grades.add(source.grade)
        else waiting.push(source)
      }
    }
    return weakestOf(grades) ?? 'claimed'
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
    const { txid, isCoinbase, isPegOut } = tx
    const height = confirmedHeightOf(tx)
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
      if (source !== undefined && confirmedHeightOf(source) > 0) continue
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
      const record = this.#scripts.findScript(script)
      if (record !== undefined) ours.push({ vout, value, record })
      else this.#holdToken(tx, `${tx.txid}:${vout}`, tokenScriptOf(script))
    })
    if (ours.length === tx.ours.length) return
    tx.ours = ours
    this.#changed.add(tx)
    for (const output of ours) {
      const outpoint = `${tx.txid}:${output.vout}`
      this.#outputs.set(outpoint, { tx, output })
      output.record.addTxid(tx.txid)
      for (const spender of this.#spenders.get(outpoint) ?? []) {
        output.record.addTxid(spender.txid)
        this.#changed.add(spender)
      }
    }
  }

  /** Remembers an output with tokens on it, which belongs to a script of ours, and is no coin: to spend it would lose them. */
  #holdToken(tx: LedgerTx, outpoint: string, script: Uint8Array | undefined): void {
    const record = script === undefined ? undefined : this.#scripts.findScript(script)
    if (record === undefined) return
    this.#tokens.set(outpoint, record)
    for (const { txid } of [tx, ...(this.#spenders.get(outpoint) ?? [])]) record.addTxid(txid)
  }

  #addSpender(outpoint: string, tx: LedgerTx): void {
    const spenders = this.#spenders.get(outpoint)
    if (spenders === undefined) this.#spenders.set(outpoint, new Set([tx]))
    else spenders.add(tx)
    const record = this.#outputs.get(outpoint)?.output.record ?? this.#tokens.get(outpoint)
    record?.addTxid(tx.txid)
  }

  #settleConflicts(tx: LedgerTx): void {
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

/** What a transaction has until it is placed. */
const NEW = { block: '', grade: 'claimed', heldSince: 0 } as const

/** The weakest of some grades; undefined of none. */
export const weakestOf = (grades: ReadonlySet<Grade>): Grade | undefined =>
  (['claimed', 'agreed', 'proven'] as const).find(grade => grades.has(grade))

/** How long the chains of unconfirmed transactions are that transactions are built on. */
type Chains = Map<LedgerTx, number>

/** Nodes relay no longer chains of unconfirmed transactions. */
const MAX_CHAIN = 25

/** An output of ours. */
export interface OwnOutput {
  readonly vout: number
  readonly value: bigint
  readonly record: ScriptRecord
}

/** A transaction of the wallet, reduced to what balances and history need. */
export interface LedgerTx {
  readonly txid: Txid
  /** The outputs it spends, as `txid:vout`. */
  readonly spends: readonly string[]
  readonly outputTotal: bigint
  readonly isCoinbase: boolean
  readonly isPegOut: boolean
  /** What it says to whoever reads the chain. */
  readonly memos: readonly Memo[]
  ours: readonly OwnOutput[]
  /** 0: unconfirmed; -1: dropped. */
  height: number
  /** Unix seconds. */
  date: number
  /** A server has shown it; before that only we know of it. */
  isSeen: boolean
  /** The block that was proven to hold it; empty without a proof. */
  block: string
  grade: Grade
  /** Since when its block waits for the word of a second server, in Unix seconds; until then it counts as unconfirmed. 0: it does not wait. */
  heldSince: number
  /** The number of the step in which it changed last; 0 if it was kept before steps were counted. */
  revision: number
}

/** The height of the block that counts as that of a transaction: 0 while the word of a second server is waited for. */
export const confirmedHeightOf = ({ height, heldSince }: Pick<LedgerTx, 'height' | 'heldSince'>): number =>
  heldSince > 0 ? 0 : height

/** An unspent output of ours. */
export interface Coin {
  readonly txid: Txid
  readonly vout: number
  readonly value: bigint
  readonly record: ScriptRecord
  readonly height: number
  readonly isCoinbase: boolean
  readonly isPegOut: boolean
  /** Made by a transaction of our own, so nobody else can take it back. */
  readonly isOwnChange: boolean
}

/** What a transaction did to the wallet. */
interface LedgerEffect {
  /** Negative when it leaves. */
  readonly net: bigint
  /** Zero unless every input is ours. */
  readonly fee: bigint
  readonly isSend: boolean
}

/** A signed payment whose coins are kept. */
export interface ReservedPayment {
  readonly txid: Txid
  /** The outputs that it spends, as `txid:vout`. */
  readonly spends: readonly string[]
  readonly outputTotal: bigint
  readonly weight: number
}

/**
 * The coins of signed payments that may have left: no other payment takes them until a confirmed conflict has beaten
 * the one that holds them.
 */
export class ReservedCoins {
  readonly #crypto: Pick<CryptoPort, 'fromHex'>
  #payments = new Map<string, ReservedPayment>()
  #holders = new Map<string, ReservedPayment[]>()

  constructor(crypto: Pick<CryptoPort, 'fromHex'>) {
    this.#crypto = crypto
  }

  /**
   * Takes the payments that hold coins from now on; gives the txids of those that hold none any more. Bytes that are no
   * transaction hold nothing.
   */
  replace(payments: readonly { readonly txid: Txid; readonly signedTx: string }[]): readonly string[] {
    const before = this.#payments
    this.#payments = new Map()
    this.#holders = new Map()
    for (const { txid, signedTx } of payments) {
      const payment = before.get(txid) ?? this.#read(txid, signedTx)
      if (payment === undefined) continue
      this.#payments.set(txid, payment)
      for (const outpoint of payment.spends) {
        const holders = this.#holders.get(outpoint)
        if (holders === undefined) this.#holders.set(outpoint, [payment])
        else holders.push(payment)
      }
    }
    return [...before.keys()].filter(txid => !this.#payments.has(txid))
  }

  /** True if no payment holds coins. */
  get isEmpty(): boolean {
    return this.#payments.size === 0
  }

  find(txid: Txid): ReservedPayment | undefined {
    return this.#payments.get(txid)
  }

  /** Whether a payment other than `except` keeps an output, `txid:vout`, that a draft would take. */
  isReserved(ledger: Ledger, outpoint: string, except?: string): boolean {
    const holders = this.#holders.get(outpoint) ?? NONE
    return holders.some(holder => holder.txid !== except && rivalOf(ledger, holder, 1) === undefined)
  }

  #read(txid: Txid, signedTx: string): ReservedPayment | undefined {
    try {
      const { inputs, outputs, weight } = parseRawTx(this.#crypto.fromHex(signedTx))
      const outputTotal = outputs.reduce((total, { value }) => total + value, 0n)
      return { txid, spends: inputs.map(input => `${input.txid}:${input.vout}`), outputTotal, weight }
    } catch {
      return undefined
    }
  }
}

/** A transaction in force, at `minHeight` or above, that has taken a coin of a payment. */
export const rivalOf = (
  ledger: Ledger,
  { txid, spends }: Pick<ReservedPayment, 'spends' | 'txid'>,
  minHeight: number
): string | undefined => {
  for (const outpoint of spends) {
    for (const spender of ledger.spendersOf(outpoint)) {
      if (spender.txid !== txid && confirmedHeightOf(spender) >= minHeight) return spender.txid
    }
  }
  return undefined
}

const NONE: readonly ReservedPayment[] = []
