import { type EngineTransaction, WalletError } from '../../../../kernel/plugin-api.ts'
import { ElectrumRefusal } from './electrum-error.ts'
import type { ElectrumPool } from './electrum-pool.ts'

/**
 * Sends signed bytes to the network. Sending the same bytes again is harmless.
 *
 * @throws BROADCAST_REFUSED if a node says no and does not have the transaction; NETWORK if nobody could be asked
 */
export const broadcast = async (pool: ElectrumPool, { txid, signedTx }: EngineTransaction): Promise<void> => {
  // A payment waits for a server that comes back.
  await pool.whenReady(READY_MS, true)
  const [sent] = pool.callMany([{ method: 'blockchain.transaction.broadcast', params: [signedTx] }])
  try {
    await sent
  } catch (error) {
    if (!(error instanceof ElectrumRefusal)) throw error
    if (KNOWN.test(error.message) || (await hasTransaction(pool, txid, signedTx))) return
    if (isServerTrouble(error.code)) throw new WalletError('NETWORK', { path: 'electrum' }, error)
    throw new WalletError('BROADCAST_REFUSED', { txid, reason: reasonOf(error.message) })
  }
}

const READY_MS = 15_000
const KNOWN =
  /already.in.(block.?chain|mempool|utxo)|txn-already-(in-mempool|known)|outputs already in utxo set/i

// JSON-RPC's own codes and ElectrumX's "busy" and "excessive usage": the node was not asked.
/** Whether a refusal says nothing of what was asked. */
export const isServerTrouble = (code: number | undefined): boolean =>
  code !== undefined && ((code >= -32768 && code <= -32000) || code === -101 || code === -102)

const reasonOf = (message: string): string => {
  const text = message.replace(/^.*rejected by network rules\.?/is, '').replace(/\[[0-9a-f]{40,}\]/gi, '')
  return (text.trim() === '' ? message : text).replace(/\s+/g, ' ').trim().slice(0, 200)
}

const hasTransaction = async (pool: ElectrumPool, txid: string, signedTx: string): Promise<boolean> => {
  const [asked] = pool.callMany([{ method: 'blockchain.transaction.get', params: [txid] }])
  try {
    return (await asked) === signedTx
  } catch (error) {
    // Not knowing is not a no: the bytes may be in a block.
    if (!(error instanceof ElectrumRefusal)) throw new WalletError('NETWORK', { path: 'electrum' }, error)
    return false
  }
}
