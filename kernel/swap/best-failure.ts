/** What the choice among failures looks at. `limit`: the one that an error names, in native units. */
export interface Failure {
  readonly errorCode?: string
  readonly limit?: string
}

/**
 * The one failure worth showing of those of all providers; the first of equals (specification §8): a lack of funds, the
 * smallest minimum, the largest maximum, a missing permission, an unknown pair, anything else (pure).
 *
 * @returns undefined of none
 */
export const bestFailureOf = <F extends Failure>(failures: readonly F[]): F | undefined => {
  let best: F | undefined
  for (const failure of failures) if (best === undefined || isBetter(failure, best)) best = failure
  return best
}

const isBetter = (failure: Failure, than: Failure): boolean => {
  const [rank, other] = [rankOf(failure), rankOf(than)]
  if (rank !== other) return rank > other
  if (failure.errorCode === 'SWAP_BELOW_LIMIT' && than.errorCode === 'SWAP_BELOW_LIMIT')
    return isLess(failure.limit ?? '', than.limit ?? '')
  if (failure.errorCode === 'SWAP_ABOVE_LIMIT' && than.errorCode === 'SWAP_ABOVE_LIMIT')
    return isMore(failure.limit ?? '', than.limit ?? '')
  return false
}

// A limit without a figure says less than any with one.
const isLess = (text: string, than: string): boolean =>
  text !== '' && (than === '' || BigInt(text) < BigInt(than))
const isMore = (text: string, than: string): boolean =>
  text !== '' && (than === '' || BigInt(text) > BigInt(than))

const RANKS: ReadonlyMap<string, number> = new Map([
  ['INSUFFICIENT_FUNDS', 6],
  ['PENDING_FUNDS', 6],
  ['SWAP_BELOW_LIMIT', 5],
  ['SWAP_ABOVE_LIMIT', 4],
  ['SWAP_PERMISSION', 3],
  ['SWAP_CURRENCY', 2]
])

const rankOf = ({ errorCode = '' }: Failure): number => RANKS.get(errorCode) ?? 1
