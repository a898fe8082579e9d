import { compact } from '../base/compact.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { openJson, sealText } from '../crypto/box.ts'
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

/** An account of this device: its tree from the root, and the stash as it was before this move. */
export interface MovingAccount {
  readonly held: LoginTree
  readonly stash: LoginStash
}

/**
 * Makes the logins of an account of this device on the server, with their keys and repos (protocol §2.4).
 *
 * A login that the server has already is the account's own if its secret opens it there. What the server lacks is added. Its
 * password and name stay as the server has them, unless an earlier move of this very stash brought them: then
 * this device may have changed them since. So an old backup never brings an old password back.
 *
 * @throws ACCOUNT_EXISTS if the username is another account's; NETWORK and what the server answers
 */
export const createOnServer = async (
  services: ServerServices,
  { held, stash }: MovingAccount
): Promise<void> => {
  const wasMoving = stash.deviceOnly === 'moving'
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
      for (const [method, path, data] of differencesOf(login, payload, wasMoving)) {
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
const differencesOf = (login: ServerLogin, payload: LoginPayload, wasMoving: boolean): Difference[] => {
  const { node } = login
  const found: Difference[] = []
  const known = new Set((payload.keyBoxes ?? []).map(boxNameOf))
  const missing = (node.keyBoxes ?? []).filter(box => !known.has(boxNameOf(box)))
  if (missing.length > 0) found.push(['POST', '/v2/login/keys', keysBodyOf(login, missing)])
  if (!wasMoving) return found
  const password = passwordBodyOf(login)
  const isNewName = node.userId !== undefined && node.userId !== payload.userId
  const isNewPassword = 'passwordBox' in password && !isSame(node.passwordBox, payload.passwordBox)
  if (isNewName) found.push(['POST', '/v2/login/username', { ...nameBodyOf(login), ...password }])
  else if (isNewPassword) found.push(['POST', '/v2/login/password', password])
  if (!isSame(node.pin2TextBox, payload.pin2TextBox)) {
    const pin = pinBodyOf(node)
    found.push(
      'pin2TextBox' in pin ? ['POST', '/v2/login/pin2', pin] : ['DELETE', '/v2/login/pin2', undefined]
    )
  }
  return found
}

/** A box that the server does not show counts as another. */
const isSame = (left: Box | undefined, right: Box | true | undefined): boolean =>
  left === undefined || right === undefined || right === true
    ? left === right
    : boxNameOf(left) === boxNameOf(right)

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
