import type { ChainState } from './chain-state.ts'
import type { Mempool, MempoolEntry } from './mempool.ts'
import { POLICY } from './network.ts'
import { refuse } from './refusal.ts'
import type { ChainTransaction } from './transaction.ts'

/** What a replacement pays, and the waiting transactions that spend the same coins. */
export interface ReplacementOffer {
  readonly fee: bigint
  readonly conflicts: ReadonlySet<string>
}

/**
 * Decides whether a transaction may take the place of waiting ones (BIP125), and of which, descendants included.
 *
 * @throws BROADCAST_REFUSED `txn-mempool-conflict` if one of them did not signal or the network never replaces, else the rule that it breaks
 */
export const replacedBy = (
  { mempool, network }: Pick<ChainState, 'mempool' | 'network'>,
  tx: ChainTransaction,
  { fee, conflicts }: ReplacementOffer
): readonly string[] => {
  if (conflicts.size === 0) return []
  const direct = [...conflicts].map(txid => mempool.get(txid) as MempoolEntry)
  const mayGo = network.isReplaceable && direct.every(entry => isReplaceable(mempool, entry))
  if (!mayGo) refuse(tx, 'txn-mempool-conflict')
  checkParents(mempool, tx, direct)
  const replaced = mempool.withDescendants(conflicts)
  if (replaced.size > POLICY.maxReplaced) {
    refuse(tx, `too many potential replacements, ${replaced.size} > ${POLICY.maxReplaced}`)
  }
  for (const entry of direct) {
    if (fee * BigInt(entry.tx.vsize) <= entry.fee * BigInt(tx.vsize)) {
      refuse(
        tx,
        `insufficient fee, rejecting replacement ${tx.txid}; new feerate is not above the old feerate`
      )
    }
  }
  let oldFees = 0n
  for (const txid of replaced) oldFees += mempool.get(txid)?.fee ?? 0n
  if (fee < oldFees) {
    refuse(
      tx,
      `insufficient fee, rejecting replacement ${tx.txid}, less fees than conflicting txs; ${fee} < ${oldFees}`
    )
  }
  const relay = (BigInt(tx.vsize) * POLICY.relayPerKvB + 999n) / 1000n
  if (fee - oldFees < relay) {
    const rule = `not enough additional fees to relay; ${fee - oldFees} < ${relay}`
    refuse(tx, `insufficient fee, rejecting replacement ${tx.txid}, ${rule}`)
  }
  return [...replaced]
}

const isReplaceable = (mempool: Mempool, entry: MempoolEntry): boolean =>
  [...mempool.withAncestors([entry.tx.txid])].some(txid =>
    mempool.get(txid)?.tx.inputs.some(input => input.sequence < 0xfffffffe)
  )

const checkParents = (mempool: Mempool, tx: ChainTransaction, direct: readonly MempoolEntry[]): void => {
  const conflicts = new Set(direct.map(entry => entry.tx.txid))
  const ancestors = mempool.withAncestors(tx.inputs.map(input => input.txid))
  for (const ancestor of ancestors) {
    if (conflicts.has(ancestor)) {
      refuse(tx, `bad-txns-spends-conflicting-tx, ${tx.txid} spends conflicting transaction ${ancestor}`)
    }
  }
  const known = new Set(direct.flatMap(entry => [...entry.parents]))
  tx.inputs.forEach(({ txid }, index) => {
    if (mempool.has(txid) && !known.has(txid)) {
      refuse(tx, `replacement-adds-unconfirmed, replacement ${tx.txid} adds unconfirmed input, idx ${index}`)
    }
  })
}
