import { add, type NativeAmount, ZERO } from '../base/amount.ts'
import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { compact } from '../base/json.ts'
import type { QuoteContext, QuoteRequest, SwapOffer } from '../types/swap.ts'
import type { SpendInfo, Transaction } from '../types/transaction.ts'
import { readFeeQuestion } from './offer.ts'
import type { SwapWallet } from './request.ts'

export interface QuoteContextOptions {
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

/** Makes the context in which one provider sees the request; it passes plain data only. */
export const makeQuoteContext = (options: QuoteContextOptions): QuoteContext => {
  const { pluginId, request, userSettings, promoCode, signal, fromWallet, addresses } = options
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
      options.checkOpen(pluginId)
      return addresses.depositTo()
    },
    async refundTo() {
      options.checkOpen(pluginId)
      return addresses.refundTo(pluginId)
    },
    async feeFor(spends: readonly SpendInfo[]) {
      options.checkOpen(pluginId)
      let total = ZERO
      for (const spend of readFeeQuestion(spends, { refuse, tokenId }))
        total = add(total, coinFeeOf(await fromWallet.makeSpend(await complete(spend))))
      return total
    },
    async maxFrom(spend: SpendInfo) {
      options.checkOpen(pluginId)
      const [spendInfo] = readFeeQuestion([spend], { refuse, tokenId })
      if (spendInfo === undefined) throw refuse('is no spend')
      return fromWallet.getMaxSpendable(await complete(spendInfo))
    },
    offer: (offer: SwapOffer) => options.offer(offer)
  })
}

/** Returns the network fee of a draft in the chain's own coin. */
export const coinFeeOf = ({ tokenId, networkFee, parentNetworkFee }: Transaction): NativeAmount =>
  tokenId === null ? networkFee : (parentNetworkFee ?? ZERO)

/** The addresses of one round of quotes: every provider gets the same, and each wallet is asked once. */
export class RoundAddresses {
  readonly #refundAsked = new Set<string>()
  readonly #depositTo: Once
  readonly #refundTo: Once
  readonly #sample: Once

  constructor(request: {
    readonly fromWallet: SwapWallet
    readonly toWallet: SwapWallet
    readonly fromTokenId: string | null
    readonly toTokenId: string | null
  }) {
    const { fromWallet, toWallet, fromTokenId, toTokenId } = request
    const addressOf = async (wallet: SwapWallet, tokenId: string | null): Promise<string> =>
      (await wallet.getReceiveAddress({ tokenId })).publicAddress
    this.#depositTo = once(() => addressOf(toWallet, toTokenId))
    this.#refundTo = once(() => addressOf(fromWallet, fromTokenId))
    this.#sample = once(() => fromWallet.sampleAddress())
  }

  /** Of the receiving wallet. */
  depositTo(): Promise<string> {
    return this.#depositTo()
  }

  /** Of the paying wallet, for a provider. */
  refundTo(pluginId: string): Promise<string> {
    this.#refundAsked.add(pluginId)
    return this.#refundTo()
  }

  /** Returns the refund address that a provider was given, if it has asked for one. */
  async refundGivenTo(pluginId: string): Promise<string | undefined> {
    return this.#refundAsked.has(pluginId) ? this.#refundTo() : undefined
  }

  /** Stands for a recipient who is not known yet. */
  sample(): Promise<string> {
    return this.#sample()
  }
}

type Once = () => Promise<string>

/** A failure is not kept. */
const once = (ask: () => Promise<string>): Once => {
  let asked: Promise<string> | undefined
  return () => {
    asked ??= ask().catch(error => {
      asked = undefined
      throw error
    })
    return asked
  }
}
