/** A size and what it cost. */
export type Point = readonly [size: number, cost: number]

/**
 * How a cost grows: the k of cost = c · size^k, by least squares over the logarithms; 1 is linear.
 *
 * Points that are not above zero are left out; NaN if fewer than two are left.
 */
export const growthExponent = (points: readonly Point[]): number => {
  const logs = points
    .filter(([size, cost]) => size > 0 && cost > 0)
    .map(([size, cost]) => [Math.log(size), Math.log(cost)] as const)
  if (logs.length < 2) return Number.NaN
  const meanX = mean(logs.map(([x]) => x))
  const meanY = mean(logs.map(([, y]) => y))
  const covariance = mean(logs.map(([x, y]) => (x - meanX) * (y - meanY)))
  return covariance / mean(logs.map(([x]) => (x - meanX) ** 2))
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length
