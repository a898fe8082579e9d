import { isDecimal, type RatePlugin } from 'holdfast/plugin'

/** One line of the list: a price, and the day from which it counts. */
interface Price {
  readonly from: number
  readonly fromCurrency: string
  readonly toCurrency: string
  readonly rate: number
}

/** Reads lines such as `2026-01-31,BTC,iso:EUR,58000`; empty lines and those that begin with # are notes. */
const readPrices = (csv: string): readonly Price[] =>
  csv.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(?:#|$)/.test(line)) return []
    const [day = '', fromCurrency = '', toCurrency = '', rate = ''] = line.split(',').map(cell => cell.trim())
    const from = Date.parse(`${day}T00:00:00Z`)
    if (
      Number.isNaN(from) ||
      fromCurrency === '' ||
      toCurrency === '' ||
      !isDecimal(rate) ||
      Number(rate) <= 0
    )
      throw new TypeError(`line ${index + 1} of the prices is not date,from,to,price`)
    return [{ from, fromCurrency, toCurrency, rate: Number(rate) }]
  })

/** The price of a pair at a time: that of the last day before it. */
const priceAt = (prices: readonly Price[], pair: Pick<Price, 'fromCurrency' | 'toCurrency'>, at: number) =>
  prices
    .filter(
      ({ fromCurrency, toCurrency }) => fromCurrency === pair.fromCurrency && toCurrency === pair.toCurrency
    )
    .filter(({ from }) => from <= at)
    .sort((one, other) => other.from - one.from)[0]

/**
 * A rate source with prices of one's own: those that the books of a company go by, or of a coin that no exchange lists. Its
 * option `csv` is the text of a list, which a program reads from where it likes.
 */
const ownPrices: RatePlugin = {
  kind: 'rates',
  id: 'ownprices',
  displayName: 'Own prices',
  // The kernel prefers it to sources on the network.
  bias: -0.5,
  checkOptions({ csv }) {
    if (typeof csv !== 'string') return 'its option csv has no prices'
    try {
      readPrices(csv)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  },
  apply({ hooks, io, options }) {
    const prices = typeof options.csv === 'string' ? readPrices(options.csv) : []
    hooks.fetchRates.tapPromise('ownprices', async ({ wanted, offer }) => {
      for (const pair of wanted) {
        const price = priceAt(prices, pair, io.clock.now())
        if (price !== undefined) offer(pair, price.rate)
      }
    })
    hooks.fetchHistoricRates.tapPromise('ownprices', async ({ wanted, offer }) => {
      for (const pair of wanted) {
        const price = priceAt(prices, pair, pair.date.getTime())
        if (price !== undefined) offer(pair, price.rate)
      }
    })
  }
}

export default ownPrices
