import { compact } from '../../kernel/index.ts'
import type { Clock } from '../../kernel/io/io.ts'
import type { FakeReply, FakeRequest, Middleware } from './replies.ts'

/** The clock and the random numbers of faults. */
export interface FaultPort {
  readonly clock: Pick<Clock, 'after'>
  /** A number from 0 up to, but not, 1; {@link makeRandom} repeats its numbers for the same seed. */
  readonly random: () => number
}

/** The requests that a fault affects; all of them without fields. */
export interface FaultTarget {
  readonly method?: string
  /** Tested against the path without host, such as `/api/v2/login/pin2`. */
  readonly path?: RegExp
  /** The share that is affected, at random: 0 none, 1 all. */
  readonly rate?: number
  /** Only the next so many that match. */
  readonly count?: number
}

/** A delay in milliseconds: a random one between the two. */
export interface FaultDelay {
  readonly from: number
  readonly to: number
}

/**
 * Makes random numbers that repeat for the same seed, which is any whole number.
 *
 * The generator is mulberry32: small, even enough for tests, and no secret depends on it.
 */
export const makeRandom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Slow network: each reply arrives later than the server sent it. */
export const slowDown = (port: FaultPort, { from, to }: FaultDelay, target: FaultTarget = {}): Middleware => {
  const isAffected = makeMatcher(port, target)
  return async (request, next) => {
    const isSlow = isAffected(request)
    const reply = await next()
    if (isSlow) await wait(port, from + port.random() * (to - from))
    return reply
  }
}

/** Lost request: the server never sees it. */
export const loseRequests = (port: FaultPort, target: FaultTarget = {}): Middleware => {
  const isAffected = makeMatcher(port, target)
  return async (request, next) => {
    if (isAffected(request)) throw lost()
    return next()
  }
}

/** Lost reply: the server carries out the request, and the client never learns of it. */
export const loseReplies = (port: FaultPort, target: FaultTarget = {}): Middleware => {
  const isAffected = makeMatcher(port, target)
  return async (request, next) => {
    const isLost = isAffected(request)
    const reply = await next()
    if (isLost) throw lost()
    return reply
  }
}

/** Repeated request: it arrives twice, one after the other; the client gets the reply to the first. */
export const repeatRequests = (port: FaultPort, target: FaultTarget = {}): Middleware => {
  const isAffected = makeMatcher(port, target)
  return async (request, next) => {
    const isRepeated = isAffected(request)
    const reply = await next()
    if (isRepeated) await next()
    return reply
  }
}

/** The number of replies that are held back, and the longest time, in milliseconds of the port's clock. */
export interface ShuffleLimits {
  readonly held: number
  readonly wait: number
}

/**
 * Replies overtake each other: they are held back until there are `held` of them, or the first has waited long
 * enough, and then arrive in random order.
 */
export const shuffleReplies = (
  port: FaultPort,
  limits: ShuffleLimits,
  target: FaultTarget = {}
): Middleware => {
  const isAffected = makeMatcher(port, target)
  let waiting: (() => void)[] = []
  let stopTimer = (): void => {}
  const release = (): void => {
    stopTimer()
    const released = waiting
    waiting = []
    for (let left = released.length; left > 0; left -= 1) {
      released.splice(Math.floor(port.random() * left), 1)[0]?.()
    }
  }
  return async (request, next) => {
    const isHeld = isAffected(request)
    const reply = await next()
    if (!isHeld) return reply
    await new Promise<void>(resolve => {
      waiting.push(resolve)
      if (waiting.length === 1) stopTimer = port.clock.after(limits.wait, release)
      if (waiting.length >= limits.held) release()
    })
    return reply
  }
}

/** Another reply instead: the server never sees the request. */
export const answerInstead = (port: FaultPort, reply: FakeReply, target: FaultTarget = {}): Middleware => {
  const isAffected = makeMatcher(port, target)
  return async (request, next) => (isAffected(request) ? reply : next())
}

/** Makes the test of a fault: call it once for each request. */
const makeMatcher = (
  { random }: FaultPort,
  { method, path, rate = 1, count = Number.POSITIVE_INFINITY }: FaultTarget
): ((request: FakeRequest) => boolean) => {
  let left = count
  return request => {
    if (left <= 0) return false
    if (method !== undefined && method !== request.method) return false
    // `search` has no memory, unlike `test` of an expression with the flag g.
    if (path !== undefined && request.path.search(path) < 0) return false
    if (rate < 1 && random() >= rate) return false
    left -= 1
    return true
  }
}

const wait = ({ clock }: FaultPort, milliseconds: number): Promise<void> =>
  new Promise(resolve => void clock.after(milliseconds, resolve))

const lost = (): Error => new Error('Fake network error')

/** A refusal by status, such as 429 with `retryAfter` in seconds; for `answerInstead`. */
export const refusalReply = (
  status: number,
  { retryAfter }: { readonly retryAfter?: string } = {}
): FakeReply => ({
  status,
  headers: {
    'content-type': 'application/json',
    ...compact({ 'retry-after': retryAfter })
  },
  body: JSON.stringify({ error: `refused with ${status}` })
})

/** The page of a proxy or a gate, where JSON or XML was wanted; for `answerInstead`. */
export const htmlPage = (status = 200): FakeReply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body><br>Checking</body></html>\n'
})

/** Every reply breaks off in the middle, so that the rest is no JSON. */
export const cutReplies: Middleware = async (_request, next) => {
  const reply = await next()
  return { ...reply, body: reply.body.slice(0, Math.floor(reply.body.length / 2)) }
}

/**
 * Every figure of a reply is replaced: by `-1`, `0`, `NaN`, `1e999` or any other text. Figures in quotes stay in
 * quotes, so that `NaN` makes proper JSON of a provider that writes figures as text, and none of another.
 */
export const spoilFigures =
  (figure: string): Middleware =>
  async (_request, next) => {
    const reply = await next()
    const inQuotes = reply.body.replace(QUOTED, `$1${figure}$1`)
    return { ...reply, body: inQuotes.replace(BARE, `$1${figure}`) }
  }

const QUOTED = /(["'])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\1/g
const BARE = /([:[,]\s*)-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*[,}\]])/g

/** Replies arrive a few characters at a time, so that a whole one takes long. */
export const dripReplies =
  (
    { clock }: Pick<FaultPort, 'clock'>,
    { charactersPerSecond }: { readonly charactersPerSecond: number }
  ): Middleware =>
  async (_request, next) => {
    const reply = await next()
    const milliseconds = (reply.body.length / charactersPerSecond) * 1000
    await new Promise<void>(resolve => void clock.after(milliseconds, resolve))
    return reply
  }

/** Every reply is at least so many characters long; the rest is blanks, as JSON allows. */
export const swellReplies =
  (characters: number): Middleware =>
  async (_request, next) => {
    const reply = await next()
    return { ...reply, body: reply.body.padEnd(characters, ' ') }
  }
