import { compact } from '../base/compact.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { openJson, sealText } from '../crypto/box.ts'
import { utf8Of } from '../crypto/encoding.ts'
import { FIXED_SNRP } from '../crypto/key-derivation.ts'
import type { Io } from '../io/io.ts'
import type { Box } from '../types/keys.ts'
import type { LoginPayload, LoginStash, LoginTree } from '../types/login.ts'
import { type LoginChange, RECOVERY } from './changes.ts'
import { boxNameOf } from './secret-uses.ts'
import { encodeLoginRequest, loginFetch, postCreate, postLogin, type ServerServices } from './server.ts'
import { findStashById } from './stash.ts'
import { credentialsOf } from './tree.ts'

/** Names the service of a login server that a change needs; undefined for one that an account of this device can make alone (pure). */
export const serverUseOf = ({
  serverMethod,
  serverPath,
  serverBody = {}
}: LoginChange): string | undefined => {
  if (serverPath === '/v2/login/pin2') return 'pin2Id' in serverBody ? 'login by PIN' : undefined
  // Nothing else would open it again.
  if (serverPath === '/v2/login/password' && serverMethod === 'DELETE') return 'an account without a password'
  return SERVER_USES.get(serverPath)
}

const SERVER_USES: ReadonlyMap<string, string> = new Map([
  ['/v2/login/recovery2', RECOVERY],
  ['/v2/login/otp', 'two-factor'],
  ['/v2/login/vouchers', 'approving devices'],
  ['/v2/login/delete', 'deletion from a server']
])

/** An account that is moving: its tree from the root, and its stash. */
export interface MovingAccount {
  readonly held: LoginTree
  readonly stash: LoginStash
}

/** The root of an account that begins to move, or goes on: it remembers what the server is about to be sent (pure). */
export const movingStash = (io: CryptoIo, root: LoginStash): LoginStash => {
  const digests = new Set(root.sentValues)
  const add = (node: LoginStash): void => {
    for (const field of CHANGING) digests.add(digestOf(io, node, field))
    for (const child of node.children ?? []) add(child)
  }
  add(root)
  return { ...root, deviceOnly: 'moving', sentValues: [...digests] }
}

/** The root of an account that has moved (pure). */
export const movedStash = ({ deviceOnly: _, sentValues: __, ...root }: LoginStash): LoginStash => root

type CryptoIo = Pick<Io, 'crypto'>

/** The fields of a login that devices change. A password is known by the box of its proof, which each change makes anew. */
const CHANGING = ['userId', 'passwordAuthBox', 'pin2TextBox'] as const

/** The digest of a field as a login has it, or lacks it. */
const digestOf = (
  { crypto }: CryptoIo,
  login: LoginStash | LoginPayload,
  field: (typeof CHANGING)[number]
): string => {
  const value = login[field]
  const name = typeof value === 'object' ? boxNameOf(value) : (value ?? null)
  return crypto.toBase64(crypto.sha256(utf8Of(JSON.stringify([login.loginId, field, name]))))
}

/**
 * Makes the logins of an account of this device on the server, with their keys and repos (protocol §2.4).
 *
 * A login that the server has already is the account's own if its secret opens it there. What the server lacks is added. A
 * name, password or PIN of the server is brought up to date only if this device sent it there in an earlier
 * move; else another device has changed it since, and it stays. So an old backup never brings an old password back.
 *
 * @throws ACCOUNT_EXISTS if the username is another account's; NETWORK and what the server answers
 */
export const createOnServer = async (
  services: ServerServices,
  { held, stash }: MovingAccount
): Promise<void> => {
  const send = async (tree: LoginTree, parent: LoginTree | undefined): Promise<void> => {
    const node = findStashById(stash, tree.loginId)
    if (node === undefined) return
    const login: ServerLogin = { services, tree, node }
    const credentials = parent === undefined ? {} : credentialsOf(services.io, parent)
    try {
      await postCreate(services, { ...credentials, data: createBodyOf(login) })
    } catch (error) {
      if (!isWalletError(error, 'ACCOUNT_EXISTS') && !isWalletError(error, 'CONFLICT')) throw error
      const payload = await findOwn(login, error)
      for (const [method, path, data] of differencesOf(login, payload, stash.sentValues)) {
        await loginFetch(services, method, path, requestBodyOf(login, data))
      }
    }
    for (const child of tree.children) await send(child, tree)
  }
  await send(held, undefined)
}

interface ServerLogin {
  readonly services: ServerServices
  readonly tree: LoginTree
  readonly node: LoginStash
}

const requestBodyOf = ({ services: { io }, tree }: ServerLogin, data: JsonObject | undefined): JsonObject =>
  encodeLoginRequest(io, { ...credentialsOf(io, tree), data })

/** The login as the server has it. @throws `refusal` if it is another's */
const findOwn = async ({ services, tree }: ServerLogin, refusal: unknown): Promise<LoginPayload> => {
  try {
    return await postLogin(services, credentialsOf(services.io, tree))
  } catch (error) {
    const isOther = isWalletError(error, 'ACCOUNT_NOT_FOUND') || isWalletError(error, 'PASSWORD')
    throw isOther ? refusal : error
  }
}

