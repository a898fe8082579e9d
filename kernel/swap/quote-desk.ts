import { add, type NativeAmount, ZERO } from '../base/amount.ts'
import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { QuoteContext, QuoteRequest, SwapOffer } from '../types/swap.ts'
import type { SpendInfo, Transaction } from '../types/transaction.ts'
import { readQuestion } from './read-spends.ts'
import type { RoundAddresses } from './round-addresses.ts'
import type { SwapWallet } from './swap-wallet.ts'

/** What the desk of one provider is made of. */
export interface DeskParts {
  readonly pluginId: string
  readonly request: QuoteRequest
  readonly userSettings: JsonObject
  readonly promoCode: string | undefined
  readonly signal: QuoteContext['signal']
  readonly fromWallet: SwapWallet
  readonly addresses: RoundAddresses
  /** @throws QUOTE_ENDED once the round is closed */
  checkOpen(pluginId: string): void
  offer(offer: SwapOffer): void
}

/** Makes the desk at which one provider sees the request; data goes over it and nothing else. */
export const makeDesk = (parts: DeskParts): QuoteContext => {
  const { pluginId, request, userSettings, promoCode, signal, fromWallet, addresses } = parts
  const refuse = (rule: string): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId, what: 'swap question', path: rule })
  const { tokenId } = request.from
  const complete = async (spend: SpendInfo): Promise<SpendInfo> => {
    const spendTargets = await Promise.all(
      spend.spendTargets.map(async target =>
        target.publicAddress === undefined || target.publicAddress === ''
          ? { ...target, publicAddress: await addresses.sample() }
          : target
      )
    )
    return { ...spend, spendTargets }
  }
  return Object.freeze({
    request,
    userSettings,
    ...(promoCode === undefined ? {} : { promoCode }),
    signal,
    async depositTo() {
      parts.checkOpen(pluginId)
      return addresses.depositTo()
    },
    async refundTo() {
      parts.checkOpen(pluginId)
      return addresses.refundTo(pluginId)
    },
    async feeFor(spends: readonly SpendInfo[]) {
      parts.checkOpen(pluginId)
      let total = ZERO
      for (const spend of readQuestion(spends, { refuse, tokenId }))
        total = add(total, coinFeeOf(await fromWallet.makeSpend(await complete(spend))))
      return total
    },
    async maxFrom(spend: SpendInfo) {
      parts.checkOpen(pluginId)
      const [question] = readQuestion([spend], { refuse, tokenId })
      if (question === undefined) throw refuse('is no spend')
      return fromWallet.getMaxSpendable(await complete(question))
    },
    offer: (offer: SwapOffer) => parts.offer(offer)
  })
}

/** What a draft costs in the chain's own coin. */
export const coinFeeOf = ({ tokenId, networkFee, parentNetworkFee }: Transaction): NativeAmount =>
  tokenId === null ? networkFee : (parentNetworkFee ?? ZERO)
