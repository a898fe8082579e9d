import type { LoginStash } from '../../types/login.ts'

/** The stash of a user that this device has never seen; it cannot be saved until it has a login id (pure). */
export const makeEmptyStash = (username: string | undefined): LoginStash => ({
  appId: '',
  loginId: '',
  pendingVouchers: [],
  ...(username === undefined ? {} : { username })
})

/** Whether a stash has a login itself, and not only its name and what is below it (pure). */
export const isWhole = ({ loginAuthBox, passwordAuthBox }: LoginStash): boolean =>
  loginAuthBox !== undefined || passwordAuthBox !== undefined

/** The login with this id, in base64 (pure). */
export const findStashById = (stash: LoginStash, loginId: string): LoginStash | undefined =>
  findStash(stash, node => node.loginId === loginId)

/** The login of this app (pure). */
export const findStashByApp = (stash: LoginStash, appId: string): LoginStash | undefined =>
  findStash(stash, node => node.appId === appId)

/** The tree with one login replaced; every other login stays the same object (pure). */
export const replaceStash = (
  stash: LoginStash,
  loginId: string,
  change: (node: LoginStash) => LoginStash
): LoginStash => {
  if (stash.loginId === loginId) return change(stash)
  const { children } = stash
  if (children === undefined) return stash
  const changed = children.map(child => replaceStash(child, loginId, change))
  return changed.some((child, i) => child !== children[i]) ? { ...stash, children: changed } : stash
}

/** The first login that passes the test, level by level from the top, as `findTree` finds it (pure). */
const findStash = (stash: LoginStash, test: (node: LoginStash) => boolean): LoginStash | undefined => {
  const nodes = [stash]
  for (const node of nodes) {
    if (test(node)) return node
    nodes.push(...(node.children ?? []))
  }
  return undefined
}
