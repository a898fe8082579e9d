import { type AbortSignalLike, WalletError } from '../../kernel/plugin-api.ts'

/** The part of the Web Locks standard that a disk needs; `navigator.locks` has it. */
export interface WebLocks {
  /**
   * Runs `hold` while the name is held.
   *
   * @param options - `signal`: rejects with its reason if it fires first; `ifAvailable`: `hold` gets null at once if the name is
   *   taken
   */
  request(
    name: string,
    options: { readonly signal: AbortSignalLike } | { readonly ifAvailable: true },
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
 * A reloaded page keeps its old locks for a moment, so a second passes before the name counts as taken. A slow browser may answer
 * later than that: the name counts as taken only when the browser says so.
 *
 * @throws STORAGE_LOCKED if another page holds the name; STORAGE_FAILED if the browser refuses locks to this page
 */
export const holdPageLock = async (locks: WebLocks | undefined, name: string): Promise<() => void> => {
  if (locks === undefined) return () => {}
  return new Promise((resolve, reject) => {
    const hold = (lock: unknown): Promise<void> => {
      if (lock !== null) return new Promise(release => resolve(release))
      reject(new WalletError('STORAGE_LOCKED', { holder: 'another page' }))
      return Promise.resolve()
    }
    locks
      .request(name, { signal: page.AbortSignal.timeout(WAIT_MS) }, hold)
      .catch(error => {
        if (!isTimeout(error)) throw error
        return locks.request(name, { ifAvailable: true }, hold)
      })
      .catch(error =>
        reject(new WalletError('STORAGE_FAILED', { path: '', reason: 'this page may hold no locks' }, error))
      )
  })
}

const WAIT_MS = 1000

const page = globalThis as unknown as { readonly AbortSignal: { timeout(ms: number): AbortSignalLike } }

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'
