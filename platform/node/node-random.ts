import { randomFillSync } from 'node:crypto'

/**
 * Makes the source of random bytes: the system's generator, drawn a few kilobytes at a time.
 *
 * Bytes handed out are overwritten in the pool, so no key can be read there later.
 */
export const makeNodeRandom = (): ((count: number) => Uint8Array) => {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  return count => {
    if (count > POOL_BYTES / 8) return randomFillSync(new Uint8Array(count))
    if (used + count > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + count)
    pool.fill(0, used, used + count)
    used += count
    return bytes
  }
}

const POOL_BYTES = 4096
