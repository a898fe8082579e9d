import type { ChainState } from './chain-state.ts'
import type { Coin } from './coins.ts'
import { COINBASE_MATURITY, POLICY } from './network.ts'
import { refuse } from './refusal.ts'
import { replacedBy } from './replacement.ts'
import { checkSpends } from './spend-check.ts'
import { isFinal, isSequenceFinal } from './time-lock.ts'
import type { ChainTransaction } from './transaction.ts'
import { checkTransaction } from './transaction-check.ts'

/** What a transaction brings into the mempool, once it is admitted. */
export interface Admission {
  readonly fee: bigint
  /** The coin of each input. */
  readonly coins: readonly Coin[]
  /** Waiting transactions that must go for it, descendants included. */
  readonly replaced: readonly string[]
}

/**
 * Judges a new transaction as a node does before it relays it. Changes nothing.
 *
 * @throws BROADCAST_REFUSED with the reason of Bitcoin Core (`MemPoolAccept`), checked in its order
 */
export const admit = (state: ChainState, tx: ChainTransaction): Admission => {
  checkTransaction(tx, state.network)
  if (!isFinal(tx, state)) refuse(tx, 'non-final')
  if (state.mempool.has(tx.txid)) refuse(tx, 'txn-already-in-mempool')
  if (state.find(tx.txid) !== undefined) refuse(tx, 'Transaction already in block chain')
  const coins = coinsFor(state, tx)
  const conflicts = conflictsOf(state, tx)
  if (!isSequenceFinal(tx, coins, state)) refuse(tx, 'non-BIP68-final')
  const fee = feeOf(state, tx, coins)
  const least = relayFeeOf(tx.vsize)
  if (fee < least) refuse(tx, `min relay fee not met, ${fee} < ${least}`)
  const replaced = replacedBy(state, tx, { fee, conflicts })
  checkChainLimits(state, tx)
  checkSpends(tx, coins)
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

/** The least fee that is relayed for a size, in native units. */
const relayFeeOf = (vsize: number): bigint => (BigInt(vsize) * POLICY.relayPerKvB + 999n) / 1000n

const coinsFor = (state: ChainState, tx: ChainTransaction): readonly Coin[] =>
  tx.inputs.map(
    ({ txid, index }) => state.findCoin(txid, index) ?? refuse(tx, 'bad-txns-inputs-missingorspent')
  )

const conflictsOf = (state: ChainState, tx: ChainTransaction): ReadonlySet<string> =>
  new Set(tx.inputs.flatMap(({ txid, index }) => state.mempool.spenderOf(txid, index) ?? []))

const feeOf = (state: ChainState, tx: ChainTransaction, coins: readonly Coin[]): bigint => {
  let fee = 0n
  for (const coin of coins) {
    if (coin.isCoinbase && state.height + 1 - coin.height < COINBASE_MATURITY) {
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
