import test from 'ava'
import { openRateHome, pairOf, toySource } from '../../helpers/rate-home.ts'

test('rates are asked for while somebody wants them, every 30 s after each round, and by hand [9.19]', async t => {
  const source = toySource('one', [['BTC', 'iso:USD', 50_000]])
  const { rates, clock } = await openRateHome(t, { plugins: [source] })
  await clock.advance(120_000)
  t.is(source.asked.length, 0, 'nobody wants any')
  t.is(clock.timerCount, 0)

  const release = rates.want([pairOf('BTC', 'iso:USD')])
  await clock.advance(0)
  t.is(source.asked.length, 1, 'at once')
  t.deepEqual(source.asked[0], [pairOf('BTC', 'iso:USD')])
  t.is(rates.convertCurrency('BTC', 'iso:USD', 2), 100_000)
  await clock.advance(29_999)
  t.is(source.asked.length, 1)
  await clock.advance(1)
  t.is(source.asked.length, 2)

  release()
  t.is(clock.timerCount, 0)
  await clock.advance(120_000)
  t.is(source.asked.length, 2)
  await rates.refresh()
  t.is(source.asked.length, 3, 'by hand')
  t.is(clock.timerCount, 0)
})
