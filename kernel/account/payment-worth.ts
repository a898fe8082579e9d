import {
  type AmountUnits,
  add,
  fromDecimal,
  mainDenomination,
  type NativeAmount,
  toDenomination,
  ZERO
} from '../base/amount.ts'
import { isWalletError } from '../base/errors.ts'
import type { Services } from '../plugins/services.ts'
import { type RateService, valueAtRate } from '../rates/service.ts'
import type { PaidAmount } from '../types/policy.ts'
import type { AccountSettings } from './settings.ts'

/** The currencies, tokens and rates behind a worth. */
export interface PaymentWorthOptions {
  readonly services: Pick<Services, 'plugins'>
  readonly settings: Pick<AccountSettings, 'currencyConfig'>
  readonly rates: Pick<RateService, 'findRoute' | 'refresh' | 'want'>
}

/** What payments are worth for a limit: at the highest rate of all sources, and never at a stale one. */
export class PaymentWorth {
  readonly #options: PaymentWorthOptions

  constructor(options: PaymentWorthOptions) {
    this.#options = options
  }

  /** Returns the names and units of an asset. */
  unitsOf(asset: Pick<PaidAmount, 'pluginId' | 'tokenId'>): AmountUnits | undefined {
    return this.#builtinUnits(asset) ?? this.#tokenIn('customTokens', asset)
  }

  /** Those of a token that the user has added are left out: a change of them needs no password, and would change what it is worth. */
  #builtinUnits(asset: Pick<PaidAmount, 'pluginId' | 'tokenId'>): AmountUnits | undefined {
    if (asset.tokenId !== null) return this.#tokenIn('builtinTokens', asset)
    return this.#options.services.plugins.currencies.find(({ pluginId }) => pluginId === asset.pluginId)
  }

  #tokenIn(
    tokens: 'builtinTokens' | 'customTokens',
    { pluginId, tokenId }: Pick<PaidAmount, 'pluginId' | 'tokenId'>
  ): AmountUnits | undefined {
    const { services, settings } = this.#options
    if (tokenId === null || !services.plugins.currencies.some(info => info.pluginId === pluginId))
      return undefined
    const { [tokens]: known } = settings.currencyConfig(pluginId).getSnapshot()
    return Object.hasOwn(known, tokenId) ? known[tokenId] : undefined
  }

  /**
   * Returns the worth at the highest fresh rate of each asset, rounded up, as decimal text; undefined if one has none, as a token that
   * the user has added.
   */
  async valueOf(amounts: readonly PaidAmount[], fiatCode: string): Promise<string | undefined> {
    let total: NativeAmount = ZERO
    for (const amount of amounts) {
      const units = this.#builtinUnits(amount)
      if (units === undefined) return undefined
      const { multiplier } = mainDenomination(units)
      const rate = await this.#highestRate(units.currencyCode, fiatCode)
      if (rate === undefined) return undefined
      const value = valueAtRate(amount.nativeAmount, multiplier, rate)
      total = add(total, fromDecimal(value, VALUE_UNITS, 'up'))
    }
    return toDenomination(total, VALUE_UNITS)
  }

  async #highestRate(from: string, to: string): Promise<number | undefined> {
    const { rates } = this.#options
    const look = (): number | undefined => {
      const route = rates.findRoute(from, to, { alternatives: 20 })
      const fresh = [route, ...(route?.alternatives ?? [])].flatMap(found =>
        found === undefined || found.isStale ? [] : found.rate
      )
      return fresh.length === 0 ? undefined : Math.max(...fresh)
    }
    const known = look()
    if (known !== undefined) return known
    const unwant = rates.want([{ fromCurrency: from, toCurrency: to }])
    try {
      await rates.refresh()
      return look()
    } catch (error) {
      if (isWalletError(error, 'CONTEXT_CLOSED')) return undefined
      throw error
    } finally {
      unwant()
    }
  }
}

const VALUE_UNITS = '1000000000'
