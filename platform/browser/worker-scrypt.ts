/// <reference lib="dom" />
import type { CryptoPort, ScryptCost } from '../../kernel/io/io.ts'

/** What the page asks of the worker. */
export interface ScryptJob {
  readonly id: number
  readonly data: Uint8Array
  readonly salt: Uint8Array
  readonly cost: ScryptCost
  /** Bytes. */
  readonly length: number
}

/** What the worker answers; no key if it could not. */
export interface ScryptAnswer {
  readonly id: number
  readonly key?: Uint8Array
}

/**
 * Makes scrypt that runs in a Web Worker, one job after another, so that the page stays quick and the key comes about twice
 * as soon as in slices.
 *
 * The worker is started by the first job. If it cannot be loaded, dies or refuses, the page does the work itself.
 *
 * @param startWorker - starts `holdfast/browser/scrypt-worker`
 * @param inPage - what is done without a worker
 */
export const makeWorkerScrypt = (
  startWorker: () => Worker,
  inPage: CryptoPort['scrypt']
): CryptoPort['scrypt'] => {
  const waiting = new Map<number, (key: Uint8Array | undefined) => void>()
  let count = 0
  let isBroken = false
  let worker: Worker | undefined
  const giveUp = (): void => {
    isBroken = true
    worker?.terminate()
    for (const answer of waiting.values()) answer(undefined)
    waiting.clear()
  }
  const start = (): Worker => {
    const started = startWorker()
    started.addEventListener('error', giveUp)
    started.addEventListener('messageerror', giveUp)
    started.addEventListener('message', ({ data: { id, key } }: MessageEvent<ScryptAnswer>) => {
      waiting.get(id)?.(key)
      waiting.delete(id)
    })
    return started
  }
  const ask = (job: Omit<ScryptJob, 'id'>): Promise<Uint8Array | undefined> =>
    new Promise(resolve => {
      count += 1
      waiting.set(count, resolve)
      try {
        worker ??= start()
        const message: ScryptJob = { id: count, ...job }
        worker.postMessage(message)
      } catch {
        // A policy of the page may forbid workers.
        giveUp()
      }
    })
  return async (data, salt, cost, length) => {
    const own = { data: data.slice(), salt: salt.slice(), cost, length }
    const key = isBroken ? undefined : await ask(own)
    try {
      return key ?? (await inPage(own.data, own.salt, cost, length))
    } finally {
      own.data.fill(0)
    }
  }
}
