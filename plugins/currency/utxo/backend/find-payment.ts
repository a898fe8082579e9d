import { type EngineTransaction, type PaymentSight, WalletError } from '../../../../kernel/plugin-api.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type ReservedCoins, type ReservedPayment, rivalOf } from '../ledger/reserved-coins.ts'
import { isServerTrouble } from './broadcast.ts'
import { ElectrumRefusal } from './electrum-error.ts'
import type { ElectrumPool } from './electrum-pool.ts'

/** Where a payment is looked for. */
export interface PaymentPlaces {
  readonly pool: Pick<ElectrumPool, 'callMany' | 'isOpen'>
  readonly ledger: Ledger
  readonly reserved: ReservedCoins
}

/**
 * Finds out what has become of a payment that was sent: from the transactions of the wallet, and if these do not show
 * it, by asking the server for its bytes. It never expires by its own terms.
 *
 * @throws NETWORK if the server is lost meanwhile
 */
export const findPayment = async (
  { pool, ledger, reserved }: PaymentPlaces,
  { txid, signedTx }: Pick<EngineTransaction, 'signedTx' | 'txid'>
): Promise<PaymentSight> => {
  const tx = ledger.find(txid)
  if (tx !== undefined && tx.height > 0) return { state: 'seen' }
  const payment = reserved.find(txid)
  if (payment !== undefined) {
    const winner = rivalOf(ledger, payment, 1)
    if (winner !== undefined) return { state: 'replaced', replacedBy: winner, isFinal: true }
    if (isOrphan(ledger, payment)) return { state: 'dropped', isFinal: true }
    const rival = rivalOf(ledger, payment, 0)
    if (rival !== undefined) return { state: 'replaced', replacedBy: rival }
  }
  if (tx !== undefined && tx.height === 0 && tx.isSeen) return { state: 'seen' }
  return askServer(pool, txid, signedTx)
}

/** Whether a coin of it is gone, because a confirmed transaction has beaten the one that made it. */
const isOrphan = (ledger: Ledger, { spends }: ReservedPayment): boolean =>
  spends.some(outpoint => {
    const parent = ledger.find(outpoint.slice(0, outpoint.indexOf(':')))
    return parent !== undefined && parent.height < 0 && rivalOf(ledger, parent, 1) !== undefined
  })

const askServer = async (
  pool: PaymentPlaces['pool'],
  txid: string,
  signedTx: string
): Promise<PaymentSight> => {
  if (!pool.isOpen) return { state: 'notSeen' }
  const [asked] = pool.callMany([{ method: 'blockchain.transaction.get', params: [txid] }])
  try {
    return { state: (await asked) === signedTx ? 'seen' : 'notInMempool' }
  } catch (error) {
    if (!(error instanceof ElectrumRefusal)) throw new WalletError('NETWORK', { path: 'electrum' }, error)
    return { state: isServerTrouble(error.code) ? 'notSeen' : 'notInMempool' }
  }
}
