import type { Json } from '../../kernel/base/json.ts'
import type { FakeChains } from '../world-chains.ts'
import { FakeProviders, type FakeProvidersOptions } from './fake-providers.ts'
import { makeRateProviders } from './rates/rate-providers.ts'
import type { ExchangePorts } from './swap/fake-exchange.ts'
import { type FakeSwaps, makeFakeSwaps } from './swap/fake-swaps.ts'

/** What the providers of a world are opened with. */
export interface OpenProvidersOptions extends FakeProvidersOptions {
  /** Where swaps are paid and paid out. */
  readonly chains: FakeChains
  readonly clock: FakeProvidersOptions['clock'] & ExchangePorts['clock']
  readonly random: (count: number) => Uint8Array
  /** The entries of a saved world. */
  readonly remembered?: Iterable<Json>
}

/** The providers of a world, and what is behind those that swap. */
export interface OpenedProviders {
  readonly providers: FakeProviders
  readonly swaps: FakeSwaps
}

/** Opens all providers that a fake world has. @throws BAD_REPLY if what is remembered is damaged */
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
