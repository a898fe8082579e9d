import { WalletError } from '../../kernel/plugin-api.ts'
import { pause, timers } from './timers.ts'

/** The part of the Web Locks standard that a disk needs; `navigator.locks` has it. */
export interface WebLocks {
  /** Runs `hold` while the name is held; with null, at once, if the name is taken. */
  request(
    name: string,
    options: { readonly ifAvailable: true },
    hold: (lock: unknown) => Promise<void>
  ): Promise<unknown>
}

/** The locks of this page; none in a browser without them. */
export const locksOfPage = (): WebLocks | undefined =>
  (globalThis as { readonly navigator?: { readonly locks?: WebLocks } }).navigator?.locks

/**
 * Keeps every other page of this origin from a name until the returned function is called. The browser lets go by itself
 * when the page is closed or crashes. Without locks nothing is held.
 *
 * A reloaded page keeps its old locks for a moment, so the name is asked for until a second has passed since the first refusal. No
 * request is given up: a slow browser may have granted it already, and would then refuse this page its own name.
 *
 * @throws STORAGE_LOCKED if another page holds the name; STORAGE_FAILED if the browser refuses locks to this page
 */
export const holdPageLock = async (locks: WebLocks | undefined, name: string): Promise<() => void> => {
  if (locks === undefined) return () => {}
  let end: number | undefined
  for (;;) {
    const release = await holdIfFree(locks, name)
    if (release !== undefined) return release
    end ??= timers.performance.now() + WAIT_MS
    if (timers.performance.now() >= end) throw new WalletError('STORAGE_LOCKED', { holder: 'another page' })
    await pause(RETRY_EVERY_MS)
  }
}

/** Holds a name until the returned function is called; undefined if it is taken. */
const holdIfFree = (locks: WebLocks, name: string): Promise<(() => void) | undefined> =>
  new Promise((resolve, reject) => {
    const hold = (lock: unknown): Promise<void> => {
      if (lock !== null) return new Promise(release => resolve(release))
      resolve(undefined)
      return Promise.resolve()
    }
    locks
      .request(name, { ifAvailable: true }, hold)
      .catch(error =>
        reject(new WalletError('STORAGE_FAILED', { path: '', reason: 'this page may hold no locks' }, error))
      )
  })

const WAIT_MS = 1000

const RETRY_EVERY_MS = 50
