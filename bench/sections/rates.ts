import { RateTable } from '../../kernel/rates/rate-table.ts'
import { PEER } from '../peer-package.ts'
import { type Contender, race } from '../race.ts'
import { refreshRow } from '../rates/own-refresh.ts'
import { loadPeerRates, type PeerRates } from '../rates/peer-rates.ts'
import { layers, type MarketShape, market, star, tenProviders } from '../rates/shapes.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'
import { grouped } from '../size/sizes.ts'

/** Conversions through many pairs against the peer, many wallets in one fiat, and a refresh. */
export const rates: Section = async ({ peerFolder, isFull }) => {
  const shapes = WORKS.map(({ shape }) => shape)
  const openPeer = peerFolder === undefined ? undefined : loadPeerRates(peerFolder, shapes)
  const rows: Row[] = []
  for (const work of WORKS) {
    const peer = work.isSlow === true && !isFull ? undefined : await openPeer?.(work.shape)
    rows.push(...(await raceRoute(work, peer)))
    if (work.shape === MARKET) rows.push(...(await raceWallets(work.shape, peer)))
    await peer?.close()
  }
  rows.push(await refreshRow())
  return { rows, notes: NOTES }
}

interface RouteWork {
  readonly shape: MarketShape
  readonly limitMs: number
  /** Conversions of the peer in one sample. */
  readonly peerBatch: number
  /** The peer takes seconds for one: it is asked in a full run only. */
  readonly isSlow?: boolean
}

const MARKET = market(10_000)

const WORKS: readonly RouteWork[] = [
  { shape: star(10_000), limitMs: 1, peerBatch: 5 },
  { shape: tenProviders(10_000), limitMs: 1, peerBatch: 5 },
  { shape: MARKET, limitMs: 1, peerBatch: 1 },
  { shape: star(100_000), limitMs: 20, peerBatch: 1 },
  { shape: market(100_000), limitMs: 20, peerBatch: 1, isSlow: true },
  { shape: layers(64), limitMs: 0.2, peerBatch: 5 },
  { shape: layers(128), limitMs: 0.2, peerBatch: 1 }
]

const ROUNDS = 3
const SAMPLE_MS = 100
/** Looked up: the same for any number of pairs. */
const AGAIN_MS = 0.01
const WALLETS = 500
const WALLETS_LIMIT_MS = 5
/** How many of them the peer is asked for; 500 take it minutes. */
const PEER_WALLETS = 3
const NOW = 1_800_000_000

const NOTES = [
  'One conversion, by the cheapest route. Ours begins a new search each time, as after a refresh; the second conversion ' +
    'of one pair, or any into a currency that was asked for before, is looked up and stands in the row “again”.',
  'Rates agree with each other, so that every route has the same value: both sides must give it.',
  `${PEER} through its public interface, many calls at a time, in its own fake world; each market has a world. Beyond ` +
    '128 pairs in layers it is not asked: 160 take it more than a minute.',
  '500 wallets of 500 coins in one fiat currency, of a market of 10,000 pairs: the first time after a refresh, with the search.',
  'A refresh: 10 providers of 480 pairs each, from the question to the published round, in a kernel. The published core ' +
    'refreshes every 30 s and not when it is told to: there is nothing to compare with.'
]

const tableOf = (shape: MarketShape): RateTable => {
  const table = new RateTable(() => 0, { found: () => {}, missed: () => {} })
  table.put(
    shape.pairs.flatMap((pairs, at) => pairs.map(pair => ({ ...pair, source: `source ${at}`, at: NOW })))
  )
  return table
}

const isValue = (value: unknown, expected: number): boolean =>
  typeof value === 'number' && Math.abs(value / expected - 1) < 1e-9

const raceRoute = async ({ shape, limitMs, peerBatch }: RouteWork, peer?: PeerRates): Promise<Row[]> => {
  const { from, to, value } = shape
  const table = tableOf(shape)
  const look = (): number | undefined => table.rateOf(from, to, { now: NOW })
  const verify = (found: unknown): void => check(isValue(found, value), `a conversion by ${shape.name}`)
  const ours: Contender[] = [
    {
      name: 'ours',
      sampleMs: SAMPLE_MS,
      run: () => {
        table.put([])
        return look()
      },
      after: verify
    },
    { name: 'again', sampleMs: SAMPLE_MS, run: look, after: verify }
  ]
  const theirs: Contender[] =
    peer === undefined
      ? []
      : [
          {
            name: 'peer',
            batch: peerBatch,
            run: () => Promise.all(Array.from({ length: peerBatch }, () => peer.convert(from, to))),
            after: found => (found as number[]).forEach(verify)
          }
        ]
  const result = await race([...ours, ...theirs], { rounds: ROUNDS })
  const count = shape.pairs.reduce((sum, pairs) => sum + pairs.length, 0)
  const title = `${shape.name}, ${grouped(count)} pairs`
  const { cpuMs } = result.cost('ours')
  const again = result.cost('again')
  const goals = [atMost(`at most ${limitMs} ms`, cpuMs, limitMs)]
  const facts = peer === undefined ? {} : { [`times faster than ${PEER}`]: result.ratio('peer', 'ours') }
  return [
    rowOf(title, result.cost('ours'), { goals, facts }),
    rowOf(`${title}, again`, again, { goals: [atMost(`at most ${AGAIN_MS} ms`, again.cpuMs, AGAIN_MS)] }),
    ...(peer === undefined ? [] : [rowOf(`${title}, ${PEER}`, result.cost('peer'))])
  ]
}

const raceWallets = async (shape: MarketShape, peer?: PeerRates): Promise<Row[]> => {
  const table = tableOf(shape)
  const codes = [...new Set((shape.pairs[0] ?? []).map(({ fromCurrency }) => fromCurrency))].slice(0, WALLETS)
  check(codes.length === WALLETS, 'the number of coins')
  const expected = new Map(
    (shape.pairs[0] ?? [])
      .filter(({ toCurrency }) => toCurrency === shape.to)
      .map(pair => [pair.fromCurrency, pair.rate])
  )
  const verify = (found: unknown): void => {
    for (const [at, value] of (found as number[]).entries())
      check(isValue(value, expected.get(codes[at] ?? '') ?? Number.NaN), `the value of ${codes[at]}`)
  }
  const ours: Contender = {
    name: 'ours',
    run: () => {
      table.put([])
      return codes.map(code => table.rateOf(code, shape.to, { now: NOW }))
    },
    after: verify
  }
  const few = codes.slice(0, PEER_WALLETS)
  const theirs: Contender[] =
    peer === undefined
      ? []
      : [
          {
            name: 'peer',
            batch: few.length / WALLETS,
            run: () => Promise.all(few.map(code => peer.convert(code, shape.to))),
            after: verify
          }
        ]
  const result = await race([ours, ...theirs], { rounds: 3, warmUp: 1 })
  const title = `${WALLETS} wallets in one fiat currency`
  const goals = [atMost(`at most ${WALLETS_LIMIT_MS} ms`, result.cost('ours').cpuMs, WALLETS_LIMIT_MS)]
  const facts = peer === undefined ? {} : { [`times faster than ${PEER}`]: result.ratio('peer', 'ours') }
  return [
    rowOf(title, result.cost('ours'), { goals, facts }),
    ...(peer === undefined
      ? []
      : [rowOf(`${title}, ${PEER}, reckoned from ${PEER_WALLETS}`, result.cost('peer'))])
  ]
}
