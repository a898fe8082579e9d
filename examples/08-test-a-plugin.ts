// The conformance kit on the source of price-shop.ts, without a test runner: its failures, and a line at the end.
import { formatResults, rateSuite, runSuite } from 'holdfast/testing'
import { priceShop } from './price-shop.ts'

const wanted = ['BTC iso:USD']
const suite = rateSuite(priceShop, {
  valid: [
    {
      wanted,
      replies: { 'https://shop.example.org/price': '{"usd":64000}' },
      offers: { 'BTC iso:USD': 64_000 }
    }
  ],
  invalid: [
    { name: 'no price', wanted, replies: { 'https://shop.example.org/price': '{}' }, code: 'BAD_REPLY' },
    { name: 'unknown pair', wanted: ['ETH iso:USD'], replies: {} }
  ]
})
const results = await runSuite(suite)
const failures = results.filter(({ outcome }) => outcome === 'failed')
console.log(
  formatResults(suite, failures.length > 0 ? failures : results)
    .split('\n')
    .slice(-2)
    .join('')
)
