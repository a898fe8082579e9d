import type { QuoteContext, SwapPlugin } from '../../kernel/plugin-api.ts'
import { type Provider, unsupported } from './kit/provider.ts'
import { payLater, wishOf } from './kit/wish.ts'

const PROVIDER: Provider = { pluginId: 'transfer', displayName: 'Transfer' }

/** Moves an asset between two wallets of the user that hold the same one: a payment, and nobody in between. */
export const transfer: SwapPlugin = {
  kind: 'swap',
  id: PROVIDER.pluginId,
  displayName: PROVIDER.displayName,
  isDex: true,
  apply({ hooks }) {
    hooks.fetchQuotes.tapPromise(PROVIDER.pluginId, quote)
  }
}

const quote = async (desk: QuoteContext): Promise<void> => {
  const { from, to } = desk.request
  if (from.pluginId !== to.pluginId || from.tokenId !== to.tokenId) throw unsupported(PROVIDER, desk.request)
  const { nativeAmount } = await wishOf(desk)
  const [publicAddress, networkFee] = await Promise.all([
    desk.depositTo(),
    desk.feeFor(payLater(desk, nativeAmount))
  ])
  desk.offer({
    fromNativeAmount: nativeAmount,
    toNativeAmount: nativeAmount,
    isEstimate: false,
    networkFee,
    payment: { spends: [{ tokenId: from.tokenId, spendTargets: [{ publicAddress, nativeAmount }] }] }
  })
}
