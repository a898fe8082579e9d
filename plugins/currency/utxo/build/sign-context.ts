import type { Io } from '../../../../kernel/plugin-api.ts'
import type { OwnOutput } from '../ledger/ledger-tx.ts'
import type { CoinRow, NetworkRow } from '../params/coin-row.ts'
import type { ScriptTable } from '../scan/script-table.ts'
import type { SpendSource } from './choose-coins.ts'

/** An output by the transaction that made it. */
interface Outpoint {
  readonly txid: string
  readonly vout: number
}

/** What signing, and the check of what was signed, need to know of the wallet. */
export interface SignContext {
  readonly coin: CoinRow
  readonly network: NetworkRow
  readonly io: Io
  readonly table: ScriptTable
  /** An output of ours, by the bytes of the transaction that made it. */
  findOutput(txid: string, vout: number): OwnOutput | undefined
  /** Whether a signed payment spends an output. */
  isCoinOf(outpoint: Outpoint, txid: string): boolean
  /**
   * Whether a payment in force has used it or a signed one keeps it, other than the one with the txid `except`.
   * `replaced`: the payment whose place is to be taken; its coins are for that.
   */
  isTaken(
    outpoint: Outpoint,
    but: { readonly except?: string; readonly replaced?: string | undefined }
  ): boolean
}

/** The context of a wallet as it is now. */
export const signContextOf = (
  { coin, network, io }: Pick<SignContext, 'coin' | 'io' | 'network'>,
  { table, ledger, reserved }: Pick<SpendSource, 'ledger' | 'reserved' | 'table'>
): SignContext => ({
  ...{ coin, network, io, table },
  findOutput: (txid, vout) => ledger.find(txid)?.ours.find(output => output.vout === vout),
  isCoinOf: ({ txid, vout }, holder) => reserved.find(holder)?.spends.includes(`${txid}:${vout}`) === true,
  isTaken({ txid, vout }, { except, replaced }) {
    const outpoint = `${txid}:${vout}`
    if (replaced !== undefined && reserved.find(replaced)?.spends.includes(outpoint)) return false
    return ledger.isSpent(outpoint, except) || reserved.isReserved(ledger, outpoint, except)
  }
})
