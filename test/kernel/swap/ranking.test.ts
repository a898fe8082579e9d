import test from 'ava'
import fc from 'fast-check'
import {
  applyPolicies,
  compareQuotes,
  type Rankable,
  type RankPreferences,
  rankQuotes
} from '../../../kernel/swap/ranking.ts'
import type { QuoteSnapshot } from '../../../kernel/types/snapshots.ts'

const quoteOf = (pluginId: string, to: string, changes: Partial<Rankable> = {}): Rankable => ({
  pluginId,
  isDex: false,
  isEstimate: false,
  fromNativeAmount: '100',
  toNativeAmount: to,
  ...changes
})

const inOrder = (
  quotes: readonly Rankable[],
  requests: RankPreferences = {}
): [string, string | undefined][] =>
  rankQuotes(quotes, requests).map(({ quote, reason }) => [quote.pluginId, reason])

test('transfers come first, then the preferred plugin, type, promotion codes, firm amounts and the best ratio, each with its reason [9.18]', t => {
  const quotes = [
    quoteOf('worse', '90'),
    quoteOf('better', '91'),
    quoteOf('estimate', '99', { isEstimate: true }),
    quoteOf('promo', '50', { isEstimate: true }),
    quoteOf('dex', '40', { isDex: true, isEstimate: true }),
    quoteOf('favourite', '30', { isEstimate: true }),
    quoteOf('transfer', '20', { isEstimate: true })
  ]
  const requests: RankPreferences = {
    preferPluginId: 'favourite',
    preferType: 'DEX',
    promoCodes: { promo: 'half' }
  }
  t.deepEqual(inOrder(quotes, requests), [
    ['transfer', 'a transfer between wallets'],
    ['favourite', 'the preferred provider'],
    ['dex', 'of the preferred type DEX'],
    ['promo', 'has a promotion code'],
    ['better', 'a better rate'],
    ['worse', 'a firm amount, no estimate'],
    ['estimate', undefined]
  ])
})

test('a quote without isEstimate counts as an estimate, and equals keep their order [9.18]', t => {
  const { isEstimate: _, ...silent } = quoteOf('silent', '99')
  t.deepEqual(inOrder([silent, quoteOf('second', '90'), quoteOf('third', '90')]), [
    ['second', 'as good, and asked first'],
    ['third', 'a firm amount, no estimate'],
    ['silent', undefined]
  ])
})

test('ratios that are equal as floats are compared exactly', t => {
  const huge = '1'.padEnd(40, '0')
  const quotes = [
    quoteOf('less', `${huge}0`, { fromNativeAmount: huge }),
    quoteOf('more', `${huge}1`, { fromNativeAmount: huge })
  ]
  t.is(Number(`${huge}0`) / Number(huge), Number(`${huge}1`) / Number(huge))
  t.deepEqual(inOrder(quotes), [
    ['more', 'a better rate'],
    ['less', undefined]
  ])
})

const amounts = fc.bigInt({ min: 1n, max: 10n ** 30n }).map(String)
const quotes = fc.record(
  {
    pluginId: fc.constantFrom('transfer', 'a', 'b', 'c'),
    isDex: fc.boolean(),
    isEstimate: fc.boolean(),
    fromNativeAmount: fc.oneof(amounts, fc.constant('100')),
    toNativeAmount: fc.oneof(amounts, fc.constant('100'))
  },
  { requiredKeys: ['pluginId', 'isDex', 'fromNativeAmount', 'toNativeAmount'] }
)
const requests = fc.record(
  {
    preferPluginId: fc.constantFrom('a', 'b'),
    preferType: fc.constantFrom('DEX' as const, 'CEX' as const),
    promoCodes: fc.constantFrom({ b: 'code' }, { c: 'code' })
  },
  { requiredKeys: [] }
)

test('the order is total: of any two quotes one comes first or they are equal, whatever stands beside them', t => {
  fc.assert(
    fc.property(quotes, quotes, quotes, requests, (a, b, c, swapRequest) => {
      const order = (one: Rankable, other: Rankable): number =>
        Math.sign(compareQuotes(one, other, swapRequest))
      t.is(order(a, a), 0)
      t.is(order(a, b) + order(b, a), 0)
      if (order(a, b) <= 0 && order(b, c) <= 0) t.true(order(a, c) <= 0)
      if (order(a, b) === 0 && order(b, c) === 0) t.is(order(a, c), 0)
    })
  )
  fc.assert(
    fc.property(fc.array(quotes, { maxLength: 12 }), requests, (list, swapRequest) => {
      const ranked = rankQuotes(list, swapRequest).map(({ quote }) => quote)
      t.true(list.every(quote => ranked.includes(quote)))
      t.is(ranked.length, list.length)
      for (const [at, quote] of ranked.entries()) {
        for (const later of ranked.slice(at + 1)) t.true(compareQuotes(quote, later, swapRequest) <= 0)
      }
    })
  )
})

test('the smallest gain there is makes a better rate', t => {
  const quotes = [quoteOf('one', '1'), quoteOf('two', '2')].map(quote => ({
    ...quote,
    fromNativeAmount: '1'
  }))
  t.deepEqual(inOrder(quotes), [
    ['two', 'a better rate'],
    ['one', undefined]
  ])
})

test('policies reorder quotes only with an answer that has each of them once', t => {
  const ranked = rankQuotes(
    ['a', 'b', 'c'].map((id, n) => ({ ...quoteOf(id, `${9 - n}`), quoteId: id })),
    {}
  ).map(one => ({ ...one, snapshot: { quoteId: one.quote.quoteId } as QuoteSnapshot }))
  const answered = (answer: unknown): [string, string | undefined][] =>
    applyPolicies(ranked, () => answer).map(({ quote, reason }) => [quote.quoteId, reason])
  const [a, b, c] = ranked.map(({ snapshot }) => snapshot)
  const unchanged = [
    ['a', 'a better rate'],
    ['b', 'a better rate'],
    ['c', undefined]
  ] as const
  const stranger = { quoteId: 'd' }
  for (const answer of [
    [a, b, c],
    [a, b],
    [a, b, c, c],
    [a, b, b],
    [a, b, stranger],
    [c, a, {}],
    'abc',
    undefined
  ])
    t.deepEqual(answered(answer), unchanged as never, JSON.stringify(answer))
  t.deepEqual(answered([c, a, b]), [
    ['c', 'placed here by a policy'],
    ['a', 'a better rate'],
    ['b', undefined]
  ])
})
