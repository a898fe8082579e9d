import type { DatedPair, HistoricRateContext, RateHost, RatePlugin } from '../../kernel/plugin-api.ts'
import { COIN_ROWS } from './kit/coin-rows.ts'
import type { PoliteClient, Question } from './kit/polite-client.ts'
import { ratePlugin } from './kit/rate-source.ts'
import { asList, asRecord, figure, readJson } from './kit/read-reply.ts'
import { fiatCode } from './kit/wanted-codes.ts'

/**
 * Rates of the rates server of Edge, third version, or with the option `url` of one's own: coins and moneys in one
 * fiat money, now and on any day of the past.
 */
export const edgeRates: RatePlugin = ratePlugin({
  id: 'edgeRates',
  displayName: 'Edge Rates',
  bias: 0.15,
  origins: ['https://rates3.edge.app', 'https://rates4.edge.app'],
  ask({ coins, fiats }) {
    const codes = [...coins, ...[...fiats].filter(code => code !== 'USD').map(fiatCode)]
    const question = questionOf(
      'USD',
      codes.map(code => ({ code }))
    )
    if (question === undefined) return undefined
    return {
      ...question,
      parse: text => parseEdgeRates(text).map(({ code, rate }) => [code, fiatCode('USD'), rate])
    }
  },
  extend: (host, client) => tapHistory(host, client)
})

/** A price in the fiat money that was asked for. */
export interface EdgePrice {
  readonly code: string
  readonly rate: number
  /** Absent for now. */
  readonly date?: Date
}

/**
 * Reads `{ crypto: [{ isoDate?, asset: { pluginId, tokenId? }, rate? }], fiat: [{ isoDate?, fiatCode, rate? }] }`; what
 * the server has no rate for is left out; pure.
 *
 * @throws BAD_REPLY
 */
export const parseEdgeRates = (text: string): readonly EdgePrice[] => {
  const reply = asRecord(readJson(text, SOURCE), SOURCE)
  const prices: EdgePrice[] = []
  const add = (code: string | undefined, { rate, isoDate }: Readonly<Record<string, unknown>>): void => {
    if (code === undefined || rate === undefined || rate === null) return
    const time = typeof isoDate === 'string' ? Date.parse(isoDate) : Number.NaN
    prices.push({ code, rate: figure(rate), ...(Number.isNaN(time) ? {} : { date: new Date(time) }) })
  }
  for (const [index, item] of asList(reply.crypto, SOURCE, 'crypto').entries()) {
    const entry = asRecord(item, SOURCE, `crypto[${index}]`)
    const { pluginId, tokenId } = asRecord(entry.asset, SOURCE, `crypto[${index}].asset`)
    add(CODES.get(assetKey(pluginId, tokenId)), entry)
  }
  for (const [index, item] of asList(reply.fiat, SOURCE, 'fiat').entries()) {
    const entry = asRecord(item, SOURCE, `fiat[${index}]`)
    if (typeof entry.fiatCode === 'string') add(fiatCode(entry.fiatCode), entry)
  }
  return prices
}

const SOURCE = 'Edge Rates'

/** What a coin is worth is asked for by its place, never by its code. */
const ASSETS = new Map(COIN_ROWS.flatMap(({ code, edge }) => (edge === null ? [] : [[code, edge] as const])))

const assetKey = (pluginId: unknown, tokenId: unknown): string => `${pluginId}/${tokenId ?? ''}`

const CODES = new Map([...ASSETS].map(([code, [pluginId, tokenId]]) => [assetKey(pluginId, tokenId), code]))

/** The most coins, and the most moneys, in one request. */
const MAX_COINS = 100
const MAX_MONEYS = 256
/** The most requests for one question about the past. */
const MAX_REQUESTS = 10

interface Asked {
  readonly code: string
  readonly date?: Date
}

/** Undefined if there is nothing that the server may know. */
const questionOf = (targetFiat: string, asked: readonly Asked[]): Question | undefined => {
  const dated = ({ date }: Asked): object => (date === undefined ? {} : { isoDate: date.toISOString() })
  const fiat = asked
    .filter(({ code }) => /^iso:[A-Z]{3}$/.test(code))
    .map(item => ({ ...dated(item), fiatCode: item.code.slice(4) }))
    .slice(0, MAX_MONEYS)
  const crypto = asked
    .flatMap(item => {
      const asset = ASSETS.get(item.code)
      if (asset === undefined) return []
      const [pluginId, tokenId] = asset
      return [{ ...dated(item), asset: { pluginId, ...(tokenId === null ? {} : { tokenId }) } }]
    })
    .slice(0, MAX_COINS)
  if (fiat.length + crypto.length === 0) return undefined
  return { path: '/v3/rates', body: JSON.stringify({ targetFiat, crypto, fiat }) }
}

const tapHistory = ({ hooks }: RateHost, client: PoliteClient): void => {
  hooks.fetchHistoricRates.tapPromise('edgeRates', async desk => {
    for (const pairs of portionsOf(desk.wanted)) {
      const asked = pairs.map(({ fromCurrency, date }) => ({ code: fromCurrency, date }))
      const question = questionOf((pairs[0]?.toCurrency ?? '').slice(4), asked)
      const answer = question === undefined ? undefined : await client.ask(question, desk.signal)
      if (answer !== undefined) offerNearest(desk, pairs, parseEdgeRates(answer.text))
    }
  })
}

/** Pairs with one target each, as many as fit into a request. A target that is no fiat money cannot be asked for. */
const portionsOf = (wanted: readonly DatedPair[]): readonly (readonly DatedPair[])[] => {
  const byTarget = new Map<string, DatedPair[]>()
  for (const pair of wanted) {
    if (!pair.toCurrency.startsWith('iso:') || Number.isNaN(pair.date.getTime())) continue
    const known = byTarget.get(pair.toCurrency)
    if (known === undefined) byTarget.set(pair.toCurrency, [pair])
    else known.push(pair)
  }
  const portions: DatedPair[][] = []
  for (const pairs of byTarget.values()) {
    for (let start = 0; start < pairs.length; start += MAX_COINS) {
      portions.push(pairs.slice(start, start + MAX_COINS))
    }
  }
  return portions.slice(0, MAX_REQUESTS)
}

/** The server may know another time of the day than the one that was asked for, and says which. */
const offerNearest = (
  desk: HistoricRateContext,
  pairs: readonly DatedPair[],
  prices: readonly EdgePrice[]
): void => {
  for (const pair of pairs) {
    const distance = ({ date = pair.date }: EdgePrice): number =>
      Math.abs(date.getTime() - pair.date.getTime())
    const [nearest] = prices
      .filter(({ code }) => code === pair.fromCurrency)
      .sort((left, right) => distance(left) - distance(right))
    if (nearest !== undefined) desk.offer({ ...pair, date: nearest.date ?? pair.date }, nearest.rate)
  }
}
