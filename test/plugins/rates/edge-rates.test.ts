import test from 'ava'
import { edgeRates, parseEdgeRates } from '../../../plugins/rates/edge-rates.ts'
import { fakeProviders } from '../../../testing/fake-network.ts'
import { testRateSource } from '../../contracts/rate-source.ts'
import { openRateLab } from '../../helpers/rate-lab.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

testRateSource(test, {
  plugin: edgeRates,
  bias: 0.15,
  wanted: pairsOf('BTC iso:EUR', 'USDT iso:USD', 'ZZZ iso:TRY'),
  offered: pairsOf('BTC iso:USD', 'USDT iso:USD', 'iso:EUR iso:USD', 'iso:TRY iso:USD'),
  strange: pairsOf('ZZZ iso:USD'),
  originCount: 2,
  // A rate of ten days ago is one percent below the market's.
  dated: {
    wanted: ['BTC iso:USD'],
    date: new Date('2025-12-22T00:00:00Z'),
    replies: fakeProviders({ BTC: '65000' }),
    offers: { 'BTC iso:USD': 64_350 }
  }
})

test('the reply of Edge Rates is read by chain and token of a coin and by currency code; pairs without a rate are skipped [9.23]', t => {
  const isoDate = '2026-01-01T00:00:00.000Z'
  const text = JSON.stringify({
    targetFiat: 'USD',
    crypto: [
      { isoDate, asset: { pluginId: 'bitcoin' }, rate: 65_000.5 },
      { asset: { pluginId: 'bitcoin', tokenId: null }, rate: 65_001 },
      {
        asset: { pluginId: 'ethereum', tokenId: 'dac17f958d2ee523a2206206994597c13d831ec7' },
        rate: '1.0003'
      },
      { asset: { pluginId: 'bitcoin' } },
      { asset: { pluginId: 'bitcoin' }, rate: null },
      { asset: { pluginId: 'odd' }, rate: 1 }
    ],
    fiat: [{ fiatCode: 'EUR', rate: 1.084, isoDate: 'odd' }, { rate: 5 }]
  })
  t.deepEqual(parseEdgeRates(text), [
    { code: 'BTC', rate: 65_000.5, date: new Date(isoDate) },
    { code: 'BTC', rate: 65_001 },
    { code: 'USDT', rate: 1.0003 },
    { code: 'iso:EUR', rate: 1.084 }
  ])
})

test('historic rates are requested by target, and come with their own date', async t => {
  const lab = openRateLab(edgeRates)
  const date = new Date(lab.clock.now() - 10 * 86_400_000)
  const odd = new Date(Number.NaN)
  const wanted = pairsOf('BTC iso:USD', 'BTC iso:EUR', 'iso:EUR iso:USD', 'iso:USD BTC', 'ZZZ iso:GBP')
  const offers = await lab.queryHistory([
    ...wanted.map(pair => ({ ...pair, date })),
    { fromCurrency: 'BTC', toCurrency: 'iso:USD', date: odd }
  ])
  const { market } = lab.world.providers
  const worth = (from: string, to: string): number => Number(market.rateOf(from, to)) * 0.99
  t.deepEqual(offers, [
    { pair: { fromCurrency: 'BTC', toCurrency: 'iso:USD', date }, rate: worth('BTC', 'iso:USD') },
    { pair: { fromCurrency: 'iso:EUR', toCurrency: 'iso:USD', date }, rate: worth('iso:EUR', 'iso:USD') },
    { pair: { fromCurrency: 'BTC', toCurrency: 'iso:EUR', date }, rate: worth('BTC', 'iso:EUR') }
  ])
  t.is(lab.requests.length, 2)
})

test('of several dates the nearest is offered, and a thousand pairs make ten requests', async t => {
  const lab = openRateLab(edgeRates)
  const day = (count: number): Date => new Date(lab.clock.now() - count * 86_400_000)
  const wanted = Array.from({ length: 1200 }, (_, index) => ({
    fromCurrency: 'BTC',
    toCurrency: 'iso:USD',
    date: day(index % 100)
  }))
  const offers = await lab.queryHistory(wanted)
  t.is(lab.requests.length, 10)
  t.is(offers.length, 1000)
  for (const [index, { pair, rate }] of offers.entries()) {
    t.deepEqual(pair.date, day(index % 100))
    t.true(Math.abs(rate / (65_000 * (1 - (index % 100) / 1000)) - 1) < 1e-9)
  }
})
