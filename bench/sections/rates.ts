import { PEER } from '../peer-package.ts'
import { type Contender, race } from '../race.ts'
import { type OwnRates, openOwnRates, refreshRow } from '../rates/own-rates.ts'
import { loadPeerRates, type PeerRates } from '../rates/peer-rates.ts'
import { ladder, layers, type MarketShape, market, rateOf, star, tenProviders } from '../rates/shapes.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'
import { grouped } from '../size/sizes.ts'

/** Conversions through many pairs against the peer, many wallets in one fiat, and a refresh. */
export const rates: Section = async ({ peerFolder, isFull }) => {
  const shapes = WORKS.map(({ shape }) => shape)
  const openPeer = peerFolder === undefined ? undefined : loadPeerRates(peerFolder, shapes)
  const rows: Row[] = []
  for (const work of WORKS) {
    const own = await openOwnRates(work.shape)
    const peer = work.isSlow === true && !isFull ? undefined : await openPeer?.(work.shape)
    rows.push(...(await raceRoute(work, own, peer)))
    if (work.shape === MARKET) rows.push(...(await raceWallets(work.shape, own, peer)))
    await own.close()
    await peer?.close()
  }
  rows.push(await refreshRow())
  return { rows, notes: NOTES }
}

interface RouteWork {
  readonly shape: MarketShape
  readonly limitMs: number
  /** The peer takes seconds for one: it is asked in a full run only. */
  readonly isSlow?: boolean
}

const MARKET = market(10_000)

const WORKS: readonly RouteWork[] = [
  { shape: star(10_000), limitMs: 1 },
  { shape: tenProviders(10_000), limitMs: 1 },
  { shape: ladder(10_000), limitMs: 1 },
  { shape: MARKET, limitMs: 1, isSlow: true },
  { shape: star(100_000), limitMs: 20 },
  { shape: ladder(100_000), limitMs: 20, isSlow: true },
  { shape: market(100_000), limitMs: 20, isSlow: true },
  { shape: layers(64), limitMs: 0.2 },
  { shape: layers(128), limitMs: 0.2, isSlow: true }
]

const ROUNDS = 3
const SAMPLE_MS = 100
/** Looked up: the same for any number of pairs. */
const AGAIN_MS = 0.01
const WALLETS = 500
const WALLETS_LIMIT_MS = 5
/** Both sides do as many in the row that compares them; 500 take the peer minutes. */
const FEW_WALLETS = 3

const NOTES = [
  'One conversion, by the cheapest route, through the interface that applications have, on both sides. Each round begins with ' +
    'a refresh of ours, which is not timed, and converts into several currencies, each by a new search; the mean is shown. ' +
    'A second conversion into a currency that was asked for since the last refresh is looked up and stands in the row “again”.',
  'Rates agree with each other, so that every route has the same value: both sides must give it.',
  `${PEER} through its public interface, the same conversions at a time, in its own fake world; each market has a world. A market ` +
    'for which it takes seconds is for a full run, and beyond 128 pairs in layers it is not asked: 160 take it more than a minute.',
  '500 wallets of 500 coins in one fiat currency, of a market of 10,000 pairs: the first time after a refresh, with the search. ' +
    `The two sides are compared with ${FEW_WALLETS} wallets each.`,
  'A refresh: 10 providers of 480 pairs each, from the question to the published round, in a kernel, and 50 ms of rest after it. ' +
    'The published core refreshes every 30 s and not on request, so it is not compared.'
]

const isValue = (value: unknown, expected: number): boolean =>
  typeof value === 'number' && Math.abs(value / expected - 1) < 1e-9

const raceRoute = async (
  { shape, limitMs }: RouteWork,
  own: OwnRates,
  peer: PeerRates | undefined
): Promise<Row[]> => {
  const { from, targets, name } = shape
  const last = targets.at(-1) ?? ''
  const verify = (found: unknown): void => {
    for (const [at, value] of (found as number[]).entries())
      check(isValue(value, rateOf(from, targets[at] ?? '')), `a conversion by ${name}`)
  }
  const contenders: Contender[] = [
    {
      name: 'ours',
      batch: targets.length,
      before: own.refresh,
      run: () => targets.map(to => own.convert(from, to)),
      after: verify
    },
    {
      name: 'again',
      sampleMs: SAMPLE_MS,
      run: () => own.convert(from, last),
      after: found => check(isValue(found, rateOf(from, last)), `a conversion by ${name}, again`)
    }
  ]
  if (peer !== undefined) {
    contenders.push({
      name: 'peer',
      batch: targets.length,
      run: () => Promise.all(targets.map(to => peer.convert(from, to))),
      after: verify
    })
  }
  const result = await race(contenders, { rounds: ROUNDS })
  const count = shape.pairs.reduce((sum, pairs) => sum + pairs.length, 0)
  const title = `${name}, ${grouped(count)} pairs`
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

const raceWallets = async (
  shape: MarketShape,
  own: OwnRates,
  peer: PeerRates | undefined
): Promise<Row[]> => {
  const fiat = shape.targets.at(-1) ?? ''
  const codes = [...new Set((shape.pairs[0] ?? []).map(({ fromCurrency }) => fromCurrency))].slice(0, WALLETS)
  check(codes.length === WALLETS, 'the number of coins')
  const verify = (found: unknown): void => {
    for (const [at, value] of (found as number[]).entries())
      check(isValue(value, rateOf(codes[at] ?? '', fiat)), `the value of ${codes[at]}`)
  }
  const few = codes.slice(0, FEW_WALLETS)
  const oursOf = (name: string, those: readonly string[]): Contender => ({
    name,
    before: own.refresh,
    run: () => those.map(code => own.convert(code, fiat)),
    after: verify
  })
  const contenders = [oursOf('all', codes), oursOf('few', few)]
  if (peer !== undefined) {
    contenders.push({
      name: 'peer',
      run: () => Promise.all(few.map(code => peer.convert(code, fiat))),
      after: verify
    })
  }
  const result = await race(contenders, { rounds: 3, warmUp: 1 })
  const title = (count: number): string => `${count} wallets in one fiat currency`
  const limit = WALLETS_LIMIT_MS
  const goals = [atMost(`at most ${limit} ms`, result.cost('all').cpuMs, limit)]
  const facts = peer === undefined ? {} : { [`times faster than ${PEER}`]: result.ratio('peer', 'few') }
  return [
    rowOf(title(WALLETS), result.cost('all'), { goals }),
    rowOf(title(FEW_WALLETS), result.cost('few'), { facts }),
    ...(peer === undefined ? [] : [rowOf(`${title(FEW_WALLETS)}, ${PEER}`, result.cost('peer'))])
  ]
}
