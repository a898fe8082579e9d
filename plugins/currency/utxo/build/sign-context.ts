import type { Io } from '../../../../kernel/plugin-api.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { OwnOutput } from '../ledger/ledger-tx.ts'
import type { CoinRow, NetworkRow } from '../params/coin-row.ts'
import type { ScriptTable } from '../scan/script-table.ts'

/** What signing, and the check of what was signed, need to know of the wallet. */
export interface SignContext {
  readonly coin: CoinRow
  readonly network: NetworkRow
  readonly io: Io
  readonly table: ScriptTable
  /** An output of ours, by the bytes of the transaction that made it. */
  findOutput(txid: string, vout: number): OwnOutput | undefined
  /** Whether a payment in force has used it, other than the one with the txid `except`. */
  isSpent(txid: string, vout: number, except?: string): boolean
}

/** The context of a wallet as it is now. */
export const signContextOf = (
  { coin, network, io }: Pick<SignContext, 'coin' | 'io' | 'network'>,
  { table, ledger }: { readonly table: ScriptTable; readonly ledger: Ledger }
): SignContext => ({
  ...{ coin, network, io, table },
  findOutput: (txid, vout) => ledger.find(txid)?.ours.find(output => output.vout === vout),
  isSpent: (txid, vout, except) => ledger.isSpent(`${txid}:${vout}`, except)
})
