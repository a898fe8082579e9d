import test from 'ava'
import fc from 'fast-check'
import {
  type Currency,
  fieldsOfPair,
  otherEnd,
  type Pair,
  RateGraph,
  RatePairSet,
  refusedOffer,
  typedPair
} from '../../../kernel/rates/graph.ts'
import { type FoundRoute, missingPairOf, type RateQuery, RouteFinder } from '../../../kernel/rates/search.ts'
import type { RateSnapshot } from '../../../kernel/types/snapshots.ts'

type Row = readonly [source: string, fromCurrency: string, toCurrency: string, rate: number, at: number]

const NOW = 1_000_000

const snapshotOf = ([source, fromCurrency, toCurrency, rate, at]: Row) => ({
  source,
  fromCurrency,
  toCurrency,
  rate,
  at
})

const graphOf = (rows: readonly Row[]): RateGraph => {
  const graph = new RateGraph()
  for (const row of rows) graph.put(snapshotOf(row))
  return graph
}

/** The pairs and their finder, with the routes that were computed and the pairs that were missed. */
const tableOf = (rows: readonly Row[], biases: Readonly<Record<string, number>> = {}) => {
  const found: FoundRoute[] = []
  const missed: string[] = []
  const graph = new RateGraph()
  const finder = new RouteFinder(graph, { biasOf: source => biases[source] ?? 0 })
  const find = (from: string, to: string, query: RateQuery): FoundRoute | undefined => {
    const route = finder.find(from, to, query)
    if (route?.isNew === true) found.push(route)
    const missing = missingPairOf(from, to, route)
    if (missing !== undefined) missed.push(`${missing.fromCurrency} ${missing.toCurrency}`)
    return route
  }
  const table = {
    get pairCount() {
      return graph.pairCount
    },
    get updatedAt() {
      return graph.updatedAt
    },
    pairs: () => graph.snapshots(),
    put(pairs: readonly RateSnapshot[]) {
      graph.putAll(pairs)
      finder.clear()
    },
    rateOf: (from: string, to: string, query: RateQuery) => find(from, to, query)?.rate,
    routesOf(from: string, to: string, { count, ...query }: RateQuery & { readonly count: number }) {
      const route = find(from, to, query)
      return route && finder.explain(route, query, count)
    }
  }
  table.put(rows.map(snapshotOf))
  return { table, found, missed }
}

interface Walk {
  readonly cost: number
  readonly rate: number
}

/** Every way without rings, tried one after another. */
const everyWalk = (
  graph: RateGraph,
  from: string,
  to: string,
  biasOf: (source: string) => number
): Walk[] => {
  const walks: Walk[] = []
  const start = graph.find(from)
  const target = graph.find(to)
  const passed = new Set<Currency>()
  const go = (at: Currency, { cost, rate }: Walk): void => {
    if (at === target) walks.push({ cost, rate })
    if (at === target) return
    passed.add(at)
    for (const pair of at.pairs) {
      const next = otherEnd(pair, at)
      if (!passed.has(next)) go(next, { cost: cost + costOf(pair, at), rate: rateOf(pair, at) * rate })
    }
    passed.delete(at)
  }
  const costOf = (pair: Pair, at: Currency): number => {
    const age = Math.abs(NOW - pair.at)
    return age / (30 + age) + biasOf(pair.source.id) + (pair.from === at ? 1 : 1.1)
  }
  const rateOf = (pair: Pair, at: Currency): number => (pair.from === at ? pair.rate : 1 / pair.rate)
  if (start !== undefined && target !== undefined) go(start, { cost: 0, rate: 1 })
  return walks.sort((left, right) => left.cost - right.cost)
}

const isClose = (left: number, right: number): boolean =>
  Math.abs(left - right) <= 1e-9 * Math.max(Math.abs(left), Math.abs(right))

const CODES = ['AAA', 'BBB', 'CCC', 'DDD', 'EEE', 'iso:USD']
const asRow = fc.tuple(
  fc.constantFrom('s1', 's2', 's3'),
  fc.constantFrom(...CODES),
  fc.constantFrom(...CODES),
  fc.double({ min: 0.001, max: 1000, noNaN: true }),
  fc.integer({ min: NOW - 500, max: NOW + 50 })
)
const asBias = fc.double({ min: -0.9, max: 1, noNaN: true })
const asBiases = fc.record({ s1: asBias, s2: asBias, s3: asBias })

