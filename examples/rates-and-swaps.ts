import { nativeAmount, type RatePlugin, type SwapPlugin, WalletError } from 'holdfast/plugin'

/** A rate source with one price, to be replaced by a request through `io.fetch`. The kernel likes it better than others. */
export const onePrice: RatePlugin = {
  kind: 'rates',
  id: 'oneprice',
  displayName: 'One Price',
  bias: -0.2,
  apply({ hooks }) {
    hooks.fetchRates.tapPromise('oneprice', async desk => {
      // A price that nobody asked for is welcome, too: routes go through it.
      const isWanted = desk.wanted.some(({ fromCurrency }) => fromCurrency === 'BTC')
      if (isWanted) desk.offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, 64_000)
    })
  }
}

const RATE = 20n
const SMALLEST = 10_000n

/** A swap provider for one pair. It describes a spend; it cannot make, sign or send one. */
export const cornerShop: SwapPlugin = {
  kind: 'swap',
  id: 'cornershop',
  displayName: 'Corner Shop',
  apply({ hooks }) {
    hooks.fetchQuotes.tapPromise('cornershop', async desk => {
      const { from, to, nativeAmount: amount, quoteFor } = desk.request
      if (from.pluginId !== 'bitcoin' || to.pluginId !== 'tollar' || quoteFor !== 'from') {
        throw new WalletError('SWAP_CURRENCY', {
          displayName: 'Corner Shop',
          pluginId: 'cornershop',
          from: from.currencyCode,
          to: to.currencyCode
        })
      }
      if (BigInt(amount) < SMALLEST) {
        const nativeMin = String(SMALLEST)
        throw new WalletError('SWAP_BELOW_LIMIT', { pluginId: 'cornershop', nativeMin, direction: 'from' })
      }
      // A shop with a server would send the address there, and get the deposit address back.
      await desk.depositTo()
      const deposit = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
      const spends = [{ tokenId: null, spendTargets: [{ publicAddress: deposit, nativeAmount: amount }] }]
      desk.offer({
        fromNativeAmount: amount,
        toNativeAmount: nativeAmount(String(BigInt(amount) * RATE)),
        isEstimate: false,
        networkFee: await desk.feeFor(spends),
        payment: { spends }
      })
    })
  }
}
