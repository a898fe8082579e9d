/** A search for coins whose sum lands in a window, so that no change is needed. */
export interface BoundedSearch {
  /** Effective values (value less the fee to spend it), largest first, all positive. */
  readonly values: readonly number[]
  readonly target: number
  /** How far above the target is still cheaper than making change. */
  readonly slack: number
  /** Waste of each coin at the present fee rate against the long-term one; same order. */
  readonly wastes: readonly number[]
  readonly maxTries: number
}

/**
 * Branch and Bound (Erhardt; Bitcoin Core `SelectCoinsBnB`): indexes of the coins with the least waste whose sum
 * lies in `[target, target + slack]`, or undefined.
 *
 * Works on safe integers only; the caller checks that sums stay below 2^53.
 */
export const branchAndBound = (search: BoundedSearch): readonly number[] | undefined => {
  const { values, target, slack, wastes, maxTries } = search
  const rest = suffixSums(values)
  const isFeeHigh = (wastes[0] ?? 0) > 0
  const chosen: number[] = []
  let best: readonly number[] | undefined
  let bestWaste = Number.POSITIVE_INFINITY
  let sum = 0
  let waste = 0
  let at = 0
  for (let tries = 0; tries < maxTries; tries++) {
    const isHopeless =
      sum + (rest[at] ?? 0) < target || sum > target + slack || (isFeeHigh && waste > bestWaste)
    let mustGoBack = isHopeless
    if (!isHopeless && sum >= target) {
      const total = waste + (sum - target)
      if (total <= bestWaste) {
        best = [...chosen]
        bestWaste = total
      }
      mustGoBack = true
    }
    if (!mustGoBack) {
      // A coin equal to the one just left out would only repeat the same search.
      const previous = at - 1
      const isRepeat =
        values[at] === values[previous] && wastes[at] === wastes[previous] && chosen.at(-1) !== previous
      if (!isRepeat) {
        sum += values[at] ?? 0
        waste += wastes[at] ?? 0
        chosen.push(at)
      }
      at++
      continue
    }
    const last = chosen.pop()
    if (last === undefined) break
    sum -= values[last] ?? 0
    waste -= wastes[last] ?? 0
    at = last + 1
  }
  return best
}

const suffixSums = (values: readonly number[]): readonly number[] => {
  const sums: number[] = new Array(values.length + 1).fill(0)
  for (let at = values.length - 1; at >= 0; at--) sums[at] = (sums[at + 1] ?? 0) + (values[at] ?? 0)
  return sums
}
