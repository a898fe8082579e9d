import test from 'node:test'
import { type RateSuiteOptions, rateSuite, type Suite, type SuiteOptions, testSuite } from 'holdfast/testing'
import { plugin } from '../src/index.ts'

// What the server answers, recorded once. `--level live` asks the real one.
const answering = (body: string) => ({ 'https://api.coinbase.com/v2/exchange-rates': body })
const wanted = ['BTC iso:USD']

const cases: RateSuiteOptions = {
  // The first valid case is also the reply that the other checks spoil, delay, cut and withhold.
  valid: [
    {
      wanted,
      replies: answering('{"data":{"currency":"USD","rates":{"BTC":"0.000015625","EUR":"0.92"}}}'),
      offers: { 'iso:USD BTC': 0.000015625 }
    },
    {
      name: 'a price in euros',
      wanted: ['BTC iso:EUR'],
      replies: answering('{"data":{"currency":"USD","rates":{"BTC":"0.000015625","EUR":"0.92"}}}'),
      offers: { 'iso:USD BTC': 0.000015625, 'iso:USD iso:EUR': 0.92 }
    }
  ],
  invalid: [
    { name: 'a reply without rates', wanted, replies: answering('{"data":{}}'), code: 'BAD_REPLY' },
    {
      name: 'a coin that it does not have',
      wanted: ['UFO iso:USD'],
      replies: answering('{"data":{"rates":{}}}')
    }
  ]
}

/** The checks of this plugin, for `holdfast plugins test`. */
export const suite = (options: SuiteOptions = {}): Suite => rateSuite(plugin, { ...cases, ...options })

testSuite(test, suite())
