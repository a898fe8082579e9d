import type { Clock } from '../../../kernel/io/io.ts'
import type { FakeMarket } from '../fake-market.ts'
import type { FakeProvider } from '../fake-provider.ts'
import { fakeBinance } from './fake-binance.ts'
import { fakeCoinbase } from './fake-coinbase.ts'
import { fakeCoincap } from './fake-coincap.ts'
import { fakeCoingecko } from './fake-coingecko.ts'
import { fakeEcb } from './fake-ecb.ts'
import { fakeEdgeRates } from './fake-edge-rates.ts'
import { fakeKraken } from './fake-kraken.ts'
import { fakeMempool } from './fake-mempool.ts'

/** The rate providers of a fake world. */
export const makeRateProviders = (market: FakeMarket, clock: Pick<Clock, 'now'>): readonly FakeProvider[] => [
  fakeCoinbase(market),
  fakeCoingecko(market),
  fakeKraken(market),
  fakeBinance(market),
  fakeCoincap(market, clock),
  fakeEcb(market, clock),
  fakeMempool(market, clock),
  fakeEdgeRates(market, clock)
]
