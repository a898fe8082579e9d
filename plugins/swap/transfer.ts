import type { QuoteContext, SwapPlugin } from '../../kernel/plugin-api.ts'
import { type Provider, spendWithoutAddress, unsupported, wantedAmountOf } from './kit/provider.ts'

const PROVIDER: Provider = { pluginId: 'transfer', displayName: 'Transfer' }

/** Moves an asset between two wallets of the user that hold the same one: a payment without a provider in between. */
export const transfer: SwapPlugin = {
  kind: 'swap',
  id: PROVIDER.pluginId,
  displayName: PROVIDER.displayName,
  isDex: true,
  apply({ hooks }) {
    hooks.fetchQuotes.tapPromise(PROVIDER.pluginId, quote)
  }
}

const quote = async (context: QuoteContext): Promise<void> => {
  const { from, to } = context.request
  if (from.pluginId !== to.pluginId || from.tokenId !== to.tokenId)
    throw unsupported(PROVIDER, context.request)
  const { nativeAmount } = await wantedAmountOf(context)
  const [publicAddress, networkFee] = await Promise.all([
    context.depositTo(),
    context.feeFor(spendWithoutAddress(context, nativeAmount))
  ])
  context.offer({
    fromNativeAmount: nativeAmount,
    toNativeAmount: nativeAmount,
    isEstimate: false,
    networkFee,
    payment: { spends: [{ tokenId: from.tokenId, spendTargets: [{ publicAddress, nativeAmount }] }] }
  })
}
