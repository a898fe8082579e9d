import {
  compact,
  type DatedPair,
  type HistoricRateContext,
  type RateHost,
  type RatePlugin,
  Reply
} from '../../kernel/plugin-api.ts'
import { COINS } from './kit/coins.ts'
import { fiatCode, ratePlugin } from './kit/rate-source.ts'
import type { SourceClient, SourceRequest } from './kit/source-client.ts'

/**
 * Rates of the rates server of Edge, third version, or with the option `url` of one's own: coins and moneys in one
 * fiat money, now and on any day of the past.
 */
export const edgeRates: RatePlugin = ratePlugin({
  id: 'edgeRates',
  displayName: 'Edge Rates',
  bias: 0.15,
  origins: ['https://rates3.edge.app', 'https://rates4.edge.app'],
  requestFor({ coins, fiats }) {
    const codes = [...coins, ...[...fiats].filter(code => code !== 'USD').map(fiatCode)]
    const request = requestOf(
      'USD',
      codes.map(code => ({ code }))
    )
    if (request === undefined) return undefined
    return {
      ...request,
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
  const reply = Reply.of(text, SOURCE).object()
  const prices: EdgePrice[] = []
  const add = (code: string | undefined, entry: Reply): void => {
    const rate = entry.field('rate')
    if (code === undefined || !rate.isThere) return
    const { value: isoDate } = entry.field('isoDate')
    const time = typeof isoDate === 'string' ? Date.parse(isoDate) : Number.NaN
    prices.push({
      code,
      rate: rate.number(),
      ...compact({ date: Number.isNaN(time) ? undefined : new Date(time) })
    })
  }
  for (const entry of reply.field('crypto').list()) {
    const asset = entry.object().field('asset').object()
    add(CODES.get(assetKey(asset.field('pluginId').value, asset.field('tokenId').value)), entry)
  }
  for (const entry of reply.field('fiat').list()) {
    const { value: code } = entry.object().field('fiatCode')
    if (typeof code === 'string') add(fiatCode(code), entry)
  }
  return prices
}

const SOURCE = 'reply of Edge Rates'

/** Prices of coins are requested by chain and token, never by code. */
const ASSETS = new Map(COINS.flatMap(({ code, edge }) => (edge === null ? [] : [[code, edge] as const])))

const assetKey = (pluginId: unknown, tokenId: unknown): string => `${pluginId}/${tokenId ?? ''}`

const CODES = new Map([...ASSETS].map(([code, [pluginId, tokenId]]) => [assetKey(pluginId, tokenId), code]))

/** The most coins, and the most moneys, in one request. */
const MAX_COINS = 100
const MAX_MONEYS = 256
/** The most requests for one request of historic rates. */
const MAX_REQUESTS = 10

interface WantedPrice {
  readonly code: string
  readonly date?: Date
}

/** Undefined if there is nothing that the server may know. */
const requestOf = (targetFiat: string, requested: readonly WantedPrice[]): SourceRequest | undefined => {
  const dated = ({ date }: WantedPrice): object => (date === undefined ? {} : { isoDate: date.toISOString() })
  const fiat = requested
    .filter(({ code }) => /^iso:[A-Z]{3}$/.test(code))
    .map(item => ({ ...dated(item), fiatCode: item.code.slice(4) }))
    .slice(0, MAX_MONEYS)
  const crypto = requested
    .flatMap(item => {
      const asset = ASSETS.get(item.code)
      if (asset === undefined) return []
      const [pluginId, tokenId] = asset
      return [{ ...dated(item), asset: { pluginId, ...compact({ tokenId: tokenId ?? undefined }) } }]
    })
    .slice(0, MAX_COINS)
  if (fiat.length + crypto.length === 0) return undefined
  return { path: '/v3/rates', body: JSON.stringify({ targetFiat, crypto, fiat }) }
}

const tapHistory = ({ hooks }: RateHost, client: SourceClient): void => {
  hooks.fetchHistoricRates.tapPromise('edgeRates', async context => {
    for (const pairs of portionsOf(context.wanted)) {
      const requested = pairs.map(({ fromCurrency, date }) => ({ code: fromCurrency, date }))
      const request = requestOf((pairs[0]?.toCurrency ?? '').slice(4), requested)
      const reply = request === undefined ? undefined : await client.fetch(request, context.signal)
      if (reply !== undefined) offerNearest(context, pairs, parseEdgeRates(reply.text))
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
  context: HistoricRateContext,
  pairs: readonly DatedPair[],
  prices: readonly EdgePrice[]
): void => {
  for (const pair of pairs) {
    const distance = ({ date = pair.date }: EdgePrice): number =>
      Math.abs(date.getTime() - pair.date.getTime())
    const [nearest] = prices
      .filter(({ code }) => code === pair.fromCurrency)
      .sort((left, right) => distance(left) - distance(right))
    if (nearest !== undefined) context.offer({ ...pair, date: nearest.date ?? pair.date }, nearest.rate)
  }
}
