import type { Section } from '../section.ts'
import { climb, rowsOfStep } from '../size/ladder.ts'
import { grouped, HISTORIES } from '../size/sizes.ts'

/** A device that has never seen an account fetches a large repo. */
export const newDevice: Section = async context => {
  const result = await climb(context, {
    ...HISTORIES,
    quickForPeer: [10_000],
    slowForPeer: [50_000],
    rounds: 3,
    plan: transactionCount => ({
      work: 'new-device',
      walletCount: 1,
      transactionCount,
      isNewDevice: true,
      isWorldApart: true,
      isPeerApart: true
    })
  })
  return {
    rows: rowsOfStep(result, {
      step: 'fetched',
      title: count => `repo of ${grouped(count)} files`,
      goals: new Map([
        [10_000, 140],
        [50_000, 700]
      ])
    }),
    notes: [
      'A login by password, scrypt 16384/8/1 included, until the whole repo is on the device; then each file is read. ' +
        'Both sides fetch from our fake server in another process, over HTTP, whose work is not counted for either; ' +
        'each keeps the files in a real folder.'
    ]
  }
}
