import type { ExecutionContext, TestFn } from 'ava'
import { answerInstead, dripReplies, refusalReply, swellReplies } from '../../fake-server/base/faults.ts'
import { FakeMarket } from '../../fake-server/providers/market/market.ts'
import type { RatePlugin } from '../../kernel/plugin-api.ts'
import type { RatePair } from '../../kernel/types/rates.ts'
import { fakeProviders } from '../../testing/fake-network.ts'
import type { ValidRateCase } from '../../testing/rate-lab.ts'
import { type RateSuiteOptions, testRatePlugin } from '../../testing/rate-suite.ts'
import { openRateLab, type RateLab, type RateLabOptions } from '../helpers/rate-lab.ts'

/** What the checks have to know of a source. Its fake provider has the plugin's id. */
export interface RateSourceCase {
  readonly plugin: RatePlugin
  readonly bias: number
  /** A round's question, and which prices have to come at least; each is judged by the market of the fake world. */
  readonly wanted: readonly RatePair[]
  readonly offered: readonly RatePair[]
  /** How far a figure may be from the market's, as a share: providers round. A millionth if left out. */
  readonly tolerance?: number
  /** What it has nothing for; it asks nobody then. */
  readonly strange?: readonly RatePair[]
  /** Its provider marks its answers. */
  readonly isConditional?: boolean
  /** How many addresses are tried before it rests after a refusal for the country. */
  readonly originCount?: number
  /** The API key that it needs, or may be given. */
  readonly apiKey?: string
  readonly needsKey?: boolean
  /** A price of the past that its provider has. */
  readonly dated?: ValidRateCase
  /** For how many seconds an answer is new enough. */
  readonly gapSeconds?: number
}

/**
 * Runs the conformance suite on a shipped source of rates, and what only the sources of `plugins/rates/kit` keep: their options,
 * marks, gaps and back-offs. Run it from the source's own test file.
 */
export const testRateSource = (test: TestFn, about: RateSourceCase): void => {
  testRatePlugin(test, about.plugin, suiteOptionsOf(about))
  const name = about.plugin.id
  const { apiKey } = about
  const options = { gapSeconds: 0, ...(apiKey === undefined ? {} : { apiKey }) }
  const open = (more: RateLabOptions = {}): RateLab => openRateLab(about.plugin, { options, ...more })
  testPrices(test, about, open)
  testRefusals(test, about, open)
  testSize(test, about, open)
  testTime(test, about, open)
  testRateLimits(test, about, open)

  test(`${name}: the key is sent, and appears in no log, address, error or offer`, async t => {
    if (apiKey === undefined) {
      t.log('it has no key')
      t.is(about.needsKey ?? false, false)
      return
    }
    const lab = open()
    await lab.query(about.wanted)
    t.true(lab.requests.every(({ headers }) => Object.values(headers).some(text => text.includes(apiKey))))
    lab.fault(answerInstead(lab.port, refusalReply(401)))
    const { error } = await lab.query(about.wanted)
    t.is(lab.codeOf(error), 'SERVER')
    const { traffic } = lab.world.providers
    const seen = JSON.stringify([lab.lines, lab.requests.map(({ url }) => url), `${error}`, traffic.lines])
    t.false(seen.includes(apiKey))
    t.is(about.plugin.checkOptions?.(options), undefined)
    const why = about.plugin.checkOptions?.({})
    if (about.needsKey === true) {
      t.regex(why ?? '', /apiKey/)
      return
    }
    t.is(why, undefined)
    const answer = await openRateLab(about.plugin, { options: { gapSeconds: 0 } }).query(about.wanted)
    t.is(answer.error, undefined)
  })
}

/** The cases of a source: what the fake market says, at some prices. */
const suiteOptionsOf = ({
  dated,
  apiKey,
  offered,
  wanted,
  tolerance = 1e-6,
  strange
}: RateSourceCase): RateSuiteOptions => {
  const texts = (pairs: readonly RatePair[]): readonly string[] =>
    pairs.map(({ fromCurrency, toCurrency }) => `${fromCurrency} ${toCurrency}`)
  const valid = [{ BTC: '65000' }, { BTC: '81234.5', 'iso:EUR': '1.25' }].map(prices => {
    const market = new FakeMarket()
    for (const [code, price] of Object.entries(prices)) market.setPrice(code, price)
    const priceOf = ({ fromCurrency, toCurrency }: RatePair): number =>
      Number(market.rateOf(fromCurrency, toCurrency))
    const offers = offered.map((pair, index) => [texts(offered)[index], priceOf(pair)])
    return {
      name: `at ${JSON.stringify(prices)}`,
      wanted: texts(wanted),
      replies: fakeProviders(prices),
      offers: Object.fromEntries(offers) as Record<string, number>
    }
  })
  const unknown = { wanted: texts(strange ?? []), replies: fakeProviders() }
  return {
    valid: dated === undefined ? valid : [...valid, dated],
    invalid: strange === undefined ? [] : [unknown],
    tolerance,
    options: apiKey === undefined ? {} : { apiKey }
  }
}

