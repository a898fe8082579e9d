import {
  compact,
  type JsonObject,
  type RateHost,
  type RatePair,
  type RatePlugin
} from '../../../kernel/plugin-api.ts'
import { SourceClient, type SourceRequest } from './source-client.ts'

/** A price as a source names it; the kernel checks it. */
export type PricedPair = readonly [fromCurrency: string, toCurrency: string, rate: number]

/** The request of one round to a source. */
export interface RateSourceRequest extends SourceRequest {
  /** Reads the prices out of the reply; pure. @throws BAD_REPLY for another shape than the documented one */
  parse(text: string): readonly PricedPair[]
}

/** Describes one source of rates; {@link ratePlugin} makes a plugin of it. */
export interface RateSource {
  readonly id: string
  readonly displayName: string
  readonly bias: number
  /**
   * The addresses of the API, without a final slash; the next one is tried after a refusal for the country. The option `url`
   * puts one's own server in their place.
   */
  readonly origins: readonly string[]
  /** The seconds for which a reply is new enough; 0 if left out, which means every round. Option `gapSeconds`. */
  readonly gapSeconds?: number
  /** It gives nothing without the option `apiKey`. */
  readonly needsKey?: boolean
  /** Makes the request for these codes; undefined if the source has none of them. */
  requestFor(wanted: WantedCodes, options: SourceOptions): RateSourceRequest | undefined
  /** For a source that can do more: called once, after the rates are tapped. */
  extend?(host: RateHost, client: SourceClient): void
}

/** Makes the plugin of a source: one request a round, and an offer for each price in the reply. */
export const ratePlugin = (source: RateSource): RatePlugin => ({
  kind: 'rates',
  id: source.id,
  displayName: source.displayName,
  hosts: source.origins,
  bias: source.bias,
  checkOptions: options =>
    source.needsKey === true && readOptions(options).apiKey === undefined
      ? `It needs an API key: the option apiKey of the plugin ${source.id}`
      : undefined,
  apply(host) {
    const options = readOptions(host.options)
    const { origins, gapSeconds = 0, displayName } = source
    const client = new SourceClient(host.io, {
      displayName,
      origins: options.url === undefined ? origins : [options.url],
      gapMs: (options.gapSeconds ?? gapSeconds) * 1000
    })
    host.hooks.fetchRates.tapPromise(source.id, async context => {
      const request = source.requestFor(wantedCodes(context.wanted), options)
      if (request === undefined) return
      const reply = await client.fetch(request, context.signal)
      if (reply === undefined) return
      const pairs = request.parse(reply.text)
      reply.accept(pairs.length > 0 && pairs.every(([, , rate]) => rate > 0 && Number.isFinite(rate)))
      for (const [fromCurrency, toCurrency, rate] of pairs) context.offer({ fromCurrency, toCurrency }, rate)
    })
    source.extend?.(host, client)
  }
})

/** The options of a source of rates, which an application sets in `pluginOptions`. */
interface SourceOptions {
  /** Sent in a header, and shown nowhere. */
  readonly apiKey?: string
  /** Another server with the same API, without a final slash. */
  readonly url?: string
  /** The seconds for which a reply is new enough. */
  readonly gapSeconds?: number
}

/** Checks the options of a source; others are left alone. @throws TypeError naming the option, never its value */
const readOptions = ({ apiKey, url, gapSeconds }: JsonObject): SourceOptions =>
  compact({
    apiKey: apiKey === undefined || apiKey === '' ? undefined : keyOf(apiKey),
    url: url === undefined ? undefined : urlOf(url),
    gapSeconds: gapSeconds === undefined ? undefined : gapSecondsOf(gapSeconds)
  })

// Visible ASCII: anything else would be no header, or a second one.
const KEY = /^[\x21-\x7e]{1,500}$/
const URL_TEXT = /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/

const keyOf = (value: unknown): string => {
  if (typeof value === 'string' && KEY.test(value)) return value
  throw new TypeError('The option apiKey is no text that fits into a header')
}

const urlOf = (value: unknown): string => {
  if (typeof value === 'string' && value.length <= 500 && URL_TEXT.test(value))
    return value.replace(/\/+$/, '')
  throw new TypeError('The option url is no http or https address')
}

const gapSecondsOf = (value: unknown): number => {
  if (typeof value === 'number' && value >= 0 && value <= MAX_GAP_SECONDS) return value
  throw new TypeError('The option gapSeconds is no number from 0 to a day')
}

const MAX_GAP_SECONDS = 86_400

/** The currencies of the pairs that are wanted, in order of appearance. */
export interface WantedCodes {
  readonly coins: ReadonlySet<string>
  /** Without `iso:`. */
  readonly fiats: ReadonlySet<string>
}

/** Gathers the codes of both sides of all pairs. */
const wantedCodes = (pairs: readonly RatePair[]): WantedCodes => {
  const coins = new Set<string>()
  const fiats = new Set<string>()
  for (const { fromCurrency, toCurrency } of pairs) {
    for (const code of [fromCurrency, toCurrency]) {
      if (code.startsWith(FIAT)) fiats.add(code.slice(FIAT.length))
      else coins.add(code)
    }
  }
  return { coins, fiats }
}

/** The code of a fiat currency as the kernel knows it: `iso:EUR` for `EUR`. */
export const fiatCode = (code: string): string => `${FIAT}${code}`

const FIAT = 'iso:'
