import {
  compare,
  nativeAmount,
  type OrderReport,
  type RatePlugin,
  type SwapPlugin,
  WalletError
} from 'holdfast/plugin'

/** A rate source with one price, to be replaced by a request through `io.fetch`. The kernel likes it better than others. */
export const onePrice: RatePlugin = {
  kind: 'rates',
  id: 'oneprice',
  displayName: 'One Price',
  bias: -0.2,
  apply({ hooks }) {
    hooks.fetchRates.tapPromise('oneprice', async context => {
      // Prices that are not wanted are welcome, too: routes go through them.
      const isWanted = context.wanted.some(({ fromCurrency }) => fromCurrency === 'BTC')
      if (isWanted) context.offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, 64_000)
    })
  }
}

/** What a shop's server would do: it takes an order, and says where it is paid. */
export type TakeOrder = (payTo: string) => Promise<{ readonly orderId: string; readonly deposit: string }>

/** Litoshi for one satoshi. */
const RATE = 740n
const SMALLEST = nativeAmount('10000')
const SHOP = { pluginId: 'cornershop', displayName: 'Corner Shop' }

/** A swap provider for one pair. It describes a spend; it cannot make, sign or send one. */
export const cornerShop = (takeOrder: TakeOrder): SwapPlugin => ({
  kind: 'swap',
  id: SHOP.pluginId,
  displayName: SHOP.displayName,
  apply({ hooks }) {
    hooks.fetchQuotes.tapPromise(SHOP.pluginId, async context => {
      const { from, to, nativeAmount: amount, quoteFor } = context.request
      if (from.pluginId !== 'bitcoin' || to.pluginId !== 'litecoin' || quoteFor !== 'from') {
        throw new WalletError('SWAP_CURRENCY', { ...SHOP, from: from.currencyCode, to: to.currencyCode })
      }
      if (compare(amount, SMALLEST) < 0) {
        const { pluginId } = SHOP
        throw new WalletError('SWAP_BELOW_LIMIT', { pluginId, nativeMin: SMALLEST, direction: 'from' })
      }
      const toNativeAmount = nativeAmount(String(BigInt(amount) * RATE))
      context.offer({
        fromNativeAmount: amount,
        toNativeAmount,
        isEstimate: false,
        // A target without an address stands for one that is not known yet.
        networkFee: await context.feeFor([{ tokenId: null, spendTargets: [{ nativeAmount: amount }] }]),
        payment: {
          // Asked when the user has said yes, and not before: until then the shop learns no address.
          async order() {
            const { orderId, deposit } = await takeOrder(await context.depositTo())
            const spendTargets = [{ publicAddress: deposit, nativeAmount: amount }]
            return {
              orderId,
              spends: [{ tokenId: null, spendTargets }],
              fromNativeAmount: amount,
              toNativeAmount
            }
          }
        }
      })
    })
  }
})

/** What a shop's server would say of an order; undefined for one that it does not have. */
export type FindOrder = (orderId: string) => Promise<OrderReport | undefined>

/** The shop, whose orders are followed: the kernel asks until one is paid out or sent back, also after a restart. */
export const watchedShop = (takeOrder: TakeOrder, findOrder: FindOrder): SwapPlugin => {
  const shop = cornerShop(takeOrder)
  return {
    ...shop,
    apply(host) {
      shop.apply(host)
      host.hooks.watchOrder.tapPromise(
        SHOP.pluginId,
        async ({ orderId = '' }) => (await findOrder(orderId)) ?? { state: 'unknown' }
      )
    }
  }
}
