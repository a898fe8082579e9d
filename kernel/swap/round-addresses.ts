import type { SwapWallet } from './swap-wallet.ts'

/** The addresses of one round of quotes: every provider gets the same, and each wallet is asked once. */
export class RoundAddresses {
  readonly #refundAsked = new Set<string>()
  readonly #depositTo: Once
  readonly #refundTo: Once
  readonly #sample: Once

  constructor(wish: {
    readonly fromWallet: SwapWallet
    readonly toWallet: SwapWallet
    readonly fromTokenId: string | null
    readonly toTokenId: string | null
  }) {
    const { fromWallet, toWallet, fromTokenId, toTokenId } = wish
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

  /** What a provider was given to return money to, if it has asked. */
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
