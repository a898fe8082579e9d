import { WalletError } from '../../kernel/base/errors.ts'
import { isRecord, type Json, type JsonObject } from '../../kernel/base/json.ts'
import type { Clock } from '../../kernel/io/io.ts'
import type { FakeReply, FakeRequest, Middleware } from '../base/replies.ts'
import { makeTrafficLog, type TrafficLog } from '../base/traffic.ts'
import type { FakeChains } from '../chain/open-chain.ts'
import { FakeMarket } from './market/market.ts'
import type { FakeProvider, ProviderMemory, ProviderRequest } from './market/provider.ts'
import { fakeBinance } from './rates/fake-binance.ts'
import { fakeCoinbase } from './rates/fake-coinbase.ts'
import { fakeCoincap } from './rates/fake-coincap.ts'
import { fakeCoingecko } from './rates/fake-coingecko.ts'
import { fakeEcb } from './rates/fake-ecb.ts'
import { fakeEdgeRates } from './rates/fake-edge-rates.ts'
import { fakeKraken } from './rates/fake-kraken.ts'
import { fakeMempool } from './rates/fake-mempool.ts'
import type { ExchangePorts } from './swap/fake-exchange.ts'
import { type FakeSwaps, makeFakeSwaps } from './swap/fake-swaps.ts'

/** The clock and the durability that the providers of a world share. */
interface FakeProvidersOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'now'>
  /** Waits until all changes so far are durable; each answer waits for it. */
  readonly saved?: () => Promise<void>
}

/**
 * The rate and swap providers of a fake world, found by the name of their host.
 *
 * In a fake world every device's `io.fetch` reaches them in its process; over HTTP the host is the first part of
 * the path (`fake-server/http`).
 */
export class FakeProviders {
  /** The prices that all of them go by. */
  readonly market: FakeMarket = new FakeMarket()
  /** Every request, its host as the first part of the path, without keys. */
  readonly traffic: TrafficLog = makeTrafficLog()
  /** False: every request fails as if the network were gone. */
  isOnline = true
  readonly #options: FakeProvidersOptions
  readonly #byId = new Map<string, FakeProvider>()
  readonly #byHost = new Map<string, FakeProvider>()
  readonly #middlewares = new Set<{ readonly providerId: string | undefined; readonly run: Middleware }>()

  constructor(options: FakeProvidersOptions) {
    this.#options = options
  }

  /** Adds a provider. @throws TypeError if its id or a host is taken */
  add(provider: FakeProvider): void {
    const { id, hosts } = provider
    if (id === MARKET || this.#byId.has(id) || hosts.some(host => this.#byHost.has(host))) {
      throw new TypeError(`Two fake providers have the id or a host of ${id}`)
    }
    this.#byId.set(id, provider)
    for (const host of hosts) this.#byHost.set(host, provider)
  }

