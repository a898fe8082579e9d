import { RateGraph } from '../../../kernel/rates/graph.ts'
import { RouteFinder } from '../../../kernel/rates/search.ts'
import { eachVector, type GroupCheck } from './check.ts'

// The pairs and biases that the vectors describe in words; ages are ignored there.
const PAIRS: readonly (readonly [from: string, to: string, rate: number, source: string])[] = [
  ['AAA', 'iso:USD', 10, 's1'],
  ['AAA', 'BBB', 2, 's2'],
  ['BBB', 'iso:USD', 6, 's2'],
  ['iso:EUR', 'iso:USD', 1.25, 's3'],
  ['AAA', 'iso:EUR', 7, 's4']
]

export const checkRateRoute: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const graph = new RateGraph()
  for (const [fromCurrency, toCurrency, rate, source] of PAIRS) {
    graph.put({ fromCurrency, toCurrency, rate, source, at: 0 })
  }
  const finder = new RouteFinder(graph, { biasOf: source => (source === 's1' ? 2 : 0) })
  t.is(finder.find(inputs.from, inputs.to, { now: 0 })?.rate ?? 0, outputs.rate, id)
})
