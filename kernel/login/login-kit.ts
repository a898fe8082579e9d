import type { JsonObject } from '../types/json.ts'
import type { LoginStash } from '../types/login.ts'
import type { LoginMethod } from './login-server.ts'

/** Fields of a stash that a change replaces; key boxes and children are added to those that are there. */
export type StashChanges = Partial<Omit<LoginStash, 'appId' | 'loginId'>>

/**
 * One change of a login: what to tell the server, and what the stash gains when the server agrees.
 *
 * `Login.applyKit` is the only one who applies it: server, then stash, then memory (architecture 4.7).
 */
export interface LoginKit {
  /** Base64; the login that changes, whose credentials go with the request. */
  readonly loginId: string
  readonly serverMethod: LoginMethod
  readonly serverPath: string
  /** The `data` of the request. */
  readonly serverBody: JsonObject
  readonly stash: StashChanges
}

/** The stash after a change (pure). */
export const applyStashChanges = (stash: LoginStash, changes: StashChanges): LoginStash => {
  const { keyBoxes = [], children = [], ...fields } = changes
  return {
    ...stash,
    ...fields,
    keyBoxes: [...(stash.keyBoxes ?? []), ...keyBoxes],
    children: [...(stash.children ?? []), ...children]
  }
}
