import type { Clock } from '../kernel/io/io.ts'
import type { Middleware } from './fake-server.ts'
import type { FakeReply, FakeRequest } from './replies.ts'

/** Where trouble takes its time and its dice from. */
export interface TroublePort {
  readonly clock: Pick<Clock, 'after'>
  /** A number from 0 up to, but not, 1; {@link makeChance} throws the same dice again for the same seed. */
  readonly chance: () => number
}

/** Which requests a trouble meets: all of them, unless something is said here. */
export interface TroubleTarget {
  readonly method?: string
  /** Tested against the path without host, such as `/api/v2/login/pin2`. */
  readonly path?: RegExp
  /** The share that is met, by chance: 0 none, 1 all. */
  readonly rate?: number
  /** Only the next so many that would be met. */
  readonly count?: number
}

/** How long something takes, in milliseconds; by chance between the two. */
export interface TroubleDelay {
  readonly from: number
  readonly to: number
}

/**
 * Makes dice that fall the same way for the same seed, which is any whole number.
 *
 * The generator is mulberry32: small, even enough for tests, and no secret depends on it.
 */
export const makeChance = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The network is slow: each answer comes later than the server gave it. */
export const slowDown = (
  port: TroublePort,
  { from, to }: TroubleDelay,
  target: TroubleTarget = {}
): Middleware => {
  const isMet = makeAim(port, target)
  return async (request, next) => {
    const isSlow = isMet(request)
    const reply = await next()
    if (isSlow) await wait(port, from + port.chance() * (to - from))
    return reply
  }
}

/** The request is lost: the server never sees it. */
export const loseRequests = (port: TroublePort, target: TroubleTarget = {}): Middleware => {
  const isMet = makeAim(port, target)
  return async (request, next) => {
    if (isMet(request)) throw lost()
    return next()
  }
}

/** The reply is lost: the server did what it was asked, and nobody hears of it. */
export const loseReplies = (port: TroublePort, target: TroubleTarget = {}): Middleware => {
  const isMet = makeAim(port, target)
  return async (request, next) => {
    const isLost = isMet(request)
    const reply = await next()
    if (isLost) throw lost()
    return reply
  }
}

/** The request arrives twice, one after the other; the reply to the first is the one that comes back. */
export const repeatRequests = (port: TroublePort, target: TroubleTarget = {}): Middleware => {
  const isMet = makeAim(port, target)
  return async (request, next) => {
    const isRepeated = isMet(request)
    const reply = await next()
    if (isRepeated) await next()
    return reply
  }
}

/** How many replies are held back, and for how long at most, in milliseconds of the port's clock. */
export interface ShuffleLimits {
  readonly held: number
  readonly wait: number
}

/**
 * Replies overtake each other: they are held back until there are `held` of them, or the first has waited long
 * enough, and then arrive in an order of chance.
 */
export const shuffleReplies = (
  port: TroublePort,
  limits: ShuffleLimits,
  target: TroubleTarget = {}
): Middleware => {
  const isMet = makeAim(port, target)
  let waiting: (() => void)[] = []
  let stopTimer = (): void => {}
  const release = (): void => {
    stopTimer()
    const released = waiting
    waiting = []
    for (let left = released.length; left > 0; left -= 1) {
      released.splice(Math.floor(port.chance() * left), 1)[0]?.()
    }
  }
  return async (request, next) => {
    const isHeld = isMet(request)
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

/** Somebody else answers: the server never sees the request. */
export const answerInstead = (
  port: TroublePort,
  reply: FakeReply,
  target: TroubleTarget = {}
): Middleware => {
  const isMet = makeAim(port, target)
  return async (request, next) => (isMet(request) ? reply : next())
}

/** Tells for each request, once, whether the trouble meets it. */
const makeAim = (
  { chance }: TroublePort,
  { method, path, rate = 1, count = Number.POSITIVE_INFINITY }: TroubleTarget
): ((request: FakeRequest) => boolean) => {
  let left = count
  return request => {
    if (left <= 0) return false
    if (method !== undefined && method !== request.method) return false
    // `search` has no memory, unlike `test` of an expression with the flag g.
    if (path !== undefined && request.path.search(path) < 0) return false
    if (rate < 1 && chance() >= rate) return false
    left -= 1
    return true
  }
}

const wait = ({ clock }: TroublePort, milliseconds: number): Promise<void> =>
  new Promise(resolve => void clock.after(milliseconds, resolve))

const lost = (): Error => new Error('Fake network error')
