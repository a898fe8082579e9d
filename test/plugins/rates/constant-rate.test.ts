import test from 'ava'
import { defaultPlugins } from '../../../plugins/default-plugins.ts'
import { constantRate } from '../../../plugins/rates/constant-rate.ts'
import { coinmonitor, nomics, wazirx } from '../../../plugins/rates/retired.ts'
import { testRatePlugin } from '../../../testing/rate-suite.ts'
import { openRateLab } from '../../helpers/rate-lab.ts'

testRatePlugin(test, constantRate, {
  valid: [{ wanted: ['WETH ETH', 'iso:EUR iso:XOF'], offers: { 'WETH ETH': 1, 'iso:EUR iso:XOF': 655.957 } }]
})

test('constant rates need no request, and all of them are valid [5.38, 9.23]', async t => {
  const lab = openRateLab(constantRate)
  const { pairs, refusals, error } = await lab.query([])
  t.is(constantRate.bias, -0.25)
  t.is(error, undefined)
  t.deepEqual(refusals, [])
  t.deepEqual(lab.requests, [])
  const rates = new Map(
    pairs.map(({ fromCurrency, toCurrency, rate }) => [`${fromCurrency} ${toCurrency}`, rate])
  )
  t.is(rates.size, pairs.length)
  t.is(rates.get('TESTBTC iso:USD'), 0.01)
  t.is(rates.get('WETH ETH'), 1)
  t.is(rates.get('iso:EUR iso:XOF'), 655.957)
})

test('a constant rate of two currencies is near that of the fake market', async t => {
  const lab = openRateLab(constantRate)
  const { pairs } = await lab.query([])
  for (const { fromCurrency, toCurrency, rate } of pairs) {
    const market = lab.world.providers.market.rateOf(fromCurrency, toCurrency)
    if (market !== undefined)
      t.true(Math.abs(rate / Number(market) - 1) < 0.02, `${fromCurrency} ${toCurrency}`)
  }
})

test('retired sources are listed with their bias and reason, and send no request [9.23]', async t => {
  for (const [plugin, bias] of [
    [nomics, 0.1],
    [wazirx, -0.15],
    [coinmonitor, -0.2]
  ] as const) {
    t.is(plugin.bias, bias)
    t.regex(plugin.retired ?? '', /\w/)
    const lab = openRateLab(plugin)
    t.deepEqual(await lab.query([{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }]), {
      pairs: [],
      refusals: [],
      error: undefined
    })
    t.deepEqual(lab.requests, [])
  }
})

test('the command line starts with every rate source, and the order of the sources gives their biases [9.23]', t => {
  const biases = defaultPlugins.flatMap(plugin => (plugin.kind === 'rates' ? [[plugin.id, plugin.bias]] : []))
  t.deepEqual(biases, [
    ['constantRate', -0.25],
    ['coinbase', -0.1],
    ['kraken', -0.09],
    ['ecb', -0.08],
    ['mempool', -0.07],
    ['coincap', -0.05],
    ['coingecko', -0.03],
    ['binance', -0.02],
    ['edgeRates', 0.15],
    ['coinmonitor', -0.2],
    ['wazirx', -0.15],
    ['nomics', 0.1]
  ])
})
