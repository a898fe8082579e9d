import type { Clock, CryptoPort } from '../../kernel/io/io.ts'
import { parse } from '../../kernel/schema/shape.ts'
import { authenticate } from '../accounts/auth.ts'
import type { FakeDb } from '../accounts/fake-db.ts'
import type { LoginRecord } from '../accounts/login-record.ts'
import { type LoginRequest, loginRequestShape, type Shape } from '../accounts/shapes.ts'
import { envelope, type FakeReply } from '../base/replies.ts'

/** The database, crypto and clock of every handler. */
export interface RouteTools {
  readonly db: FakeDb
  readonly crypto: CryptoPort
  readonly clock: Clock
  /** The addresses that `/v1/edgeServers` lists. */
  readonly servers: ServerLists
  readonly challenge: Challenge | undefined
}

/** A CAPTCHA that waits at an address; who solved it sends its id along. */
export interface Challenge {
  readonly challengeId: string
  readonly challengeUri: string
}

/** Base addresses of info and sync servers. */
export interface ServerLists {
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
}

/** A request that found its route: parts of the path by position, and the parsed JSON body. */
export interface RouteCall extends RouteTools {
  readonly parts: readonly string[]
  readonly body: unknown
}

/**
 * Answers one request, in one go: nothing else runs in between, and a handler checks all before it changes any.
 *
 * Throws BAD_REPLY for a body of the wrong shape.
 */
export type Handler = (call: RouteCall) => FakeReply

/** A path with its handlers by method. A `*` segment matches one non-empty segment. */
export interface Route {
  readonly path: string
  readonly methods: Readonly<Record<string, Handler>>
}

/** A call whose body is the flat one of the login routes. */
export interface LoginCall extends RouteCall {
  readonly request: LoginRequest
}

/** A login call that named its login and proved it. */
export interface KnownCall extends LoginCall {
  readonly record: LoginRecord
}

/** Makes a handler that needs a login; `fallback` answers requests that carry no credentials. */
export const withLogin =
  (
    handle: (call: KnownCall) => FakeReply,
    fallback: (call: LoginCall) => FakeReply = () => envelope('invalidRequest')
  ): Handler =>
  call => {
    const request = parse(loginRequestShape, call.body, 'request')
    const access = authenticate(request, call)
    if (access === undefined) return fallback({ ...call, request })
    if ('refusal' in access) return access.refusal
    return handle({ ...call, request, record: access.record })
  }

/** Checks the payload of a call. @throws BAD_REPLY */
export const payloadOf = <T>(shape: Shape<T>, { request }: LoginCall): T => parse(shape, request.data, 'data')

/** Success without results. */
export const done = (): FakeReply => envelope('success')

/**
 * Makes a handler of logins ask for a solved CAPTCHA first, while the server demands one.
 *
 * A logged-in device that asks with its own secret is never stopped: only a person at a login form can answer.
 */
export const withChallenge =
  (handle: Handler): Handler =>
  call => {
    const { challengeId, passwordAuth, pin2Auth, recovery2Auth } = parse(
      loginRequestShape,
      call.body,
      'request'
    )
    const isLogin = (passwordAuth ?? pin2Auth ?? recovery2Auth) !== undefined
    const { challenge } = call
    if (challenge === undefined || !isLogin || challengeId === challenge.challengeId) return handle(call)
    return envelope('invalidRequest', { message: 'Login requires a CAPTCHA', results: challenge })
  }
