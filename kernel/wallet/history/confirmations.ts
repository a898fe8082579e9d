import type { Confirmations } from '../../types/transaction.ts'

/** What decides how deep a transaction lies. */
export interface Depth {
  /** 0: unconfirmed; negative: dropped. */
  readonly blockHeight: number
  readonly chainHeight: number
  readonly required: number
}

/**
 * How deep a transaction lies (pure).
 *
 * @see specification §4 "Transaction confirmations"
 */
export const confirmationsOf = ({ blockHeight, chainHeight, required }: Depth): Confirmations => {
  if (blockHeight < 0) return 'dropped'
  if (blockHeight === 0) return 'unconfirmed'
  const depth = chainHeight - blockHeight + 1
  if (depth <= 0) return 'syncing'
  return depth >= required ? 'confirmed' : depth
}
