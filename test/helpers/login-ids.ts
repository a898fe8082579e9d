import type { LoginRecord } from '../../fake-server/accounts/login-record.ts'
import { pin2IdOf, recovery2IdOf, userIdOf } from '../../kernel/login/derive.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import type { LoginWorld } from './login-device.ts'
import type { OpenedDevice } from './login-methods.ts'

/** Every login that a server knows. */
export const recordsOf = ({ server }: LoginWorld): LoginRecord[] =>
  [...server.db.entries()].flatMap(entry => (entry.kind === 'login' ? [entry.record] : []))

/**
 * What does not fit an account's username: ids on the server that follow from another one, and anything in the stash
 * that is still to be done about it. Empty is good.
 */
export const strayIds = async (world: LoginWorld, { services, login }: OpenedDevice): Promise<string[]> => {
  const { io } = services
  const { toBase64, fromBase64 } = io.crypto
  const { stash } = login
  const { username } = stash
  const strays: string[] = stash.nextUsername === undefined ? [] : ['nextUsername']
  const expect = (what: string, actual: string | undefined, wanted: string | undefined): void => {
    if (actual !== wanted) strays.push(what)
  }
  for (const { loginId, appId, userId, pin2Id, recovery2Id } of recordsOf(world)) {
    const node = nodesOf(stash).find(known => known.loginId === loginId)
    const { pin2Key, recovery2Key } = node ?? {}
    const idOf = (key: string | undefined, make: typeof pin2IdOf): string | undefined =>
      key === undefined ? undefined : toBase64(make(io, fromBase64(key), username))
    expect(`PIN id of '${appId}'`, pin2Id, idOf(pin2Key, pin2IdOf))
    expect(
      `recovery id of '${appId}'`,
      recovery2Id,
      idOf(recovery2Key, (port, key, name = '') => recovery2IdOf(port, key, name))
    )
    if (appId !== '') expect(`name in the stash of '${appId}'`, node?.username, undefined)
    else
      expect('user id', userId, username === undefined ? undefined : toBase64(await userIdOf(io, username)))
  }
  return strays
}

const nodesOf = (stash: LoginStash): LoginStash[] => [stash, ...(stash.children ?? []).flatMap(nodesOf)]
