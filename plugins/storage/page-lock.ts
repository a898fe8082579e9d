import { type AbortSignalLike, WalletError } from '../../kernel/plugin-api.ts'

/** The part of the Web Locks standard that a disk needs; `navigator.locks` has it. */
export interface WebLocks {
  /** Rejects with the reason of the signal if that fires first. */
  request(
    name: string,
    options: { readonly signal: AbortSignalLike },
    hold: () => Promise<void>
  ): Promise<unknown>
}

/** The locks of this page; none in a browser without them. */
export const locksOfPage = (): WebLocks | undefined =>
  (globalThis as { readonly navigator?: { readonly locks?: WebLocks } }).navigator?.locks

/**
 * Keeps every other page of this origin from a name until the returned function is called. The browser lets go by itself
 * when the page is closed or crashes. Without locks nothing is held.
 *
 * It waits a second, since a page that is reloaded still has what it had for a moment.
 *
 * @throws STORAGE_LOCKED if another page holds the name; STORAGE_FAILED if the browser lets this page hold nothing
 */
export const holdPageLock = async (locks: WebLocks | undefined, name: string): Promise<() => void> => {
  if (locks === undefined) return () => {}
  return new Promise((resolve, reject) => {
    const hold = (): Promise<void> => new Promise(release => resolve(release))
    const failed = (error: unknown): void =>
      reject(
        isTimeout(error)
          ? new WalletError('STORAGE_LOCKED', { holder: 'another page' }, error)
          : new WalletError('STORAGE_FAILED', { path: '', reason: 'this page may hold no locks' }, error)
      )
    locks.request(name, { signal: page.AbortSignal.timeout(WAIT_MS) }, hold).catch(failed)
  })
}

const WAIT_MS = 1000

const page = globalThis as unknown as { readonly AbortSignal: { timeout(ms: number): AbortSignalLike } }

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'
