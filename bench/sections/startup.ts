import { atMost, type Section } from '../section.ts'
import { climb, rowsOfStep } from '../size/ladder.ts'
import { SIDES_NOTE } from '../size/sizes.ts'

/** Opening accounts of many wallets, and what an idle wallet keeps in memory. */
export const startup: Section = async context => {
  const result = await climb(context, {
    sizes: [25, 50, 100, 200, 500],
    growing: [25, 50, 100, 200],
    quickForPeer: [50, 100],
    slowForPeer: [200, 500],
    rounds: 3,
    plan: walletCount => ({ work: 'startup', walletCount, transactionCount: 0 })
  })
  return {
    rows: rowsOfStep(result, {
      step: 'usable',
      title: count => `${count} wallets usable`,
      goals: new Map([
        [100, 150],
        [200, 300],
        [500, 800]
      ]),
      more(_, figures) {
        const first = figures.fact('firstCpuMs')
        const heap = figures.fact('heapKb')
        return {
          facts: { 'first usable, ms on the wall': figures.fact('firstWallMs') },
          goals: [
            atMost('the first usable within 50 ms of CPU', first, 50),
            atMost('at most 15 KB of heap a wallet', heap, 15)
          ]
        }
      },
      peerFacts: figures => ({
        'first usable, ms of CPU': figures.fact('firstCpuMs'),
        'KB of heap a wallet': figures.fact('heapKb')
      })
    }),
    notes: [
      'A login by key on a device that knows the account, until the engine of every wallet has started. The heap is ' +
        'what is left of it after three seconds and two garbage collections, above a kernel with nobody logged in.',
      SIDES_NOTE
    ]
  }
}
