import {
  type DatedPair,
  type ErrorCode,
  type HistoricRateContext,
  type JsonObject,
  makeAbort,
  type RatePair,
  type RateSnapshot
} from '../kernel/plugin-api.ts'
import { ProviderRequest } from '../kernel/rates/rounds.ts'
import type { Replies } from './fake-network.ts'
import type { NetworkSubject, RoundHandle } from './network-checks.ts'
import { callTaps, type PluginLab } from './plugin-lab.ts'

/** Pairs that a source is asked for, each as text: `BTC iso:USD` is the price of one bitcoin in dollars. */
export interface RateQuestion {
  /** Names the case in reports; the wanted pairs if left out. */
  readonly name?: string
  readonly wanted: readonly string[]
  /** The day of the prices, for a source of historic rates. */
  readonly date?: Date
  /** What its server answers; left out for a source that sends no request. */
  readonly replies?: Replies
  /** As an application gives them in `pluginOptions`; those of the suite if left out. */
  readonly options?: JsonObject
}

/** A question to which the source has prices. */
export interface ValidRateCase extends RateQuestion {
  /** The prices that have to be offered; others may be offered as well. */
  readonly offers: Readonly<Record<string, number>>
}

/** A question that ends without a price. */
export interface InvalidRateCase extends RateQuestion {
  /** The code of the error; left out if the source offers nothing and throws nothing. */
  readonly code?: ErrorCode
}

/** What one round of a source brought. */
export interface RateRound {
  readonly offers: readonly RateSnapshot[]
  /** Why the kernel refused the first offer that it refused. */
  readonly refusal: string | undefined
  readonly error: unknown
  readonly isLate: boolean
}

/** A source of rates with its cases, for the checks. */
export interface RateSubject extends NetworkSubject {
  /** The first valid case. */
  readonly sample: ValidRateCase
  /** The first valid case of the past. */
  readonly dated: ValidRateCase | undefined
}

/** The time that the kernel gives a tap. */
const TAP_MS = 30_000

/** Pairs from texts such as `BTC iso:USD`. @throws TypeError for another text */
export const pairsOf = (texts: readonly string[]): readonly RatePair[] =>
  texts.map(text => {
    const [fromCurrency, toCurrency, more] = text.split(' ')
    if (!fromCurrency || !toCurrency || more !== undefined)
      throw new TypeError(`"${text}" is no pair such as "BTC iso:USD"`)
    return { fromCurrency, toCurrency }
  })

/** Runs a round as the kernel does, and lets up to 30 seconds pass for it. */
export const queryRound = async (
  lab: PluginLab,
  wanted: readonly RatePair[],
  handle: RoundHandle = {}
): Promise<RateRound> => {
  let refusal: string | undefined
  const request = new ProviderRequest({
    pluginId: 'tested',
    wanted,
    clock: lab.clock,
    onRefused: message => {
      refusal = message
    }
  })
  handle.abort = () => request.abort.abort()
  const work = callTaps(lab, lab.hooks.fetchRates, [request.context])
  const { error, isLate } = await (handle.isLive ? lab.waitLive(work) : lab.wait(work, TAP_MS))
  return { offers: request.take(), refusal, error, isLate }
}

/** What a source offers for days of the past. */
export interface HistoricRound {
  readonly offers: readonly (DatedPair & { readonly rate: number })[]
  readonly error: unknown
  readonly isLate: boolean
}

/** Requests prices of the past as the kernel does. */
export const queryHistory = async (lab: PluginLab, wanted: readonly DatedPair[]): Promise<HistoricRound> => {
  const offers: (DatedPair & { readonly rate: number })[] = []
  const context: HistoricRateContext = {
    wanted,
    signal: makeAbort().signal,
    offer: (pair, rate) => void offers.push({ ...pair, rate })
  }
  const { error, isLate } = await lab.wait(callTaps(lab, lab.hooks.fetchHistoricRates, [context]), TAP_MS)
  return { offers, error, isLate }
}
