import type { RatePair } from '../../kernel/index.ts'

/** A market of pairs, and the conversion that is timed in it. */
export interface MarketShape {
  readonly name: string
  /** By provider. Rates agree with each other, so that every route gives the same value but for rounding. */
  readonly pairs: readonly (readonly MarketPair[])[]
  readonly from: string
  /** Into which `from` is converted, one after another: each is another search. */
  readonly targets: readonly string[]
}

/** A pair and its rate. */
export interface MarketPair extends RatePair {
  readonly rate: number
}

/** Coins that are all priced in dollars by one provider: two hops from any to any. */
export const star = (count: number): MarketShape => {
  const coins = named('S', count)
  return shapeOf('star', [coins.map(code => pairOf(code, USD))], coins)
}

/** Ten providers that all price the same coins in dollars. */
export const tenProviders = (count: number): MarketShape => {
  const coins = named('P', count / 10)
  const pairs = coins.map(code => pairOf(code, USD))
  return shapeOf(
    'ten providers',
    Array.from({ length: 10 }, () => pairs),
    coins
  )
}

/** A market as there is: each coin has a price in ten fiat currencies and in the two coins before all others. */
export const market = (count: number): MarketShape => {
  const quotes = [...named('iso:F', 10), 'M0', 'M1']
  const coins = named('M', Math.ceil(count / quotes.length) + 2).slice(2)
  const pairs = coins.flatMap(code => quotes.map(quote => pairOf(code, quote))).slice(0, count)
  return shapeOf('market', [pairs], [coins.at(-2) ?? '', ...quotes.slice(0, 10)])
}

/** Coins with a price in ten fiat currencies and in the next two coins: the market of the published core's own figures. */
export const ladder = (count: number): MarketShape => {
  const fiats = named('iso:L', 10)
  const coins = named('L', Math.ceil(count / 12) + 2)
  const pairs = coins
    .slice(0, -2)
    .flatMap((code, at) => [...fiats, ...coins.slice(at + 1, at + 3)].map(to => pairOf(code, to)))
    .slice(0, count)
  return shapeOf('ladder', [pairs], [coins[0] ?? '', ...fiats])
}

/** Layers of four currencies, each of which trades against all four of the next: four ways on at every step. */
export const layers = (count: number): MarketShape => {
  const depth = count / 16
  const all = Array.from({ length: depth + 1 }, (_, layer) => named(`Y${layer}-`, 4))
  const pairs = all
    .slice(1)
    .flatMap((next, at) => (all[at] ?? []).flatMap(code => next.map(to => pairOf(code, to))))
  return shapeOf('layers', [pairs], [all[0]?.[0] ?? '', ...(all.at(-1) ?? [])])
}

const USD = 'iso:USD'

const named = (prefix: string, count: number): string[] =>
  Array.from({ length: Math.floor(count) }, (_, at) => `${prefix}${at}`)

const pairOf = (fromCurrency: string, toCurrency: string): MarketPair => ({
  fromCurrency,
  toCurrency,
  rate: rateOf(fromCurrency, toCurrency)
})

/** @param codes - from the first into the last ones */
const shapeOf = (name: string, pairs: MarketShape['pairs'], codes: readonly string[]): MarketShape => {
  const split = pairs.flatMap(own =>
    Array.from({ length: Math.ceil(own.length / MOST) }, (_, at) => own.slice(at * MOST, (at + 1) * MOST))
  )
  const [from = ''] = codes
  return { name, pairs: split, from, targets: codes.slice(1).slice(-TARGETS) }
}

const TARGETS = 5

/** One provider of ours keeps no more pairs. */
const MOST = 10_000

/** What one `from` is in `to`. */
export const rateOf = (from: string, to: string): number => priceOf(from) / priceOf(to)

/** Some price that follows from the code. */
const priceOf = (code: string): number => {
  let sum = 7
  for (const letter of code) sum = (sum * 31 + letter.charCodeAt(0)) % 99_991
  return 0.01 + sum / 100
}
