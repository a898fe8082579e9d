import { allowTexts, requireObject } from '../base/arguments.ts'
import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Readable } from '../base/observable.ts'
import type { Services } from '../plugins/services.ts'
import type { TokenMap } from '../types/currency.ts'
import type { PluginId } from '../types/ids.ts'
import type { SwapAccount } from './approval.ts'
import type { SwapQuote } from './quote.ts'
import { promoCodeOf } from './ranking.ts'
import { readRequest, type SwapOptions, type SwapRequest } from './request.ts'
import { QuoteRound } from './round.ts'

/** An account's settings of a swap plugin. */
export interface ProviderSettings {
  readonly isEnabled: boolean
  readonly needsActivation: boolean
  readonly userSettings: JsonObject
}

/** The settings of an account that swaps use. */
export interface SwapSettings {
  swapConfig(pluginId: PluginId): Pick<Readable<ProviderSettings>, 'getSnapshot'>
  currencyConfig(pluginId: PluginId): Pick<Readable<{ readonly allTokens: TokenMap }>, 'getSnapshot'>
}

/** The parts of an account that swaps use. */
export interface SwapServiceOptions extends SwapAccount {
  readonly services: Services
  readonly settings: SwapSettings
}

/** Asks swap providers for an account. */
export class SwapService {
  readonly #options: SwapServiceOptions
  readonly #open = new Set<QuoteRound>()

  constructor(options: SwapServiceOptions) {
    this.#options = options
  }

  /**
   * Asks every provider that is enabled; the settings of this moment count.
   *
   * @throws NO_SWAP_PROVIDERS, SAME_CURRENCY, NO_AMOUNT_SPECIFIED, AMOUNT_INVALID, OPTION_INVALID, TOKEN_NOT_FOUND
   */
  request(request: SwapRequest, options: SwapOptions = {}): QuoteRound {
    const { services, settings } = this.#options
    checkRequest(request)
    requireObject('options', options)
    const swap = readRequest(request, pluginId => settings.currencyConfig(pluginId).getSnapshot().allTokens)
    const { waitMs = WAIT_MS, disabled = [] } = options
    if (!Number.isFinite(waitMs) || waitMs < 0)
      throw new WalletError('OPTION_INVALID', { option: 'waitMs', rule: 'must be a number of milliseconds' })
    const requested = services.plugins.swapPlugins.flatMap(plugin => {
      const { isEnabled, needsActivation, userSettings } = settings.swapConfig(plugin.id).getSnapshot()
      if (!isEnabled || needsActivation || disabled.includes(plugin.id)) return []
      return { plugin, userSettings, promoCode: promoCodeOf(options, plugin.id) }
    })
    if (requested.length === 0) throw new WalletError('NO_SWAP_PROVIDERS', {})
    const { crypto, random } = services.io
    const round = new QuoteRound({
      ...{ services, account: this.#options, swap, requested, waitMs },
      roundId: crypto.toHex(random(4)),
      preferences: options,
      onClosed: ended => void this.#open.delete(ended)
    })
    this.#open.add(round)
    return round
  }

  /** The best quote; the others are closed. @throws as {@link request}, or the one error worth showing */
  async fetchBest(request: SwapRequest, options?: SwapOptions): Promise<SwapQuote> {
    const [best, ...others] = await this.request(request, options).settled
    if (best === undefined) throw new WalletError('NO_SWAP_PROVIDERS', {})
    await Promise.all(others.map(quote => quote.close()))
    return best
  }

  /** Closes every round. */
  close(): void {
    for (const round of [...this.#open]) round.close()
  }
}

/** Specification §9. */
const WAIT_MS = 20_000

/** @throws OPTION_INVALID unless two wallets and an amount in text are given */
const checkRequest = (request: SwapRequest): void => {
  requireObject('request', request)
  const { fromWallet, toWallet, nativeAmount } = request
  for (const [option, wallet] of Object.entries({ fromWallet, toWallet })) {
    requireObject(option, wallet)
    requireObject(`currency of ${option}`, wallet.currencyInfo)
  }
  allowTexts({ nativeAmount })
}
