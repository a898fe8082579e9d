import test from 'ava'
import {
  countdownText,
  detailText,
  failureText,
  isOpen,
  offerText,
  quoteTimeLeft
} from '../../../app/format/quotes.ts'
import type { QuoteSnapshot } from '../../../kernel/index.ts'

const unitsOf = (code: string) => ({
  currencyCode: code,
  displayName: code,
  denominations: [{ name: code, multiplier: '100000000' }]
})
const units = { from: unitsOf('BTC'), to: unitsOf('LTC'), fee: unitsOf('BTC') }
const quote = {
  state: 'resolved',
  isEstimate: true,
  fromNativeAmount: '1000000',
  toNativeAmount: '712000000',
  minReceiveAmount: '700000000',
  networkFee: '1500',
  maxFulfillmentSeconds: 61,
  expiresAt: 61_000
} as QuoteSnapshot

test('an offer and its terms are written in the units of both sides', t => {
  t.is(offerText(quote, units), '~7.12 LTC for 0.01 BTC')
  t.is(offerText({ ...quote, isEstimate: false }, units), '7.12 LTC for 0.01 BTC')
  t.is(detailText(quote, units), 'fee 0.000015 BTC, estimate, at least 7 LTC, within 2 min')
})

test('a provider without a quote is shown with its reason and its limit', t => {
  const failed = { state: 'failed', errorCode: 'SWAP_BELOW_LIMIT', message: 'Too small' } as QuoteSnapshot
  t.is(failureText(failed, units), 'Too small')
  t.is(failureText({ ...failed, limit: '200000' }, units), 'Too small: at least 0.002 BTC')
  t.is(failureText({ ...failed, limit: '100000000', direction: 'to' }, units), 'Too small: at least 1 LTC')
  t.is(failureText({ ...failed, state: 'timed out' }, units), 'no reply in time')
})

test('a quote is open until it expires or ends', t => {
  t.is(quoteTimeLeft(quote, 0), 61_000)
  t.is(countdownText(61_000), '1:01')
  t.true(isOpen(quote, 60_999))
  t.false(isOpen(quote, 61_000))
  t.false(isOpen({ ...quote, fate: 'closed' }, 0))
  t.is(quoteTimeLeft({ ...quote, fate: 'closed' }, 0), undefined)
})
