import test from 'ava'
import { routeGraph } from '../../../../devtools/core/rows/route-rows.ts'
import {
  drawnEdges,
  layoutGraph,
  NODE_SIZE,
  pathThrough
} from '../../../../devtools/react/panels/route-graph.tsx'
import { SAMPLE_NOW, sampleRoutes, sampleView } from '../sample-client.ts'

const routes = sampleRoutes.route === null ? [] : [sampleRoutes.route, ...sampleRoutes.alternatives]
const [route, ...alternatives] = routes

test('a hop that goes against its pair is drawn in the direction of the route', t => {
  const graph = routeGraph(sampleView, {
    ...(route && { route }),
    alternatives,
    now: SAMPLE_NOW / 1000,
    limit: 1
  })
  const pairs = drawnEdges(graph.edges, routes).map(
    ({ fromCurrency, toCurrency, source, isInverted }) =>
      `${fromCurrency} ${toCurrency} ${source}${isInverted ? ' inverted' : ''}`
  )
  t.deepEqual([...pairs].sort(), [
    'BTC ETH coingecko',
    'BTC iso:EUR kraken',
    'BTC iso:USD coingecko',
    'ETH iso:USD kraken',
    'iso:USD iso:EUR ecb inverted'
  ])
  t.deepEqual(
    drawnEdges(graph.edges, []).filter(({ isInverted }) => isInverted),
    []
  )
})

test('a route is laid out from left to right, no node upon another, all within the picture', t => {
  const nodes = ['BTC', 'iso:USD', 'iso:EUR', 'ETH']
  const edges = [
    { from: 'BTC', to: 'iso:USD', labelWidth: 100 },
    { from: 'iso:USD', to: 'iso:EUR', labelWidth: 80 },
    { from: 'BTC', to: 'ETH', labelWidth: 0 },
    { from: 'BTC', to: 'iso:USD', labelWidth: 60 }
  ]
  const laid = layoutGraph(nodes, edges)
  const [btc, usd, eur] = laid.nodes
  t.true((btc?.x ?? 0) < (usd?.x ?? 0) && (usd?.x ?? 0) < (eur?.x ?? 0))
  for (const [place, one] of laid.nodes.entries()) {
    t.true(one.x >= NODE_SIZE.width / 2 && one.x <= laid.width - NODE_SIZE.width / 2)
    t.true(one.y >= NODE_SIZE.height / 2 && one.y <= laid.height - NODE_SIZE.height / 2)
    for (const other of laid.nodes.slice(place + 1)) {
      t.true(Math.abs(one.x - other.x) >= NODE_SIZE.width || Math.abs(one.y - other.y) >= NODE_SIZE.height)
    }
  }
  // Two rates of one pair have a course of their own each.
  t.notDeepEqual(laid.edges[0]?.label, laid.edges[3]?.label)
  t.deepEqual(layoutGraph(nodes, edges), laid)
})

test('a line is level below its label, and goes on in its direction, also from right to left', t => {
  const { edges } = layoutGraph(
    ['BTC', 'iso:USD', 'iso:EUR'],
    [
      { from: 'BTC', to: 'iso:USD', labelWidth: 100 },
      { from: 'iso:USD', to: 'iso:EUR', labelWidth: 100 },
      { from: 'iso:EUR', to: 'BTC', labelWidth: 100 }
    ]
  )
  for (const { points, label } of edges) {
    const level = points.filter(({ y }) => Math.abs(y - label.y) < 1).map(({ x }) => x)
    t.true(
      level.some(x => Math.abs(x - (label.x - 50)) < 1) && level.some(x => Math.abs(x - (label.x + 50)) < 1)
    )
    const ways = points.slice(1).map(({ x }, at) => Math.sign(x - (points[at]?.x ?? 0)))
    t.is(new Set(ways).size, 1)
  }
})

test('a graph without anything is empty, and a currency alone stands alone', t => {
  t.deepEqual(layoutGraph([], []).nodes, [])
  t.is(layoutGraph(['BTC'], []).nodes.length, 1)
})

test('a path goes through the first and the last of its points', t => {
  const points = [
    { x: 0, y: 0 },
    { x: 10, y: 5 },
    { x: 20, y: 0 }
  ]
  t.is(pathThrough(points), 'M0 0Q10 5 20 0')
  t.is(pathThrough(points.slice(0, 2)), 'M0 0L10 5')
  t.is(pathThrough(points.slice(0, 1)), '')
})