  /** The ids of all, in order of arrival. */
  get ids(): readonly string[] {
    return [...this.#byId.keys()]
  }

  /** Checks if a provider answers under this host. */
  serves(host: string): boolean {
    return this.#byHost.has(host)
  }

  /**
   * Puts a middleware before one provider, or before all, until the returned function is called: any of
   * `base/faults.ts`, or one's own. It goes outside those already there.
   */
  use(middleware: Middleware, providerId?: string): () => void {
    if (providerId !== undefined && !this.#byId.has(providerId)) {
      throw new TypeError(`There is no fake provider ${providerId}`)
    }
    const entry = { providerId, run: middleware }
    this.#middlewares.add(entry)
    return () => void this.#middlewares.delete(entry)
  }

  /**
   * Answers one request, after what it changed is durable.
   *
   * @throws Error `Fake network error` while offline and for an unknown host, and whatever a middleware throws
   */
  async handle(host: string, request: FakeRequest): Promise<FakeReply> {
    const { clock, saved } = this.#options
    const started = clock.monotonic()
    let status = 0
    try {
      const provider = this.#byHost.get(host)
      if (!this.isOnline || provider === undefined) throw new Error('Fake network error')
      let next = async (): Promise<FakeReply> => {
        const reply = await provider.answer(partsOf(host, request))
        await saved?.()
        return reply
      }
      for (const { providerId, run } of this.#middlewares) {
        if (providerId !== undefined && providerId !== provider.id) continue
        const inner = next
        next = () => run(request, inner)
      }
      const reply = await next()
      status = reply.status
      return reply
    } finally {
      const path = `/${host}${withoutKeys(request.path)}`
      const duration = clock.monotonic() - started
      this.traffic.add({ method: request.method, path, status, duration, at: clock.now() })
    }
  }

  /** Calls the listener after each change that a saved world keeps, with what makes the entry to be saved. */
  onChange(listener: (entry: () => JsonObject) => void): void {
    for (const [id, memory] of this.#memories()) {
      memory.onChange(() => listener(() => entryOf(id, memory.save() ?? null)))
    }
  }

  /** Yields the entries of a saved world: one for each provider with a state, and one for the market. */
  *entries(): Generator<JsonObject> {
    for (const [id, memory] of this.#memories()) {
      const saved = memory.save()
      if (saved !== undefined) yield entryOf(id, saved)
    }
  }

  /** Takes back entries, of which the last one of each provider counts. @throws BAD_REPLY */
  load(entries: Iterable<Json>): void {
    const memories = new Map(this.#memories())
    for (const entry of entries) {
      const memory = isRecord(entry) && typeof entry.id === 'string' ? memories.get(entry.id) : undefined
      if (!isRecord(entry) || memory === undefined) {
        throw new WalletError('BAD_REPLY', { source: 'saved world', path: 'id', rule: 'is no provider' })
      }
      if (entry.state !== null) memory.load(entry.state as Json)
    }
  }

  *#memories(): Generator<[string, ProviderMemory]> {
    yield [MARKET, this.market.memory]
    for (const { id, memory } of this.#byId.values()) if (memory !== undefined) yield [id, memory]
  }
}

const MARKET = 'market'

const entryOf = (id: string, state: Json): JsonObject => ({ kind: 'provider', id, state })

const partsOf = (host: string, request: FakeRequest): ProviderRequest => {
  const [pathname = '/', query = ''] = request.path.split(/\?(.*)/s)
  return { ...request, host, pathname, query: new URLSearchParams(query) }
}

/** A path whose query shows no key, whatever it is called. */
const withoutKeys = (path: string): string => path.replace(KEY_VALUE, '$1…')

const KEY_VALUE = /([?&][^=&]*(?:key|secret|token|auth|sign|pass)[^=&]*=)[^&]*/gi

/** Options of {@link openFakeProviders}. */
export interface OpenProvidersOptions extends FakeProvidersOptions {
  /** The chains on which swaps are paid and paid out. */
  readonly chains: FakeChains
  readonly clock: FakeProvidersOptions['clock'] & ExchangePorts['clock']
  readonly random: (count: number) => Uint8Array
  /** The entries of a saved world. */
  readonly remembered?: Iterable<Json>
}

/** The providers of a world, with the exchanges and vaults behind those that swap. */
export interface OpenedProviders {
  readonly providers: FakeProviders
  readonly swaps: FakeSwaps
}

/** Opens all providers of a fake world. @throws BAD_REPLY if a saved entry is damaged */
export const openFakeProviders = ({
  chains,
  random,
  remembered = [],
  ...options
}: OpenProvidersOptions): OpenedProviders => {
  const providers = new FakeProviders(options)
  const { market } = providers
  for (const provider of makeRateProviders(market, options.clock)) providers.add(provider)
  const opened = makeFakeSwaps({ market, chains, random, clock: options.clock })
  for (const provider of opened.providers) providers.add(provider)
  providers.load(remembered)
  opened.resume()
  return { providers, swaps: opened.swaps }
}

/** The rate providers of a fake world. */
const makeRateProviders = (market: FakeMarket, clock: Pick<Clock, 'now'>): readonly FakeProvider[] => [
  fakeCoinbase(market),
  fakeCoingecko(market),
  fakeKraken(market),
  fakeBinance(market),
  fakeCoincap(market, clock),
  fakeEcb(market, clock),
  fakeMempool(market, clock),
  fakeEdgeRates(market, clock)
]
