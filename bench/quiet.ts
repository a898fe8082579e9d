import { cpus } from 'node:os'

/**
 * Makes a pause that waits until about one processor core is free, so that a shared machine disturbs a sample less.
 *
 * @param patienceMs - how long all pauses together may wait; after that they return at once
 */
export const makeQuiet = (patienceMs: number): (() => Promise<void>) => {
  let restMs = patienceMs
  return async () => {
    while (restMs > 0) {
      const start = performance.now()
      const before = idleTimes()
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
      const after = idleTimes()
      restMs -= performance.now() - start
      const share = (after.idle - before.idle) / Math.max(1, after.total - before.total)
      if (share * cpus().length >= Math.min(ENOUGH_CORES, cpus().length * 0.8)) return
    }
  }
}

const LOOK_MS = 60
const ENOUGH_CORES = 1.3

const idleTimes = (): { readonly idle: number; readonly total: number } => {
  let idle = 0
  let total = 0
  for (const { times } of cpus()) {
    idle += times.idle
    total += times.user + times.nice + times.sys + times.irq + times.idle
  }
  return { idle, total }
}
