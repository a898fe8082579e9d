import test from 'ava'
import fc from 'fast-check'
import { decimalText, productText, roundedText, sumText, valueText } from '../../../app/format/amounts.ts'
import { pathText, routeJson } from '../../../app/format/routes.ts'
import { cellOf } from '../../../cli/output/view.ts'
import { graphLines } from '../../../cli/rates/route-graph.ts'
import { chainLines } from '../../../cli/rates/route-text.ts'
import type { RouteHopSnapshot, RouteSnapshot } from '../../../kernel/index.ts'

const hop = (from: string, to: string, changes: Partial<RouteHopSnapshot> = {}): RouteHopSnapshot => ({
  ...{ fromCurrency: from, toCurrency: to, rate: 2, source: 'kraken', at: 1_760_000_000 },
  ...{ ageSeconds: 12, bias: -0.09, isInverted: false, cost: 1.1957 },
  ...changes
})

const route: RouteSnapshot = {
  fromCurrency: 'LTC',
  toCurrency: 'iso:EUR',
  rate: 83.42,
  hops: [
    hop('LTC', 'iso:USD', { rate: 94.8 }),
    hop('iso:USD', 'iso:EUR', { source: 'ecb', isInverted: true })
  ],
  cost: 2.39,
  isStale: false
}
const other: RouteSnapshot = { ...route, hops: [hop('LTC', 'iso:EUR', { source: 'say "hi"\n];' })], cost: 3 }

test('numbers are written out in plain decimals, whatever their size', t => {
  t.is(decimalText(1.5e-9), '0.0000000015')
  t.is(decimalText(-2.25e-7), '-0.000000225')
  t.is(decimalText(1e21), '1000000000000000000000')
  t.is(decimalText(1.234e22), '12340000000000000000000')
  t.is(decimalText(64000.1), '64000.1')
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
      const text = decimalText(value)
      return /^-?\d+(\.\d+)?$/.test(text) && Number(text) === value + 0
    })
  )
})

test('products and sums of decimal texts are exact', t => {
  t.is(productText('0.1', '0.2'), '0.02')
  t.is(productText('-1.50', '2'), '-3')
  t.is(sumText(['0.1', '0.2', '-0.3']), '0')
  t.is(sumText([]), '0')
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat({ max: 20 }))
    .map(([digits, decimals]) => ({ digits, decimals, text: textOf(digits, decimals) }))
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      const scale = a.decimals + b.decimals
      return (
        productText(a.text, b.text) === shortest(textOf(a.digits * b.digits, scale)) &&
        sumText([a.text, b.text]) ===
          shortest(textOf(a.digits * 10n ** BigInt(b.decimals) + b.digits * 10n ** BigInt(a.decimals), scale))
      )
    })
  )
})

const textOf = (digits: bigint, decimals: number): string => {
  const text = String(digits < 0n ? -digits : digits).padStart(decimals + 1, '0')
  const at = text.length - decimals
  return `${digits < 0n ? '-' : ''}${text.slice(0, at)}${decimals === 0 ? '' : `.${text.slice(at)}`}`
}

const shortest = (text: string): string => text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')

test('money is rounded to cents, and less than a cent keeps significant digits', t => {
  t.is(valueText('812.4', 'iso:EUR'), '812.40 EUR')
  t.is(valueText('0.995', 'iso:EUR'), '1.00 EUR')
  t.is(valueText('0.0012345', 'iso:EUR'), '0.0012 EUR')
  t.is(valueText('0', 'iso:EUR'), '0.00 EUR')
  t.is(valueText('1.5', 'BTC'), '1.5 BTC')
  t.is(valueText('0.000000001234567', 'BTC'), '0.00000000123457 BTC')
  t.is(roundedText('-9.999', { least: 2, most: 2, digits: 2 }), '-10.00')
})