test('the cost of a hop is age / (30 + age) + bias + 1, or 1.1 against its direction; no age is below zero [9.22]', t => {
  const rows: Row[] = [
    ['s1', 'BTC', 'iso:USD', 50_000, NOW - 30],
    ['s2', 'iso:EUR', 'iso:USD', 1.25, NOW + 10]
  ]
  const { table } = tableOf(rows, { s1: 0.15, s2: -0.1 })
  const [route] = table.routesOf('BTC', 'iso:EUR', { now: NOW, count: 0 }) ?? []
  t.deepEqual(
    route?.hops.map(({ cost, ageSeconds, bias, isInverted }) => ({ cost, ageSeconds, bias, isInverted })),
    [
      { cost: 0.5 + 0.15 + 1, ageSeconds: 30, bias: 0.15, isInverted: false },
      { cost: 0.25 - 0.1 + 1.1, ageSeconds: 10, bias: -0.1, isInverted: true }
    ]
  )
  t.is(route?.cost, 2.9)
  t.is(route?.rate, 40_000)
})

test('a pair holds from, to, rate, source and time, and the next of its source takes its place [3.28]', t => {
  const { table } = tableOf([
    ['s1', 'BTC', 'iso:USD', 50_000, NOW],
    ['s2', 'BTC', 'iso:USD', 50_001, NOW],
    ['s1', 'iso:USD', 'BTC', 0.00002, NOW]
  ])
  table.put([snapshotOf(['s1', 'BTC', 'iso:USD', 60_000, NOW + 1])])
  t.deepEqual(
    [...table.pairs()],
    [
      { fromCurrency: 'BTC', toCurrency: 'iso:USD', rate: 60_000, source: 's1', at: NOW + 1 },
      { fromCurrency: 'iso:USD', toCurrency: 'BTC', rate: 0.00002, source: 's1', at: NOW },
      { fromCurrency: 'BTC', toCurrency: 'iso:USD', rate: 50_001, source: 's2', at: NOW }
    ]
  )
  t.is(table.pairCount, 3)
  t.is(table.updatedAt, NOW + 1)
  t.is(table.rateOf('BTC', 'iso:USD', { now: NOW + 1 }), 60_000)
})

test('the route is the cheapest of all that there are, and so is its rate', t => {
  fc.assert(
    fc.property(fc.array(asRow, { maxLength: 14 }), asBiases, (rows, biases) => {
      const graph = graphOf(rows)
      const biasOf = (source: string): number => biases[source as 's1']
      const { table } = tableOf(rows, biases)
      for (const from of CODES) {
        for (const to of CODES) {
          const [best, second] = everyWalk(graph, from, to, biasOf)
          const [route] = table.routesOf(from, to, { now: NOW, count: 0 }) ?? []
          t.is(route === undefined, best === undefined, `${from} ${to}`)
          if (route === undefined || best === undefined) continue
          t.true(isClose(route.cost, best.cost) || route.cost === best.cost, `${route.cost} ${best.cost}`)
          const isUnique = second === undefined || !isClose(second.cost, best.cost)
          if (isUnique) t.true(isClose(route.rate, best.rate), `${route.rate} ${best.rate}`)
        }
      }
    })
  )
})

test('a search that goes on where it stopped finds what a new one finds', t => {
  const asQuestions = fc.array(fc.tuple(fc.constantFrom(...CODES), fc.constantFrom(...CODES)), {
    maxLength: 8
  })
  fc.assert(
    fc.property(fc.array(asRow, { maxLength: 14 }), asQuestions, (rows, questions) => {
      const graph = graphOf(rows)
      const one = new RouteFinder(graph, { biasOf: () => 0 })
      for (const [from, to] of questions) {
        const fresh = new RouteFinder(graph, { biasOf: () => 0 }).find(from, to, { now: NOW })
        t.is(one.find(from, to, { now: NOW })?.rate, fresh?.rate)
      }
    })
  )
})

