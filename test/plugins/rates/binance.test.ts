import test from 'ava'
import { binance, parseBinance } from '../../../plugins/rates/binance.ts'
import { testRateSource } from '../../contracts/rate-source.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

testRateSource(test, {
  plugin: binance,
  bias: -0.02,
  wanted: pairsOf('BTC iso:EUR', 'PEPE iso:TRY', 'LTC iso:USD'),
  offered: pairsOf('BTC USDT', 'PEPE USDT', 'LTC USDT', 'iso:EUR USDT', 'USDT iso:TRY'),
  strange: pairsOf('ZZZ iso:USD', 'iso:KPW iso:USD'),
  originCount: 2
})

test('the reply of Binance is read by its symbols, and unknown ones are skipped', t => {
  const text = '[{"symbol":"BTCUSDT","price":"65000.10"},{"symbol":"ODDUSDT","price":"1"},{"symbol":7}]'
  t.deepEqual(parseBinance(text), [['BTC', 'USDT', 65_000.1]])
  t.throws(() => parseBinance('{"code":-1121,"msg":"Invalid symbol."}'), { message: /is no list/ })
})
