import test from 'ava'
import fc from 'fast-check'
import { makeClient } from '../../../../devtools/core/client/client.ts'
import { emptyView } from '../../../../devtools/core/client/view.ts'
import { makeDevtools } from '../../../../devtools/core/devtools.ts'
import { foldSnapshot, Tables, tableLimits } from '../../../../devtools/core/host/tables.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import { hookRows } from '../../../../devtools/core/rows/hook-rows.ts'
import { roundRows } from '../../../../devtools/core/rows/quote-rows.ts'
import { routeGraph, routeList, routeTable } from '../../../../devtools/core/rows/route-rows.ts'
import { nativeAmount, type QuoteContext, type SwapPlugin, WalletError } from '../../../../kernel/index.ts'
import { makeFakeClock } from '../../../../testing/fake-clock.ts'
import { openRateHome, pairOf, toySource } from '../../../helpers/rate-home.ts'
import { makeShop, offerOf } from '../../../helpers/swap-shop.ts'
import { openSwapTable } from '../../../helpers/swap-table.ts'

interface Answer {
  readonly kind: 'offer' | 'below' | 'broke' | 'silent'
  readonly afterMs: number
  readonly amount: number
}

const answer: fc.Arbitrary<Answer> = fc.record({
  kind: fc.constantFrom('offer', 'offer', 'below', 'broke', 'silent'),
  afterMs: fc.integer({ min: 0, max: 5000 }),
  amount: fc.integer({ min: 1, max: 5 })
})

test('the rows of a panel have the quotes of the round, in its order, at each moment, and the error that it ends with', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 5 }), async answers => {
      const waiting: { at: number; run: () => void }[] = []
      const pluginOf = ({ kind, afterMs, amount }: Answer, index: number): SwapPlugin => {
        const pluginId = `p${index}`
        const finish = (tapContext: QuoteContext): void => {
          if (kind === 'broke') throw new Error('broken')
          const limit = { pluginId, nativeMin: String(amount * 1000), direction: 'from' as const }
          if (kind === 'below') throw new WalletError('SWAP_BELOW_LIMIT', limit)
          tapContext.offer(offerOf(tapContext, { toNativeAmount: nativeAmount(String(900 + amount)) }))
        }
        const later = (tapContext: QuoteContext): Promise<void> =>
          new Promise((resolve, reject) => {
            const run = (): void => {
              try {
                resolve(finish(tapContext))
              } catch (error) {
                reject(error)
              }
            }
            if (kind !== 'silent') waiting.push({ at: afterMs, run })
          })
        return makeShop({ id: pluginId, answer: later })
      }
      const { query, clock, hooks } = openSwapTable(answers.map(pluginOf))
      const tables = new Tables(tableLimits, () => {})
      hooks.quoteChanged.tap('panel', reported => foldSnapshot(tables, 'quoteChanged', reported))
      const round = query()
      const ending = round.settled.then(
        () => undefined,
        (error: WalletError) => error
      )
      const compare = (): void => {
        const [row] = roundRows({ ...emptyView, quotes: tables.rows('quotes') })
        t.deepEqual(row?.quotes as unknown, round.getSnapshot().providers)
      }
      await clock.advance(0)
      compare()
      let now = 0
      for (const { at, run } of waiting.sort((one, other) => one.at - other.at)) {
        await clock.advance(at - now)
        now = at
        run()
        await clock.advance(0)
        compare()
      }
      await clock.advance(60_000)
      compare()
      const [row] = roundRows({ ...emptyView, quotes: tables.rows('quotes') })
      const error = await ending
      t.true(row?.isOver)
      t.is(row?.chosen?.errorCode, error?.code)
      t.is(row?.chosen?.message, error?.message)
    }),
    { numRuns: 80 }
  )
})

test('a conversion of a real kernel is a route, a table that adds up, a graph and lines of the timeline', async t => {
  const clock = makeFakeClock()
  const devtools = makeDevtools({ clock })
  const near = toySource('near', [['BTC', 'iso:USD', 50_000]], { bias: 0.5 })
  const far = toySource('far', [
    ['iso:EUR', 'iso:USD', 1.25],
    ['ETH', 'BTC', 0.05]
  ])
  const { host, client: end } = makeChannelPair()
  devtools.attach(host, { isReadOnly: true, hasWorld: false })
  const client = makeClient(end)
  await clock.advance(0)
  const { rates } = await openRateHome(t, { clock, plugins: [devtools.plugin, near, far] })
  rates.want([pairOf('BTC', 'iso:EUR')])
  await clock.advance(6000)
  const found = rates.findRoute('BTC', 'iso:EUR')
  await clock.advance(100)
  const view = client.view.getSnapshot()
  const [route] = routeList(view)
  t.is(route?.rate, 40_000)
  t.is(route?.cost, found?.cost)
  if (route === undefined) return
  const rows = routeTable(route, clock.now() / 1000)
  t.deepEqual(
    rows.map(({ source, isInverted, bias }) => [source, isInverted, bias]),
    [
      ['near', false, 0.5],
      ['far', true, 0]
    ]
  )
  for (const { ageCost, bias, hopCost, cost } of rows)
    t.true(Math.abs(ageCost + bias + hopCost - cost) < 1e-9)
  const graph = routeGraph(view, { route, now: clock.now() / 1000 })
  const facts = graph.edges.map(edge => [edge.id, edge.isChosen, view.pairs.has(edge.id), edge.rate])
  t.deepEqual(facts, [
    ['BTC iso:USD near', true, true, 50_000],
    ['iso:EUR iso:USD far', true, true, 1.25],
    ['ETH BTC far', false, true, 0.05]
  ])
  t.deepEqual([graph.hiddenNodes, graph.hiddenEdges], [0, 0])
  const taps = hookRows(client.events.getSnapshot(), { kind: 'tap', hook: 'fetchRates' })
  t.deepEqual(new Set(taps.map(({ pluginId }) => pluginId)), new Set(['near', 'far']))
})