test('a route is drawn as a chain with the cost of each hop, in 80 columns, and in ASCII if asked', t => {
  const draw = (isAscii: boolean, isExplained: boolean) =>
    chainLines(route, { isAscii, isExplained }).map(line => cellOf(line).text)
  const plain = draw(false, false)
  t.deepEqual([plain[0], plain[2], plain[3], plain.at(-1)], ['● LTC', '▼', '● USD', '● EUR'])
  t.regex(plain[1] ?? '', /^│ {3}× 94\.8 +kraken +12 s old +cost 1\.196$/)
  t.regex(plain[4] ?? '', /ecb, turned/)
  const explained = draw(true, true)
  t.is(explained.length, plain.length + route.hops.length)
  t.regex(explained[2] ?? '', /0\.286 age 12\/\(30\+12\), -0\.09 bias, 1 hop/)
  for (const line of [...plain, ...explained]) t.true(line.length <= 80, line)
  t.notRegex(explained.join('\n'), /[^\x20-\x7e\n]/)
  t.is(pathText(route), 'LTC > iso:USD (kraken) > iso:EUR (ecb)')
})

test('a route for scripts has its rates as text and every hop with source, age, bias and cost', t => {
  const { hops, rate, totalCost } = routeJson(route) as { hops: object[]; rate: string; totalCost: number }
  t.is(rate, '83.42')
  t.is(totalCost, 2.39)
  t.deepEqual(hops[0], {
    ...{ from: 'LTC', to: 'iso:USD', rate: '94.8', inverted: false, source: 'kraken' },
    ...{ at: '2025-10-09T08:53:20.000Z', ageSeconds: 12, bias: -0.09, cost: 1.1957 }
  })
})

// What both languages allow in a quoted label, read back.
const labelIn = (text: string): string =>
  text.replace(/\\(.)/g, '$1').replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))

test('mermaid: every line is a node or an edge between nodes, and no name can end its label', t => {
  const [head, ...lines] = graphLines([route, other], 'mermaid')
  t.is(head, 'flowchart LR')
  const nodes = new Map<string, string>()
  const edges: string[][] = []
  for (const line of lines) {
    const node = /^ {2}(n\d+)\["([^"[\]|]*)"\]$/.exec(line)
    const edge = /^ {2}(n\d+) (==>|-\.->)\|"([^"|]*)"\| (n\d+)$/.exec(line)
    t.true(node !== null || edge !== null, line)
    if (node !== null) nodes.set(node[1] ?? '', labelIn(node[2] ?? ''))
    if (edge !== null) edges.push(edge.slice(1))
  }
  t.deepEqual([...nodes.values()], ['LTC', 'iso:USD', 'iso:EUR'])
  t.deepEqual(
    edges.map(([from = '', style, , to = '']) => [nodes.get(from), style, nodes.get(to)]),
    [
      ['LTC', '==>', 'iso:USD'],
      ['iso:USD', '==>', 'iso:EUR'],
      ['LTC', '-.->', 'iso:EUR']
    ]
  )
  t.true(labelIn(edges[2]?.[2] ?? '').startsWith('say "hi"\n]; x 2'))
})

test('dot: a digraph of quoted labels, with the best route in bold', t => {
  const lines = graphLines([route, other], 'dot')
  t.is(lines[0], 'digraph rates {')
  t.is(lines.at(-1), '}')
  const label = String.raw`"(?:[^"\\]|\\.)*"`
  for (const line of lines.slice(2, -1)) {
    t.regex(line, new RegExp(`^ {2}n\\d+( -> n\\d+)? \\[label=${label}(, style=(bold|dashed))?\\];$`))
  }
  t.is(lines.filter(line => line.includes('style=bold')).length, 2)
  t.is(lines.filter(line => line.includes('style=dashed')).length, 1)
})

test('json: nodes, edges and routes that agree', t => {
  const graph = JSON.parse(graphLines([route, other], 'json').join('\n'))
  t.deepEqual(
    graph.nodes.map(({ id }: { id: string }) => id),
    ['LTC', 'iso:USD', 'iso:EUR']
  )
  t.deepEqual(
    graph.edges.map(({ best }: { best: boolean }) => best),
    [true, true, false]
  )
  t.is(graph.routes.length, 2)
})
