import type { Section } from '../section.ts'
import { climb, rowsOfStep } from '../size/ladder.ts'
import { grouped, NOVELTIES, SIDES_NOTE } from '../size/sizes.ts'

/** An engine that reports many new transactions at once. */
export const discover: Section = async context => {
  const result = await climb(context, {
    ...NOVELTIES,
    quickForPeer: [2500],
    slowForPeer: [5000, 10_000],
    rounds: 3,
    plan: newCount => ({ work: 'discover', walletCount: 1, transactionCount: 0, newCount })
  })
  return {
    rows: rowsOfStep(result, {
      step: 'durable',
      title: count => `${grouped(count)} new transactions`,
      goals: new Map([[10_000, 250]])
    }),
    notes: [
      'The engine reports them in one call; the time ends when the last file that is to be synced is durable ' +
        'in ours, and listed by the published core. Ours is checked with a copy of its folder from that moment: ' +
        'another kernel opens it without a network and has all of them.',
      SIDES_NOTE
    ]
  }
}
