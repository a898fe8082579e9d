import type { Coin } from './coins.ts'
import type { ChainTransaction } from './transaction.ts'

/** The part of a chain that time locks look at. */
export interface ChainTimes {
  readonly height: number
  /** The median of the eleven block times that end at `height` (BIP113), in unix seconds. */
  medianTimeAt(height: number): number
}

/** True if the next block may hold this transaction by its `lockTime` (BIP65, BIP113). */
export const isFinal = (tx: ChainTransaction, chain: ChainTimes): boolean => {
  if (tx.lockTime === 0 || tx.inputs.every(input => input.sequence === 0xffffffff)) return true
  const reached = tx.lockTime < 500_000_000 ? chain.height + 1 : chain.medianTimeAt(chain.height)
  return tx.lockTime < reached
}

/** True if the next block may hold this transaction by the relative locks of its inputs (BIP68). */
export const isSequenceFinal = (tx: ChainTransaction, coins: readonly Coin[], chain: ChainTimes): boolean => {
  if (tx.version < 2) return true
  return tx.inputs.every(({ sequence }, index) => {
    if ((sequence & 0x80000000) !== 0) return true
    const count = sequence & 0xffff
    const coinHeight = coins[index]?.height || chain.height + 1
    if ((sequence & 0x400000) === 0) return coinHeight + count <= chain.height + 1
    const since = chain.medianTimeAt(Math.max(0, coinHeight - 1))
    return since + count * 512 <= chain.medianTimeAt(chain.height)
  })
}
