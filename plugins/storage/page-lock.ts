import { WalletError } from '../../kernel/plugin-api.ts'

/** The part of the Web Locks standard that a disk needs; `navigator.locks` has it. */
export interface WebLocks {
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
 * @throws STORAGE_LOCKED at once, if another page holds the name
 */
export const holdPageLock = async (locks: WebLocks | undefined, name: string): Promise<() => void> => {
  if (locks === undefined) return () => {}
  return new Promise((resolve, reject) => {
    const hold = (held: unknown): Promise<void> => {
      if (held === null) throw new WalletError('STORAGE_LOCKED', { holder: 'another page' })
      return new Promise(release => resolve(release))
    }
    locks.request(name, { ifAvailable: true }, async held => hold(held)).catch(reject)
  })
}