test('the alternatives are the next cheapest routes, each once, in order', t => {
  fc.assert(
    fc.property(fc.array(asRow, { maxLength: 10 }), asBiases, (rows, biases) => {
      const graph = graphOf(rows)
      const walks = everyWalk(graph, 'AAA', 'iso:USD', source => biases[source as 's1'])
      const { table } = tableOf(rows, biases)
      const routes = table.routesOf('AAA', 'iso:USD', { now: NOW, count: 5 }) ?? []
      t.is(routes.length, Math.min(6, walks.length))
      for (const [at, { cost }] of routes.entries()) {
        t.true(isClose(cost, walks[at]?.cost ?? Number.NaN) || cost === walks[at]?.cost, `${at}: ${cost}`)
      }
      const names = routes.map(({ hops }) =>
        hops.map(hop => `${hop.source} ${hop.fromCurrency} ${hop.isInverted}`).join()
      )
      t.is(new Set(names).size, names.length)
    })
  )
})

test('one currency is one of itself if it is known; without a route there is no rate', t => {
  const { table, missed } = tableOf([
    ['s1', 'BTC', 'iso:USD', 50_000, NOW],
    ['s1', 'AAA', 'iso:EUR', 2, NOW]
  ])
  t.is(table.rateOf('BTC', 'BTC', { now: NOW }), 1)
  t.deepEqual(
    table.routesOf('BTC', 'BTC', { now: NOW, count: 2 })?.map(({ hops, cost }) => [hops.length, cost]),
    [[0, 0]]
  )
  t.is(table.rateOf('ZZZ', 'ZZZ', { now: NOW }), undefined)
  t.is(table.rateOf('BTC', 'iso:EUR', { now: NOW }), undefined)
  t.is(table.rateOf('__proto__', 'constructor', { now: NOW }), undefined)
  t.deepEqual(missed, ['ZZZ ZZZ', 'BTC iso:EUR', '__proto__ constructor'])
})

test('a code that is the name of a field is a code like any other', t => {
  const { table } = tableOf([
    ['__proto__', '__proto__', 'constructor', 2, NOW],
    ['toString', 'constructor', 'iso:USD', 3, NOW]
  ])
  t.is(table.rateOf('__proto__', 'iso:USD', { now: NOW }), 6)
  t.is(table.rateOf('__proto__', 'iso:USD', { now: NOW, biases: JSON.parse('{"__proto__": 0.5}') }), 6)
})

test('a source that is named like a field of every object has no bias where none is given', t => {
  const { table } = tableOf([['toString', 'BTC', 'iso:USD', 3, NOW]], { toString: 0.25 } as never)
  for (const [biases, bias] of [
    [{}, 0.25],
    [{ other: 0.5 }, 0.25],
    [JSON.parse('{"toString":0.5}'), 0.5]
  ] as const) {
    const [route] = table.routesOf('BTC', 'iso:USD', { now: NOW, count: 1, biases }) ?? []
    t.deepEqual(
      route?.hops.map(({ cost, bias: used }) => ({ cost, bias: used })),
      [{ cost: 1 + bias, bias }]
    )
  }
})

test('a rate that many hops lead out of the range of numbers is none', t => {
  const { table } = tableOf([
    ['s1', 'AAA', 'BBB', 1e-300, NOW],
    ['s1', 'BBB', 'CCC', 1e-300, NOW]
  ])
  t.is(table.rateOf('AAA', 'CCC', { now: NOW }), undefined)
  t.is(table.rateOf('CCC', 'AAA', { now: NOW }), undefined)
  t.is(table.rateOf('AAA', 'BBB', { now: NOW }), 1e-300)
})

test('biases of one call lead another way, and leave the next call alone', t => {
  const { table } = tableOf(
    [
      ['cheap', 'BTC', 'iso:USD', 1, NOW],
      ['dear', 'BTC', 'iso:USD', 2, NOW]
    ],
    { dear: 0.1 }
  )
  t.is(table.rateOf('BTC', 'iso:USD', { now: NOW }), 1)
  t.is(table.rateOf('BTC', 'iso:USD', { now: NOW, biases: { dear: -0.1 } }), 2)
  t.is(table.rateOf('BTC', 'iso:USD', { now: NOW, biases: { cheap: 0.5 } }), 2)
  t.is(table.rateOf('BTC', 'iso:USD', { now: NOW, biases: {} }), 1)
})

