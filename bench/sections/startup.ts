import { PEER } from '../peer-package.ts'
import { atMost, type Row, type Section } from '../section.ts'
import { climb, type LadderResult, rowsOfStep } from '../size/ladder.ts'
import { Unfinished } from '../size/run-job.ts'
import type { Figures } from '../size/size-bench.ts'
import { SIDES_NOTE } from '../size/sizes.ts'

/** Opening accounts of many wallets, and what an idle wallet keeps in memory. */
export const startup: Section = async context => {
  const result = await climb(context, {
    sizes: [25, 50, 100, 200, 500],
    growing: [25, 50, 100, 200],
    comparedSizes: [50, 100, 200, 500],
    quickForPeer: [50, 100],
    slowForPeer: [200, 500],
    rounds: 3,
    plan: walletCount => ({ work: 'startup', walletCount, transactionCount: 0 })
  })
  return {
    rows: [
      ...rowsOfStep(result, {
        step: 'usable',
        title: count => `${count} wallets usable`,
        goals: new Map([
          [100, 150],
          [200, 300],
          [500, 800]
        ]),
        more: (_, figures) => ({
          facts: { 'first usable, ms on the wall': figures.fact('firstWallMs') },
          goals: [atMost('the first usable within 50 ms of CPU', figures.fact('firstCpuMs'), 50)]
        }),
        peerFacts: figures => ({ 'first usable, ms of CPU': figures.fact('firstCpuMs') })
      }),
      ...heapRows(result)
    ],
    notes: [
      'A login by key on a device that knows the account, until the engine of every wallet has started.',
      'The heap of an idle wallet: what more wallets add to what is left of the heap after three seconds and two ' +
        'garbage collections, each.',
      SIDES_NOTE
    ]
  }
}

const heapRows = ({ own, peer }: LadderResult): Row[] => {
  const ours = heapOf(own)
  const theirs = heapOf(peer)
  return [
    {
      name: 'heap of an idle wallet',
      facts: { KB: ours },
      goals: [atMost('at most 15 KB', ours, 15)]
    },
    ...(Number.isNaN(theirs) ? [] : [{ name: `heap of an idle wallet, ${PEER}`, facts: { KB: theirs } }])
  ]
}

/** KB that a wallet adds, between the smallest and the largest account; NaN of fewer than two. */
const heapOf = (figures: ReadonlyMap<number, Figures | Unfinished>): number => {
  const known = [...figures].flatMap(([count, found]) =>
    found instanceof Unfinished ? [] : [{ count, heapKb: found.fact('heapKb') }]
  )
  const [first, last] = [known[0], known.at(-1)]
  if (first === undefined || last === undefined || first === last) return Number.NaN
  return (last.heapKb - first.heapKb) / (last.count - first.count)
}
