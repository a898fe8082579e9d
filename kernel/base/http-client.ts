import type { AbortSignalLike, FetchOptions, FetchReply, Io } from '../io/io.ts'
import { compact } from './compact.ts'
import { makeAbort, patienceOf, withDeadline } from './deadline.ts'
import { isWalletError, WalletError } from './errors.ts'
import type { JsonObject } from './json.ts'

/** One request to a server. Headers, query and body may hold keys: they come into no error and no log. */
export interface HttpRequest {
  /** Follows the origin, with a leading slash; may hold a query of its own. */
  readonly path: string
  /** Added to the path, with each value escaped; what is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, as text or as an object whose undefined fields are left out; makes the request a POST. */
  readonly body?: string | JsonObject
  readonly signal?: AbortSignalLike
}

/** A reply that was no refusal and no failure of the server. */
export interface HttpReply extends FetchReply {
  /** True for a status from 200 to 299. */
  readonly isOk: boolean
}

/** The rate limit of a server, and the back-off of the client after a refusal. */
export interface RateLimit {
  /** Statuses that refuse a request because there were too many. */
  readonly statuses: readonly number[]
  /** Statuses that refuse the client itself, such as its country: the longest back-off follows. */
  readonly barredStatuses?: readonly number[]
  /** The back-off if the server names none. */
  readonly firstMs: number
  readonly maxMs: number
  /** Doubles the back-off with each refusal that follows another one. */
  readonly doubles?: boolean
  /** Which forms of `Retry-After` count: seconds of up to six digits, or seconds of up to nine digits and dates. */
  readonly retryAfter: 'seconds' | 'secondsOrDate'
  /** The end of the message of an error, at the refusal and during the back-off; by default it names status or end. */
  readonly message?: string
}

/** The options of an {@link HttpClient}. */
export interface HttpClientOptions {
  /** The server's name, for errors. */
  readonly name: string
  /** Addresses without a final slash; the next one is tried after a failure. */
  readonly origins: readonly string[]
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** 30 seconds if left out. */
  readonly deadlineMs?: number
  /** 8 MB if left out. */
  readonly maxReplyBytes?: number
  readonly rateLimit?: RateLimit
}

/**
 * Sends HTTP requests to one server within a deadline, and backs off when the server asks for it.
 *
 * Errors name the server and the status, never the address, which may hold a key.
 *
 * @example
 * ```ts
 * import { HttpClient } from 'holdfast/plugin'
 *
 * const client = new HttpClient(io, { name: 'Corner Shop', origins: ['https://shop.example.org'] })
 * const { text } = await client.request({ path: '/prices', query: { coin: 'BTC' } })
 * ```
 */
export class HttpClient {
  readonly #io: Pick<Io, 'clock' | 'fetch' | 'isProxied'>
  readonly #options: HttpClientOptions
  #originIndex = 0
  // By the monotonic clock: people set back the time of day.
  #backOffEnd = Number.NEGATIVE_INFINITY
  // By the calendar, for people; a message that stays the same for the whole back-off is logged once.
  #backOffEndText = ''
  #refusals = 0

  constructor(io: Pick<Io, 'clock' | 'fetch' | 'isProxied'>, options: HttpClientOptions) {
    this.#io = io
    this.#options = options
  }

  /** The address that the next request goes to; it changes after failures. */
  get origin(): string {
    return this.#options.origins[this.#originIndex] ?? ''
  }

