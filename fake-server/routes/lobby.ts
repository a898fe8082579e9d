import { objectOf, optional, parse } from '../../kernel/schema/shape.ts'
import { DB_LIMITS } from '../accounts/fake-db.ts'
import { type LobbyRecord, lobbyReplyShape } from '../accounts/login-record.ts'
import { credential, loginRequestShape, type Shape } from '../accounts/shapes.ts'
import { envelope, type FakeReply, invalidRequest } from '../base/replies.ts'
import { done, type Handler, type Route, type RouteCall } from './route.ts'

/** The meeting place of edge logins: one request, and the replies to it (protocol §2.10). */
export const lobbyRoutes = (): readonly Route[] => [
  { path: '/api/v2/lobby/*', methods: { DELETE: remove, GET: show, POST: reply, PUT: open } }
]

/** Seconds (specification §9). */
const DEFAULT_TIMEOUT = 600
const MAX_REPLIES = 100
const MAX_ID = 100
const MAX_REQUEST = 100_000

const open: Handler = call => {
  const { db, clock, parts, body } = call
  const id = parts[0] ?? ''
  if (id.length > MAX_ID) return invalidRequest('the lobby id is too long')
  const { data } = parse(loginRequestShape, body, 'request')
  const { timeout = DEFAULT_TIMEOUT } = parse(lobbyRequestShape, data, 'data')
  if (JSON.stringify(data).length > MAX_REQUEST) return invalidRequest('the lobby request is too long')
  const isOpen = (db.lobby(id)?.expires ?? 0) > clock.now()
  if (isOpen) return envelope('accountExists', { message: `Lobby ${id} already exists.` })
  db.forgetLobbies(clock.now())
  if (db.counts.lobbies >= DB_LIMITS.lobbies)
    return envelope('failed', { message: 'This fake server is full' })
  const request = data as LobbyRecord['request']
  db.saveLobby(id, { request, replies: [], expires: clock.now() + timeout * 1000 })
  return done()
}

const show: Handler = call =>
  withLobby(call, ({ request, replies }) => envelope('success', { results: { request, replies } }))

const reply: Handler = call => {
  const { data } = parse(loginRequestShape, call.body, 'request')
  const answer = parse(lobbyReplyShape, data, 'data')
  return withLobby(call, (lobby, id) => {
    if (lobby.replies.length >= MAX_REPLIES) return envelope('failed', { message: 'This lobby is full' })
    call.db.saveLobby(id, { ...lobby, replies: [...lobby.replies, answer] })
    return done()
  })
}

const remove: Handler = call =>
  withLobby(call, (_, id) => {
    call.db.saveLobby(id, null)
    return done()
  })

// A lobby ends with its timeout; the deployed test server keeps the date and never checks it.
const withLobby = (
  { db, clock, parts }: RouteCall,
  use: (lobby: LobbyRecord, id: string) => FakeReply
): FakeReply => {
  const id = parts[0] ?? ''
  const lobby = db.lobby(id)
  if (lobby !== undefined && lobby.expires > clock.now()) return use(lobby, id)
  return envelope('noLobby', { message: `Cannot find lobby ${id.slice(0, MAX_ID)}` })
}

/** The fields of a lobby request that the server itself reads; the rest is kept as it came. */
const lobbyRequestShape: Shape<{ publicKey: string; timeout: number | undefined }> = objectOf<{
  publicKey: string
  timeout: number | undefined
}>({
  publicKey: credential(),
  timeout: optional(
    'timeout',
    (value): value is number => typeof value === 'number' && value >= 0 && value < 1e9
  )
})