test('a search serves many conversions, until pairs change or five seconds have passed', t => {
  const { table, found } = tableOf([
    ['s1', 'BTC', 'iso:USD', 1, NOW],
    ['s1', 'ETH', 'iso:USD', 2, NOW]
  ])
  const query = (now: number): void => {
    for (const code of ['BTC', 'ETH', 'BTC']) table.rateOf(code, 'iso:USD', { now })
  }
  query(NOW)
  query(NOW + 5)
  t.is(found.length, 2, 'two conversions, each computed once')
  t.is(found[0]?.search, found[1]?.search, 'by one search')
  query(NOW + 6)
  t.is(found.length, 4, 'ages have grown')
  table.put([snapshotOf(['s2', 'BTC', 'iso:USD', 1, NOW])])
  query(NOW + 6)
  t.is(found.length, 6, 'pairs have come')
  query(NOW - 100)
  t.is(found.length, 8, 'the clock was set back')
})

test('searches are cached up to a limit, and evicted ones run again', t => {
  const codes = Array.from({ length: 1100 }, (_, at) => `C${at}`)
  const { table, found } = tableOf(codes.map(code => ['s1', code, 'iso:USD', 2, NOW]))
  for (const code of codes) t.is(table.rateOf('iso:USD', code, { now: NOW }), 0.5)
  for (const code of codes) t.is(table.rateOf('iso:USD', code, { now: NOW }), 0.5)
  t.is(found.length, 2200, 'a million cells hold some 900 searches over 1101 currencies')
})

test('a provider keeps its newest 10,000 pairs', t => {
  const row = (at: number): Row => ['s1', `C${at}`, 'iso:USD', 2, NOW + at]
  const { table } = tableOf([['s2', 'BTC', 'iso:USD', 1, NOW - 1000]])
  table.put(Array.from({ length: 10_000 }, (_, at) => snapshotOf(row(at))))
  t.is(table.pairCount, 10_001)
  table.put(Array.from({ length: 10 }, (_, at) => snapshotOf(row(10_000 + at))))
  t.is(table.pairCount, 10_001)
  t.is(table.rateOf('C9', 'iso:USD', { now: NOW }), undefined)
  t.is(table.rateOf('C10', 'iso:USD', { now: NOW }), 2)
  t.is(table.rateOf('C10009', 'BTC', { now: NOW }), 2)
  const alone = tableOf(Array.from({ length: 10_001 }, (_, at) => row(at))).table
  t.is(alone.pairCount, 10_000)
})

test('a coin that reaches fiat only through others makes the service request the price of its neighbour', t => {
  const { table, missed } = tableOf([
    ['s1', 'AAA', 'BBB', 2, NOW],
    ['s1', 'BBB', 'CCC', 2, NOW],
    ['s1', 'CCC', 'iso:USD', 2, NOW]
  ])
  t.is(table.rateOf('BBB', 'iso:USD', { now: NOW }), 4)
  t.is(table.rateOf('iso:USD', 'AAA', { now: NOW }), 0.125)
  t.deepEqual(missed, [], 'one hop away from a coin with a price in fiat')
  t.is(table.rateOf('AAA', 'iso:USD', { now: NOW }), 8)
  t.deepEqual(missed, ['BBB iso:USD'])
  t.is(table.rateOf('AAA', 'iso:USD', { now: NOW }), 8)
  t.deepEqual(missed, ['BBB iso:USD'], 'a rate that was only looked up has been requested before')
})

test('a coin that a fiat currency is priced in has a price, too', t => {
  const { table, missed } = tableOf([
    ['s1', 'iso:USD', 'AAA', 2, NOW],
    ['s1', 'AAA', 'BBB', 2, NOW],
    ['s1', 'CCC', 'BBB', 2, NOW]
  ])
  t.is(table.rateOf('BBB', 'iso:USD', { now: NOW }), 0.25)
  t.deepEqual(missed, [])
  t.is(table.rateOf('CCC', 'iso:USD', { now: NOW }), 0.5)
  t.deepEqual(missed, ['BBB iso:USD'])
})

test('a pair of one currency with itself is none', t => {
  const { table } = tableOf([['s1', 'AAA', 'AAA', 2, NOW]])
  t.is(table.pairCount, 0)
  t.is(table.rateOf('AAA', 'AAA', { now: NOW }), undefined, 'the currency is not known by it')
})

test('of two routes with the same cost, the one over the currency that was known first is taken', t => {
  const { table } = tableOf([
    ['s1', 'M1', 'XXX', 1, NOW],
    ['s1', 'M2', 'iso:USD', 2, NOW],
    ['s1', 'M1', 'iso:USD', 3, NOW],
    ['s1', 'AAA', 'M2', 1, NOW],
    ['s1', 'AAA', 'M1', 1, NOW]
  ])
  t.is(table.rateOf('AAA', 'iso:USD', { now: NOW }), 3)
})