type Open = (more?: RateLabOptions) => RateLab

const testPrices = (test: TestFn, about: RateSourceCase, open: Open): void => {
  const { plugin, wanted, offered, strange, tolerance = 1e-6 } = about
  test(`${plugin.id}: it has a name and its bias`, t => {
    t.is(plugin.kind, 'rates')
    t.is(plugin.bias, about.bias)
    t.true(plugin.displayName.length > 0)
    t.is(plugin.retired, undefined)
  })

  test(`${plugin.id}: every offered price is that of the market, and none is refused [5.38]`, async t => {
    const lab = open()
    for (const [code, price] of [
      ['BTC', '65000'],
      ['BTC', '81234.5'],
      ['iso:EUR', '1.25']
    ] as const) {
      lab.world.providers.market.setPrice(code, price)
      const { pairs, refusals, error } = await lab.query(wanted)
      t.is(error, undefined)
      t.deepEqual(refusals, [])
      const names = pairs.map(({ fromCurrency, toCurrency }) => `${fromCurrency} ${toCurrency}`)
      for (const { fromCurrency, toCurrency } of offered)
        t.true(names.includes(`${fromCurrency} ${toCurrency}`))
      for (const { fromCurrency, toCurrency, rate } of pairs) {
        const exact = Number(lab.world.providers.market.rateOf(fromCurrency, toCurrency))
        t.true(Math.abs(rate / exact - 1) <= tolerance, `${fromCurrency} ${toCurrency} ${rate} ${exact}`)
      }
    }
  })

  test(`${plugin.id}: a pair without a price causes no request`, async t => {
    if (strange === undefined) return t.pass()
    const lab = open()
    t.is((await lab.query(strange)).error, undefined)
    t.is(lab.requests.length, 0)
  })
}

const testRefusals = (
  test: TestFn,
  { plugin, wanted, offered, originCount = 1 }: RateSourceCase,
  open: Open
): void => {
  const refusedFor = async (t: ExecutionContext, lab: RateLab, milliseconds: number): Promise<void> => {
    const count = lab.requests.length
    const { error } = await lab.query(wanted)
    await lab.clock.advance(milliseconds - 1)
    const late = await lab.query(wanted)
    t.is(lab.codeOf(late.error), 'SERVER')
    t.is(`${late.error}`, `${error}`, 'one sentence for the whole rest')
    t.is(lab.requests.length, count)
    await lab.clock.advance(1)
  }

  test(`${plugin.id}: after 429 it backs off as long as the server says, or a minute that doubles`, async t => {
    const lab = open()
    for (const [retryAfter, milliseconds] of [
      ['7', 7000],
      ['Thu, 01 Jan 2026 00:01:00 GMT', 53_000],
      [undefined, 240_000],
      ['999999', 3_600_000]
    ] as const) {
      const reply = refusalReply(429, retryAfter === undefined ? {} : { retryAfter })
      const recover = lab.fault(answerInstead(lab.port, reply))
      t.is(lab.codeOf((await lab.query(wanted)).error), 'SERVER')
      await refusedFor(t, lab, milliseconds)
      recover()
    }
    t.true((await lab.query(wanted)).pairs.length >= offered.length)
  })

  test(`${plugin.id}: after a refusal for the country it tries other addresses, then backs off for an hour`, async t => {
    const lab = open()
    const recover = lab.fault(answerInstead(lab.port, refusalReply(451)))
    for (let i = 0; i < originCount; i += 1) {
      t.is(lab.codeOf((await lab.query(wanted)).error), 'SERVER')
      t.is(lab.requests.length, i + 1)
    }
    t.is(new Set(lab.requests.map(({ url }) => new URL(url).host)).size, originCount)
    recover()
    await refusedFor(t, lab, 3_600_000)
    t.true((await lab.query(wanted)).pairs.length >= offered.length)
  })

  test(`${plugin.id}: an error of the server or the network ends one round only`, async t => {
    const lab = open()
    for (const status of [500, 503, 404, 302, 204]) {
      const recover = lab.fault(answerInstead(lab.port, refusalReply(status)))
      const { error, pairs } = await lab.query(wanted)
      t.is(lab.codeOf(error), 'SERVER')
      t.deepEqual(pairs, [])
      recover()
      t.true((await lab.query(wanted)).pairs.length >= offered.length)
    }
    lab.world.setOnline(false)
    const { error } = await lab.query(wanted)
    t.is(lab.codeOf(error), 'SERVER')
    lab.world.setOnline(true)
    t.is((await lab.query(wanted)).error, undefined)
  })
}

