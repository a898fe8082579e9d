import { allowTexts, requireObject } from '../base/arguments.ts'
import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Clock } from '../io/io.ts'
import type { SwapPlugin } from '../plugins/plugin.ts'
import type { Services } from '../plugins/services.ts'
import type { TokenMap } from '../types/currency.ts'
import type { EngineStore } from '../types/engine.ts'
import type { ApprovalContext } from './approval.ts'
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

/** The parts of an account that swaps use. */
export interface SwapServiceOptions {
  readonly services: Services
  settingsOf(plugin: SwapPlugin): ProviderSettings
  /** The tokens of a currency. */
  tokensOf(currencyPluginId: string): TokenMap
  readonly findOwn: ApprovalContext['findOwn']
  readonly orderIds: OrderIds
}

/** The ids of the newest orders that this device made for an account; a new order may repeat none of them. */
export class OrderIds {
  readonly #store: EngineStore
  readonly #clock: Pick<Clock, 'now'>

  /** @param store - holds nothing else */
  constructor(store: EngineStore, clock: Pick<Clock, 'now'>) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Keeps the id of an order, durable when it resolves.
   *
   * @throws SWAP_CHANGED if an earlier order of the provider had it; STORAGE_FULL, STORAGE_FAILED
   */
  async keep(pluginId: string, orderId: string): Promise<void> {
    const key = `${pluginId}/${orderId}`
    if (this.#store.get(key) !== undefined)
      throw new WalletError('SWAP_CHANGED', { pluginId, rule: 'repeats the id of an earlier order' })
    const writes = new Map<string, string | null>([[key, String(this.#clock.now())]])
    const known = [...this.#store.entries('')].sort(([, left], [, right]) => Number(right) - Number(left))
    for (const [old] of known.slice(MAX_ORDERS - 1)) writes.set(old, null)
    await this.#store.write(writes)
  }
}

const MAX_ORDERS = 1000

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
    const { services, settingsOf, tokensOf, findOwn, orderIds } = this.#options
    checkRequest(request)
    requireObject('options', options)
    const read = readRequest(request, tokensOf)
    const { waitMs = WAIT_MS, disabled = [] } = options
    if (!Number.isFinite(waitMs) || waitMs < 0)
      throw new WalletError('OPTION_INVALID', { option: 'waitMs', rule: 'must be a number of milliseconds' })
    const asked = services.plugins.swapPlugins.flatMap(plugin => {
      const { isEnabled, needsActivation, userSettings } = settingsOf(plugin)
      if (!isEnabled || needsActivation || disabled.includes(plugin.id)) return []
      return { plugin, userSettings, promoCode: promoCodeOf(options, plugin.id) }
    })
    if (asked.length === 0) throw new WalletError('NO_SWAP_PROVIDERS', {})
    const { fromWallet, toWallet } = request
    const { crypto, random } = services.io
    const round = new QuoteRound({
      ...read,
      ...{ services, fromWallet, toWallet, asked, waitMs, findOwn },
      keepOrderId: (pluginId, orderId) => orderIds.keep(pluginId, orderId),
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
