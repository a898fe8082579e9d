import {
  HttpClient,
  type HttpClientOptions,
  type HttpReply,
  nativeAmount,
  type OrderReport,
  type QuoteContext,
  Reply,
  type SwapHost,
  type SwapOffer,
  type SwapOrder,
  type SwapPlugin,
  WalletError
} from '../../kernel/plugin-api.ts'
import { swapAssets } from '../../testing/swap-lab.ts'
import type { SwapSuiteOptions } from '../../testing/swap-suite.ts'

/** The parts of a provider that a mistake replaces. */
interface TraderParts {
  fetch(
    host: SwapHost,
    client: HttpClient,
    context: QuoteContext
  ): Promise<Pick<HttpReply, 'status' | 'text'>>
  /** Reads how many units one unit gives. */
  read(reply: Pick<HttpReply, 'text'>): bigint
  /** Refuses other pairs. */
  checkPair(context: QuoteContext): void
  /** Refuses other amounts. */
  checkAmount(amount: bigint): void
  /** The amount to pay. */
  amountOf(context: QuoteContext, rate: bigint): Promise<bigint>
  feeOf(context: QuoteContext, amount: bigint): ReturnType<QuoteContext['feeFor']>
  /** Changes an offer before it is made. */
  change(offer: SwapOffer, context: QuoteContext, host: SwapHost): SwapOffer
  placeOrder(
    client: HttpClient,
    context: QuoteContext
  ): Promise<{ readonly id: string; readonly deposit: string }>
  /** Reads the state of an order. */
  stateOf(reply: Pick<HttpReply, 'text'>): OrderReport['state']
  /** Changes an order before it is returned. */
  changeOrder(order: SwapOrder): SwapOrder
  onApply(host: SwapHost): void
  readonly client: Partial<HttpClientOptions>
}

const TRADER = { pluginId: 'trader', displayName: 'Trader' }
const LEAST = 10_000n

const checkStatus = ({ status }: Pick<HttpReply, 'status'>): void => {
  if (status !== 200) throw new WalletError('SERVER', { message: `Trader answered ${status}` })
}

const rateOf = ({ text }: Pick<HttpReply, 'text'>): Reply =>
  Reply.of(text, 'reply of Trader').object().field('rate')

const sound: TraderParts = {
  async fetch(host, client, { signal }) {
    const headers = { 'x-key': String(host.options.apiKey) }
    const reply = await client.request({ path: '/rate', headers, signal })
    checkStatus(reply)
    return reply
  },
  read(reply) {
    const rate = rateOf(reply)
    const figure = rate.number()
    return Number.isSafeInteger(figure) && figure > 0 ? BigInt(figure) : rate.fail('is no rate')
  },
  checkPair({ request: { from, to } }) {
    if (from.pluginId === 'bitcoin' && to.pluginId === 'litecoin') return
    throw new WalletError('SWAP_CURRENCY', { ...TRADER, from: from.currencyCode, to: to.currencyCode })
  },
  checkAmount(amount) {
    const { pluginId } = TRADER
    const nativeMin = nativeAmount(String(LEAST))
    if (amount < LEAST) throw new WalletError('SWAP_BELOW_LIMIT', { pluginId, nativeMin, direction: 'from' })
  },
  async amountOf({ request, maxFrom }, rate) {
    const { quoteFor, nativeAmount: amount } = request
    if (quoteFor === 'max') return BigInt(await maxFrom({ tokenId: null, spendTargets: [{}] }))
    return quoteFor === 'from' ? BigInt(amount) : (BigInt(amount) + rate - 1n) / rate
  },
  feeOf: ({ feeFor }, amount) =>
    feeFor([{ tokenId: null, spendTargets: [{ nativeAmount: nativeAmount(String(amount)) }] }]),
  change: offer => offer,
  async placeOrder(client, { depositTo }) {
    const reply = await client.request({ path: '/order', body: { payTo: await depositTo() } })
    checkStatus(reply)
    const order = Reply.of(reply.text, 'order of Trader').object()
    return { id: order.field('id').text(), deposit: order.field('deposit').text() }
  },
  stateOf({ text }) {
    const state = Reply.of(text, 'order of Trader').object().field('state')
    return state.text() === 'waiting' ? 'waiting' : state.fail('is not known')
  },
  changeOrder: order => order,
  onApply() {},
  client: {}
}

