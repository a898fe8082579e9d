// A source of rates: it offers prices, and the wallet chooses among those of all its sources.
import { HttpClient, type RatePlugin, Reply, WalletError } from 'holdfast/plugin'

/** The server. A plugin reaches the servers in its `hosts` and no other; they are shown before it is added. */
const HOST = 'api.coinbase.com'

/** What the list has of coins. All else in it is money of a state, whose code may be that of a coin elsewhere. */
const COINS = new Set(['BTC', 'BCH', 'DASH', 'DOGE', 'ETH', 'LTC'])

/** Rates of the dollar, from a public list that needs no key. Put your own server in its place. */
export const plugin: RatePlugin = {
  kind: 'rates',
  // The name of this plugin in settings, logs and lists; it stays the same for ever.
  id: 'my-plugin',
  displayName: 'My Plugin',
  hosts: [HOST],
  // Of two sources with a price for a pair, the wallet takes the one with the lower bias.
  bias: -0.2,
  apply({ hooks, io }) {
    // Sends requests, gives up in time, and leaves a server alone that answers 429. Never use the global fetch.
    const client = new HttpClient(io, {
      name: 'My Plugin',
      origins: [`https://${HOST}`],
      deadlineMs: 10_000,
      maxReplyBytes: 1_000_000,
      rateLimit: { statuses: [429], firstMs: 60_000, maxMs: 3_600_000, retryAfter: 'secondsOrDate' }
    })

    // Called when the wallet needs prices: `wanted` has the pairs, such as BTC and iso:USD. Money of a state is iso:….
    hooks.fetchRates.tapPromise('my-plugin', async ({ wanted, signal, offer }) => {
      const codes = new Set(wanted.flatMap(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency]))
      // The signal is aborted when nobody waits for the answer any more.
      const { isOk, status, text } = await client.request({
        path: '/v2/exchange-rates',
        query: { currency: 'USD' },
        signal
      })
      if (!isOk) throw new WalletError('SERVER', { message: `My Plugin answered ${status}` })

      // Reads JSON of others: a field that is missing or wrong throws BAD_REPLY with its name.
      const rates = Reply.of(text, 'reply of My Plugin').object().field('data').object().field('rates')
      for (const [name, amount] of rates.entries()) {
        const code = COINS.has(name) ? name : `iso:${name}`
        if (!codes.has(code) || code === 'iso:USD') continue
        // One dollar is so much of the other. Routes go through it: the price of BTC in EUR needs no pair of its own.
        const rate = amount.number()
        if (rate > 0 && Number.isFinite(rate)) offer({ fromCurrency: 'iso:USD', toCurrency: code }, rate)
      }
    })
  }
}
