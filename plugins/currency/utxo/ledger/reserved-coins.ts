import { parseRawTx } from '../tx/raw-tx.ts'
import type { Ledger } from './ledger.ts'

/** A signed payment whose coins are kept. */
export interface ReservedPayment {
  readonly txid: string
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
  readonly #fromHex: (hex: string) => Uint8Array
  #payments = new Map<string, ReservedPayment>()
  #holders = new Map<string, ReservedPayment[]>()

  constructor(fromHex: (hex: string) => Uint8Array) {
    this.#fromHex = fromHex
  }

  /**
   * Takes the payments that hold coins from now on; gives the txids of those that hold none any more. Bytes that are no
   * transaction hold nothing.
   */
  replace(payments: readonly { readonly txid: string; readonly signedTx: string }[]): readonly string[] {
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

  find(txid: string): ReservedPayment | undefined {
    return this.#payments.get(txid)
  }

  /** Whether a payment other than `except` keeps an output, `txid:vout`, that a draft would take. */
  isReserved(ledger: Ledger, outpoint: string, except?: string): boolean {
    const holders = this.#holders.get(outpoint) ?? NONE
    return holders.some(holder => holder.txid !== except && rivalOf(ledger, holder, 1) === undefined)
  }

  #read(txid: string, signedTx: string): ReservedPayment | undefined {
    try {
      const { inputs, outputs, weight } = parseRawTx(this.#fromHex(signedTx))
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
      if (spender.txid !== txid && spender.height >= minHeight) return spender.txid
    }
  }
  return undefined
}

const NONE: readonly ReservedPayment[] = []