/** A swap provider that passes every check, but for what replaces a part of it. */
export const trader = (parts: Partial<TraderParts> = {}, plugin: Partial<SwapPlugin> = {}): SwapPlugin => ({
  kind: 'swap',
  id: 'trader',
  displayName: 'Trader',
  apply(host) {
    const all = { ...sound, ...parts }
    const client = new HttpClient(host.io, {
      name: 'Trader',
      origins: ['https://trader.example.org'],
      rateLimit: { statuses: [429], firstMs: 60_000, maxMs: 3_600_000, retryAfter: 'secondsOrDate' },
      ...all.client
    })
    all.onApply(host)
    host.hooks.watchOrder.tapPromise('trader', async ({ signal }) => {
      const reply = await client.request({ path: '/state', signal })
      checkStatus(reply)
      return { state: all.stateOf(reply) }
    })
    host.hooks.fetchQuotes.tapPromise('trader', async context => {
      all.checkPair(context)
      const rate = all.read(await all.fetch(host, client, context))
      const amount = await all.amountOf(context, rate)
      all.checkAmount(amount)
      const fromNativeAmount = nativeAmount(String(amount))
      const { quoteFor, nativeAmount: wanted } = context.request
      const toNativeAmount = quoteFor === 'to' ? wanted : nativeAmount(String(amount * rate))
      const offer: SwapOffer = {
        ...{ fromNativeAmount, toNativeAmount, isEstimate: false },
        networkFee: await all.feeOf(context, amount),
        expirationDate: new Date(host.io.clock.now() + 600_000),
        payment: {
          async order() {
            const { id: orderId, deposit } = await all.placeOrder(client, context)
            const spendTargets = [{ publicAddress: deposit, nativeAmount: fromNativeAmount }]
            const spends = [{ tokenId: null, spendTargets }]
            return all.changeOrder({ orderId, spends, fromNativeAmount, toNativeAmount })
          }
        }
      }
      context.offer(all.change(offer, context, host))
    })
  },
  ...plugin
})

const { btc: from, ltc: to } = swapAssets

/** The cases of the provider. */
export const traderCases: SwapSuiteOptions = {
  valid: [
    {
      ...{ from, to, amount: '1000000', fromNativeAmount: '1000000', toNativeAmount: '740000000' },
      isEstimate: false,
      replies: {
        'https://trader.example.org/rate': '{"rate":740}',
        'https://trader.example.org/state': '{"state":"waiting"}',
        'POST https://trader.example.org/order':
          '{"id":"order-1","deposit":"bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry"}'
      }
    }
  ],
  invalid: [
    {
      ...{ from, to, amount: '500', code: 'SWAP_BELOW_LIMIT', limit: '10000' },
      replies: { 'https://trader.example.org/rate': '{"rate":740}' }
    }
  ],
  options: { apiKey: 'a-key-of-the-trader' }
}

/** A provider with one mistake, and the check that finds it. */
export interface BrokenSwap {
  readonly breaks: string
  make(): SwapPlugin
}

const raised = (amount: string): ReturnType<typeof nativeAmount> => nativeAmount(String(BigInt(amount) + 1n))

/** A signal that nothing aborts. */
const { signal } = new AbortController()

const NO_LIMIT = { statuses: [], firstMs: 0, maxMs: 0, retryAfter: 'seconds' } as const

