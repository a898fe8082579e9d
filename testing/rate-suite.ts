import {
  isWalletError,
  type JsonObject,
  type RatePair,
  type RatePlugin,
  type RateSnapshot
} from '../kernel/plugin-api.ts'
import { pluginChecks } from './plugin-checks.ts'
import { openPluginLab, type PluginLab, type PluginLabOptions } from './plugin-lab.ts'
import { rateChecks } from './rate-checks.ts'
import {
  type InvalidRateCase,
  pairsOf,
  queryHistory,
  queryRound,
  type RateQuestion,
  type RateSubject,
  type ValidRateCase
} from './rate-lab.ts'
import { type TestFunction, testSuite } from './run-with.ts'
import {
  checkDistinct,
  describeError,
  must,
  type PlannedCheck,
  planSuite,
  type Suite,
  type SuiteOptions
} from './suite.ts'

/** What a suite has to know of a source of rates. */
export interface RateSuiteOptions extends SuiteOptions {
  readonly valid: readonly ValidRateCase[]
  readonly invalid?: readonly InvalidRateCase[]
  /** Options of the plugin for every case, such as a key that it needs. */
  readonly options?: JsonObject
  /** How far an offer may be from the price of a case, as a share of it. A millionth if left out. */
  readonly tolerance?: number
}

/**
 * Plans the checks of a source of rates: one for each valid and invalid case, and those of every source.
 *
 * @throws TypeError for no valid case, and for two equal cases
 *
 * @example
 * ```ts
 * import { rateSuite, runSuite } from 'holdfast/testing'
 * import type { RatePlugin } from 'holdfast/plugin'
 *
 * declare const shop: RatePlugin
 * const suite = rateSuite(shop, {
 *   valid: [
 *     {
 *       wanted: ['BTC iso:USD'],
 *       replies: { 'https://shop.example.org/price': '{"usd":64000}' },
 *       offers: { 'BTC iso:USD': 64_000 }
 *     }
 *   ],
 *   invalid: [
 *     {
 *       wanted: ['BTC iso:USD'],
 *       replies: { 'https://shop.example.org/price': '{"error":"closed"}' },
 *       code: 'BAD_REPLY'
 *     }
 *   ]
 * })
 * const results = await runSuite(suite)
 * console.log(results.every(({ outcome }) => outcome !== 'failed'))
 * ```
 */
export const rateSuite = (plugin: RatePlugin, given: RateSuiteOptions): Suite => {
  const { valid, invalid = [], options = {}, level = 'full', seed = Date.now() % 1_000_000 } = given
  const [sample] = valid.filter(({ date }) => date === undefined)
  if (sample === undefined) throw new TypeError('A suite of rates needs a valid case without a date')
  checkDistinct([...valid, ...invalid].map(nameOf))
  const open = (question: RateQuestion, more: PluginLabOptions = {}): PluginLab => {
    const { replies = {}, options: own = options } = question
    return openPluginLab(plugin, { replies, options: own, ...more })
  }
  const subject: RateSubject = {
    options: sample.options ?? options,
    sendsRequests: sample.replies !== undefined,
    sample,
    dated: valid.find(({ date }) => date !== undefined),
    seed,
    open: more => open(sample, more),
    async round(lab, handle) {
      const { offers, error, isLate } = await queryRound(lab, pairsOf(sample.wanted), handle)
      const odd = offers.find(({ rate }) => !(rate > 0 && Number.isFinite(rate)))
      return { gave: textOf(offers[0]), oddity: textOf(odd), error, isLate }
    },
    async use(lab) {
      const { offers, error } = await queryRound(lab, pairsOf(sample.wanted))
      if (error !== undefined) throw error
      return offers
    }
  }
  const cases: readonly PlannedCheck[] = [
    ...valid.map(each => ({
      ...VALID,
      title: `${VALID.id} ${nameOf(each)}`,
      run: () => checkValid(open(each), each, given.tolerance ?? 1e-6)
    })),
    ...invalid.map(each => ({
      ...INVALID,
      title: `${INVALID.id} ${nameOf(each)}`,
      run: () => checkInvalid(open(each), each)
    }))
  ]
  const about = { pluginId: plugin.id, kind: 'rates', level }
  const common = planSuite(about, pluginChecks, subject).checks
  return planSuite(about, rateChecks, subject, [...common, ...cases])
}

