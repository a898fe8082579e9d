import type { FakeMarket } from '../fake-market.ts'
import type { FakeProvider } from '../fake-provider.ts'
import { fakeCoinbase } from './fake-coinbase.ts'

/** The rate providers of a fake world. */
export const makeRateProviders = (market: FakeMarket): readonly FakeProvider[] => [fakeCoinbase(market)]
