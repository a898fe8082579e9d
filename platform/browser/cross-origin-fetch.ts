import { isWalletError } from '../../kernel/base/errors.ts'
import { shuffled } from '../../kernel/base/random.ts'
import type { Clock, FetchOptions, FetchReply, Io } from '../../kernel/io/io.ts'

/** Options of {@link makeCrossOriginFetch}. */
export interface CrossOriginOptions extends Pick<Io, 'fetch' | 'clock' | 'random'> {
  /** Addresses of proxies, which send a request on to the address in its `x-proxy-url` header. */
  readonly proxies: readonly string[]
}

/**
 * Makes a fetch that asks the server itself, and then proxies in random order (specification §7, protocol §2.12).
 *
 * A host that only proxies reach is no longer asked directly, until it has failed five times in every way; from then
 * on it is asked directly only. A request that all refuse rejects with the first failure.
 */
export const makeCrossOriginFetch = (io: CrossOriginOptions): Io['fetch'] => {
  const hosts = new Map<string, HostRecord>()
  return async (url, options = {}) => {
    const { host } = new URL(url)
    const record = hosts.get(host) ?? { failures: 0, needsProxy: false }
    hosts.set(host, record)
    const isHopeless = record.failures >= MAX_FAILURES
    let first: { readonly error: unknown } | undefined
    if (isHopeless || !record.needsProxy) {
      try {
        return await io.fetch(url, options)
      } catch (error) {
        if (isHopeless || isFinal(error, options)) throw error
        first = { error }
      }
    }
    try {
      const reply = await queryProxies(io, url, options)
      record.needsProxy = true
      return reply
    } catch (error) {
      if (isFinal(error, options)) throw error
      record.failures += 1
      throw (first ?? { error }).error
    }
  }
}

const MAX_FAILURES = 5
const STAGGER_MS = 5000

interface HostRecord {
  failures: number
  needsProxy: boolean
}

const queryProxies = (io: CrossOriginOptions, url: string, options: FetchOptions): Promise<FetchReply> => {
  const headers = { ...options.headers, 'x-proxy-url': url }
  const attempts = shuffled(io, io.proxies).map(
    proxy => (signal: AbortSignal) => io.fetch(proxy, { ...options, headers, signal })
  )
  return raceInTurn(attempts, { clock: io.clock, staggerMs: STAGGER_MS, signal: options.signal })
}

/** The caller gave up, or the server has answered: no other address is tried. */
const isFinal = (error: unknown, { signal }: FetchOptions): boolean =>
  signal?.aborted === true || isWalletError(error, 'REPLY_TOO_LARGE')

/** Options of {@link raceInTurn}. */
export interface RaceOptions {
  readonly clock: Clock
  /** The time that an attempt runs alone. */
  readonly staggerMs: number
  readonly signal?: FetchOptions['signal'] | undefined
}

/**
 * Starts attempts one after another, each when the one before has failed or had its time, until one succeeds.
 *
 * Earlier attempts go on beside later ones. The first success ends all others, and so does the signal.
 *
 * @throws the first failure, when all have failed; what an attempt says of the signal; a `TypeError` if there are none
 */
const raceInTurn = <T>(
  attempts: readonly ((signal: AbortSignal) => Promise<T>)[],
  { clock, staggerMs, signal }: RaceOptions
): Promise<T> => {
  const aborter = new AbortController()
  const abort = (): void => aborter.abort()
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  let cancel = (): void => {}
  return new Promise<T>((resolve, reject) => {
    const failures: unknown[] = []
    let started = 0
    const startNext = (): void => {
      cancel()
      const attempt = attempts[started]
      if (attempt === undefined) return
      started += 1
      const number = started
      if (started < attempts.length) cancel = clock.after(staggerMs, startNext)
      attempt(aborter.signal).then(resolve, error => {
        failures.push(error)
        if (aborter.signal.aborted) reject(error)
        else if (failures.length === attempts.length) reject(failures[0])
        else if (number === started) startNext()
      })
    }
    if (attempts.length === 0) reject(new TypeError('There is nobody to ask'))
    startNext()
  }).finally(() => {
    cancel()
    signal?.removeEventListener('abort', abort)
    abort()
  })
}
