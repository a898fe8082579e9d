import { nativeAmount, type RatePlugin, type SwapPlugin, WalletError } from 'holdfast/plugin'

/** A rate source with one price, to be replaced by a request through `io.fetch`. */
export const onePrice: RatePlugin = {
  kind: 'rates',
  id: 'oneprice',
  displayName: 'One Price',
  apply({ hooks }) {
    hooks.fetchRates.tapPromise('oneprice', async desk => {
      for (const pair of desk.wanted) {
        if (pair.fromCurrency === 'BTC' && pair.toCurrency === 'iso:USD') desk.offer(pair, 65_000)
      }
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
