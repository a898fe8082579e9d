import {
  type HistoricRateContext,
  HttpClient,
  type HttpClientOptions,
  type HttpReply,
  type RateContext,
  type RateHost,
  type RatePlugin,
  Reply,
  WalletError
} from '../../kernel/plugin-api.ts'
import type { ValidRateCase } from '../../testing/rate-lab.ts'
import type { RateSuiteOptions } from '../../testing/rate-suite.ts'

/** The parts of a source that a mistake replaces. */
interface ShopParts {
  /** Fetches the reply of a round. */
  fetch(host: RateHost, client: HttpClient, context: RateContext): Promise<Pick<HttpReply, 'status' | 'text'>>
  /** Reads the price of a bitcoin. */
  read(reply: Pick<HttpReply, 'status' | 'text'>): number
  /** Offers it. */
  offer(context: RateContext, rate: number): void
  /** Offers prices of the past. */
  history(context: HistoricRateContext): void
  /** Is called once. */
  onApply(host: RateHost): void
  /** Replaces options of the client. */
  readonly client: Partial<HttpClientOptions>
}

const URL = 'https://shop.example.org/price'

const figureOf = ({ text }: Pick<HttpReply, 'text'>): Reply =>
  Reply.of(text, 'reply of the shop').object().field('usd')

const sound: ShopParts = {
  async fetch(host, client, { signal }) {
    const headers = { 'x-key': String(host.options.apiKey) }
    const reply = await client.request({ path: '/price', headers, signal })
    if (reply.status !== 200) throw new WalletError('SERVER', { message: `Shop answered ${reply.status}` })
    return reply
  },
  read(reply) {
    const price = figureOf(reply)
    const rate = price.number()
    return rate > 0 ? rate : price.fail('is no price')
  },
  offer(context, rate) {
    context.offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, rate)
  },
  history({ wanted, offer }) {
    for (const pair of wanted) {
      const time = pair.date.getTime()
      if (!Number.isNaN(time)) offer({ ...pair, date: new Date(time - 1000) }, 60_000)
    }
  },
  onApply() {},
  client: {}
}

/** A source of rates that passes every check, but for what replaces a part of it. */
export const rateShop = (parts: Partial<ShopParts> = {}, plugin: Partial<RatePlugin> = {}): RatePlugin => {
  const { fetch, read, offer, history, onApply, client: more } = { ...sound, ...parts }
  return {
    kind: 'rates',
    id: 'shop',
    displayName: 'Shop',
    apply(host) {
      const client = new HttpClient(host.io, {
        name: 'Shop',
        origins: ['https://shop.example.org'],
        deadlineMs: 10_000,
        rateLimit: { statuses: [429], firstMs: 60_000, maxMs: 3_600_000, retryAfter: 'secondsOrDate' },
        ...more
      })
      onApply(host)
      host.hooks.fetchRates.tapPromise('shop', async context => {
        if (!context.wanted.some(({ fromCurrency }) => fromCurrency === 'BTC')) return
        offer(context, read(await fetch(host, client, context)))
      })
      host.hooks.fetchHistoricRates.tapPromise('shop', async context => history(context))
    },
    ...plugin
  }
}

const valid: ValidRateCase = {
  wanted: ['BTC iso:USD'],
  replies: { [URL]: '{"usd": 64000}' },
  offers: { 'BTC iso:USD': 64_000 }
}

/** The cases of the shop. */
export const shopCases: RateSuiteOptions = {
  valid: [valid, { ...valid, date: new Date('2025-12-01T00:00:00Z'), offers: { 'BTC iso:USD': 60_000 } }],
  invalid: [
    { wanted: ['ETH iso:USD'], replies: {} },
    { name: 'closed', wanted: ['BTC iso:USD'], replies: { [URL]: '{"error":"closed"}' }, code: 'BAD_REPLY' }
  ],
  options: { apiKey: 'a-key-of-the-shop' }
}

/** A source with one mistake, and the check that finds it. */
export interface BrokenPlugin {
  readonly breaks: string
  make(): RatePlugin
  readonly options?: Partial<RateSuiteOptions>
}

