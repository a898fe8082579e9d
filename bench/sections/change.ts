import { atMost, type Section } from '../section.ts'
import { climb, rowsOfStep } from '../size/ladder.ts'
import { grouped, HISTORIES, SIDES_NOTE } from '../size/sizes.ts'

/** Small changes of large histories. */
export const change: Section = async context => {
  const result = await climb(context, {
    ...HISTORIES,
    quickForPeer: [10_000],
    slowForPeer: [50_000],
    rounds: 3,
    plan: transactionCount => ({ work: 'change', walletCount: 1, transactionCount })
  })
  return {
    rows: [
      ...rowsOfStep(result, {
        step: 'edit',
        title: count => `edit one note of ${grouped(count)}`,
        goals: new Map(),
        more(_, figures) {
          const sync = figures.cost('sync')
          const above = figures.cost('edit').cpuMs - sync.cpuMs
          return {
            facts: { 'one fdatasync, ms of CPU': sync.cpuMs, 'ms on the wall': sync.wallMs },
            goals: [atMost('under 1 ms of CPU above one fdatasync', above, 1)]
          }
        }
      }),
      ...rowsOfStep(result, {
        step: 'arrive',
        title: count => `ten more come to ${grouped(count)}`,
        goals: new Map([[50_000, 5]])
      })
    ],
    notes: [
      'Edits: the median of eleven, each durable in ours and read again; of three in the published core, which does ' +
        'not wait for its disk. Ten more: until they are durable in ours, and listed by the published core. The ' +
        'network is off during both.',
      SIDES_NOTE
    ]
  }
}
