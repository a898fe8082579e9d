import test from 'ava'
import { kraken, parseKraken } from '../../../plugins/rates/kraken.ts'
import { testRateSource } from '../../contracts/rate-source.ts'
import { openRateLab } from '../../helpers/rate-lab.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

testRateSource(test, {
  plugin: kraken,
  bias: -0.09,
  wanted: pairsOf('BTC iso:EUR', 'DOGE iso:JPY', 'USDT iso:USD', 'LTC iso:CHF', 'ETH iso:CHF'),
  offered: pairsOf(
    'BTC iso:USD',
    'BTC iso:EUR',
    'BTC iso:JPY',
    'BTC iso:CHF',
    'ETH iso:CHF',
    'DOGE iso:USD',
    'DOGE iso:EUR',
    'LTC iso:EUR',
    'USDT iso:USD',
    'iso:EUR iso:USD',
    'iso:USD iso:JPY',
    'iso:USD iso:CHF'
  ),
  strange: pairsOf('ZZZ iso:USD', 'ZZZ iso:KPW')
})

test('every pair that the plugin requests of Kraken has a reply under its name there', async t => {
  const coins = 'BTC ETH LTC BCH DOGE XRP ADA SOL DOT LINK ATOM ETC XLM XMR ZEC DASH USDT USDC DAI'.split(' ')
  const moneys = 'USD EUR GBP CAD JPY CHF AUD'.split(' ')
  const lab = openRateLab(kraken)
  const wanted = coins.flatMap(coin => pairsOf(...moneys.map(money => `${coin} iso:${money}`)))
  const { pairs, error } = await lab.query(wanted)
  t.is(error, undefined)
  const path = lab.requests[0]?.url ?? ''
  t.is(pairs.length, path.split(',').length)
  t.is(pairs.length, 14 + 14 * 2 + 3 * 2 + 6)
})

test('the reply of Kraken is the last price of each pair; an error fails the request, a warning does not', t => {
  const text =
    '{"error":["WGeneral:Danger"],"result":{"XXBTZUSD":{"c":["65000.1","1"]},"OTHERUSD":{"c":["1","1"]}}}'
  t.deepEqual(parseKraken(text), [['BTC', 'iso:USD', 65_000.1]])
  t.throws(() => parseKraken('{"error":["EQuery:Unknown asset pair"]}'), { message: /error is not empty/ })
  t.throws(() => parseKraken('{"error":[],"result":{"XXBTZUSD":{"c":"65000"}}}'), {
    message: /XXBTZUSD\.c is no list/
  })
})
