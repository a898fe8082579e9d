/** The first number from `low` on, and below `high`, that passes a test which all after it pass, too; else `high`. */
export const lowerBound = (low: number, high: number, test: (at: number) => boolean): number => {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (test(middle)) to = middle
    else from = middle + 1
  }
  return from
}
