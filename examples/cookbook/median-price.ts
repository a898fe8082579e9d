import { HttpClient, type RatePlugin, Reply, WalletError } from 'holdfast/plugin'

/** A public price of a bitcoin in dollars: where it stands, and how it is read. */
interface PriceServer {
  readonly origin: string
  readonly path: string
  read(reply: Reply): Reply
}

const SERVERS: readonly PriceServer[] = [
  {
    origin: 'https://api.coinbase.com',
    path: '/v2/prices/BTC-USD/spot',
    read: reply => reply.field('data').field('amount')
  },
  { origin: 'https://www.bitstamp.net', path: '/api/v2/ticker/btcusd/', read: reply => reply.field('last') },
  { origin: 'https://api.gemini.com', path: '/v1/pubticker/btcusd', read: reply => reply.field('last') }
]

/** The middle of three prices; of two the lower one, since a price that is too high makes a payment too small. */
const medianOf = (prices: readonly number[]): number => {
  const sorted = [...prices].sort((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

/**
 * A rate source that asks three exchanges and offers the price in the middle: one that is wrong, or lies, moves nothing. It
 * gives no price without two answers that are within 5 % of each other.
 */
const medianPrice: RatePlugin = {
  kind: 'rates',
  id: 'medianprice',
  displayName: 'Median of three',
  hosts: SERVERS.map(({ origin }) => origin.replace('https://', '')),
  apply({ hooks, io, log }) {
    const sources = SERVERS.map(server => ({
      ...server,
      client: new HttpClient(io, {
        name: server.origin,
        origins: [server.origin],
        deadlineMs: 10_000,
        rateLimit: { statuses: [429], firstMs: 60_000, maxMs: 3_600_000, retryAfter: 'secondsOrDate' }
      })
    }))
    hooks.fetchRates.tapPromise('medianprice', async ({ wanted, signal, offer }) => {
      if (!wanted.some(({ fromCurrency }) => fromCurrency === 'BTC')) return
      const answers = await Promise.allSettled(
        sources.map(async ({ origin, path, read, client }) => {
          const { status, text } = await client.request({ path, signal })
          if (status !== 200) throw new WalletError('SERVER', { message: `${origin} answered ${status}` })
          const price = read(Reply.of(text, `reply of ${origin}`))
          const rate = Number(price.decimal())
          return rate > 0 ? rate : price.fail('is no price')
        })
      )
      const prices: number[] = []
      for (const answer of answers) {
        if (answer.status === 'fulfilled') prices.push(answer.value)
        else log.warn(String(answer.reason?.message))
      }
      const median = medianOf(prices)
      const near = prices.filter(price => Math.abs(price / median - 1) < 0.05)
      if (near.length < 2) throw new WalletError('SERVER', { message: 'Fewer than two prices agree' })
      offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, median)
    })
  }
}

export default medianPrice
