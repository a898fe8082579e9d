// A centralised exchange: it quotes, takes an order once the user has approved, and says how far the order is. It describes
// payments and makes none: the wallet shows them, signs them and sends them.
import {
  compare,
  HttpClient,
  type HttpRequest,
  type OrderState,
  type QuoteContext,
  Reply,
  type SwapOrder,
  type SwapPlugin,
  toDenomination,
  WalletError
} from 'holdfast/plugin'

/** The server. A plugin reaches the servers in its `hosts` and no other; they are shown before it is added. */
const HOST = 'sideshift.ai'
/** Who earns the commission; SideShift gives you yours. */
const AFFILIATE = 'your-affiliate-id'
/** The id stays the same for ever: it stands in the history of wallets. */
const SHOP = { pluginId: 'my-plugin', displayName: 'My Plugin' }

/** The exchange's names of the coins that it serves, by currency plugin. */
const COINS: ReadonlyMap<string, { readonly coin: string; readonly network: string }> = new Map([
  ['bitcoin', { coin: 'btc', network: 'bitcoin' }],
  ['litecoin', { coin: 'ltc', network: 'litecoin' }]
])

/** The exchange's words for the state of an order. */
const STATES: ReadonlyMap<string, OrderState> = new Map([
  ['waiting', 'waiting'],
  ['pending', 'seen'],
  ['processing', 'exchanging'],
  ['settling', 'sending'],
  ['settled', 'paidOut'],
  ['refund', 'failed'],
  ['refunded', 'refunded'],
  ['expired', 'late']
])

type Call = (request: HttpRequest) => Promise<Reply>

/** Swaps through the public API of SideShift. Put your own exchange in its place. */
export const plugin: SwapPlugin = {
  kind: 'swap',
  id: SHOP.pluginId,
  displayName: SHOP.displayName,
  hosts: [HOST],
  apply({ hooks, io }) {
    // Sends requests, gives up in time, and leaves a server alone that answers 429. Never use the global fetch.
    const client = new HttpClient(io, {
      name: SHOP.displayName,
      origins: [`https://${HOST}/api/v2`],
      deadlineMs: 20_000,
      maxReplyBytes: 1_000_000,
      rateLimit: { statuses: [429], firstMs: 30_000, maxMs: 3_600_000, retryAfter: 'secondsOrDate' }
    })
    const call: Call = async request => {
      const { isOk, status, text } = await client.request(request)
      if (status === 451) throw new WalletError('SWAP_PERMISSION', { ...SHOP, reason: 'geoRestriction' })
      if (!isOk) throw new WalletError('SERVER', { message: `${SHOP.displayName} answered ${status}` })
      // Keeps every figure as it is written: amounts are decimal text, never numbers.
      return Reply.exact(text, `reply of ${SHOP.displayName}`)
    }
    hooks.fetchQuotes.tapPromise(SHOP.pluginId, context => quote(call, context))
    // Asked again and again after the payment, until the order has ended.
    hooks.watchOrder.tapPromise(SHOP.pluginId, async ({ orderId = '', signal }) => {
      const reply = await call({ path: `/shifts/${encodeURIComponent(orderId)}`, signal })
      const state = STATES.get(reply.field('status').text()) ?? 'unknown'
      const txid = reply.field('settleHash').optionalText()
      return {
        state,
        payoutTxid: state === 'sending' || state === 'paidOut' ? txid : undefined,
        refundTxid: state === 'refunded' ? txid : undefined
      }
    })
  }
}

const quote = async (call: Call, context: QuoteContext): Promise<void> => {
  const { request, signal } = context
  const [from, to] = [COINS.get(request.from.pluginId), COINS.get(request.to.pluginId)]
  const isServed = request.from.tokenId === null && request.to.tokenId === null && request.quoteFor !== 'to'
  if (from === undefined || to === undefined || from === to || !isServed)
    throw new WalletError('SWAP_CURRENCY', {
      ...SHOP,
      from: request.from.currencyCode,
      to: request.to.currencyCode
    })
  // A target without an address stands for one that is not known yet: it has a fee, too.
  const amount =
    request.quoteFor === 'max'
      ? await context.maxFrom({ tokenId: null, spendTargets: [{}] })
      : request.nativeAmount

  const pair = await call({ path: `/pair/${from.coin}-${from.network}/${to.coin}-${to.network}`, signal })
  const { pluginId } = SHOP
  const nativeMin = pair.field('min').positive(request.from.multiplier, 'up')
  const nativeMax = pair.field('max').positive(request.from.multiplier, 'down')
  if (compare(amount, nativeMin) < 0)
    throw new WalletError('SWAP_BELOW_LIMIT', { pluginId, nativeMin, direction: 'from' })
  if (compare(amount, nativeMax) > 0)
    throw new WalletError('SWAP_ABOVE_LIMIT', { pluginId, nativeMax, direction: 'from' })

  const pairFields = {
    depositCoin: from.coin,
    depositNetwork: from.network,
    settleCoin: to.coin,
    settleNetwork: to.network
  }
  const depositAmount = toDenomination(amount, request.from.multiplier)
  const body = { ...pairFields, depositAmount, affiliateId: AFFILIATE }
  const offer = await call({ path: '/quotes', body, signal })
  const quoteId = offer.field('id').text()
  const toNativeAmount = offer.field('settleAmount').positive(request.to.multiplier, 'down')
  context.offer({
    fromNativeAmount: amount,
    toNativeAmount,
    isEstimate: false,
    expirationDate: offer.field('expiresAt').date(),
    networkFee: await context.feeFor([{ tokenId: null, spendTargets: [{ nativeAmount: amount }] }]),
    // Called once the user has approved: until then the exchange learns no address. `signal` may have ended by now.
    payment: { order: () => order(call, context, { quoteId, amount, toNativeAmount }) }
  })
}

/** What was offered; the wallet refuses an order that differs from it. */
interface Offered extends Pick<SwapOrder, 'toNativeAmount'> {
  readonly quoteId: string
  readonly amount: SwapOrder['fromNativeAmount']
}

const order = async (
  call: Call,
  { depositTo, refundTo }: QuoteContext,
  { quoteId, amount, toNativeAmount }: Offered
): Promise<SwapOrder> => {
  const body = {
    quoteId,
    affiliateId: AFFILIATE,
    settleAddress: await depositTo(),
    refundAddress: await refundTo()
  }
  const reply = await call({ path: '/shifts/fixed', body })
  const publicAddress = reply.field('depositAddress').text()
  return {
    orderId: reply.field('id').text(),
    spends: [{ tokenId: null, spendTargets: [{ publicAddress, nativeAmount: amount }] }],
    fromNativeAmount: amount,
    toNativeAmount
  }
}
