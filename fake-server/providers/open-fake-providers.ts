import type { Json } from '../../kernel/types/json.ts'
import { FakeProviders, type FakeProvidersOptions } from './fake-providers.ts'
import { makeRateProviders } from './rates/rate-providers.ts'

/** What the providers of a world are opened with. */
export interface OpenProvidersOptions extends FakeProvidersOptions {
  /** The entries of a saved world. */
  readonly remembered?: Iterable<Json>
}

/** Opens all providers that a fake world has. @throws BAD_REPLY if what is remembered is damaged */
export const openFakeProviders = ({ remembered = [], ...options }: OpenProvidersOptions): FakeProviders => {
  const providers = new FakeProviders(options)
  for (const provider of makeRateProviders(providers.market)) providers.add(provider)
  providers.load(remembered)
  return providers
}
