import type { Schema } from 'yup'
import { compact } from '../base/compact.ts'
import { patienceOf } from '../base/deadline.ts'
import { failureLine, isWalletError, scrub, WalletError } from '../base/errors.ts'
import {
  JSON_SLICE_LENGTH,
  type Json,
  type JsonObject,
  parseJsonInSlices,
  parseJsonText
} from '../base/json.ts'
import { dateOf } from '../base/time.ts'
import { makeYielder } from '../base/yielder.ts'
import type { AbortSignalLike, Clock, FetchOptions, FetchReply, Io } from '../io/io.ts'
import type { Services } from '../plugins/services.ts'
import {
  asChallengeResults,
  asEnvelope,
  asOtpResults,
  asPasswordResults,
  type OtpResults,
  parseLoginPayload,
  parseMessage,
  parseMessageList,
  parseResetDate
} from '../schema/login.ts'
import { parse } from '../schema/shape.ts'
import type { Username } from '../types/ids.ts'
import type { LoginMessage, LoginPayload, LoginStash } from '../types/login.ts'
import { normalizeUsername, userIdOf } from './derive.ts'

/** The services that requests to the login server need. */
export type ServerServices = Pick<Services, 'io' | 'config'>

/** The methods that the login server's routes take. */
export type LoginMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * Asks the login server and gives the unchecked results of its reply (specification §7, protocol §2.1, §2.2).
 *
 * Gives up after 30 seconds. Nothing is tried a second time but what only reads, and only if a kept connection was closed.
 *
 * @param path - the route below the server's base: `/v2/login`
 * @throws NETWORK, REPLY_TOO_LARGE, and what {@link resultsOf} throws
 */
