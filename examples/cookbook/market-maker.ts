import {
  HttpClient,
  nativeAmount,
  type OrderState,
  Reply,
  type SwapPlugin,
  WalletError
} from 'holdfast/plugin'

const MAKER = { pluginId: 'marketmaker', displayName: 'Market Maker' }

/** How the maker names the states of an order. */
const STATES: Readonly<Record<string, OrderState>> = {
  open: 'waiting',
  pending: 'seen',
  filled: 'sending',
  done: 'paidOut',
  returned: 'refunded',
  expired: 'late'
}

/**
 * A swap provider for a market maker whose server quotes fixed prices: `POST /quotes` gives a price that holds for a while,
 * `POST /orders` takes it and says where to pay, `GET /orders/…` says how far an order is. Amounts are in native units, as text.
 */
const marketMaker: SwapPlugin = {
  kind: 'swap',
  id: MAKER.pluginId,
  displayName: MAKER.displayName,
  hosts: ['maker.example.org'],
  apply({ hooks, io }) {
    const client = new HttpClient(io, {
      name: MAKER.displayName,
      origins: ['https://maker.example.org'],
      rateLimit: { statuses: [429], firstMs: 30_000, maxMs: 600_000, retryAfter: 'secondsOrDate' }
    })
    const call = async (request: Parameters<HttpClient['request']>[0]): Promise<Reply> => {
      const { status, text } = await client.request(request)
      if (status !== 200)
        throw new WalletError('SERVER', { message: `${MAKER.displayName} answered ${status}` })
      return Reply.exact(text, `reply of ${MAKER.displayName}`).object()
    }

    hooks.fetchQuotes.tapPromise(MAKER.pluginId, async context => {
      const { from, to, nativeAmount: amount, quoteFor } = context.request
      const currency = { ...MAKER, from: from.currencyCode, to: to.currencyCode }
      // Its prices are for an amount that is paid, and of coins.
      if (quoteFor !== 'from' || from.tokenId !== null || to.tokenId !== null)
        throw new WalletError('SWAP_CURRENCY', currency)
      const body = { from: from.currencyCode, to: to.currencyCode, amount }
      const quote = await call({ path: '/quotes', body, signal: context.signal })
      const refusal = quote.field('refusal').optionalText()
      if (refusal === 'pair') throw new WalletError('SWAP_CURRENCY', currency)
      if (refusal === 'small') {
        const nativeMin = nativeAmount(String(quote.field('least').positiveInteger()))
        throw new WalletError('SWAP_BELOW_LIMIT', { pluginId: MAKER.pluginId, nativeMin, direction: 'from' })
      }
      const quoteId = quote.field('id').text()
      const toNativeAmount = nativeAmount(String(quote.field('pays').positiveInteger()))
      context.offer({
        fromNativeAmount: amount,
        toNativeAmount,
        isEstimate: false,
        expirationDate: quote.field('expires').date(),
        networkFee: await context.feeFor([{ tokenId: null, spendTargets: [{ nativeAmount: amount }] }]),
        payment: {
          // Called when the user has approved; until then the maker learns no address.
          async order() {
            const [payTo, refundTo] = [await context.depositTo(), await context.refundTo()]
            const order = await call({ path: '/orders', body: { quoteId, payTo, refundTo } })
            const publicAddress = order.field('deposit').text()
            return {
              orderId: order.field('id').text(),
              spends: [{ tokenId: null, spendTargets: [{ publicAddress, nativeAmount: amount }] }],
              fromNativeAmount: amount,
              toNativeAmount
            }
          }
        }
      })
    })

    hooks.watchOrder.tapPromise(MAKER.pluginId, async ({ orderId = '', signal }) => {
      const order = await call({ path: `/orders/${encodeURIComponent(orderId)}`, signal })
      const state = STATES[order.field('state').text()] ?? 'unknown'
      return state === 'paidOut' ? { state, payoutTxid: order.field('payout').optionalText() } : { state }
    })
  }
}

export default marketMaker
