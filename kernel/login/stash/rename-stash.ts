import type { LoginStash } from '../../types/login.ts'

/**
 * The stash of a root login that has another username now (pure).
 *
 * The ids of PIN and recovery login of everything below are made from the root's name, and the server changes them
 * one by one. Until then each login below remembers the name that its ids are made from: whatever interrupts the
 * change, what is left of it can be seen and done.
 */
export const renameStash = (stash: LoginStash, username: string): LoginStash => {
  if (stash.username === username) return stash
  const names: Names = { past: stash.username ?? NAMELESS, present: username }
  return { ...stash, username, ...childrenOf(stash, names) }
}

/** The name that the ids of PIN and recovery login are made from; undefined for none (protocol §1.5; pure). */
export const idNameOf = (root: LoginStash, node: LoginStash): string | undefined =>
  node.username === NAMELESS ? undefined : (node.username ?? root.username)

/** What a login below remembers of a root that had no username yet; no name is the empty text. */
const NAMELESS = ''

interface Names {
  readonly past: string
  readonly present: string
}

const childrenOf = ({ children }: LoginStash, names: Names): Pick<LoginStash, 'children'> =>
  children === undefined ? {} : { children: children.map(child => rememberName(child, names)) }

const rememberName = (child: LoginStash, names: Names): LoginStash => {
  const { username = names.past, ...rest } = child
  const hasIds = child.pin2Key !== undefined || child.recovery2Key !== undefined
  const isStale = hasIds && username !== names.present
  return { ...rest, ...(isStale ? { username } : {}), ...childrenOf(child, names) }
}
