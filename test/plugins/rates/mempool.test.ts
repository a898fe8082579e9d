import test from 'ava'
import { mempool, parseMempool } from '../../../plugins/rates/mempool.ts'
import { testRateSource } from '../../contracts/rate-source.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

testRateSource(test, {
  plugin: mempool,
  bias: -0.07,
  wanted: pairsOf('BTC iso:EUR'),
  offered: pairsOf('BTC iso:USD', 'BTC iso:EUR', 'BTC iso:JPY'),
  tolerance: 1e-4,
  strange: pairsOf('ETH iso:USD', 'iso:EUR iso:USD'),
  isConditional: true
})

test('the reply of mempool.space is the price of a bitcoin in each currency, without the time and unknown fields', t => {
  const text = '{"time":1703252411,"USD":43753,"EUR":-1,"GBP":34210,"odd":5}'
  t.deepEqual(parseMempool(text), [
    ['BTC', 'iso:USD', 43_753],
    ['BTC', 'iso:GBP', 34_210]
  ])
})
