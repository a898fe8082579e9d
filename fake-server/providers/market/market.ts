import { WalletError } from '../../../kernel/base/errors.ts'
import { isRecord, type Json } from '../../../kernel/base/json.ts'
import type { ProviderMemory } from './provider.ts'

/** A price as the fraction that it exactly is. */
export interface PriceRatio {
  readonly numerator: bigint
  readonly denominator: bigint
}

/**
 * The prices of a fake world: one in USD for each currency code, the same for all providers, so
 * that rates and swaps agree. Prices stay until a test sets one.
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

  /** The exact price of one `from` in `to`; undefined if one of them has no price. */
  ratioOf(from: string, to: string): PriceRatio | undefined {
    const [above, below] = [this.#prices.get(from), this.#prices.get(to)]
    if (above === undefined || below === undefined) return undefined
    const [a, b] = [fractionOf(above), fractionOf(below)]
    return { numerator: a.numerator * b.denominator, denominator: a.denominator * b.numerator }
  }

  /** The price of one `from` in `to`, as decimal text with so many significant digits. */
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

/** The first prices of coins in USD, by code. The figures are of the right size, no more. */
const COIN_PRICES: readonly (readonly [code: string, usd: string])[] = [
  ['BTC', '65000'],
  ['ETH', '3400'],
  ['BCH', '480.5'],
  ['LTC', '84.2'],
  ['DOGE', '0.1235'],
  ['DASH', '27.4'],
  ['QTUM', '2.61'],
  ['FIRO', '1.37'],
  ['FTC', '0.0041'],
  ['UFO', '0.000021'],
  ['USDT', '1.0003'],
  ['USDC', '0.9999'],
  ['DAI', '0.9998'],
  ['WBTC', '64980'],
  ['BNB', '585'],
  ['SOL', '147.5'],
  ['XRP', '0.5235'],
  ['ADA', '0.3987'],
  ['TRX', '0.1342'],
  ['DOT', '6.12'],
  ['LINK', '14.21'],
  ['MATIC', '0.5124'],
  ['POL', '0.5121'],
  ['AVAX', '27.9'],
  ['ATOM', '6.58'],
  ['UNI', '8.74'],
  ['AAVE', '96.5'],
  ['MKR', '2490'],
  ['XLM', '0.0987'],
  ['XMR', '164.8'],
  ['ETC', '23.15'],
  ['ZEC', '29.35'],
  ['XTZ', '0.764'],
  ['ALGO', '0.1386'],
  ['FIL', '4.43'],
  ['EOS', '0.577'],
  ['RVN', '0.01987'],
  ['DGB', '0.00793'],
  ['RUNE', '4.25'],
  ['CACAO', '0.6432'],
  ['SHIB', '0.00001743'],
  ['PEPE', '0.00000981'],
  ['BAT', '0.1978'],
  ['COMP', '49.1'],
  ['NEAR', '5.36'],
  ['ARB', '0.792'],
  ['OP', '1.79']
]

/** The first prices of fiat money in USD, by ISO 4217 code; of the right size, no more. */
const FIAT_PRICES: readonly (readonly [code: string, usd: string])[] = `
  AED 0.2723, AFN 0.0141, ALL 0.0108, AMD 0.00258, ANG 0.555, AOA 0.00114, ARS 0.00103, AUD 0.661,
  AWG 0.5556, AZN 0.5882, BAM 0.554, BBD 0.5, BDT 0.00837, BGN 0.554, BIF 0.000347, BMD 1, BND 0.742,
  BOB 0.1447, BRL 0.182, BSD 1, BTN 0.01195, BWP 0.0737, BYN 0.3056, BZD 0.4961, CAD 0.7305, CDF 0.000351,
  CHF 1.123, CLP 0.00107, CNY 0.1379, COP 0.000247, CRC 0.0019, CUC 1, CUP 0.0417, CVE 0.00983, CZK 0.0431,
  DJF 0.005618, DKK 0.1453, DOP 0.0169, DZD 0.00743, EGP 0.02066, ERN 0.0667, ETB 0.0174, EUR 1.084,
  FJD 0.4453, FKP 1.27, GBP 1.27, GEL 0.3663, GGP 1.27, GHS 0.0647, GIP 1.27, GMD 0.01475, GNF 0.000116,
  GTQ 0.1287, GYD 0.00478, HKD 0.128, HNL 0.0404, HRK 0.1439, HTG 0.00757, HUF 0.00276, IDR 0.0000614,
  ILS 0.2695, IMP 1.27, INR 0.01197, IQD 0.000763, IRR 0.0000238, ISK 0.00725, JEP 1.27, JMD 0.00641,
  JOD 1.4104, JPY 0.00668, KES 0.00775, KGS 0.0116, KHR 0.000243, KMF 0.0022, KPW 0.00111, KRW 0.000728,
  KWD 3.262, KYD 1.2, KZT 0.00209, LAK 0.0000452, LBP 0.0000112, LKR 0.00331, LRD 0.00515, LSL 0.0546,
  LYD 0.2066, MAD 0.1012, MDL 0.0565, MGA 0.00022, MKD 0.0176, MMK 0.000476, MNT 0.000296, MOP 0.1243,
  MRO 0.00252, MRU 0.0252, MUR 0.0215, MWK 0.000577, MXN 0.0524, MYR 0.2266, MZN 0.01565, NAD 0.0546,
  NGN 0.00063, NIO 0.0272, NOK 0.0921, NPR 0.00748, NZD 0.6022, OMR 2.5974, PAB 1, PEN 0.2665, PGK 0.2549,
  PHP 0.01735, PKR 0.0036, PLN 0.2523, PRB 0.0565, PYG 0.000132, QAR 0.2747, RON 0.2178, RSD 0.00926,
  RUB 0.0109, RWF 0.00076, SAR 0.2666, SBD 0.1185, SCR 0.0737, SDG 0.00166, SEK 0.0945, SGD 0.742, SHP 1.27,
  SLL 0.0000443, SOS 0.00175, SRD 0.0343, SSP 0.00768, STD 0.0000442, SYP 0.0000769, SZL 0.0546, THB 0.0276,
  TJS 0.0939, TMT 0.2857, TND 0.3222, TOP 0.4229, TRY 0.0304, TTD 0.1475, TVD 0.661, TWD 0.0305,
  TZS 0.00037, UAH 0.0244, UGX 0.00027, USD 1, UYU 0.0249, UZS 0.0000794, VEF 0.00000274, VND 0.0000395,
  VUV 0.00842, WST 0.3587, XAF 0.00165, XCD 0.37, XOF 0.00165, XPF 0.00908, YER 0.004, ZAR 0.0546,
  ZMW 0.0383
`
  .trim()
  .split(/,\s+/)
  .map(row => row.split(' ') as [string, string])
