import { median } from '../measure.ts'
import { PEER } from '../peer-package.ts'
import { race } from '../race.ts'
import { atMost, check, type Row, rowOf, type Section, WAITS_LINE } from '../section.ts'
import { type OwnSwaps, openOwnSwaps } from '../swaps/own-swaps.ts'
import { openPeerSwaps, type PeerSwaps } from '../swaps/peer-swaps.ts'
import { PROVIDERS, type Script } from '../swaps/providers.ts'

/** Quotes of 50 swap providers: all answer, all refuse, and one never answers. */
export const swaps: Section = async ({ peerFolder }) => {
  const script: Script = { mode: 'answer', answeredAt: new Map() }
  const own = await openOwnSwaps(script)
  const peer = peerFolder === undefined ? undefined : await openPeerSwaps(peerFolder, script)
  const rows = [
    await raceOf('all 50 answer at once', 'answer', { script, own, peer }),
    await raceOf('all 50 refuse', 'refuse', { script, own, peer }),
    await shownOf({ script, own, peer }),
    ...(await finalOf({ script, own, peer }))
  ]
  await own.close()
  return { rows, notes: NOTES }
}

const ROUNDS = 15
const NOTES = [
  'Ours is measured to the end of the round, every change of every provider shown on the way; each quote is copied ' +
    'and checked. Theirs: fetchSwapQuotes of the published core, through its bridge.',
  'One that never answers: the other 49 answer a millisecond apart. Shown: from the moment a provider hands over its ' +
    'offer until a subscriber of the round sees it, the slowest of 49 in each of 5 rounds; the median. The published ' +
    'core shows nothing before its list is final.'
]

interface Sides {
  readonly script: Script
  readonly own: OwnSwaps
  readonly peer: PeerSwaps | undefined
}

const raceOf = async (name: string, mode: Script['mode'], { script, own, peer }: Sides): Promise<Row> => {
  script.mode = mode
  const count = mode === 'answer' ? PROVIDERS : 0
  const contender = (title: string, query: () => Promise<readonly unknown[]>) => ({
    name: title,
    run: () => query().catch(() => []),
    after: (quotes: unknown) =>
      check((quotes as readonly unknown[]).length === count, `${title}: how many quotes there are`)
  })
  const result = await race(
    [
      contender('own', () => own.query().settled),
      ...(peer === undefined ? [] : [contender('peer', () => peer.query())])
    ],
    { rounds: ROUNDS, warmUp: 3 }
  )
  if (peer === undefined) return rowOf(name, result.cost('own'))
  const { cpuMs, wallMs } = result.cost('peer')
  return rowOf(name, result.cost('own'), {
    facts: {
      [`${PEER} CPU ms`]: cpuMs,
      [`${PEER} wall ms`]: wallMs,
      'times less CPU': result.ratio('peer', 'own')
    }
  })
}

/** How long a quote is on its way to whoever watches. */
const shownOf = async ({ script, own }: Sides): Promise<Row> => {
  script.mode = 'silent'
  const slowest: number[] = []
  const firsts: number[] = []
  const stops: number[] = []
  for (let at = 0; at < 5; at++) {
    script.answeredAt.clear()
    const shownAt = new Map<string, number>()
    const round = own.query()
    const all = new Promise<void>(resolve => {
      round.subscribe(() => {
        for (const { pluginId, state } of round.getSnapshot().providers)
          if (state === 'resolved' && !shownAt.has(pluginId)) shownAt.set(pluginId, performance.now())
        if (shownAt.size === PROVIDERS - 1) resolve()
      })
    })
    await all
    const lags = [...script.answeredAt].map(([i, ms]) => (shownAt.get(`swap${i}`) ?? Number.NaN) - ms)
    slowest.push(Math.max(...lags))
    firsts.push(lags[0] ?? Number.NaN)
    const stopped = performance.now()
    round.stop()
    const quotes = await round.settled
    stops.push(performance.now() - stopped)
    check(quotes.length === PROVIDERS - 1, 'how many quotes there are when the caller stops')
    round.close()
  }
  const first = median(firsts)
  return {
    name: 'one of 50 never answers: quotes are shown',
    facts: { 'slowest ms': median(slowest), 'from stop to the final list, ms': median(stops) },
    goals: [atMost('the first quote within 10 ms of its arrival', first, 10)]
  }
}

/** How long the list takes when nobody stops; both wait at the same time. */
const finalOf = async ({ script, own, peer }: Sides): Promise<Row[]> => {
  script.mode = 'silent'
  const timed = async (query: () => Promise<readonly unknown[]>): Promise<number> => {
    const start = performance.now()
    const quotes = await query()
    check(quotes.length === PROVIDERS - 1, 'how many quotes there are after the wait')
    return performance.now() - start
  }
  console.log(WAITS_LINE)
  const [ours, theirs] = await Promise.all([
    timed(() => own.query().settled),
    peer === undefined ? undefined : timed(() => peer.query())
  ])
  return [
    {
      name: 'one of 50 never answers, and nobody stops',
      wallMs: ours,
      facts: theirs === undefined ? {} : { [`${PEER} shows its first quote after, ms`]: theirs },
      goals: [atMost('the list is final at 20 s', ours, 20_100)]
    }
  ]
}
