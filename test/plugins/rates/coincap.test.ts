import test from 'ava'
import { coincap, parseCoincap } from '../../../plugins/rates/coincap.ts'
import { testRateSource } from '../../contracts/rate-source.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

testRateSource(test, {
  plugin: coincap,
  bias: -0.05,
  wanted: pairsOf('BTC iso:EUR', 'COMP iso:USD'),
  offered: pairsOf('BTC iso:USD', 'COMP iso:USD'),
  strange: pairsOf('ZZZ iso:USD', 'iso:EUR iso:USD'),
  apiKey: 'coincap-key-0123456789abcdef',
  needsKey: true,
  gapSeconds: 1200
})

test('the reply of CoinCap is the dollar price of each coin by its id [9.23]', t => {
  const text =
    '{"timestamp":1,"data":[{"id":"bitcoin","priceUsd":"65000.1234"},{"id":"odd","priceUsd":"1"},{"id":{}}]}'
  t.deepEqual(parseCoincap(text, new Map([['bitcoin', 'BTC']])), [['BTC', 'iso:USD', 65_000.1234]])
})

test('CoinCap without a key says which option it needs', t => {
  for (const options of [{}, { apiKey: '' }]) {
    t.is(coincap.checkOptions?.(options), 'It needs an API key: the option apiKey of the plugin coincap')
  }
})
