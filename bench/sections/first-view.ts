import { atMost, type Section } from '../section.ts'
import { climb, rowsOfStep } from '../size/ladder.ts'
import { grouped, HISTORIES, SIDES_NOTE } from '../size/sizes.ts'

/** What a user sees first, of histories of any size. */
export const firstView: Section = async context => {
  const sizes = context.isFull ? [...HISTORIES.sizes, 100_000] : HISTORIES.sizes
  const result = await climb(context, {
    ...HISTORIES,
    sizes,
    quickForPeer: [10_000],
    slowForPeer: [50_000, 100_000],
    rounds: 3,
    plan: transactionCount => ({ work: 'first-view', walletCount: 1, transactionCount })
  })
  return {
    rows: rowsOfStep(result, {
      step: 'view',
      title: count => `first 20 of ${grouped(count)}`,
      goals: new Map(sizes.map(size => [size, 40])),
      more: (_, figures) => ({ goals: [atMost('a peak under 150 MB', figures.fact('peakMb'), 150)] }),
      peerFacts: figures => ({ 'peak MB': figures.fact('peakMb') })
    }),
    notes: [
      'A fresh process: login by key, opening the wallet, the newest 20 transactions with their notes. Loading and ' +
        'opening the kernel are not counted. The fake servers of ours, in the same process, know the repo by its ' +
        'hash and hold no file, so that the peak of memory is the wallet’s own.',
      SIDES_NOTE
    ]
  }
}
