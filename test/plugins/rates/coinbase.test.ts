import test from 'ava'
import { coinbase, parseCoinbase } from '../../../plugins/rates/coinbase.ts'
import { testRateSource } from '../../contracts/rate-source.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

testRateSource(test, {
  plugin: coinbase,
  bias: -0.1,
  wanted: pairsOf('BTC iso:USD', 'BTC iso:EUR', 'ETH iso:EUR', 'SHIB iso:JPY'),
  offered: pairsOf(
    'iso:USD BTC',
    'iso:USD ETH',
    'iso:USD SHIB',
    'iso:USD iso:EUR',
    'iso:USD iso:JPY',
    'iso:USD iso:TRY'
  ),
  isConditional: true
})

test('the list of Coinbase gives all fiat currencies and the wanted coins; a coin named like a fiat currency is skipped [9.23]', t => {
  const rates = { BTC: '0.00001', ETH: '0.0003', EUR: '0.9', MNT: '3400', USD: '1', DOGE: '8', ODD: 'x' }
  const text = JSON.stringify({ data: { currency: 'USD', rates } })
  t.deepEqual(parseCoinbase(text, new Set(['BTC', 'MNT', 'ODD'])), [
    ['iso:USD', 'BTC', 0.00001],
    ['iso:USD', 'iso:EUR', 0.9],
    ['iso:USD', 'iso:MNT', 3400],
    ['iso:USD', 'ODD', Number.NaN]
  ])
})