  /**
   * Sends a request; a second one may be sent before the first is answered.
   *
   * @throws SERVER for no answer, a refusal, a status of 500 and above, and during a back-off; DEADLINE, and then the
   * request is aborted; REPLY_TOO_LARGE. Every other status is left to the caller.
   */
  async request(request: HttpRequest): Promise<HttpReply> {
    this.checkBackOff()
    const reply = await this.#send(request).catch(error => {
      if (request.signal?.aborted !== true) this.#useNextOrigin()
      throw error
    })
    const { status } = reply
    const { statuses = [], barredStatuses = [], message } = this.#options.rateLimit ?? {}
    if (statuses.includes(status) || barredStatuses.includes(status)) {
      this.#onRefusal(reply)
      throw this.#failed(message ?? `answered with status ${status}`)
    }
    if (status >= 500) {
      this.#useNextOrigin()
      throw this.#failed(`answered with status ${status}`)
    }
    if (status === 200 || (status === 304 && request.headers?.['if-none-match'] !== undefined)) {
      this.#refusals = 0
    }
    return { ...reply, isOk: status >= 200 && status < 300 }
  }

  /** Returns unless a back-off lasts. @throws SERVER during a back-off */
  checkBackOff(): void {
    if (this.#io.clock.monotonic() >= this.#backOffEnd) return
    throw this.#failed(
      this.#options.rateLimit?.message ?? `refused, and is left alone until ${this.#backOffEndText}`
    )
  }

  /** Fetches, and aborts the request when the caller does or when the deadline passes. */
  async #send(request: HttpRequest): Promise<FetchReply> {
    const { name, deadlineMs = 30_000 } = this.#options
    const { signal } = request
    const abort = makeAbort()
    signal?.addEventListener('abort', abort.abort)
    if (signal?.aborted === true) abort.abort()
    const deadline = {
      clock: this.#io.clock,
      milliseconds: deadlineMs * patienceOf(this.#io),
      what: `The answer of ${name}`
    }
    try {
      return await withDeadline(deadline, () =>
        this.#io.fetch(urlOf(this.origin, request), { ...this.#fetchOptions(request), signal: abort.signal })
      )
    } catch (error) {
      abort.abort()
      if (isWalletError(error)) throw error
      // The platform's message may hold the address.
      throw this.#failed('cannot be reached')
    } finally {
      signal?.removeEventListener('abort', abort.abort)
    }
  }

  #fetchOptions({ headers, body }: HttpRequest): FetchOptions {
    const { headers: common, maxReplyBytes = 8_000_000 } = this.#options
    return {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...common,
        ...compact({ 'content-type': body === undefined ? undefined : 'application/json' }),
        ...headers
      },
      maxReplyBytes,
      ...compact({
        body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      })
    }
  }

  #onRefusal({ status, headers }: FetchReply): void {
    const { origins, rateLimit } = this.#options
    if (rateLimit === undefined) return
    // Another origin may serve this country.
    if (status === 451 && this.#originIndex + 1 < origins.length) {
      this.#originIndex += 1
      return
    }
    const { clock } = this.#io
    const backOffMs = backOffOf(rateLimit, { status, headers, refusals: this.#refusals, now: clock.now() })
    this.#originIndex = 0
    this.#refusals += 1
    this.#backOffEnd = clock.monotonic() + backOffMs
    this.#backOffEndText = new Date(clock.now() + backOffMs).toISOString()
  }

  #useNextOrigin(): void {
    this.#originIndex = (this.#originIndex + 1) % this.#options.origins.length
  }

  #failed(what: string): WalletError {
    return new WalletError('SERVER', { message: `${this.#options.name} ${what}` })
  }
}

const urlOf = (origin: string, { path, query = {} }: HttpRequest): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]
  )
  return `${origin}${path}${pairs.length === 0 ? '' : `${path.includes('?') ? '&' : '?'}${pairs.join('&')}`}`
}

interface Refusal extends Pick<FetchReply, 'status' | 'headers'> {
  /** The number of refusals before it without a success in between. */
  readonly refusals: number
  readonly now: number
}

const backOffOf = (limit: RateLimit, { status, headers, refusals, now }: Refusal): number => {
  const { firstMs, maxMs, doubles = false, barredStatuses = [] } = limit
  if (barredStatuses.includes(status)) return maxMs
  const usualMs = doubles ? firstMs * 2 ** Math.min(refusals, 10) : firstMs
  const wantedMs = retryAfterOf(headers['retry-after'] ?? '', limit, now) ?? usualMs
  return Math.min(Math.max(wantedMs, 0), maxMs)
}

/** The milliseconds that `Retry-After` names, from now on; undefined for no time. */
const retryAfterOf = (text: string, { retryAfter }: RateLimit, now: number): number | undefined => {
  const takesDates = retryAfter === 'secondsOrDate'
  if ((takesDates ? /^\d{1,9}$/ : /^\d{1,6}$/).test(text)) return Number(text) * 1000
  const date = takesDates ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : date - now
}
