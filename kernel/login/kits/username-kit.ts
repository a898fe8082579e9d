import type { JsonObject } from '../../base/json.ts'
import type { Secret } from '../../base/secret.ts'
import { sealText } from '../../crypto/box.ts'
import type { SnrpOptions } from '../../crypto/key-derivation.ts'
import type { Io } from '../../io/io.ts'
import type { LoginTree } from '../../types/login.ts'
import { pin2IdOf, recovery2IdOf, userIdOf } from '../derive.ts'
import { listTrees } from '../login-tree.ts'
import type { LoginKit } from './login-kit.ts'
import { makePasswordKit, makePasswordRemovalKit } from './password-kit.ts'

/** Another username for an account, normalised. */
export interface NewUsername {
  readonly username: string
  /** Its proof and its box are made from the name, too; undefined for an account without a password. */
  readonly password: Secret<string> | undefined
  readonly snrp: SnrpOptions | undefined
}

/**
 * Gives a root login another username, or its first, and everything below it the ids that follow from it
 * (protocol §4.8).
 *
 * The stash knows the name before the server is asked, so that a PIN finds the account if the answer is lost.
 */
export const makeUsernameKits = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  root: LoginTree,
  { username, password, snrp }: NewUsername
): Promise<LoginKit[]> => {
  const { loginId, loginKey } = root
  const userId = io.crypto.toBase64(await userIdOf(io, username))
  const key = loginKey.use(bytes => bytes.slice())
  try {
    const userTextBox = sealText(io, key, username)
    const kit =
      password && (await makePasswordKit(io, { loginId, loginKey: key }, { username, password, snrp }))
    return [
      {
        loginId,
        ...ROUTE,
        serverBody: {
          userId,
          userTextBox: { ...userTextBox },
          ...kit?.serverBody,
          ...idsOf(io, root, username)
        },
        intent: { nextUsername: username },
        stash: { ...kit?.stash, userId, username, nextUsername: undefined }
      },
      ...listTrees(root)
        .slice(1)
        .flatMap(child => makeIdKits(io, child, username))
    ]
  } finally {
    key.fill(0)
  }
}

/**
 * Finishes a change of username that was interrupted, or that another device interrupted: every login below whose
 * ids are still made from an earlier name gets those of the present one.
 */
export const makeStaleIdKits = (io: Pick<Io, 'crypto'>, held: LoginTree): LoginKit[] => {
  const { isRoot, username } = held
  if (!isRoot || username === undefined) return []
  return listTrees(held)
    .filter(node => node.username !== undefined && node.username !== username)
    .flatMap(child => makeIdKits(io, child, username))
}

const ROUTE = { serverMethod: 'POST', serverPath: '/v2/login/username' } as const

/**
 * Ids are made from a random key, so that nobody but this login can have them already.
 *
 * The deployed client gives logins below a password, which nothing can use without a username, and for which the
 * server wants another one with each change; so it goes (protocol §8, 20).
 */
const makeIdKits = (io: Pick<Io, 'crypto'>, child: LoginTree, username: string): LoginKit[] => {
  const { loginId, loginAuth, passwordAuth } = child
  const serverBody = idsOf(io, child, username)
  if (Object.keys(serverBody).length === 0) return []
  const isPasswordUseless = passwordAuth !== undefined && loginAuth !== undefined
  return [
    ...(isPasswordUseless ? [makePasswordRemovalKit(child)] : []),
    { loginId, ...ROUTE, serverBody, stash: { username: undefined }, doneBefore: 'CONFLICT' }
  ]
}

const idsOf = (
  io: Pick<Io, 'crypto'>,
  { pin2Key, recovery2Key }: LoginTree,
  username: string
): JsonObject => {
  const { toBase64 } = io.crypto
  return {
    ...(pin2Key && { pin2Id: pin2Key.use(key => toBase64(pin2IdOf(io, key, username))) }),
    ...(recovery2Key && { recovery2Id: recovery2Key.use(key => toBase64(recovery2IdOf(io, key, username))) })
  }
}
