import type { JsonObject } from '../../base/json.ts'
import type { LoginStash } from '../../types/login.ts'
import type { LoginMethod } from '../server/login-server.ts'
import { renameStash } from '../stash/rename-stash.ts'
import { replaceStash } from '../stash/stash-tree.ts'

type Changeable = Omit<LoginStash, 'appId' | 'loginId'>

/**
 * Fields of a stash that a change replaces, or removes where they are undefined; key boxes and children are added to
 * those that are there.
 */
export type StashChanges = { readonly [Field in keyof Changeable]?: Changeable[Field] | undefined }

/**
 * One change of a login: what to tell the server, and what the stash gains when the server agrees.
 *
 * `Login` is the only one who applies it: server, then stash, then memory (architecture 4.7).
 */
export interface LoginKit {
  /** Base64; the login that changes, whose credentials go with the request. */
  readonly loginId: string
  readonly serverMethod: LoginMethod
  readonly serverPath: string
  /** The `data` of the request; some routes take none. */
  readonly serverBody?: JsonObject
  readonly stash: StashChanges
  /** What the stash gains before the server is asked, for a change whose lost answer would shut somebody out. */
  readonly intent?: StashChanges
  /** The refusal that says that the change was made before, perhaps by a request whose answer was lost. */
  readonly doneBefore?: 'CONFLICT'
  /** The server answers with the login as it is now, and that is kept, too (protocol §2.4). */
  readonly isReplyKept?: boolean
}

/**
 * The tree after a change of one of its logins (pure).
 *
 * The sync token of the held login goes: the server would call the login unchanged if it were to become again what it
 * was before, and this device would go on with what it made of it.
 *
 * @param heldId - base64, of the login whose key is held
 */
export const changeStash = (
  root: LoginStash,
  heldId: string,
  { loginId, stash }: { readonly loginId: string; readonly stash: StashChanges }
): LoginStash => {
  const changed = replaceStash(root, loginId, node => applyStashChanges(node, stash))
  return replaceStash(changed, heldId, ({ syncToken: _, ...node }) => node)
}

/** One login after a change (pure). */
export const applyStashChanges = (stash: LoginStash, changes: StashChanges): LoginStash => {
  const { keyBoxes = [], children = [], ...fields } = changes
  const { username } = fields
  const named = username === undefined ? stash : renameStash(stash, username)
  const changed = {
    ...named,
    ...fields,
    keyBoxes: [...(named.keyBoxes ?? []), ...keyBoxes],
    children: [...(named.children ?? []), ...children]
  }
  return Object.fromEntries(
    Object.entries(changed).filter(([, value]) => value !== undefined)
  ) as unknown as LoginStash
}
