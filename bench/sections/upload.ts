import type { Section } from '../section.ts'
import { climb, rowsOfStep } from '../size/ladder.ts'
import { grouped, NOVELTIES, SIDES_NOTE } from '../size/sizes.ts'

/** Many changed files go to the server. */
export const upload: Section = async context => {
  const result = await climb(context, {
    ...NOVELTIES,
    quickForPeer: [2500],
    slowForPeer: [5000, 10_000],
    rounds: 3,
    plan: newCount => ({
      work: 'upload',
      walletCount: 1,
      transactionCount: 0,
      newCount,
      isWorldApart: true,
      isPeerApart: true
    })
  })
  return {
    rows: rowsOfStep(result, {
      step: 'uploaded',
      title: count => `${grouped(count)} changed files`,
      goals: new Map([[10_000, 400]])
    }),
    notes: [
      'Back to back, in requests of 100 files. The published core sends one such request every 30 s; here it is made ' +
        'to sync without waiting. The servers of ours are in another process and are reached over HTTP, which is ' +
        'counted. The server has all files in the end.',
      SIDES_NOTE
    ]
  }
}