const brokenOffers: readonly BrokenSwap[] = [
  { breaks: 'plugin.loads', make: () => trader({}, { displayName: '' }) },
  { breaks: 'plugin.globals', make: () => trader({ onApply: () => void Date.now() }) },
  {
    breaks: 'plugin.repeatable',
    make() {
      let count = 0
      // Every second kernel of this object sees another fee.
      const apply: SwapPlugin['apply'] = host => {
        count += 1
        const isOther = count % 2 === 0
        const change = (offer: SwapOffer): SwapOffer => ({ ...offer, networkFee: raised(offer.networkFee) })
        trader(isOther ? { change } : {}).apply(host)
      }
      return trader({}, { apply })
    }
  },
  {
    breaks: 'plugin.closing',
    make: () =>
      trader({
        onApply({ io }) {
          const again = (): void => void io.clock.after(10_000, again)
          again()
        }
      })
  },
  {
    breaks: 'plugin.secrets',
    make: () => trader({ onApply: ({ log, options }) => log.info(`started with ${options.apiKey}`) })
  },
  {
    breaks: 'swap.valid',
    make: () => trader({ read: reply => sound.read(reply) - 1n })
  },
  {
    breaks: 'swap.invalid',
    make: () =>
      trader({
        checkAmount(amount) {
          const { pluginId } = TRADER
          const nativeMin = nativeAmount(String(LEAST * 2n))
          if (amount < LEAST)
            throw new WalletError('SWAP_BELOW_LIMIT', { pluginId, nativeMin, direction: 'from' })
        }
      })
  },
  {
    breaks: 'swap.offer',
    make: () => trader({ change: offer => ({ ...offer, networkFee: '0.5' as SwapOffer['networkFee'] }) })
  },
  {
    breaks: 'swap.exact',
    make: () =>
      trader({
        // Two digits are lost, as with a float.
        amountOf: async (context, rate) => {
          const amount = await sound.amountOf(context, rate)
          return context.request.quoteFor === 'from' ? (amount / 100n) * 100n : amount
        }
      })
  },
  {
    breaks: 'swap.addresses',
    make: () =>
      trader({
        async fetch(_host, client, context) {
          const reply = await client.request({
            path: '/rate',
            query: { payTo: await context.depositTo() },
            signal: context.signal
          })
          checkStatus(reply)
          return reply
        }
      })
  },
  {
    breaks: 'swap.expiry',
    make: () =>
      trader({
        change: (offer, _context, { io }) => ({ ...offer, expirationDate: new Date(io.clock.now() - 1) })
      })
  },
  {
    breaks: 'swap.max',
    make: () =>
      trader({
        amountOf: (context, rate) =>
          context.request.quoteFor === 'max' ? Promise.resolve(1_000_000n) : sound.amountOf(context, rate)
      })
  },
  {
    breaks: 'swap.unsupported',
    make: () =>
      trader({
        checkPair({ request }) {
          if (request.from.pluginId === 'bitcoin' && request.to.pluginId === 'litecoin') return
          throw new WalletError('SERVER', { message: 'No such pair' })
        }
      })
  },
  {
    breaks: 'swap.limits',
    make: () =>
      trader({
        checkAmount(amount) {
          sound.checkAmount(amount)
          if (amount < 10n ** 20n) return
          const { pluginId } = TRADER
          throw new WalletError('SWAP_ABOVE_LIMIT', {
            pluginId,
            nativeMax: nativeAmount('0'),
            direction: 'from'
          })
        }
      })
  },
  {
    breaks: 'swap.wallet-error',
    make: () =>
      trader({
        feeOf: (context, amount) =>
          sound.feeOf(context, amount).catch(() => {
            throw new WalletError('SERVER', { message: 'No fee' })
          })
      })
  },
  {
    breaks: 'swap.order',
    make: () => trader({ changeOrder: order => ({ ...order, toNativeAmount: raised(order.toNativeAmount) }) })
  },
  {
    breaks: 'swap.order-later',
    make: () =>
      trader({
        async placeOrder(client, context) {
          if (context.signal.aborted) throw new WalletError('SERVER', { message: 'The round has ended' })
          return sound.placeOrder(client, context)
        }
      })
  },
  {
    breaks: 'swap.order-faults',
    make: () =>
      trader({
        placeOrder: (client, context) =>
          sound.placeOrder(client, context).catch(() => ({ id: 'unknown', deposit: 'the usual address' }))
      })
  },
  {
    breaks: 'swap.watch-order',
    make: () => trader({ stateOf: reply => (sound.stateOf(reply) && 'done') as OrderReport['state'] })
  },
  {
    breaks: 'swap.watch-faults',
    make: () => trader({ stateOf: reply => (reply.text === '{}' ? 'paidOut' : sound.stateOf(reply)) })
  }
]

const brokenRequests: readonly BrokenSwap[] = [
  {
    breaks: 'swap.refused',
    make: () =>
      trader({ fetch: (_host, client, context) => client.request({ path: '/rate', signal: context.signal }) })
  },
  {
    breaks: 'swap.offline',
    make: () =>
      trader({
        fetch: (host, client, context) =>
          sound.fetch(host, client, context).catch((error: Error) => {
            const isOffline = error.message.includes('cannot be reached') && !context.signal.aborted
            throw isOffline ? new TypeError('fetch failed') : error
          })
      })
  },
  { breaks: 'swap.too-many', make: () => trader({ client: { rateLimit: NO_LIMIT } }) },
  {
    breaks: 'swap.garbage',
    make: () =>
      trader({
        read(reply) {
          if (reply.text === '[null]') throw new TypeError('Cannot read properties of null')
          return sound.read(reply)
        }
      })
  },
  {
    breaks: 'swap.cut',
    make: () => trader({ read: reply => (/^{"r[^}]*$/.test(reply.text) ? 1n : sound.read(reply)) })
  },
  {
    breaks: 'swap.figures',
    make: () =>
      trader({
        read(reply) {
          const figure = rateOf(reply).number()
          return figure < 0 ? BigInt(-figure) : sound.read(reply)
        }
      })
  },
  {
    breaks: 'swap.random-faults',
    make: () =>
      trader({
        read(reply) {
          if (/^[^<]+</.test(reply.text)) throw new TypeError('This is no page')
          return sound.read(reply)
        }
      })
  },
  { breaks: 'swap.large', make: () => trader({ client: { maxReplyBytes: 16_000_000 } }) },
  { breaks: 'swap.silence', make: () => trader({ client: { deadlineMs: 90_000 } }) },
  {
    breaks: 'swap.abort',
    make: () =>
      trader({ fetch: (host, client, context) => sound.fetch(host, client, { ...context, signal }) })
  }
]

/** For each check a provider with a mistake that it finds. */
export const brokenSwaps: readonly BrokenSwap[] = [...brokenOffers, ...brokenRequests]
