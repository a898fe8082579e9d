import { isWalletError } from '../../kernel/base/errors.ts'
import { shuffled } from '../../kernel/base/random.ts'
import type { FetchOptions, FetchReply, Io } from '../../kernel/io/io.ts'
import { raceInTurn } from './race-in-turn.ts'

/** What a cross-origin fetch is made of. */
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
      const reply = await askProxies(io, url, options)
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

const askProxies = (io: CrossOriginOptions, url: string, options: FetchOptions): Promise<FetchReply> => {
  const headers = { ...options.headers, 'x-proxy-url': url }
  const attempts = shuffled(io, io.proxies).map(
    proxy => (signal: AbortSignal) => io.fetch(proxy, { ...options, headers, signal })
  )
  return raceInTurn(attempts, { clock: io.clock, staggerMs: STAGGER_MS, signal: options.signal })
}

/** The caller gave up, or the server has answered: nobody else need be asked. */
const isFinal = (error: unknown, { signal }: FetchOptions): boolean =>
  signal?.aborted === true || isWalletError(error, 'REPLY_TOO_LARGE')
