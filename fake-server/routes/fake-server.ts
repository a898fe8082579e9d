import { isWalletError } from '../../kernel/base/errors.ts'
import { parseJson } from '../../kernel/base/json.ts'
import type { Clock, CryptoPort } from '../../kernel/io/io.ts'
import { FakeDb } from '../accounts/fake-db.ts'
import {
  emptyReply,
  envelope,
  type FakeReply,
  type FakeRequest,
  invalidRequest,
  type Middleware,
  unknownEndpoint
} from '../base/replies.ts'
import { makeTrafficLog, type TrafficLog } from '../base/traffic.ts'
import type { Challenge, Handler, ServerLists } from './route.ts'
import { findRoute } from './table.ts'

/** Options of {@link FakeServer}. */
export interface FakeServerOptions {
  readonly crypto: CryptoPort
  readonly clock: Clock
  /** The only API keys that are let in; any, or none at all, when left out. */
  readonly apiKeys?: readonly string[]
  /** The lists of `/v1/edgeServers`; {@link FAKE_SERVER_LISTS} when left out. */
  readonly servers?: ServerLists
  /** Waits until all changes so far are durable; each answer waits for it. */
  readonly saved?: () => Promise<void>
  /** The number of requests that the traffic log keeps; 1000 when left out. */
  readonly trafficLimit?: number
}

/** Addresses that pass the domain rule and lead to the fake server inside a process. */
export const FAKE_SERVER_LISTS: ServerLists = {
  infoServers: ['http://localhost'],
  syncServers: ['http://localhost']
}

/** The largest request body, in characters. */
export const MAX_BODY = 8_000_000

/**
 * The login, info and sync servers of the deployed system, in memory, for tests, demonstrations and the default
 * profile (specification §7, protocol §2.10).
 *
 * It never throws and garbage never changes it. It differs from the deployed test server where protocol §8 says so,
 * and in that its dates come true (docs/adr/0024-time-passes-on-the-fake-server.md).
 */
export class FakeServer {
  readonly db: FakeDb
  readonly traffic: TrafficLog
  /** False: every request fails as if the network were gone. */
  isOnline = true
  /** The lists of `/v1/edgeServers`. */
  servers: ServerLists
  /** While set, a login needs the id of this solved CAPTCHA (protocol §2.2). */
  challenge: Challenge | undefined
  readonly #options: FakeServerOptions
  readonly #middlewares = new Set<Middleware>()

  constructor(options: FakeServerOptions, db: FakeDb = new FakeDb(options.crypto)) {
    this.#options = options
    this.db = db
    this.servers = options.servers ?? FAKE_SERVER_LISTS
    this.traffic = makeTrafficLog(options.trafficLimit)
  }

  /** Puts a middleware before the server, outside those already there, until the returned function is called. */
  use(middleware: Middleware): () => void {
    this.#middlewares.add(middleware)
    return () => void this.#middlewares.delete(middleware)
  }

  /**
   * Answers one request, after everything it changed is durable.
   *
   * @throws Error `Fake network error` while offline, and whatever a middleware throws
   */
  async handle(request: FakeRequest): Promise<FakeReply> {
    const { clock } = this.#options
    const started = clock.monotonic()
    let status = 0
    try {
      if (!this.isOnline) throw new Error('Fake network error')
      let next = (): Promise<FakeReply> => this.#answer(request)
      for (const middleware of this.#middlewares) {
        const inner = next
        next = () => middleware(request, inner)
      }
      const reply = await next()
      status = reply.status
      return reply
    } finally {
      const { method, path } = request
      this.traffic.add({ method, path, status, duration: clock.monotonic() - started, at: clock.now() })
    }
  }

  async #answer(request: FakeRequest): Promise<FakeReply> {
    const reply = this.#route(request)
    try {
      await this.#options.saved?.()
    } catch (error) {
      const code = isWalletError(error) ? error.code : 'STORAGE_FAILED'
      return envelope('failed', { message: `The fake server could not save: ${code}` })
    }
    return reply
  }

  #route({ method, path, headers, body }: FakeRequest): FakeReply {
    const found = findRoute(path)
    if (found === undefined) return unknownEndpoint(path)
    const { methods, parts } = found
    const allow = { allow: Object.keys(methods).join(', ') }
    if (method === 'OPTIONS') return emptyReply(204, allow)
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (handler === undefined) return emptyReply(405, allow)
    if (found.needsApiKey && !this.#knowsKey(headers)) return envelope('invalidApiKey')
    if (body.length > MAX_BODY) return { ...invalidRequest('the body is too large'), status: 413 }
    return this.#run(handler, parts, body)
  }

  #run(handler: Handler, parts: readonly string[], text: string): FakeReply {
    const { crypto, clock } = this.#options
    try {
      const body = text === '' ? {} : parseJson(text, 'request')
      const { db, servers, challenge } = this
      return handler({ db, crypto, clock, servers, challenge, parts, body })
    } catch (error) {
      if (!isWalletError(error, 'BAD_REPLY')) return envelope('failed')
      const { path, rule } = error.details
      return invalidRequest(path === '' ? rule : `${path} ${rule}`)
    }
  }

  #knowsKey(headers: FakeRequest['headers']): boolean {
    const { apiKeys } = this.#options
    return apiKeys === undefined || apiKeys.some(key => headers.authorization === `Token ${key}`)
  }
}
