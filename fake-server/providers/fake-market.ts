import { WalletError } from '../../kernel/base/errors.ts'
import { isRecord, type Json } from '../../kernel/base/json.ts'
import { COIN_PRICES } from './coin-prices.ts'
import type { ProviderMemory } from './fake-provider.ts'
import { FIAT_PRICES } from './fiat-prices.ts'

/** A price as the fraction that it exactly is. */
export interface PriceRatio {
  readonly numerator: bigint
  readonly denominator: bigint
}

/**
 * What everything costs in a fake world: one price in USD for each currency code, the same for all providers, so
 * that rates and swaps agree. Prices stand still until somebody sets one.
 */
export class FakeMarket {
  readonly #prices = new Map<string, string>([
    ...COIN_PRICES,
    ...FIAT_PRICES.map(([code, price]): [string, string] => [`iso:${code}`, price])
  ])
  readonly #changed = new Map<string, string>()
  readonly #listeners = new Set<() => void>()

  /** Every code that has a price: coins in capitals, fiat with `iso:`. */
  get codes(): readonly string[] {
    return [...this.#prices.keys()]
  }

  /** The price of one unit in USD, as decimal text. */
  priceOf(code: string): string | undefined {
    return this.#prices.get(code)
  }

  /** Sets the price of one unit in USD, as decimal text such as `0.00668`. @throws RangeError unless it is above zero */
  setPrice(code: string, usd: string): void {
    if (!isPrice(usd)) throw new RangeError('A price is decimal text above zero')
    if (code === '' || code.length > MAX_CODE) throw new RangeError('A currency code is 1 to 64 characters')
    this.#prices.set(code, usd)
    this.#changed.set(code, usd)
    for (const listener of [...this.#listeners]) listener()
  }

  /** What one `from` costs in `to`, exactly; undefined if one of them has no price. */
  ratioOf(from: string, to: string): PriceRatio | undefined {
    const [above, below] = [this.#prices.get(from), this.#prices.get(to)]
    if (above === undefined || below === undefined) return undefined
    const [a, b] = [fractionOf(above), fractionOf(below)]
    return { numerator: a.numerator * b.denominator, denominator: a.denominator * b.numerator }
  }

  /** What one `from` costs in `to`, as decimal text cut to so many digits from the first that counts. */
  rateOf(from: string, to: string, digits = 12): string | undefined {
    const ratio = this.ratioOf(from, to)
    return ratio === undefined ? undefined : decimalOf(ratio, digits)
  }

  /** Keeps the prices that were set. */
  get memory(): ProviderMemory {
    return {
      save: () => (this.#changed.size === 0 ? undefined : Object.fromEntries(this.#changed)),
      load: saved => {
        for (const [code, price] of pricesOf(saved)) {
          this.#prices.set(code, price)
          this.#changed.set(code, price)
        }
      },
      onChange: listener => void this.#listeners.add(listener)
    }
  }
}

const MAX_CODE = 64
const MAX_PRICE = 60

const isPrice = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= MAX_PRICE && /^\d+(?:\.\d+)?$/.test(text) && /[1-9]/.test(text)

const fractionOf = (price: string): PriceRatio => {
  const [whole = '', fraction = ''] = price.split('.')
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
}

const decimalOf = ({ numerator, denominator }: PriceRatio, digits: number): string => {
  const wholeDigits = String(numerator / denominator).length
  const isWhole = numerator >= denominator
  // Below one, each leading zero after the point is a digit more.
  const zeros = isWhole ? 0 : String(denominator / numerator).length - 1
  const places = Math.max(0, isWhole ? digits - wholeDigits : digits + zeros)
  const text = String((numerator * 10n ** BigInt(places)) / denominator).padStart(places + 1, '0')
  const whole = text.slice(0, text.length - places)
  const fraction = text.slice(text.length - places).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

const pricesOf = (saved: Json): readonly [string, string][] => {
  const entries = isRecord(saved) ? Object.entries(saved) : [['', undefined] as const]
  return entries.map(([code, price]) => {
    if (code !== '' && code.length <= MAX_CODE && isPrice(price)) return [code, price]
    throw new WalletError('BAD_REPLY', { source: 'saved market', path: '', rule: 'has no price' })
  })
}
