import type { Section } from '../section.ts'
import { climb, rowsOfStep } from '../size/ladder.ts'
import { grouped, HISTORIES, SIDES_NOTE } from '../size/sizes.ts'

/** Pages anywhere in a history, and all of it. */
export const list: Section = async context => {
  const result = await climb(context, {
    ...HISTORIES,
    quickForPeer: [10_000],
    slowForPeer: [50_000],
    rounds: 3,
    plan: transactionCount => ({ work: 'list', walletCount: 1, transactionCount })
  })
  return {
    rows: [
      ...rowsOfStep(result, {
        step: 'page',
        title: count => `20 anywhere of ${grouped(count)}`,
        goals: new Map(HISTORIES.sizes.map(size => [size, 3])),
        peerFacts: figures => ({ 'of the 20 have their note': figures.fact('notedCount') })
      }),
      ...rowsOfStep(result, {
        step: 'all',
        title: count => `all ${grouped(count)}`,
        goals: new Map([
          [10_000, 120],
          [50_000, 650]
        ])
      })
    ],
    notes: [
      'Pages: the median of five that lie apart, each complete with its notes in ours. All: the first time that ' +
        'everything is listed; every note is compared.',
      SIDES_NOTE
    ]
  }
}
