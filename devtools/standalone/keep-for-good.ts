/// <reference lib="dom" />
import type { Readable } from '../../kernel/index.ts'

/**
 * Asks the browser not to clear what this page keeps, as soon as the device has a user: some browsers ask the person in turn, and
 * nobody says yes to a page that has nothing to lose yet. After a no, all goes on, and the browser may clear it when room is short.
 *
 * @param users - the kernel's context
 * @param storage - none in a page that came over plain HTTP
 */
export const keepForGood = (
  users: Readable<readonly unknown[]>,
  storage: Partial<Pick<StorageManager, 'persist'>> | undefined
): void => {
  const ask = (): void => {
    if (users.getSnapshot().length === 0) return
    stop()
    // A browser that fails here has said no.
    storage?.persist?.().catch(() => {})
  }
  const stop = users.subscribe(ask)
  ask()
}
