/** How many chunks of one size class gather before they become one. */
const FAN = 8
const SMALLEST = 4096

/**
 * Tells how many of the newest chunks to merge into one now; 0 for none.
 *
 * Sizes fall into classes, each eight times the one before. The newest chunks of at most class t are merged
 * once there are more than 7 · (t + 1) of them: the number of chunks stays logarithmic in the size of the
 * store, and each byte is rewritten about once per class.
 *
 * @param sizes - the sizes of the chunks in bytes, oldest first
 */
export const mergeCountOf = (sizes: readonly number[]): number => {
  const top = Math.max(0, ...sizes.map(classOf))
  for (let limit = 0; limit <= top; limit += 1) {
    const count = newestWithin(sizes, limit)
    if (count > (FAN - 1) * (limit + 1)) return count
  }
  return 0
}

const classOf = (size: number): number => {
  let bound = SMALLEST
  let result = 0
  while (size > bound) {
    bound *= FAN
    result += 1
  }
  return result
}

const newestWithin = (sizes: readonly number[], limit: number): number => {
  let count = 0
  while (count < sizes.length && classOf(sizes[sizes.length - 1 - count] ?? 0) <= limit) count += 1
  return count
}
