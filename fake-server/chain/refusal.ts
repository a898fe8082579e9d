import { WalletError } from '../../kernel/base/errors.ts'
import type { ChainTransaction } from './transaction.ts'

/**
 * Refuses a transaction with the words a Bitcoin node uses.
 *
 * @throws BROADCAST_REFUSED always; `reason` is the node's text, `txid` is empty if the bytes are no transaction
 */
export const refuse = (tx: ChainTransaction | undefined, reason: string): never => {
  throw new WalletError('BROADCAST_REFUSED', { txid: tx?.txid ?? '', reason })
}
