import { type ChainNetwork, POLICY } from './chain-params.ts'
import type { ChainState } from './chain-state.ts'
import { checkSpends, checkTransaction, refuse } from './check.ts'
import type { Mempool, MempoolEntry } from './mempool.ts'
import { type ChainCoin, type ChainTransaction, isFinal, isSequenceFinal } from './transaction.ts'

/** The entry of an admitted transaction in the mempool, with those that it replaces. */
export interface Admission {
  readonly fee: bigint
  /** The coin of each input. */
  readonly coins: readonly ChainCoin[]
  /** Waiting transactions that must go for it, descendants included. */
  readonly replaced: readonly string[]
}

/**
 * Judges a new transaction as a node does before it relays it. Changes nothing.
 *
 * @param leastPerKvB - what the mempool keeps at least, in native units for 1000 virtual bytes; 0 where a child pays for it
 * @throws BROADCAST_REFUSED with the reason of Bitcoin Core (`MemPoolAccept`), checked in its order
 */
export const admit = (state: ChainState, tx: ChainTransaction, leastPerKvB = 0): Admission => {
  checkTransaction(tx, state.network)
  if (!isFinal(tx, state)) refuse(tx, 'non-final')
  if (state.mempool.has(tx.txid)) refuse(tx, 'txn-already-in-mempool')
  if (state.find(tx.txid) !== undefined) refuse(tx, 'Transaction already in block chain')
  const coins = coinsFor(state, tx)
  const conflicts = conflictsOf(state, tx)
  if (!isSequenceFinal(tx, coins, state)) refuse(tx, 'non-BIP68-final')
  const fee = feeOf(state, tx, coins)
  const least = relayFeeOf(tx, state.network)
  if (fee < least) refuse(tx, `min relay fee not met, ${fee} < ${least}`)
  const kept = leastFeeOf(tx.vsize, leastPerKvB)
  if (fee < kept) refuse(tx, `mempool min fee not met, ${fee} < ${kept}`)
  const replaced = replacedBy(state, tx, { fee, conflicts })
  checkChainLimits(state, tx)
  checkSpends(tx, coins, state.network)
  return { fee, coins, replaced }
}

/**
 * Judges a transaction that was accepted before, when a reorg or a restart brings it back: by the rules of
 * consensus, not by those of relay. Changes nothing.
 *
 * @throws BROADCAST_REFUSED if it cannot be mined any more
 */
export const readmit = (state: ChainState, tx: ChainTransaction): Admission => {
  if (state.find(tx.txid) !== undefined) refuse(tx, 'txn-already-known')
  if (!isFinal(tx, state)) refuse(tx, 'non-final')
  const coins = coinsFor(state, tx)
  if (conflictsOf(state, tx).size > 0) refuse(tx, 'txn-mempool-conflict')
  if (!isSequenceFinal(tx, coins, state)) refuse(tx, 'non-BIP68-final')
  return { fee: feeOf(state, tx, coins), coins, replaced: [] }
}

/** The least fee that is relayed for a transaction, in native units; Dogecoin's nodes want more for each small output. */
const relayFeeOf = (tx: ChainTransaction, { relayPerKvB, fixedDust }: ChainNetwork): bigint => {
  const least = leastFeeOf(tx.vsize, Number(relayPerKvB))
  if (fixedDust === undefined) return least
  const small = tx.outputs.filter(({ amount, script }) => script[0] !== 0x6a && amount < fixedDust.small)
  return least + BigInt(small.length) * fixedDust.small
}

/** The least fee for a size at a rate for 1000 virtual bytes, in native units. */
export const leastFeeOf = (vsize: number, perKvB: number): bigint =>
  (BigInt(vsize) * BigInt(perKvB) + 999n) / 1000n

const coinsFor = (state: ChainState, tx: ChainTransaction): readonly ChainCoin[] =>
  tx.inputs.map(
    ({ txid, index }) => state.findCoin(txid, index) ?? refuse(tx, 'bad-txns-inputs-missingorspent')
  )

const conflictsOf = (state: ChainState, tx: ChainTransaction): ReadonlySet<string> =>
  new Set(tx.inputs.flatMap(({ txid, index }) => state.mempool.spenderOf(txid, index) ?? []))

const feeOf = (state: ChainState, tx: ChainTransaction, coins: readonly ChainCoin[]): bigint => {
  let fee = 0n
  for (const coin of coins) {
    if (coin.isCoinbase && state.height + 1 - coin.height < state.network.coinbaseMaturity) {
      const depth = state.height + 1 - coin.height
      refuse(tx, `bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth ${depth}`)
    }
    fee += coin.amount
  }
  for (const output of tx.outputs) fee -= output.amount
  if (fee < 0n) refuse(tx, 'bad-txns-in-belowout')
  return fee
}

const checkChainLimits = ({ mempool }: ChainState, tx: ChainTransaction): void => {
  const limit = POLICY.maxAncestors
  const ancestors = mempool.withAncestors(tx.inputs.map(input => input.txid))
  if (ancestors.size + 1 > limit) {
    refuse(tx, `too-long-mempool-chain, too many unconfirmed ancestors [limit: ${limit}]`)
  }
  for (const ancestor of ancestors) {
    if (mempool.withDescendants([ancestor]).size + 1 > limit) {
      refuse(tx, `too-long-mempool-chain, too many descendants for tx ${ancestor} [limit: ${limit}]`)
    }
  }
}

/** The fee of a replacement, and the unconfirmed transactions that spend the same coins. */
export interface ReplacementOffer {
  readonly fee: bigint
  readonly conflicts: ReadonlySet<string>
}

/**
 * Decides whether a transaction may take the place of waiting ones (BIP125), and of which, descendants included.
 *
 * @throws BROADCAST_REFUSED `txn-mempool-conflict` if one of them did not signal or the network never replaces, else the rule that it breaks
 */
const replacedBy = (
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
  const relay = (BigInt(tx.vsize) * network.relayPerKvB + 999n) / 1000n
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
