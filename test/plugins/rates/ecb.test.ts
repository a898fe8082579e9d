import test from 'ava'
import { ecb, parseEcb } from '../../../plugins/rates/ecb.ts'
import { testRateSource } from '../../contracts/rate-source.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

testRateSource(test, {
  plugin: ecb,
  bias: -0.08,
  wanted: pairsOf('BTC iso:EUR', 'iso:USD iso:SEK'),
  offered: pairsOf('iso:EUR iso:USD', 'iso:EUR iso:SEK', 'iso:EUR iso:ZAR'),
  tolerance: 1e-5,
  strange: pairsOf('BTC ETH'),
  isConditional: true,
  gapSeconds: 1800
})

test('the first day of a list of the European Central Bank counts', t => {
  const day = (time: string, rate: string): string =>
    `<Cube time="${time}"><Cube currency="USD" rate="${rate}"/><Cube currency="odd" rate="1"/><Other/></Cube>`
  const text = `<?xml version="1.0"?><Envelope><Cube>${day('2026-01-02', '1.0842')}${day('2026-01-01', '9')}</Cube></Envelope>`
  t.deepEqual(parseEcb(text), [['iso:EUR', 'iso:USD', 1.0842]])
})

test('a list that nests, declares entities or has no day is refused, quickly and without its text', t => {
  const deep = `${'<Cube>'.repeat(5000)}${'</Cube>'.repeat(5000)}`
  const bomb = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Cube time="x"><Cube rate="&b;"/></Cube>'
  const wide = `<Cube>${'<a/>'.repeat(4_000_000)}</Cube>`
  for (const text of [deep, wide, bomb, '<Envelope/>', '<Cube secret="1">', '']) {
    const error = t.throws(() => parseEcb(text), { message: /European Central Bank/ })
    t.false(error?.message.includes('secret'))
  }
})
