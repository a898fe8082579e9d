import { compact } from '../base/compact.ts'
import { failureLine, isWalletError, WalletError } from '../base/errors.ts'
import { type Json, type JsonObject, parseJsonText } from '../base/json.ts'
import type { Scheduler } from '../base/scheduler.ts'
import { openJson, sealJson } from '../crypto/box.ts'
import { parseBase58 } from '../crypto/encoding.ts'
import { checkLobbyId, lobbyBoxKeyOf, makeLobbyKeys } from '../crypto/lobby-key.ts'
import type { Io } from '../io/io.ts'
import { type AccountRules, requestKeys } from '../keys/key-gate.ts'
import type { Services } from '../plugins/services.ts'
import {
  type LobbyContent,
  type LobbyReply,
  type LobbyRequest,
  parseLobby,
  parseLobbyReply
} from '../schema/lobby.ts'
import type { LoginTree } from '../types/login.ts'
import { type AppDisplay, fetchAppDisplay } from './app-info.ts'
import type { Login } from './login.ts'
import { loginFetch, type ServerServices } from './server.ts'
import { exportedStash, stashTextOf } from './stash.ts'
import { findTree } from './tree.ts'

/** The request of another device. */
export interface Lobby {
  /** Base58. */
  readonly lobbyId: string
  /** Absent if the lobby is not about a login. */
  readonly loginRequest?: LobbyLoginRequest
}

/**
 * The login request of another device, for a person to judge.
 *
 * @example
 * ```ts
 * const { loginRequest } = await account.fetchLobby('5JEbCbVkVWHbXUbCCbD4XfGqBGSRzj3Kb8m3Vn5qG4hY')
 * if (loginRequest !== undefined && !loginRequest.isWholeAccount) await loginRequest.approve()
 * else loginRequest?.close()
 * ```
 */
export interface LobbyLoginRequest extends AppDisplay {
  readonly appId: string
  /**
   * True if the device gets the account itself, with every app in it; else it gets the login of one app and of those below it.
   */
  readonly isWholeAccount: boolean
  /** The app that made the login, below its own, and so can read it, too; absent where only the account can. */
  readonly insideAppId?: string
  /**
   * Hands the login over, and makes it first if the account has none for the app yet.
   *
   * The account is refreshed 10 seconds later, and again 20 seconds after that (specification §4).
   *
   * @throws EDGE_LOGIN_CLOSED after `close`, also if `close` came before the login was handed over
   * @throws APP_ID_NOT_FOUND if this device does not hold the requested key
   * @throws LOBBY_NOT_FOUND, LOGGED_OUT, NETWORK, …
   */
  approve(): Promise<void>
  /** Declines the request on this device; the other device is not notified. */
  close(): void
}

/** The login that approves. The scheduler ends with the account. */
export interface Approver {
  readonly login: Login
  readonly scheduler: Scheduler
  readonly rules: Pick<AccountRules, 'check'>
}

type ApproverServices = Pick<Services, 'config' | 'hooks' | 'io' | 'logOf' | 'plugins' | 'report'>

/**
 * Reads what another device asks for (protocol §4.7).
 *
 * Hidden keys do not stand in the way of an approval: it shows no key to the application and changes no credential
 * (specification §5), and a device that may not show keys is often the only one that can let another one in.
 *
 * @throws LOBBY_NOT_FOUND, LOBBY_INTEGRITY, NETWORK
 */
export const fetchLobby = async (
  services: ApproverServices,
  approver: Approver,
  lobbyId: string
): Promise<Lobby> => {
  const { request } = await getLobby(services, lobbyId)
  if (request.loginRequest === undefined) return { lobbyId }
  const { appId } = request.loginRequest
  let isClosed = false
  let approving: Promise<void> | undefined
  const checkOpen = (): void => {
    if (isClosed) throw new WalletError('EDGE_LOGIN_CLOSED', {})
  }
  const approve = async (): Promise<void> => {
    await requestKeys(services, approver.rules, { use: 'approve login', appId })
    checkOpen()
    await sendLogin(services, approver.login, { lobbyId, request, appId, checkOpen })
    refreshLater(services, approver, { lobbyId, delays: REFRESH_DELAYS_MS })
  }
  const loginRequest: LobbyLoginRequest = {
    appId,
    isWholeAccount: appId === '',
    ...insideOf(approver.login.openState.held, appId),
    ...(await fetchAppDisplay(services, appId)),
    async approve() {
      checkOpen()
      // A second press is the same approval; after a failure it is a new one.
      approving ??= approve().catch(error => {
        approving = undefined
        throw error
      })
      return approving
    },
    close() {
      isClosed = true
    }
  }
  return { lobbyId, loginRequest: Object.freeze(loginRequest) }
}

/** Hazard: an app may make a login of any other app below its own, before the account has one. */
const insideOf = (held: LoginTree, appId: string): Pick<LobbyLoginRequest, 'insideAppId'> => {
  const node = findTree(held, tree => tree.appId === appId)
  const parent = findTree(held, tree => tree.children.some(child => child === node))
  return parent === undefined || parent === held ? {} : { insideAppId: parent.appId }
}

/** From the approval to the first refresh, and from the end of each to the next one. */
const REFRESH_DELAYS_MS: readonly number[] = [10_000, 20_000]

interface SendLoginOptions {
  readonly lobbyId: string
  readonly request: LobbyRequest
  readonly appId: string
  readonly checkOpen: () => void
}

