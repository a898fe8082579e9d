/** The sizes of a chunk in characters: on the disk, and of what still counts in it. */
export interface ChunkSizes {
  readonly size: number
  readonly live: number
}

/**
 * Tells which neighbours to write again as one (pure); none if all is well.
 *
 * The newest small ones are merged by {@link mergeCountOf}. Larger chunks stay as they are until half of what some neighbours take
 * up counts no more.
 *
 * @param chunks - oldest first
 */
export const runToMerge = <C extends ChunkSizes>(chunks: readonly C[]): readonly C[] => {
  const start = chunks.findLastIndex(({ size }) => size > LARGE) + 1
  const small = chunks.slice(start)
  const count = mergeCountOf(small.map(({ size }) => size))
  return count > 0 ? small.slice(-count) : staleRun(chunks)
}

const staleRun = <C extends ChunkSizes>(chunks: readonly C[]): readonly C[] => {
  for (let from = 0; from < chunks.length; from += 1) {
    let [size, live] = [0, 0]
    for (let to = from; to < chunks.length; to += 1) {
      size += chunks[to]?.size ?? 0
      live += chunks[to]?.live ?? 0
      if (live > LARGE) break
      if (size > 2 * live + MIN_STALE) return chunks.slice(from, to + 1)
    }
  }
  return []
}

/** In characters; a larger chunk is not merged for being one of many. */
const LARGE = 1_000_000
/** So much may lie on the disk for nothing. */
const MIN_STALE = 65_536
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
  const top = Math.max(...sizes.map(classOf))
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
