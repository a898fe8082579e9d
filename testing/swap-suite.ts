import { isWalletError, type JsonObject, type SwapOffer, type SwapPlugin } from '../kernel/plugin-api.ts'
import { pluginChecks } from './plugin-checks.ts'
import { openPluginLab, type PluginLab, type PluginLabOptions } from './plugin-lab.ts'
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
import { swapChecks } from './swap-checks.ts'
import {
  type InvalidSwapCase,
  placeOrder,
  requestQuote,
  type SwapQuestion,
  type SwapSubject,
  type ValidSwapCase,
  watchOrder
} from './swap-lab.ts'

/** What a suite has to know of a swap provider. */
export interface SwapSuiteOptions extends SuiteOptions {
  readonly valid: readonly ValidSwapCase[]
  readonly invalid?: readonly InvalidSwapCase[]
  /** Options of the plugin for every case, such as a key that it needs. */
  readonly options?: JsonObject
}

/**
 * Plans the checks of a swap provider: one for each valid and invalid case, and those of every provider.
 *
 * @throws TypeError for no valid case, and for two cases of one name
 *
 * @example
 * ```ts
 * import { runSuite, swapAssets, swapSuite } from 'holdfast/testing'
 * import type { SwapPlugin } from 'holdfast/plugin'
 *
 * declare const cornerShop: SwapPlugin
 * const { btc: from, ltc: to } = swapAssets
 * const suite = swapSuite(cornerShop, {
 *   valid: [{ from, to, amount: '1000000', fromNativeAmount: '1000000', toNativeAmount: '740000000' }],
 *   invalid: [{ from, to, amount: '500', code: 'SWAP_BELOW_LIMIT', limit: '10000' }]
 * })
 * const results = await runSuite(suite)
 * console.log(results.every(({ outcome }) => outcome !== 'failed'))
 * ```
 */
export const swapSuite = (plugin: SwapPlugin, given: SwapSuiteOptions): Suite => {
  const { valid, invalid = [], options = {}, level = 'full', seed = Date.now() % 1_000_000 } = given
  const [sample] = valid
  if (sample === undefined) throw new TypeError('A suite of a swap provider needs a valid case')
  checkDistinct([...valid, ...invalid].map(nameOf))
  const open = (question: SwapQuestion, more: PluginLabOptions = {}): PluginLab => {
    const { replies = {}, options: own = options } = question
    return openPluginLab(plugin, { replies, options: own, ...more })
  }
  const subject: SwapSubject = {
    pluginId: plugin.id,
    options: sample.options ?? options,
    sendsRequests: sample.replies !== undefined,
    sample,
    seed,
    open: more => open(sample, more),
    quote: (lab, change = {}, handle = {}) => requestQuote(lab, { ...sample, ...change }, handle),
    order: placeOrder,
    watch: (lab, { orderId }) => watchOrder(lab, sample, { pluginId: plugin.id, orderId }),
    async round(lab, handle) {
      const { offers, error, isLate } = await requestQuote(lab, sample, handle)
      return { gave: textOf(offers[0]), oddity: textOf(offers.find(isOdd)), error, isLate }
    },
    async use(lab) {
      const { offers, error } = await requestQuote(lab, sample)
      if (error !== undefined) throw error
      return offers.map(({ payment, expirationDate, ...facts }) => facts)
    }
  }
  const cases: readonly PlannedCheck[] = [
    ...valid.map(each => ({
      ...VALID,
      title: `${VALID.id} ${nameOf(each)}`,
      run: () => checkValid(open(each), each)
    })),
    ...invalid.map(each => ({
      ...INVALID,
      title: `${INVALID.id} ${nameOf(each)}`,
      run: () => checkInvalid(open(each), each)
    }))
  ]
  const about = { pluginId: plugin.id, kind: 'swap', level }
  const common = planSuite(about, pluginChecks, subject).checks
  return planSuite(about, swapChecks, subject, [...common, ...cases])
}

/**
 * Declares the tests of a swap provider: those of {@link swapSuite}, with the `test` of node:test, AVA or Vitest.
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { swapAssets, testSwapPlugin } from 'holdfast/testing'
 * import type { SwapPlugin } from 'holdfast/plugin'
 *
 * declare const cornerShop: SwapPlugin
 * const { btc: from, ltc: to } = swapAssets
 * testSwapPlugin(test, cornerShop, {
 *   valid: [{ from, to, amount: '1000000', fromNativeAmount: '1000000', toNativeAmount: '740000000' }]
 * })
 * ```
 */
export const testSwapPlugin = (test: TestFunction, plugin: SwapPlugin, options: SwapSuiteOptions): void =>
  testSuite(test, swapSuite(plugin, options))

const VALID = {
  id: 'swap.valid',
  level: 'quick',
  reason: 'An offer of other amounts than the exchange gave costs the user money.',
  clause: '3.27',
  hint: 'Compare the parsed reply with the offer: side, unit and rounding.'
} as const

const INVALID = {
  id: 'swap.invalid',
  level: 'quick',
  reason: 'The error of the best rank is shown, so each refusal needs its own code and limit.',
  clause: '8.39',
  hint: 'Throw the code of the case, and name the limit in native units.'
} as const

const nameOf = ({ name, from, to, amount, quoteFor = 'from' }: SwapQuestion): string =>
  name ?? `${from.currencyCode} to ${to.currencyCode}, ${quoteFor} ${amount}`

const textOf = (offer: SwapOffer | undefined): string | undefined =>
  offer && `${offer.toNativeAmount} for ${offer.fromNativeAmount}`

const isOdd = ({ fromNativeAmount, toNativeAmount }: SwapOffer): boolean =>
  [fromNativeAmount, toNativeAmount].some(amount => !/^[1-9]\d*$/.test(amount))

const mustBeRecorded = ({ network }: PluginLab): void => {
  const [missing] = network.unrecorded
  must(missing === undefined, () => `It requests ${missing}, for which the case has no reply`)
}

const checkValid = async (lab: PluginLab, each: ValidSwapCase): Promise<void> => {
  const { offers, error, isLate } = await requestQuote(lab, each)
  mustBeRecorded(lab)
  must(!isLate, () => 'It has not ended after a minute')
  must(error === undefined, () => `It throws ${describeError(error)}`)
  const [offer] = offers
  must(offer !== undefined, () => 'It offers nothing')
  for (const side of ['fromNativeAmount', 'toNativeAmount', 'isEstimate'] as const) {
    const isMeant = each[side] === undefined || offer[side] === each[side]
    must(isMeant, () => `Its ${side} is ${offer[side]}, and the case says ${each[side]}`)
  }
}

const checkInvalid = async (lab: PluginLab, each: InvalidSwapCase): Promise<void> => {
  const { offers, error, isLate } = await requestQuote(lab, each)
  must(!isLate, () => 'It has not ended after a minute')
  mustBeRecorded(lab)
  must(offers.length === 0, () => `It offers ${textOf(offers[0])}`)
  const found = describeError(error)
  must(isWalletError(error, each.code), () => `It throws ${found}, and the case says ${each.code}`)
  if (each.limit === undefined) return
  const { nativeMin, nativeMax } = error.details as {
    readonly nativeMin?: string
    readonly nativeMax?: string
  }
  const limit = nativeMin ?? nativeMax
  must(limit === each.limit, () => `Its limit is ${limit}, and the case says ${each.limit}`)
}
