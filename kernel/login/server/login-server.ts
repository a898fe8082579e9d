import { isWalletError, WalletError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { AbortSignalLike, Clock, FetchOptions, FetchReply } from '../../io/io.ts'
import type { Services } from '../../plugins/services.ts'
import { parseLoginPayload } from '../../schema/login.ts'
import type { LoginPayload, LoginStash } from '../../types/login.ts'
import { userIdOf } from '../derive.ts'
import { resultsOf } from './login-reply.ts'
import { encodeLoginRequest, type LoginRequest } from './login-request.ts'

/** What the login server needs of the kernel. */
export type ServerPort = Pick<Services, 'io' | 'config'>

/** The methods that the login server's routes take. */
export type LoginMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * Asks the login server and gives the unchecked results of its reply (specification §7, protocol §2.1, §2.2).
 *
 * Gives up after 30 seconds. Nothing is tried a second time.
 *
 * @param path - the route below the server's base: `/v2/login`
 * @throws NETWORK, REPLY_TOO_LARGE, and what {@link resultsOf} throws
 */
export const loginFetch = async (
  port: ServerPort,
  method: LoginMethod,
  path: string,
  body?: JsonObject
): Promise<unknown> => {
  const { apiKey, authServer } = port.config
  const options: FetchOptions = {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Token ${apiKey === '' ? DEFAULT_API_KEY : apiKey}`
    },
    ...(body === undefined || method === 'GET' ? {} : { body: JSON.stringify(body) })
  }
  let reply: FetchReply
  try {
    reply = await fetchInTime(port, authServer + path, options)
  } catch (error) {
    if (isWalletError(error, 'REPLY_TOO_LARGE')) throw error
    throw new WalletError('NETWORK', { path }, causeOfFetch(error))
  }
  return resultsOf(reply.text, reply.status)
}

/** POST /v2/login with credentials: the login and everything below it. */
export const postLogin = async (port: ServerPort, request: LoginRequest): Promise<LoginPayload> => {
  const { deviceDescription } = port.config
  const body = encodeLoginRequest(port.io, { deviceDescription, ...request })
  return parseLoginPayload(await loginFetch(port, 'POST', '/v2/login', body))
}

/** POST /v2/login/create: a new root, or with the parent's credentials a new child. @throws ACCOUNT_EXISTS */
export const postCreate = async (port: ServerPort, request: LoginRequest): Promise<void> => {
  await loginFetch(port, 'POST', '/v2/login/create', encodeLoginRequest(port.io, request))
}

/** POST /v2/login/secret: gives the login a `loginAuth`, once. */
export const postSecret = async (port: ServerPort, request: LoginRequest): Promise<LoginPayload> => {
  const body = encodeLoginRequest(port.io, request)
  return parseLoginPayload(await loginFetch(port, 'POST', '/v2/login/secret', body))
}

/**
 * POST /v2/sync: tells whether the login is still as it was in the reply that brought its token; any doubt is a no
 * (protocol §4.6).
 *
 * @throws NETWORK: a second question would wait another 30 seconds for the same silence
 */
export const isUnchanged = async (port: ServerPort, { loginId, syncToken }: LoginStash): Promise<boolean> => {
  if (syncToken === undefined) return false
  try {
    return (await loginFetch(port, 'POST', '/v2/sync', { loginId, syncToken })) === true
  } catch (error) {
    if (isWalletError(error, 'NETWORK')) throw error
    return false
  }
}

/** Tells whether nobody has a username yet. `username`: normalised (specification §7). */
export const usernameAvailable = async (port: ServerPort, username: string): Promise<boolean> => {
  const userId = await userIdOf(port.io, username)
  try {
    await loginFetch(port, 'POST', '/v2/login', encodeLoginRequest(port.io, { userId }))
    return false
  } catch (error) {
    if (isWalletError(error, 'ACCOUNT_NOT_FOUND')) return true
    throw error
  }
}

/**
 * Says why a request failed, in the codes of the platform such as `ECONNREFUSED` (pure).
 *
 * Nothing else of the thrown error is kept: its text, its name and its other fields may repeat the address, the headers
 * and the body of the request, and with them every proof that was sent.
 */
export const causeOfFetch = (error: unknown): Error => {
  if (error instanceof WalletError) return error
  const codes: string[] = []
  let cause: unknown = error
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === 'object' && cause !== null; depth += 1) {
    const { code } = cause as { code?: unknown }
    if (typeof code === 'string' && PLATFORM_CODE.test(code) && !codes.includes(code)) codes.push(code)
    cause = (cause as { cause?: unknown }).cause
  }
  return new Error(codes.length === 0 ? 'the request failed' : `the request failed: ${codes.join(', ')}`)
}

const MAX_CAUSES = 5

/** Of Node, OpenSSL and undici, all in capitals: no key that is written in base16, base58 or base64 looks like it. */
const PLATFORM_CODE = /^(?:E[A-Z]{2,20}|(?:ERR|UND|CERT|SELF|UNABLE|DEPTH|HOSTNAME)_[A-Z]+(?:_[A-Z]+){0,8})$/

/** A fact of the protocol, not a secret (protocol §2.1). */
const DEFAULT_API_KEY = '4248c1bf41e53b840a5fdb2c872dd3ade525e66d'

const TIMEOUT_MS = 30_000

const fetchInTime = ({ io }: ServerPort, url: string, options: FetchOptions): Promise<FetchReply> =>
  new Promise((resolve, reject) => {
    const timeout = makeTimeout(io.clock, () =>
      reject(new WalletError('DEADLINE', { what: 'The login server', milliseconds: TIMEOUT_MS }))
    )
    // Inside a promise, so that a throw of a foreign io is a rejection.
    Promise.resolve()
      .then(() => io.fetch(url, { ...options, signal: timeout.signal }))
      .finally(timeout.cancel)
      .then(resolve, reject)
  })

interface Timeout {
  readonly signal: AbortSignalLike
  readonly cancel: () => void
}

/** An abort signal that fires by itself: the kernel has no `AbortController`. */
const makeTimeout = (clock: Clock, onTimeout: () => void): Timeout => {
  const listeners = new Set<() => void>([onTimeout])
  let aborted = false
  const signal: AbortSignalLike = {
    get aborted() {
      return aborted
    },
    addEventListener: (_, listener) => void listeners.add(listener),
    removeEventListener: (_, listener) => void listeners.delete(listener)
  }
  const abort = (): void => {
    aborted = true
    for (const listener of [...listeners]) listener()
  }
  return { signal, cancel: clock.after(TIMEOUT_MS, abort) }
}