/** The `data` of POST /v2/login/create, with everything that the stash has. */
const createBodyOf = (login: ServerLogin): JsonObject => {
  const { services, tree, node } = login
  const { appId, loginId, loginAuth } = tree
  const { loginAuthBox, parentBox, keyBoxes = [] } = node
  if (loginAuth === undefined || loginAuthBox === undefined) throw new WalletError('NO_AUTH_METHODS', {})
  return {
    ...{ appId, loginId, loginAuth: loginAuth.use(services.io.crypto.toBase64) },
    loginAuthBox: { ...loginAuthBox },
    ...compact({ parentBox: parentBox && { ...parentBox } }),
    ...nameBodyOf(login),
    ...passwordBodyOf(login),
    ...pinBodyOf(node),
    ...keysBodyOf(login, keyBoxes)
  }
}

type Difference = readonly [method: 'POST' | 'DELETE', path: string, data: JsonObject | undefined]

/** The requests that bring a login of the server up to date. */
const differencesOf = (
  login: ServerLogin,
  payload: LoginPayload,
  sentValues: readonly string[] = []
): Difference[] => {
  const { node, services } = login
  const found: Difference[] = []
  const known = new Set((payload.keyBoxes ?? []).map(boxNameOf))
  const missing = (node.keyBoxes ?? []).filter(box => !known.has(boxNameOf(box)))
  if (missing.length > 0) found.push(['POST', '/v2/login/keys', keysBodyOf(login, missing)])
  const isOurs = (field: (typeof CHANGING)[number]): boolean =>
    sentValues.includes(digestOf(services.io, payload, field))
  const password = passwordBodyOf(login)
  // A password is made from a name, so that neither goes without the other.
  const isOurPassword = isOurs('userId') && isOurs('passwordAuthBox')
  const isNewName = isOurPassword && node.userId !== undefined && node.userId !== payload.userId
  const isNewPassword =
    isOurPassword && 'passwordBox' in password && !isSame(node.passwordAuthBox, payload.passwordAuthBox)
  if (isNewName) found.push(['POST', '/v2/login/username', { ...nameBodyOf(login), ...password }])
  else if (isNewPassword) found.push(['POST', '/v2/login/password', password])
  if (isOurs('pin2TextBox') && !isSame(node.pin2TextBox, payload.pin2TextBox)) {
    const pin = pinBodyOf(node)
    found.push(
      'pin2TextBox' in pin ? ['POST', '/v2/login/pin2', pin] : ['DELETE', '/v2/login/pin2', undefined]
    )
  }
  return found
}

const isSame = (left: Box | undefined, right: Box | undefined): boolean =>
  left === undefined || right === undefined ? left === right : boxNameOf(left) === boxNameOf(right)

const nameBodyOf = ({ services: { io }, tree, node }: ServerLogin): JsonObject => {
  const { userId, username } = node
  if (userId === undefined || username === undefined || !tree.isRoot) return {}
  return { userId, userTextBox: { ...tree.loginKey.use(key => sealText(io, key, username)) } }
}

const passwordBodyOf = ({ services: { io }, tree, node }: ServerLogin): JsonObject => {
  const { passwordAuth } = tree
  const { passwordAuthBox, passwordBox, passwordKeySnrp } = node
  if (!passwordAuth || !passwordAuthBox || !passwordBox || !passwordKeySnrp) return {}
  return {
    passwordAuth: passwordAuth.use(io.crypto.toBase64),
    passwordAuthBox: { ...passwordAuthBox },
    passwordAuthSnrp: { ...FIXED_SNRP },
    passwordBox: { ...passwordBox },
    passwordKeySnrp: { ...passwordKeySnrp }
  }
}

/** An account of this device has a PIN to be checked, and none that logs in. */
const pinBodyOf = ({ pin2TextBox }: LoginStash): JsonObject =>
  pin2TextBox === undefined ? {} : { pin2TextBox: { ...pin2TextBox } }

const keysBodyOf = ({ services: { io }, tree }: ServerLogin, boxes: readonly Box[]): JsonObject => ({
  keyBoxes: boxes.map(box => ({ ...box })),
  newSyncKeys: boxes.flatMap(box => tree.loginKey.use(key => syncKeyIn(io, key, box) ?? []))
})

/** The sync key of a repo in base16; a box that does not open goes along without one. */
const syncKeyIn = (io: Pick<Io, 'crypto'>, loginKey: Uint8Array, box: Box): string | undefined => {
  try {
    const info = openJson(io, loginKey, box)
    const { syncKey } = isRecord(info) && isRecord(info.keys) ? info.keys : {}
    return typeof syncKey === 'string' ? io.crypto.toHex(io.crypto.fromBase64(syncKey)) : undefined
  } catch {
    return undefined
  }
}
