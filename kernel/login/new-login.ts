import { compact } from '../base/compact.ts'
import type { JsonObject } from '../base/json.ts'
import type { Secret } from '../base/secret.ts'
import { sealBox, sealText } from '../crypto/box.ts'
import type { SnrpOptions } from '../crypto/key-derivation.ts'
import type { Io } from '../io/io.ts'
import { accountRepoTypeOf, makeWalletInfo } from '../keys/wallet-info.ts'
import type { Username } from '../types/ids.ts'
import type { SecretWalletInfo, WalletInfo } from '../types/keys.ts'
import type { LoginStash, LoginTree } from '../types/login.ts'
import { type KeyedLogin, type LoginChange, passwordChange, walletInfosChange } from './changes.ts'
import { userIdOf } from './derive.ts'
import { pinChange } from './pin-changes.ts'
import { patchLogin } from './stash.ts'
import { findTree } from './tree.ts'

/** The options of a new login. */
export interface NewLoginOptions {
  readonly appId: string
  /** Of the root login, normalised; its id goes with a new root only. */
  readonly username?: string | undefined
  readonly password?: Secret<string> | undefined
  readonly pin?: Secret<string> | undefined
  /** The key of the parent; a new root has none. */
  readonly parentKey?: Uint8Array
  readonly walletInfos?: readonly WalletInfo[]
  readonly snrp?: SnrpOptions | undefined
}

/** A login that was not sent to the server yet. */
export interface NewLogin {
  /** The `data` of POST /v2/login/create. */
  readonly serverBody: JsonObject
  readonly stash: LoginStash
  readonly loginKey: Uint8Array
}

/** Makes the keys of a new login and everything that the server and this device must keep of it (protocol §2.4). */
export const makeNewLogin = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  options: NewLoginOptions
): Promise<NewLogin> => {
  const { appId, parentKey } = options
  const { toBase64 } = io.crypto
  const login: KeyedLogin = { loginId: toBase64(io.random(32)), loginKey: io.random(32) }
  const loginAuth = io.random(32)
  const loginAuthBox = sealBox(io, login.loginKey, loginAuth)
  const parentBox = parentKey === undefined ? undefined : sealBox(io, parentKey, login.loginKey)
  const name = parentKey === undefined ? await nameOf(io, login, options.username) : undefined
  const changes = await changesOf(io, login, options)

  const empty: LoginStash = {
    appId,
    loginId: login.loginId,
    pendingVouchers: [],
    loginAuthBox,
    ...compact({ parentBox }),
    ...name?.stash
  }
  return {
    serverBody: Object.assign(
      { appId, loginId: login.loginId, loginAuth: toBase64(loginAuth), loginAuthBox: { ...loginAuthBox } },
      parentBox === undefined ? {} : { parentBox: { ...parentBox } },
      name?.serverBody,
      ...changes.map(change => change.serverBody)
    ),
    stash: changes.reduce((stash, change) => patchLogin(stash, change.stash), patchLogin(empty, {})),
    loginKey: login.loginKey
  }
}

const changesOf = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  login: KeyedLogin,
  { username, password, pin, walletInfos = [], snrp }: NewLoginOptions
): Promise<LoginChange[]> => {
  const changes: LoginChange[] = []
  if (username !== undefined && password !== undefined) {
    changes.push(await passwordChange(io, login, { username, password, ...compact({ snrp }) }))
  }
  if (pin !== undefined) changes.push(pinChange(io, login, { pin, username }))
  if (walletInfos.length > 0) changes.push(walletInfosChange(io, login, walletInfos))
  return changes
}

const nameOf = async (
  io: Pick<Io, 'crypto' | 'random'>,
  { loginKey }: KeyedLogin,
  username: Username | undefined
): Promise<{ serverBody: JsonObject; stash: Partial<LoginStash> } | undefined> => {
  if (username === undefined) return undefined
  const userId = io.crypto.toBase64(await userIdOf(io, username))
  return {
    serverBody: { userId, userTextBox: { ...sealText(io, loginKey, username) } },
    stash: { userId, username }
  }
}

/** An app whose account shall be ready. */
export interface AppAccount {
  readonly appId: string
  /** Of the root login, normalised; `undefined` if it has none. */
  readonly username: Username | undefined
}

/** The repo of an app's account, where a login or one below it has it (pure). */
export const findAppRepo = (held: LoginTree, appId: string): SecretWalletInfo | undefined => {
  const type = accountRepoTypeOf(appId)
  return findTree(held, node => node.appId === appId)?.walletInfos.find(info => info.type === type)
}

/**
 * Makes the repo of an app's account, and below `held` the app's login, if there is none yet (protocol §4.4 step 3).
 *
 * A login of its own gets a PIN of its own where PIN login is switched on above.
 */
export const appLoginChange = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  held: LoginTree,
  app: AppAccount
): Promise<LoginChange> => {
  const repo = makeWalletInfo(io, accountRepoTypeOf(app.appId))
  const node = findTree(held, ({ appId }) => appId === app.appId)
  if (node === undefined) return childLoginChange(io, held, { app, repo })
  return node.loginKey.use(loginKey => walletInfosChange(io, { loginId: node.loginId, loginKey }, [repo]))
}

const childLoginChange = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  parent: LoginTree,
  { app, repo }: { readonly app: AppAccount; readonly repo: WalletInfo }
): Promise<LoginChange> => {
  const pin = parent.pin2Key === undefined ? undefined : parent.pin
  const parentKey = parent.loginKey.use(key => key.slice())
  const child = await makeNewLogin(io, { ...app, pin, walletInfos: [repo], parentKey })
  for (const key of [parentKey, child.loginKey]) key.fill(0)
  return {
    loginId: parent.loginId,
    serverMethod: 'POST',
    serverPath: '/v2/login/create',
    serverBody: child.serverBody,
    stash: { children: [child.stash] }
  }
}
