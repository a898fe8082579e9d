import {
  answerInstead,
  cutReplies,
  loseReplies,
  loseRequests,
  makeRandom,
  refusalReply,
  slowDown,
  spoilFigures
} from '../fake-server/base/faults.ts'
import {
  type FakeReply,
  type FakeRequest,
  fetchedReply,
  type Middleware,
  sentBody
} from '../fake-server/base/replies.ts'
import { makeFakeWorld } from '../fake-server/fake-world.ts'
import { type AbortSignalLike, type Io, WalletError } from '../kernel/plugin-api.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import type { FakeClock } from './fake-clock.ts'

/** A recorded reply; a text is the body of one with status 200. */
export interface RecordedReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** A request as a fake provider sees it. */
export interface ServedRequest extends FakeRequest {
  readonly url: string
  /** Its host in lower case, without a port. */
  readonly host: string
}

/** Answers requests like a server. A rejection means that no answer comes. */
export type Serve = (request: ServedRequest) => FakeReply | Promise<FakeReply>

/**
 * The replies that a plugin gets: a table by address, or a function that makes a fake provider, which may take the time of
 * the lab. A key is an address such as `https://shop.example.org/price`; without a `?` it stands for every query of that
 * address, and `POST ` before it limits it to that method.
 *
 * @example
 * ```ts
 * import type { Replies } from 'holdfast/testing'
 *
 * const recorded: Replies = { 'https://shop.example.org/price': '{"usd":64000}' }
 * const served: Replies = clock => ({ path }) => ({
 *   status: path === '/time' ? 200 : 404,
 *   headers: {},
 *   body: `{"now":${clock.now()}}`
 * })
 * ```
 */
export type Replies = Readonly<Record<string, string | RecordedReply>> | ((clock: FakeClock) => Serve)

/** One request that a plugin sent. */
export interface SentRequest extends ServedRequest {
  readonly signal: AbortSignalLike | undefined
  /** By the clock of the lab. */
  readonly at: number
}

/** The network of one plugin under test: recorded replies, and faults between. Nothing real is reached. */
export interface FakeNetwork {
  readonly fetch: Io['fetch']
  readonly requests: readonly SentRequest[]
  /** Requests for which no reply is recorded. */
  readonly unrecorded: readonly string[]
  /** False: every request fails. */
  isOnline: boolean
  /** Puts a fault before the provider, until the returned function is called. */
  use(fault: Middleware): () => void
}

/**
 * Makes the network of a plugin from recorded replies or a fake provider.
 *
 * @example
 * ```ts
 * import { makeFakeClock, makeFakeNetwork } from 'holdfast/testing'
 *
 * const network = makeFakeNetwork({ 'https://shop.example.org/price': '{"usd":64000}' }, makeFakeClock())
 * const { text } = await network.fetch('https://shop.example.org/price?coin=BTC')
 * console.log(text, network.requests.length)
 * ```
 */
export const makeFakeNetwork = (replies: Replies, clock: FakeClock): FakeNetwork => {
  const serve = typeof replies === 'function' ? replies(clock) : recorded(replies)
  const faults = new Set<{ readonly run: Middleware }>()
  const requests: SentRequest[] = []
  const unrecorded: string[] = []
  const network: FakeNetwork = {
    requests,
    unrecorded,
    isOnline: true,
    use(run) {
      const entry = { run }
      faults.add(entry)
      return () => void faults.delete(entry)
    },
    async fetch(url, options = {}) {
      const { method = 'GET', headers = {}, signal, maxReplyBytes = MAX_REPLY } = options
      const body = sentBody(options)
      const { host, pathname, search, hostname } = addressOf(url)
      const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
      const request: ServedRequest = {
        url,
        host: hostname,
        method: method.toUpperCase(),
        path: `${pathname}${search}`,
        headers: Object.fromEntries(named),
        body
      }
      requests.push({ ...request, signal, at: clock.monotonic() })
      if (!network.isOnline) throw new Error('Fake network error')
      let next = async (): Promise<FakeReply> => serve(request)
      for (const { run } of faults) {
        const inner = next
        next = () => run(request, inner)
      }
      const reply = await untilAborted(next(), signal).catch((error: unknown) => {
        if (error instanceof Unrecorded) unrecorded.push(`${request.method} ${url}`)
        throw error
      })
      if (Buffer.byteLength(reply.body) > maxReplyBytes)
        throw new WalletError('REPLY_TOO_LARGE', { source: host, limit: maxReplyBytes })
      return fetchedReply(reply, options)
    }
  }
  return network
}

