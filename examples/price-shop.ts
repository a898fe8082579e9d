import { HttpClient, type RatePlugin, Reply, WalletError } from 'holdfast/plugin'

/** A rate source with a server: the price of a bitcoin at `https://shop.example.org/price`, as `{ "usd": 64000 }`. */
export const priceShop: RatePlugin = {
  kind: 'rates',
  id: 'priceshop',
  displayName: 'Price Shop',
  hosts: ['shop.example.org'],
  apply({ hooks, io }) {
    const client = new HttpClient(io, {
      name: 'Price Shop',
      origins: ['https://shop.example.org'],
      deadlineMs: 10_000,
      rateLimit: { statuses: [429], firstMs: 60_000, maxMs: 3_600_000, retryAfter: 'secondsOrDate' }
    })
    hooks.fetchRates.tapPromise('priceshop', async ({ wanted, signal, offer }) => {
      if (!wanted.some(({ fromCurrency }) => fromCurrency === 'BTC')) return
      const { status, text } = await client.request({ path: '/price', signal })
      if (status !== 200) throw new WalletError('SERVER', { message: `Price Shop answered ${status}` })
      const price = Reply.of(text, 'reply of Price Shop').object().field('usd')
      const rate = price.number()
      if (!(rate > 0)) price.fail('is no price')
      offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, rate)
    })
  }
}