test('a cheapest route whose rate is out of the range of numbers gives way to a dearer one that is within', t => {
  const rows: readonly Row[] = [
    ['one', 'A', 'B', 1e-200, NOW],
    ['one', 'B', 'C', 1e-200, NOW],
    ['one', 'D', 'C', 2, NOW],
    ['one', 'E', 'D', 2, NOW],
    ['one', 'A', 'E', 2, NOW],
    ['one', 'X', 'Y', 1e200, NOW],
    ['one', 'Y', 'Z', 1e200, NOW],
    ['one', 'X', 'V', 3, NOW],
    ['one', 'V', 'W', 3, NOW],
    ['one', 'W', 'Z', 3, NOW]
  ]
  const { table } = tableOf(rows)
  const rateBetween = (from: string, to: string): number => table.rateOf(from, to, { now: NOW }) ?? 0
  t.is(rateBetween('A', 'C'), 8)
  t.is(rateBetween('C', 'A'), 1 / 8)
  t.is(rateBetween('X', 'Z'), 27)
  t.true(Math.abs(rateBetween('Z', 'X') - 1 / 27) < 1e-12)
})

test('a set of pairs takes each pair of two valid codes once, up to its limit, and says which are new', t => {
  const set = new RatePairSet(2)
  const add = (fromCurrency: string, toCurrency: string): boolean => set.add({ fromCurrency, toCurrency })
  for (const bad of ['', 'a\nb', 'x'.repeat(65), 5 as unknown as string]) {
    t.false(add(bad, 'BTC'), `${bad}`)
    t.false(add('BTC', bad), `${bad}`)
  }
  t.false(add('BTC', 'BTC'))
  t.is(set.size, 0)
  t.true(add('BTC', 'iso:USD'))
  t.false(add('BTC', 'iso:USD'))
  t.true(add('x'.repeat(64), 'BTC'))
  t.false(add('LTC', 'BTC'), 'beyond the limit')
  t.deepEqual(
    set.list().map(({ fromCurrency }) => fromCurrency),
    ['BTC', 'x'.repeat(64)]
  )
  t.true(set.has({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }))
  t.false(set.has({ fromCurrency: 'LTC', toCurrency: 'BTC' }))
  set.clear()
  t.true(add('LTC', 'BTC'))
})

test('an offer that cannot be read has no fields', t => {
  const rude = Object.defineProperty({}, 'fromCurrency', {
    get() {
      throw new Error('No')
    }
  })
  for (const offer of [rude, null, undefined, 5])
    t.deepEqual(
      Object.values(fieldsOfPair(offer)).filter(value => value !== undefined),
      []
    )
  t.like(fieldsOfPair({ fromCurrency: 'a', toCurrency: 'b', date: 'c' }), { fromCurrency: 'a', date: 'c' })
})

test('a typed code is the known one of the same letters if there is only one, and else in capital letters', t => {
  const known = [
    { fromCurrency: 'wstETH', toCurrency: 'iso:USD' },
    { fromCurrency: 'Abc', toCurrency: 'aBC' }
  ]
  const typed = (code: string): string => typedPair(known, code, 'iso:eur').fromCurrency
  t.is(typedPair(known, 'x', ' ISO:eur ').toCurrency, 'iso:EUR')
  t.deepEqual(['wsteth', ' WSTETH ', 'Abc', 'abc', 'btc', 'iso:usd'].map(typed), [
    'wstETH',
    'wstETH',
    'Abc',
    'ABC',
    'BTC',
    'iso:USD'
  ])
})

test('of an offered price that is refused, its author reads what is wrong with it', t => {
  const pair = { fromCurrency: 'BTC', toCurrency: 'iso:EUR' }
  t.is(refusedOffer({ ...pair, fromCurrency: '' }, 1), 'fromCurrency of the pair is no code')
  t.is(refusedOffer({ ...pair, toCurrency: 7 }, 1), 'toCurrency of the pair is no code')
  t.is(refusedOffer(pair, 1), 'the pair has no date')
  t.is(refusedOffer(pair, -1), 'the rate is -1, and no number above zero')
  t.is(refusedOffer(pair, '1'), 'the rate is a text, and no number above zero')
})
