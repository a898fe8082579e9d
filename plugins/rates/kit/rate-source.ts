import type { RateHost, RatePlugin } from '../../../kernel/plugin-api.ts'
import { makePoliteClient, type PoliteClient, type Question } from './polite-client.ts'
import { readOptions, type SourceOptions } from './source-options.ts'
import { type WantedCodes, wantedCodes } from './wanted-codes.ts'

/** A price as a source says it; the desk judges it. */
export type PricedPair = readonly [fromCurrency: string, toCurrency: string, rate: number]

/** One round's request to a source. */
export interface RateQuestion extends Question {
  /** Reads the prices out of the reply; pure. @throws BAD_REPLY for another shape than the documented one */
  parse(text: string): readonly PricedPair[]
}

/** What one source of rates is; {@link ratePlugin} makes a plugin of it. */
export interface RateSource {
  readonly id: string
  readonly displayName: string
  readonly bias: number
  /**
   * Where the API is, without a final slash; the next one is tried after a refusal for the country. The option `url`
   * puts one's own server in their place.
   */
  readonly origins: readonly string[]
  /** For how many seconds an answer is new enough; 0 if left out, which means every round. Option `gapSeconds`. */
  readonly gapSeconds?: number
  /** It gives nothing without the option `apiKey`. */
  readonly needsKey?: boolean
  /** What to ask for these codes; undefined if it has none of them. */
  ask(wanted: WantedCodes, options: SourceOptions): RateQuestion | undefined
  /** For a source that can do more: called once, after the rates are tapped. */
  extend?(host: RateHost, client: PoliteClient): void
}

/** Makes the plugin of a source: one polite request a round, and an offer for each price in the reply. */
export const ratePlugin = (source: RateSource): RatePlugin => ({
  kind: 'rates',
  id: source.id,
  displayName: source.displayName,
  bias: source.bias,
  checkOptions: options =>
    source.needsKey === true && readOptions(options).apiKey === undefined
      ? `It needs an API key: the option apiKey of the plugin ${source.id}`
      : undefined,
  apply(host) {
    const options = readOptions(host.options)
    const { origins, gapSeconds = 0, displayName } = source
    const client = makePoliteClient(host.io, {
      displayName,
      origins: options.url === undefined ? origins : [options.url],
      gapMs: (options.gapSeconds ?? gapSeconds) * 1000
    })
    host.hooks.fetchRates.tapPromise(source.id, async desk => {
      const question = source.ask(wantedCodes(desk.wanted), options)
      if (question === undefined) return
      const answer = await client.ask(question, desk.signal)
      if (answer === undefined) return
      const pairs = question.parse(answer.text)
      answer.accept(pairs.length > 0 && pairs.every(([, , rate]) => rate > 0 && Number.isFinite(rate)))
      for (const [fromCurrency, toCurrency, rate] of pairs) desk.offer({ fromCurrency, toCurrency }, rate)
    })
    source.extend?.(host, client)
  }
})
