import test from 'ava'
import fc from 'fast-check'
import { FakeMarket } from '../../../fake-server/providers/market/market.ts'

test('a market has prices of many coins and of every fiat code of the default hints', t => {
  const market = new FakeMarket()
  const fiat = market.codes.filter(code => code.startsWith('iso:'))
  t.is(fiat.length, 159)
  t.true(market.codes.length - fiat.length >= 40)
  t.is(market.priceOf('BTC'), '65000')
  t.is(market.priceOf('iso:USD'), '1')
  t.is(market.priceOf('toString'), undefined)
})

test('the price of a pair is the exact fraction of two prices, cut to the digits that are wanted', t => {
  const market = new FakeMarket()
  market.setPrice('AAA', '0.3')
  market.setPrice('BBB', '0.0007')
  t.deepEqual(market.ratioOf('AAA', 'BBB'), { numerator: 30000n, denominator: 70n })
  t.is(market.rateOf('AAA', 'BBB', 6), '428.571')
  t.is(market.rateOf('BBB', 'AAA', 4), '0.002333')
  t.is(market.rateOf('AAA', 'AAA'), '1')
  t.is(market.rateOf('BTC', 'AAA', 2), '216666')
  t.is(market.rateOf('AAA', 'iso:USD'), '0.3')
  t.is(market.rateOf('AAA', 'ZZZ'), undefined)
})

test('an invalid price is refused and changes nothing', t => {
  const market = new FakeMarket()
  for (const price of ['0', '0.000', '-1', '1e5', 'NaN', '', ' 1', '1.', '.5', '1'.repeat(61)]) {
    t.throws(() => market.setPrice('BTC', price), { instanceOf: RangeError }, price)
  }
  t.throws(() => market.setPrice('', '1'), { instanceOf: RangeError })
  t.is(market.priceOf('BTC'), '65000')
})

test('a pair cut to twelve digits is never above the exact price, and near it', t => {
  const price = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.nat(12)).map(([units, places]) => {
    const text = String(units).padStart(places + 1, '0')
    return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`
  })
  fc.assert(
    fc.property(price, price, (above, below) => {
      const market = new FakeMarket()
      market.setPrice('A', above)
      market.setPrice('B', below)
      const { numerator, denominator } = market.ratioOf('A', 'B') ?? { numerator: 0n, denominator: 1n }
      const [whole = '', fraction = ''] = (market.rateOf('A', 'B') ?? '').split('.')
      const scaled = BigInt(whole + fraction) * denominator
      const exact = numerator * 10n ** BigInt(fraction.length)
      t.true(scaled <= exact)
      t.true((exact - scaled) * 10n ** 11n <= exact)
    })
  )
})
