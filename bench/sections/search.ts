import type { Section } from '../section.ts'
import { climb, rowsOfStep, type StepLines } from '../size/ladder.ts'
import { grouped, HISTORIES, SIDES_NOTE } from '../size/sizes.ts'

/** Searching whole histories. */
export const search: Section = async context => {
  const result = await climb(context, {
    ...HISTORIES,
    quickForPeer: [10_000],
    slowForPeer: [50_000],
    rounds: 3,
    plan: transactionCount => ({ work: 'search', walletCount: 1, transactionCount })
  })
  return { rows: STEPS.flatMap(lines => rowsOfStep(result, lines)), notes: NOTES }
}

const STEPS: readonly StepLines[] = [
  {
    step: 'cold',
    title: count => `search of ${grouped(count)}, cold`,
    goals: new Map([
      [10_000, 80],
      [50_000, 400]
    ])
  },
  {
    step: 'warm',
    title: count => `search of ${grouped(count)}, warm`,
    goals: new Map(HISTORIES.sizes.map(size => [size, 5]))
  },
  { step: 'one', title: count => `one hit of ${grouped(count)}`, goals: new Map() },
  { step: 'first', title: count => `newest 20 hits of ${grouped(count)}`, goals: new Map() }
]

const NOTES = [
  'Cold is the first search of a process, warm the same once more; neither has a hit. The hits are compared.',
  SIDES_NOTE
]
