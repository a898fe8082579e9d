import type { LocalUser } from '../../types/login.ts'
import type { Stashes } from './stash.ts'

/** The users of this device; the same list until they change: screens compare snapshots by identity. */
export const localUsersOf = (stashes: Stashes): (() => readonly LocalUser[]) => {
  let source = stashes.list()
  let users: readonly LocalUser[] = stashes.localUsers()
  return () => {
    if (stashes.list() !== source) {
      source = stashes.list()
      users = stashes.localUsers()
    }
    return users
  }
}
