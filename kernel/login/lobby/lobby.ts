import { isWalletError, WalletError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { openJson, sealJson } from '../../crypto/box.ts'
import { parseBase58 } from '../../crypto/encoding.ts'
import { checkLobbyId, lobbyBoxKeyOf, makeLobbyKeys } from '../../crypto/lobby-key.ts'
import type { Io } from '../../io/io.ts'
import {
  type LobbyContent,
  type LobbyReply,
  type LobbyRequest,
  parseLobby,
  parseLobbyReply
} from '../../schema/lobby.ts'
import { loginFetch, type ServerPort } from '../server/login-server.ts'

/** PUT /v2/lobby/{id}: opens a lobby for a request. @throws ACCOUNT_EXISTS if there is one of this id */
export const putLobby = async (port: ServerPort, lobbyId: string, request: LobbyRequest): Promise<void> => {
  await loginFetch(port, 'PUT', `/v2/lobby/${lobbyId}`, { data: { ...request } })
}

/**
 * GET /v2/lobby/{id}: the request of a lobby, which must be the one that the lobby is named after, and the replies.
 *
 * @throws LOBBY_NOT_FOUND, LOBBY_INTEGRITY, BAD_REPLY, NETWORK
 */
export const getLobby = async (port: ServerPort, lobbyId: string): Promise<LobbyContent> => {
  if (!isLobbyId(lobbyId)) throw notFound(lobbyId)
  const lobby = parseLobby(await askLobby(lobbyId, () => loginFetch(port, 'GET', `/v2/lobby/${lobbyId}`)))
  checkLobbyId(port.io, lobbyId, port.io.crypto.fromBase64(lobby.request.publicKey))
  return lobby
}

/** POST /v2/lobby/{id}: answers the request of a lobby. @throws LOBBY_NOT_FOUND, NETWORK */
export const postLobbyReply = async (port: ServerPort, lobbyId: string, reply: LobbyReply): Promise<void> => {
  const data = { publicKey: reply.publicKey, box: { ...reply.box } }
  await askLobby(lobbyId, () => loginFetch(port, 'POST', `/v2/lobby/${lobbyId}`, { data }))
}

/** DELETE /v2/lobby/{id}: withdraws a request, on servers that offer it. */
export const deleteLobby = async (port: ServerPort, lobbyId: string): Promise<void> => {
  await loginFetch(port, 'DELETE', `/v2/lobby/${lobbyId}`)
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
const askLobby = async <T>(lobbyId: string, ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask()
  } catch (error) {
    throw isWalletError(error, 'ACCOUNT_NOT_FOUND') ? notFound(lobbyId) : error
  }
}

/** A text that somebody typed must not become a path of its own. */
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