/**
 * Declares the tests of a source of rates: those of {@link rateSuite}, with the `test` of node:test, AVA or Vitest.
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { testRatePlugin } from 'holdfast/testing'
 * import type { RatePlugin } from 'holdfast/plugin'
 *
 * declare const shop: RatePlugin
 * const replies = { 'https://shop.example.org/price': '{"usd":64000}' }
 * testRatePlugin(test, shop, { valid: [{ wanted: ['BTC iso:USD'], replies, offers: { 'BTC iso:USD': 64_000 } }] })
 * ```
 */
export const testRatePlugin = (test: TestFunction, plugin: RatePlugin, options: RateSuiteOptions): void =>
  testSuite(test, rateSuite(plugin, options))

const textOf = (offer: RateSnapshot | undefined): string | undefined =>
  offer && `${offer.rate} for ${offer.fromCurrency} ${offer.toCurrency}`

const VALID = {
  id: 'rates.valid',
  level: 'quick',
  reason: 'A price that is wrong or missing gives wrong amounts everywhere.',
  clause: '3.28',
  hint: 'Compare the parsed reply with the offers: pair, direction and figure.'
} as const

const INVALID = {
  id: 'rates.invalid',
  level: 'quick',
  reason: 'Where a source has no price it offers none and says why with a code of the catalogue.',
  clause: '8.52',
  hint: 'Throw a WalletError with the code of the case, and offer nothing before.'
} as const

const nameOf = ({ name, wanted, date }: RateQuestion): string =>
  name ?? [wanted.join(', '), ...(date === undefined ? [] : [date.toISOString().slice(0, 10)])].join(' of ')

const checkValid = async (lab: PluginLab, each: ValidRateCase, tolerance: number): Promise<void> => {
  const offers = each.date === undefined ? await queryNow(lab, each) : await queryPast(lab, each)
  const [missing] = lab.network.unrecorded
  must(missing === undefined, () => `It requests ${missing}, for which the case has no reply`)
  for (const [pair, price] of Object.entries(each.offers)) {
    const found = offers.filter(({ fromCurrency, toCurrency }) => `${fromCurrency} ${toCurrency}` === pair)
    must(found.length > 0, () => `It offers no price of ${pair}`)
    const wrong = found.find(({ rate }) => !(Math.abs(rate / price - 1) <= tolerance))
    must(wrong === undefined, () => `It offers ${wrong?.rate} for ${pair}, and the case says ${price}`)
  }
}

type PricedPair = RatePair & { readonly rate: number }

const queryNow = async (lab: PluginLab, { wanted }: RateQuestion): Promise<readonly PricedPair[]> => {
  const { offers, error, isLate } = await queryRound(lab, pairsOf(wanted))
  must(!isLate, () => 'It has not ended after 30 seconds')
  must(error === undefined, () => `It throws ${describeError(error)}`)
  return offers
}

const queryPast = async (lab: PluginLab, { wanted, date }: RateQuestion): Promise<readonly PricedPair[]> => {
  const pairs = pairsOf(wanted).map(pair => ({ ...pair, date: date ?? new Date(0) }))
  const { offers, error, isLate } = await queryHistory(lab, pairs)
  must(!isLate, () => 'It has not ended after 30 seconds')
  must(error === undefined, () => `It throws ${describeError(error)}`)
  return offers
}

const checkInvalid = async (lab: PluginLab, each: InvalidRateCase): Promise<void> => {
  const { offers, error, isLate } = await queryRound(lab, pairsOf(each.wanted))
  must(!isLate, () => 'It has not ended after 30 seconds')
  const [missing] = lab.network.unrecorded
  must(missing === undefined, () => `It requests ${missing}, for which the case has no reply`)
  const [offer] = offers
  must(offer === undefined, () => `It offers ${offer?.rate} for ${offer?.fromCurrency} ${offer?.toCurrency}`)
  const isMeant = each.code === undefined ? error === undefined : isWalletError(error, each.code)
  const found = describeError(error)
  must(isMeant, () => `It throws ${found}, and the case says ${each.code ?? 'nothing'}`)
}
