import {
  nativeAmount,
  type QuoteContext,
  type SwapOffer,
  type SwapPlugin,
  type WatchedOrder
} from '../../kernel/plugin-api.ts'

/** How a shop differs from a good one. */
export interface ShopOptions extends Partial<Omit<SwapPlugin, 'kind' | 'apply'>> {
  /** What it does at its context; a good one offers 90 for 100 at once. */
  readonly answer?: (context: QuoteContext) => unknown
  /** What it says of an order; a shop without it follows none. */
  readonly watch?: (order: WatchedOrder) => unknown
}

/** A swap plugin for tests. */
export const makeShop = ({ answer, watch, ...plugin }: ShopOptions = {}): SwapPlugin => ({
  id: 'shop',
  displayName: 'Shop',
  ...plugin,
  kind: 'swap',
  apply({ hooks }) {
    hooks.fetchQuotes.tapPromise(
      '',
      context => (answer ?? (requested => requested.offer(offerOf(requested))))(context) as Promise<void>
    )
    if (watch !== undefined) hooks.watchOrder.tapPromise('', async order => watch(order) as never)
  }
})

/** Whom the shops are paid at, where any text is an address. */
export const SHOP_ADDRESS = 'shop-address'

/** A good offer: nine tenths of what is paid, at a price that stands, paid to an address that is known. */
export const offerOf = (
  { request }: Pick<QuoteContext, 'request'>,
  changes: Partial<SwapOffer> = {},
  payTo: string = SHOP_ADDRESS
): SwapOffer => {
  const from =
    request.quoteFor === 'to'
      ? nativeAmount(String((BigInt(request.nativeAmount) * 10n) / 9n))
      : request.nativeAmount
  const to =
    request.quoteFor === 'to' ? request.nativeAmount : nativeAmount(String((BigInt(from) * 9n) / 10n))
  const fromNativeAmount = changes.fromNativeAmount ?? from
  return {
    fromNativeAmount,
    toNativeAmount: to,
    isEstimate: false,
    networkFee: nativeAmount('1'),
    payment: {
      spends: [
        {
          tokenId: request.from.tokenId,
          spendTargets: [{ publicAddress: payTo, nativeAmount: fromNativeAmount }]
        }
      ]
    },
    ...changes
  }
}