/** As every platform's io, in bytes. */
const MAX_REPLY = 16 * 1024 * 1024

const addressOf = (url: string): URL => {
  const address = URL.parse?.(url) ?? (URL.canParse(url) ? new URL(url) : undefined)
  if (address === undefined || address === null || !/^https?:$/.test(address.protocol))
    throw new Error('Fake network error: no http or https address')
  return address
}

/** Thrown where nothing is recorded; the plugin sees a network error. */
class Unrecorded extends Error {}

const recorded =
  (table: Readonly<Record<string, string | RecordedReply>>): Serve =>
  ({ method, url }) => {
    const [bare = ''] = url.split('?')
    const key = [`${method} ${url}`, url, `${method} ${bare}`, bare].find(each => Object.hasOwn(table, each))
    const found = key === undefined ? undefined : table[key]
    if (found === undefined) throw new Unrecorded('Fake network error: no reply is recorded')
    const { status = 200, headers = {}, body } = typeof found === 'string' ? { body: found } : found
    return { status, headers, body }
  }

/** Waits for an answer, until the signal aborts. */
const untilAborted = <T>(work: Promise<T>, signal: AbortSignalLike | undefined): Promise<T> => {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('The request was aborted'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * The rate and swap providers of the fake world, under their real addresses, as the network of a plugin.
 *
 * @param prices - by code, in dollars: `{ BTC: '65000', 'iso:EUR': '1.08' }`; others are those of the fake market
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { fakeProviders, testRatePlugin } from 'holdfast/testing'
 * import { coinbase } from 'holdfast/plugins/rates/coinbase'
 *
 * const replies = fakeProviders({ BTC: '65000' })
 * testRatePlugin(test, coinbase, { valid: [{ wanted: ['BTC iso:USD'], replies, offers: { 'BTC iso:USD': 65_000 } }] })
 * ```
 */
export const fakeProviders =
  (prices: Readonly<Record<string, string>> = {}): Replies =>
  clock => {
    const { providers } = makeFakeWorld({ io: { ...makeNodeIo(), clock } })
    for (const [code, price] of Object.entries(prices)) providers.market.setPrice(code, price)
    return request => providers.handle(request.host, request)
  }

/** How often, and from which seed, {@link randomFaults} come. */
export interface RandomFaultsOptions {
  readonly clock: FakeClock
  /** Any whole number; the same one gives the same faults. */
  readonly seed: number
  /** The share of requests that have a fault: 0 none, 1 all; 0.3 if left out. */
  readonly rate?: number
}

/**
 * Faults at random, for a test of one's own: a request is late by up to five seconds, lost before or after the server has seen
 * it, refused with 429 or 503, or its reply breaks off or has odd figures.
 *
 * @example
 * ```ts
 * import { makeFakeClock, makeFakeNetwork, randomFaults } from 'holdfast/testing'
 *
 * const clock = makeFakeClock()
 * const network = makeFakeNetwork({ 'https://shop.example.org/price': '{"usd":64000}' }, clock)
 * const stop = network.use(randomFaults({ clock, seed: 7 }))
 * await network.fetch('https://shop.example.org/price').catch(error => console.log(error))
 * stop()
 * ```
 */
export const randomFaults = ({ clock, seed, rate = 0.3 }: RandomFaultsOptions): Middleware => {
  const random = makeRandom(seed)
  const port = { clock, random }
  const faults = [
    slowDown(port, { from: 0, to: 5000 }),
    loseRequests(port),
    loseReplies(port),
    answerInstead(port, refusalReply(429, { retryAfter: '30' })),
    answerInstead(port, refusalReply(503)),
    cutReplies,
    spoilFigures('-1')
  ]
  return (request, next) => {
    if (random() >= rate) return next()
    const fault = faults[Math.floor(random() * faults.length)]
    return fault === undefined ? next() : fault(request, next)
  }
}