export const loginFetch = async (
  services: ServerServices,
  method: LoginMethod,
  path: string,
  body?: JsonObject
): Promise<unknown> => {
  const { apiKey, authServer } = services.config
  if (authServer === '') {
    throw new WalletError('NETWORK', { path, server: 'a login server', reason: 'none is named' })
  }
  const options: FetchOptions = {
    method,
    ...compact({ isRepeatable: READS.includes(path) || undefined }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Token ${apiKey === '' ? DEFAULT_API_KEY : apiKey}`
    },
    ...compact({ body: body === undefined || method === 'GET' ? undefined : JSON.stringify(body) })
  }
  let reply: FetchReply
  try {
    reply = await fetchInTime(services, authServer + path, options)
  } catch (error) {
    // A platform that refuses a request says why.
    if (isWalletError(error, 'REPLY_TOO_LARGE') || isWalletError(error, 'NETWORK')) throw error
    throw new WalletError('NETWORK', { path }, causeOfFetch(error))
  }
  const { text, status } = reply
  if (text.length <= JSON_SLICE_LENGTH) return resultsOf(text, status)
  const json = await parseJsonInSlices(text, makeYielder(services.io.clock)).catch((error: unknown) => {
    throw error instanceof SyntaxError ? new WalletError('INVALID_JSON', { status }) : error
  })
  return resultsIn(json)
}

/** POST /v2/login with credentials: the login and everything below it. */
export const postLogin = async (services: ServerServices, request: LoginRequest): Promise<LoginPayload> => {
  const { deviceDescription } = services.config
  const body = encodeLoginRequest(services.io, { deviceDescription, ...request })
  return parseLoginPayload(await loginFetch(services, 'POST', '/v2/login', body))
}

/** POST /v2/login/create: a new root, or with the parent's credentials a new child. @throws ACCOUNT_EXISTS */
export const postCreate = async (services: ServerServices, request: LoginRequest): Promise<void> => {
  await loginFetch(services, 'POST', '/v2/login/create', encodeLoginRequest(services.io, request))
}

/** POST /v2/login/secret: gives the login a `loginAuth`, once. */
export const postSecret = async (services: ServerServices, request: LoginRequest): Promise<LoginPayload> => {
  const body = encodeLoginRequest(services.io, request)
  return parseLoginPayload(await loginFetch(services, 'POST', '/v2/login/secret', body))
}

/**
 * POST /v2/sync: checks if the login is still as it was in the reply that brought its token; any doubt is a no
 * (protocol §4.6).
 *
 * @throws NETWORK: a second question would wait another 30 seconds for the same silence
 */
export const isUnchanged = async (
  services: ServerServices,
  { loginId, syncToken }: LoginStash
): Promise<boolean> => {
  if (syncToken === undefined) return false
  try {
    return (await loginFetch(services, 'POST', '/v2/sync', { loginId, syncToken })) === true
  } catch (error) {
    if (isWalletError(error, 'NETWORK')) throw error
    return false
  }
}

/** Returns true if a username is free. `username`: normalised (specification §7). */
export const usernameAvailable = async (services: ServerServices, username: string): Promise<boolean> => {
  const userId = await userIdOf(services.io, username)
  try {
    await loginFetch(services, 'POST', '/v2/login', encodeLoginRequest(services.io, { userId }))
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

/** Routes whose POST changes nothing. */
const READS: readonly string[] = ['/v2/login', '/v2/sync', '/v2/messages']

const TIMEOUT_MS = 30_000

const fetchInTime = ({ io }: ServerServices, url: string, options: FetchOptions): Promise<FetchReply> =>
  new Promise((resolve, reject) => {
    const milliseconds = TIMEOUT_MS * patienceOf(io)
    const timeout = makeTimeout(io.clock, milliseconds, () =>
      reject(new WalletError('DEADLINE', { what: 'The login server', milliseconds }))
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

/** Makes an abort signal that fires after the time limit: the kernel has no `AbortController`. */
const makeTimeout = (clock: Clock, milliseconds: number, onTimeout: () => void): Timeout => {
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
  return { signal, cancel: clock.after(milliseconds, abort) }
}

/**
 * Asks for news of every user of this device: devices that wait, and resets of two-factor (specification §7).
 *
 * Needs no secret. An entry that cannot be read is skipped, so that the news of the other users arrives.
 *
 * @returns in the order of `users`; only users that the server knows, and none that is on this device only
 * @throws NETWORK, BAD_REPLY and what the server answers; asks nothing where there are no users
 */
export const fetchLoginMessages = async (
  services: Pick<Services, 'io' | 'config' | 'logOf'>,
  users: readonly LoginStash[]
): Promise<readonly LoginMessage[]> => {
  const known = users.filter(({ deviceOnly }) => deviceOnly === undefined)
  if (known.length === 0) return []
  const loginIds = known.map(({ loginId }) => loginId)
  const entries = parseMessageList(await loginFetch(services, 'POST', '/v2/messages', { loginIds }))
  const found = new Map(
    entries.flatMap(entry => readMessage(services, entry)).map(news => [news.loginId, news])
  )
  return users.flatMap(({ loginId, username }) => {
    const message = found.get(loginId)
    if (message === undefined) return []
    return [{ ...message, ...compact({ username }) }]
  })
}

const readMessage = ({ logOf }: Pick<Services, 'logOf'>, entry: unknown): LoginMessage[] => {
  try {
    return [parseMessage(entry)]
  } catch (error) {
    logOf('login').warn(failureLine('Could not read the messages of one user', error))
    return []
  }
}

/** The username for a reset, and the token that came with a refused code. */
export interface ResetRequest {
  /** As typed. */
  readonly username: Username
  /** `resetToken` of an OTP error. A secret. */
  readonly resetToken: string
}

/**
 * Asks the server to switch two-factor off after its timeout, unless the owner cancels that (specification §4, §7).
 *
 * @returns when it will be off; a second request does not put that off
 * @throws BAD_USERNAME, ACCOUNT_NOT_FOUND, NETWORK; PASSWORD for a wrong token; SERVER if two-factor is not on
 */
export const requestOtpReset = async (
  services: ServerServices,
  { username, resetToken }: ResetRequest
): Promise<Date> => {
  const userId = await userIdOf(services.io, normalizeUsername(username))
  const body = encodeLoginRequest(services.io, { userId, otpResetAuth: resetToken })
  return dateOf(parseResetDate(await loginFetch(services, 'DELETE', '/v2/login/otp', body)))
}

/** The credentials of a request to the login server: exactly one pair of protocol §2.3, or none. Raw bytes. */
export interface LoginCredentials {
  readonly loginId?: Uint8Array
  readonly loginAuth?: Uint8Array
  readonly userId?: Uint8Array
  readonly passwordAuth?: Uint8Array
  readonly pin2Id?: Uint8Array
  readonly pin2Auth?: Uint8Array
  readonly recovery2Id?: Uint8Array
  readonly recovery2Auth?: readonly Uint8Array[]
  /** With a userId alone it asks for the reset of two-factor. */
  readonly otpResetAuth?: string
}

/** The flat body that all login routes share (protocol §2.3). */
export interface LoginRequest extends LoginCredentials {
  readonly challengeId?: string | undefined
  readonly deviceDescription?: string | undefined
  readonly otp?: string | undefined
  readonly syncToken?: string | undefined
  readonly voucherId?: string | undefined
  readonly voucherAuth?: Uint8Array | undefined
  readonly data?: JsonObject | undefined
}

/** The JSON of a request: bytes as padded base64, absent fields left out (pure; vectors `request-codec`). */
export const encodeLoginRequest = (io: Pick<Io, 'crypto'>, request: LoginRequest): JsonObject => {
  const body: Record<string, Json> = {}
  for (const [name, value] of Object.entries(request)) {
    if (value instanceof Uint8Array) body[name] = io.crypto.toBase64(value)
    else if (name === 'recovery2Auth') body[name] = (value as Uint8Array[]).map(io.crypto.toBase64)
    else if (value !== undefined) body[name] = value
  }
  return body
}

/**
 * Gives the results of a reply of the login server, or throws what its code says (protocol §2.2; pure).
 *
 * @param text - the body; the HTTP status only helps the message
 * @throws INVALID_JSON, BAD_REPLY, ACCOUNT_EXISTS, ACCOUNT_NOT_FOUND, PASSWORD, API_KEY_INVALID, OTP,
 * OBSOLETE_API, CHALLENGE, CONFLICT, SERVER
 */
export const resultsOf = (text: string, status: number): unknown => resultsIn(jsonOf(text, status))

const resultsIn = (json: unknown): unknown => {
  const { status_code: code, message, results } = parse(asEnvelope, json, 'login reply')
  if (code === 0) return results
  throw failureOf(code, message, results)
}

const jsonOf = (text: string, status: number): unknown => {
  try {
    return parseJsonText(text)
  } catch {
    throw new WalletError('INVALID_JSON', { status })
  }
}

const failureOf = (code: number, message: string, results: unknown): WalletError => {
  switch (code) {
    case 2:
      return new WalletError('ACCOUNT_EXISTS', {})
    case 3:
      return new WalletError('ACCOUNT_NOT_FOUND', {})
    case 4:
    case 5: {
      const waitSeconds = tryParse(asPasswordResults, results)?.wait_seconds
      return new WalletError('PASSWORD', waitSeconds === undefined ? {} : { waitSeconds })
    }
    case 6:
      return new WalletError('API_KEY_INVALID', {})
    case 8:
      return otpFailureOf(tryParse(asOtpResults, results))
    case 1000:
      return new WalletError('OBSOLETE_API', {})
    default: {
      const challenge = tryParse(asChallengeResults, results)
      if (challenge !== undefined) return new WalletError('CHALLENGE', challenge)
      return new WalletError(code === 10 ? 'CONFLICT' : 'SERVER', { message: scrub(message) })
    }
  }
}

const otpFailureOf = (results: OtpResults | undefined): WalletError<'OTP'> =>
  new WalletError('OTP', {
    reason: results?.reason === 'ip' ? 'ip' : 'otp',
    ...compact({
      loginId: results?.login_id,
      resetToken: results?.otp_reset_auth,
      resetDate: results?.otp_timeout_date,
      voucherActivates: results?.voucher_activates,
      voucherAuth: results?.voucher_auth,
      voucherId: results?.voucher_id
    })
  })

/** Details that cannot be read must not hide the failure that they belong to. */
const tryParse = <T>(schema: Schema<T>, results: unknown): T | undefined => {
  try {
    return parse(schema, results, 'login reply')
  } catch {
    return undefined
  }
}