/** For each check a source with a mistake that it finds. */
export const brokenRates: readonly BrokenPlugin[] = [
  { breaks: 'plugin.loads', make: () => rateShop({}, { displayName: '' }) },
  { breaks: 'plugin.globals', make: () => rateShop({ onApply: () => void Math.random() }) },
  {
    breaks: 'plugin.repeatable',
    options: { tolerance: 0.1 },
    make() {
      let count = 0
      return rateShop({
        offer(context, rate) {
          count += 1
          sound.offer(context, rate + (count % 2) / 100)
        }
      })
    }
  },
  {
    breaks: 'plugin.closing',
    make: () =>
      rateShop({
        onApply({ io }) {
          const again = (): void => void io.clock.after(10_000, again)
          again()
        }
      })
  },
  {
    breaks: 'plugin.secrets',
    make: () => rateShop({ onApply: ({ log, options }) => log.info(`started with ${options.apiKey}`) })
  },
  { breaks: 'rates.valid', make: () => rateShop({ read: reply => sound.read(reply) / 2 }) },
  {
    breaks: 'rates.invalid',
    make: () =>
      rateShop({
        read(reply) {
          if (reply.text.includes('closed'))
            throw new WalletError('SERVER', { message: 'The shop is closed' })
          return sound.read(reply)
        }
      })
  },
  {
    breaks: 'rates.accepted',
    make: () =>
      rateShop({
        offer(context, rate) {
          sound.offer(context, rate)
          context.offer({ fromCurrency: 'BTC', toCurrency: 'iso:EUR' }, Number.NaN)
        }
      })
  },
  {
    breaks: 'rates.fiat-prefix',
    make: () =>
      rateShop({
        offer(context, rate) {
          sound.offer(context, rate)
          if (context.wanted.every(({ toCurrency }) => toCurrency !== 'USD'))
            context.offer({ fromCurrency: 'BTC', toCurrency: 'USD' }, rate)
        }
      })
  },
  {
    breaks: 'rates.coin-codes',
    make: () =>
      rateShop({
        offer(context, rate) {
          sound.offer(context, rate)
          if (context.wanted.some(({ toCurrency }) => toCurrency === 'EUR'))
            context.offer({ fromCurrency: 'BTC', toCurrency: 'EUR' }, rate)
        }
      })
  },
  {
    breaks: 'rates.unknown',
    make() {
      const names: Readonly<Record<string, { readonly path: string }>> = { BTC: { path: 'price' } }
      const lookUp = async ({ wanted }: RateContext): Promise<void> => {
        for (const { fromCurrency } of wanted) names[fromCurrency]?.path.toUpperCase()
      }
      return rateShop({ onApply: ({ hooks }) => hooks.fetchRates.tapPromise('shop', lookUp) })
    }
  },
  {
    breaks: 'rates.many',
    make: () =>
      rateShop({
        async fetch(host, client, context) {
          const replies = await Promise.all(context.wanted.map(() => sound.fetch(host, client, context)))
          return replies[0] ?? { status: 0, text: '' }
        }
      })
  },
  {
    breaks: 'rates.again',
    make() {
      let left = 3
      return rateShop({
        onApply() {
          left = 3
        },
        offer(context, rate) {
          left -= 1
          if (left < 0) throw new WalletError('SERVER', { message: 'The quota of the shop is used up' })
          sound.offer(context, rate)
        }
      })
    }
  },
  {
    breaks: 'rates.history',
    make: () =>
      rateShop({
        history({ wanted, offer }) {
          for (const pair of wanted) offer(pair, 60_000)
        }
      })
  },
  {
    breaks: 'rates.refused',
    make: () => rateShop({ fetch: (_host, client, { signal }) => client.request({ path: '/price', signal }) })
  },
  {
    breaks: 'rates.offline',
    make: () =>
      rateShop({
        fetch: (host, client, context) =>
          sound.fetch(host, client, context).catch((error: Error) => {
            const isOffline = error.message.includes('cannot be reached') && !context.signal.aborted
            throw isOffline ? new TypeError('fetch failed') : error
          })
      })
  },
  {
    breaks: 'rates.garbage',
    make: () =>
      rateShop({
        read(reply) {
          if (reply.text === '[null]') throw new TypeError('Cannot read properties of null')
          return sound.read(reply)
        }
      })
  },
  {
    breaks: 'rates.cut',
    make: () =>
      rateShop({
        // The opening brace and the name are enough for it.
        read: reply => (/^{"usd"[^}]*$/.test(reply.text) ? 1 : sound.read(reply))
      })
  },
  {
    breaks: 'rates.figures',
    make: () =>
      rateShop({
        read(reply) {
          const figure = figureOf(reply).number()
          return figure < 0 ? -figure : sound.read(reply)
        }
      })
  },
  {
    breaks: 'rates.random-faults',
    make: () =>
      rateShop({
        read(reply) {
          if (/^[^<]+</.test(reply.text)) throw new TypeError('This is no page')
          return sound.read(reply)
        }
      })
  },
  { breaks: 'rates.large', make: () => rateShop({ client: { maxReplyBytes: 16_000_000 } }) },
  { breaks: 'rates.silence', make: () => rateShop({ client: { deadlineMs: 40_000 } }) },
  {
    breaks: 'rates.abort',
    make: () =>
      rateShop({ fetch: (host, client, context) => sound.fetch(host, client, { ...context, signal }) })
  },
  { breaks: 'rates.too-many', make: () => rateShop({ client: { rateLimit: { ...NO_LIMIT } } }) }
]

/** A signal that nothing aborts. */
const { signal } = new AbortController()

const NO_LIMIT = { statuses: [], firstMs: 0, maxMs: 0, retryAfter: 'seconds' } as const