const sendLogin = async (
  services: ApproverServices,
  login: Login,
  { lobbyId, request, appId, checkOpen }: SendLoginOptions
): Promise<void> => {
  await login.refresh()
  await login.ensureAccountRepo(appId)
  checkOpen()
  const { stash, held } = login.openState
  const node = findTree(held, tree => tree.appId === appId)
  if (node === undefined) throw new WalletError('APP_ID_NOT_FOUND', { appId })
  const loginStash = parseJsonText(stashTextOf(exportedStash(stash, node.loginId))) as JsonObject
  const answer = { appId, loginKey: node.loginKey.use(services.io.crypto.toBase64), loginStash }
  await postLobbyReply(services, lobbyId, sealLobbyReply(services.io, request, answer))
}

interface Refreshes {
  readonly lobbyId: string
  readonly delays: readonly number[]
}

/** The other device changes the account while it moves in, such as by wallets that it makes. */
const refreshLater = (
  services: ApproverServices,
  approver: Approver,
  { lobbyId, delays }: Refreshes
): void => {
  const [delay, ...rest] = delays
  if (delay === undefined) return
  const refresh = async (): Promise<void> => {
    try {
      await approver.login.refresh()
    } catch (error) {
      if (isWalletError(error, 'LOGGED_OUT')) return
      services.logOf('login').warn(failureLine('Could not refresh the login after an approval', error))
    }
    refreshLater(services, approver, { lobbyId, delays: rest })
  }
  approver.scheduler.schedule(`approval ${lobbyId}`, delay, () => void refresh())
}

/** PUT /v2/lobby/{id}: opens a lobby for a request. @throws ACCOUNT_EXISTS if there is one of this id */
export const putLobby = async (
  services: ServerServices,
  lobbyId: string,
  request: LobbyRequest
): Promise<void> => {
  const { paymentRequest, ...rest } = request
  const data = { ...rest, ...compact({ paymentRequest: paymentRequest && { ...paymentRequest } }) }
  await loginFetch(services, 'PUT', `/v2/lobby/${lobbyId}`, { data })
}

/**
 * GET /v2/lobby/{id}: the request of a lobby, which must be the one that the lobby is named after, and the replies.
 *
 * @throws LOBBY_NOT_FOUND, LOBBY_INTEGRITY, BAD_REPLY, NETWORK
 */
export const getLobby = async (services: ServerServices, lobbyId: string): Promise<LobbyContent> => {
  if (!isLobbyId(lobbyId)) throw notFound(lobbyId)
  const lobby = parseLobby(
    await callLobby(lobbyId, () => loginFetch(services, 'GET', `/v2/lobby/${lobbyId}`))
  )
  checkLobbyId(services.io, lobbyId, services.io.crypto.fromBase64(lobby.request.publicKey))
  return lobby
}

/** POST /v2/lobby/{id}: answers the request of a lobby. @throws LOBBY_NOT_FOUND, NETWORK */
export const postLobbyReply = async (
  services: ServerServices,
  lobbyId: string,
  reply: LobbyReply
): Promise<void> => {
  const data = { publicKey: reply.publicKey, box: { ...reply.box } }
  await callLobby(lobbyId, () => loginFetch(services, 'POST', `/v2/lobby/${lobbyId}`, { data }))
}

/** DELETE /v2/lobby/{id}: withdraws a request, on servers that offer it. */
export const deleteLobby = async (services: ServerServices, lobbyId: string): Promise<void> => {
  await loginFetch(services, 'DELETE', `/v2/lobby/${lobbyId}`)
}

/** Seals an answer for the maker of a request (protocol §1.9). @throws LOBBY_INTEGRITY */
export const sealLobbyReply = (
  io: Pick<Io, 'crypto' | 'random'>,
  request: LobbyRequest,
  answer: Json
): LobbyReply => {
  const { toBase64, fromBase64 } = io.crypto
  const { privateKey, publicKey } = makeLobbyKeys(io)
  const key = lobbyBoxKeyOf(io, privateKey, fromBase64(request.publicKey))
  const reply = { publicKey: toBase64(publicKey), box: sealJson(io, key, answer) }
  for (const secret of [privateKey, key]) secret.fill(0)
  return reply
}

/**
 * Opens an answer with the private key of the request. The shape of the result is unchecked.
 *
 * @throws BAD_REPLY, LOBBY_INTEGRITY, SyntaxError, TypeError, INVALID_CHECKSUM and the other failures of boxes
 */
export const openLobbyReply = (io: Pick<Io, 'crypto'>, privateKey: Uint8Array, reply: unknown): unknown => {
  const { publicKey, box } = parseLobbyReply(reply)
  const key = lobbyBoxKeyOf(io, privateKey, io.crypto.fromBase64(publicKey))
  try {
    return openJson(io, key, box)
  } finally {
    key.fill(0)
  }
}

/** The server speaks of a missing account where it has no such lobby (protocol §8 no. 19). */
const callLobby = async <T>(lobbyId: string, query: () => Promise<T>): Promise<T> => {
  try {
    return await query()
  } catch (error) {
    throw isWalletError(error, 'ACCOUNT_NOT_FOUND') ? notFound(lobbyId) : error
  }
}

/** A typed text must not become a path of its own. */
const isLobbyId = (text: string): boolean => {
  try {
    return text !== '' && text.length <= MAX_ID && parseBase58(text).length > 0
  } catch {
    return false
  }
}

const MAX_ID = 100

const notFound = (lobbyId: string): WalletError =>
  new WalletError('LOBBY_NOT_FOUND', { lobbyId: lobbyId.slice(0, MAX_ID) })
