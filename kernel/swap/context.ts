import { add, ZERO } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { AbortSignalLike } from '../io/io.ts'
import type { PluginId, TokenId } from '../types/ids.ts'
import { coinFeeOf } from '../types/network-fee.ts'
import type { QuoteContext, SwapOffer } from '../types/swap.ts'
import type { SpendInfo } from '../types/transaction.ts'
import { readFeeQuestion } from './offer.ts'
import type { CheckedRequest, SwapWallet } from './request.ts'

export interface QuoteContextOptions {
  readonly pluginId: PluginId
  readonly swap: CheckedRequest
  readonly userSettings: JsonObject
  readonly promoCode: string | undefined
  readonly signal: QuoteContext['signal']
  /** Aborted when the round is closed; then it answers nothing more. */
  readonly closed: AbortSignalLike
  readonly addresses: RoundAddresses
  onOffer(offer: SwapOffer): void
}

/** Makes the context in which one provider sees the request; it passes plain data only. */
export const makeQuoteContext = (options: QuoteContextOptions): QuoteContext => {
  const { pluginId, swap, userSettings, promoCode, signal, closed, addresses } = options
  const { request, fromWallet } = swap
  const checkOpen = (): void => {
    if (closed.aborted) throw new WalletError('QUOTE_ENDED', { pluginId, reason: 'closed' })
  }
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
    ...compact({ promoCode }),
    signal,
    async depositTo() {
      checkOpen()
      return addresses.depositTo()
    },
    async refundTo() {
      checkOpen()
      return addresses.refundTo(pluginId)
    },
    async feeFor(spends: readonly SpendInfo[]) {
      checkOpen()
      let total = ZERO
      for (const spend of readFeeQuestion(spends, { refuse, tokenId }))
        total = add(total, coinFeeOf(await fromWallet.makeSpend(await complete(spend))))
      return total
    },
    async maxFrom(spend: SpendInfo) {
      checkOpen()
      const [spendInfo] = readFeeQuestion([spend], { refuse, tokenId })
      if (spendInfo === undefined) throw refuse('is no spend')
      return fromWallet.getMaxSpendable(await complete(spendInfo))
    },
    offer: (offer: SwapOffer) => options.onOffer(offer)
  })
}

/** The addresses of one round of quotes: every provider gets the same, and each wallet is asked once. */
export class RoundAddresses {
  readonly #refundRequested = new Set<string>()
  readonly #depositTo: Once
  readonly #refundTo: Once
  readonly #sample: Once

  constructor({ fromWallet, toWallet, request: { from, to } }: CheckedRequest) {
    const addressOf = async (wallet: SwapWallet, tokenId: TokenId | null): Promise<string> =>
      (await wallet.getReceiveAddress({ tokenId })).publicAddress
    this.#depositTo = once(() => addressOf(toWallet, to.tokenId))
    this.#refundTo = once(() => addressOf(fromWallet, from.tokenId))
    this.#sample = once(() => fromWallet.sampleAddress())
  }

  /** Of the receiving wallet. */
  depositTo(): Promise<string> {
    return this.#depositTo()
  }

  /** Of the paying wallet, for a provider. */
  refundTo(pluginId: PluginId): Promise<string> {
    this.#refundRequested.add(pluginId)
    return this.#refundTo()
  }

  /** Returns the refund address that a provider was given, if it has asked for one. */
  async refundGivenTo(pluginId: PluginId): Promise<string | undefined> {
    return this.#refundRequested.has(pluginId) ? this.#refundTo() : undefined
  }

  /** Stands for a recipient who is not known yet. */
  sample(): Promise<string> {
    return this.#sample()
  }
}

type Once = () => Promise<string>

/** A failure is not kept. */
const once = (query: () => Promise<string>): Once => {
  let requested: Promise<string> | undefined
  return () => {
    requested ??= query().catch(error => {
      requested = undefined
      throw error
    })
    return requested
  }
}
