import test from 'ava'
import { coingecko, parseCoingecko } from '../../../plugins/rates/coingecko.ts'
import { testRateSource } from '../../contracts/rate-source.ts'
import { openRateLab } from '../../helpers/rate-lab.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

testRateSource(test, {
  plugin: coingecko,
  bias: -0.03,
  wanted: pairsOf('BTC iso:USD', 'CACAO iso:EUR', 'BTC iso:KPW'),
  offered: pairsOf('BTC iso:USD', 'BTC iso:EUR', 'CACAO iso:USD', 'CACAO iso:EUR'),
  strange: pairsOf('ZZZ iso:USD', 'iso:EUR iso:USD'),
  isConditional: true,
  apiKey: 'CG-one-key-of-the-demo-plan',
  gapSeconds: 60
})

test('the reply of CoinGecko is read by its own ids, and other coins and currencies are skipped', t => {
  const text = '{"bitcoin":{"usd":65000,"btc":1,"eur":"60000"},"other":{"usd":1},"litecoin":{}}'
  const codes = new Map([
    ['bitcoin', 'BTC'],
    ['litecoin', 'LTC']
  ])
  t.deepEqual(parseCoingecko(text, codes), [
    ['BTC', 'iso:USD', 65_000],
    ['BTC', 'iso:EUR', 60_000]
  ])
})

test('the key of the paid plan goes in its own header', async t => {
  const options = { apiKey: 'paid-key', url: 'https://pro-api.coingecko.com', gapSeconds: 0 }
  const lab = openRateLab(coingecko, { options })
  const { pairs } = await lab.query(pairsOf('BTC iso:USD'))
  t.is(pairs.length, 1)
  t.deepEqual(lab.requests[0]?.headers, { 'x-cg-pro-api-key': 'paid-key' })
})