const testSize = (test: TestFn, { plugin, wanted }: RateSourceCase, open: Open): void => {
  test(`${plugin.id}: a reply of more than two million bytes is not read`, async t => {
    const lab = open()
    const recover = lab.fault(swellReplies(2_000_001))
    t.is(lab.codeOf((await lab.query(wanted)).error), 'REPLY_TOO_LARGE')
    recover()
    t.is((await lab.query(wanted)).error, undefined)
  })
}

const testTime = (test: TestFn, { plugin, wanted, offered }: RateSourceCase, open: Open): void => {
  test(`${plugin.id}: a reply that drips is abandoned after ten seconds, and the request is aborted`, async t => {
    const lab = open()
    const recover = lab.fault(dripReplies(lab.port, { charactersPerSecond: 1 }))
    const requested = lab.query(wanted)
    await lab.clock.advance(9999)
    t.false(lab.requests[0]?.signal?.aborted)
    await lab.clock.advance(1)
    const { error, pairs } = await requested
    t.is(lab.codeOf(error), 'DEADLINE')
    t.deepEqual(pairs, [])
    t.true(lab.requests[0]?.signal?.aborted)
    recover()
    t.true((await lab.query(wanted)).pairs.length >= offered.length)
  })
}

const testRateLimits = (test: TestFn, about: RateSourceCase, open: Open): void => {
  const { plugin, wanted, isConditional = false, gapSeconds = 0, apiKey } = about
  test(`${plugin.id}: it sends one request a round, repeats the ETag of the last reply, and uses that reply while it holds`, async t => {
    const lab = open()
    const first = await lab.query(wanted)
    const second = await lab.query(wanted)
    t.is(lab.requests.length, 2)
    const marks = lab.requests.map(({ headers }) => 'if-none-match' in headers)
    t.deepEqual(marks, [false, isConditional])
    t.deepEqual(lab.statuses, [200, isConditional ? 304 : 200])
    t.deepEqual(second.pairs, first.pairs)
    lab.world.providers.market.setPrice('BTC', '99999')
    lab.world.providers.market.setPrice('iso:EUR', '1.5')
    const third = await lab.query(wanted)
    t.notDeepEqual(third.pairs, first.pairs)
  })

  test(`${plugin.id}: it sends requests no more often than the provider allows, and none while the last reply is fresh`, async t => {
    const lab = open({ options: apiKey === undefined ? {} : { apiKey } })
    await lab.query(wanted)
    await lab.clock.advance(Math.max(0, gapSeconds * 1000 - 1))
    const early = await lab.query(wanted)
    t.is(early.error, undefined)
    t.is(lab.requests.length, gapSeconds === 0 ? 2 : 1)
    await lab.clock.advance(1)
    await lab.query(wanted)
    t.is(lab.requests.length, gapSeconds === 0 ? 3 : 2)
  })

  test(`${plugin.id}: an option replaces its server with another one of the same API; odd options are refused`, async t => {
    const lab = open({ options: { url: 'https://rates.example.org/mirror/', ...(apiKey && { apiKey }) } })
    t.is(lab.codeOf((await lab.query(wanted)).error), 'SERVER')
    t.true(lab.requests.every(({ url }) => url.startsWith('https://rates.example.org/mirror/')))
    t.is(lab.requests.length, 1)
    for (const options of [
      { url: 'ftp://x' },
      { url: 'https://me:secret@x' },
      { url: 7 },
      { apiKey: 'a\r\nb: c' },
      { apiKey: {} },
      { gapSeconds: -1 },
      { gapSeconds: 'soon' }
    ]) {
      const error = t.throws(() => open({ options }), { instanceOf: TypeError })
      t.false(error?.message.includes('secret'))
    }
  })
}
