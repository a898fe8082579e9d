import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { FAKE_COINS } from '../../fake-server/providers/swap/exchange-api.ts'
import type { FakeExchange } from '../../fake-server/providers/swap/fake-exchange.ts'
import { nativeAmount } from '../../kernel/base/amount.ts'
import type { JsonObject } from '../../kernel/base/json.ts'
import type { FetchOptions, Io } from '../../kernel/io/io.ts'
import type { SwapPlugin } from '../../kernel/plugins/plugin.ts'
import type {
  OrderReport,
  QuoteContext,
  QuoteRequest,
  SwapOffer,
  SwapOrder,
  WatchedOrder
} from '../../kernel/types/swap.ts'
import type { SpendInfo } from '../../kernel/types/transaction.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { swapAssets } from '../../testing/swap-lab.ts'
import { quickCrypto } from './quick-crypto.ts'

/** Where a plugin was applied alone, as the kernel would, in a fake world with a clock that stands still. */
export interface SwapHome {
  readonly world: FakeWorld
  readonly clock: FakeClock
  /** Everything that was sent, addresses, bodies and headers. */
  readonly sent: readonly { readonly url: string; readonly options: FetchOptions }[]
  /** What the plugin logged. */
  readonly logged: readonly string[]
  /** Asks the plugin; `asked` is what its context saw. */
  query(options: QuoteRequestOptions): Requested
  /** Asks the plugin for an order of 0.01 BTC, paid just now. */
  watch(order: Partial<WatchedOrder>): Promise<OrderReport>
}

/** What a test asks for; the rest is a swap of 0.01 BTC for LTC. */
export interface QuoteRequestOptions extends Partial<Omit<QuoteRequest, 'nativeAmount'>> {
  readonly amount?: string
  readonly userSettings?: JsonObject
  readonly promoCode?: string
  /** What a wallet says it can pay at most. */
  readonly most?: string
  /** What asking for a fee throws. */
  readonly feeError?: Error
}

/** One request on its way. */
export interface Requested {
  readonly offers: readonly SwapOffer[]
  /** The spends that the plugin asked fees and maxima for. */
  readonly fees: readonly (readonly SpendInfo[])[]
  readonly maxima: readonly SpendInfo[]
  /** Ends as the plugin's tap ends. */
  readonly done: Promise<void>
  abort(): void
}

/** Addresses of the two wallets. */
export const DEPOSIT_TO = {
  bitcoin: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  litecoin: 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7k693xs3'
} as const

/** Applies a plugin in a new world. */
export const openSwapHome = (plugin: SwapPlugin, options: JsonObject = {}): SwapHome => {
  const clock = makeFakeClock()
  const base = { ...makeNodeIo(), crypto: quickCrypto, clock }
  const world = makeFakeWorld({ io: base })
  const io = world.ioFor(base)
  const sent: { url: string; options: FetchOptions }[] = []
  const logged: string[] = []
  const note = (text: string): void => void logged.push(text)
  const taps: ((context: QuoteContext) => Promise<void>)[] = []
  const watches: ((order: WatchedOrder) => Promise<OrderReport>)[] = []
  const never = { tapPromise: () => {} }
  const noted: Io = {
    ...io,
    fetch: (url, request = {}) => {
      sent.push({ url, options: request })
      return io.fetch(url, request)
    }
  }
  plugin.apply({
    hooks: {
      ready: never,
      closing: never,
      fetchQuotes: { tapPromise: (_name, tap) => void taps.push(tap) },
      watchOrder: { tapPromise: (_name, tap) => void watches.push(tap) }
    },
    io: noted,
    disk: {
      getText: async () => undefined,
      setText: async () => {},
      delete: async () => {},
      list: async () => []
    },
    log: { debug: note, info: note, warn: note, error: note },
    options
  })
  const [tap] = taps
  if (tap === undefined) throw new Error('The plugin taps nothing')
  return {
    ...{ world, clock, sent, logged },
    query: request => callTap(tap, request),
    watch: async order => {
      const [watch] = watches
      if (watch === undefined) throw new Error('The plugin follows no orders')
      return watch({
        txid: 'aa'.repeat(32),
        fromPluginId: 'bitcoin',
        paidAt: clock.now(),
        payoutAddress: DEPOSIT_TO.litecoin,
        refundAddress: DEPOSIT_TO.bitcoin,
        userSettings: {},
        signal: new AbortController().signal,
        ...order
      })
    }
  }
}

const callTap = (tap: (context: QuoteContext) => Promise<void>, options: QuoteRequestOptions): Requested => {
  const { from = swapAssets.btc, to = swapAssets.ltc, quoteFor = 'from', amount = '1000000' } = options
  const offers: SwapOffer[] = []
  const fees: (readonly SpendInfo[])[] = []
  const maxima: SpendInfo[] = []
  const aborter = new AbortController()
  const addressOf = async ({ pluginId }: { readonly pluginId: string }): Promise<string> =>
    pluginId === 'bitcoin' || pluginId === 'litecoin'
      ? DEPOSIT_TO[pluginId]
      : '0x52908400098527886E0F7030069857D2E4169EE7'
  const context: QuoteContext = {
    request: { from, to, quoteFor, nativeAmount: nativeAmount(amount) },
    userSettings: options.userSettings ?? {},
    ...(options.promoCode === undefined ? {} : { promoCode: options.promoCode }),
    signal: aborter.signal,
    depositTo: () => addressOf(to),
    refundTo: () => addressOf(from),
    feeFor: async spends => {
      fees.push(spends)
      if (options.feeError !== undefined) throw options.feeError
      return nativeAmount('321')
    },
    maxFrom: async spend => {
      maxima.push(spend)
      return nativeAmount(options.most ?? '700000')
    },
    offer: offer => void offers.push(offer)
  }
  return { offers, fees, maxima, done: tap(context), abort: () => aborter.abort() }
}

/** The one offer of a request that went well. */
export const offerOf = async (requested: Requested): Promise<SwapOffer> => {
  await requested.done
  const [offer, ...others] = requested.offers
  if (offer === undefined || others.length > 0) throw new Error(`${requested.offers.length} offers`)
  return offer
}

/** Says yes to an offer, as a kernel would. */
export const orderOf = async ({
  payment,
  fromNativeAmount,
  toNativeAmount
}: SwapOffer): Promise<SwapOrder> =>
  'order' in payment ? payment.order() : { spends: payment.spends, fromNativeAmount, toNativeAmount }

/** What a fake exchange gives for so many native units of BTC or LTC, to the last unit of the other one. */
export const dealOf = (exchange: FakeExchange, code: 'BTC' | 'LTC', amount: bigint): bigint | undefined => {
  const [from, to] = [code, code === 'BTC' ? 'LTC' : 'BTC'].map(each =>
    FAKE_COINS.find(coin => coin.code === each)
  )
  if (from === undefined || to === undefined) return undefined
  return exchange.deal({ from, to, direction: 'from', amount })?.toAmount
}
