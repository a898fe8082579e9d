import test from 'ava'
import fc from 'fast-check'
import { makeSyncTally, runSyncPlan } from '../helpers/sync-run.ts'
import { anySyncPlan } from '../helpers/sync-steps.ts'

const numRuns = Number(process.env.HOLDFAST_PROPERTY_RUNS ?? 200)
const seed = Number(process.env.HOLDFAST_PROPERTY_SEED ?? 20_260_101)

test('whatever three devices edit and whatever becomes of their requests and disks, their repos end equal and no edit is gone', async t => {
  t.timeout(60_000 + numRuns * 500)
  const tally = makeSyncTally()
  await fc.assert(
    fc.asyncProperty(anySyncPlan, plan => runSyncPlan(plan, tally)),
    { numRuns, seed, includeErrorInReport: true }
  )
  t.log(`${tally.stories} stories, ${tally.edits} edits`)
  t.log(`troubles: ${[...tally.troubles].map(([what, count]) => `${count} ${what}`).join(', ')}`)
  t.log(`gone, and nobody could have kept them: ${JSON.stringify(tally.losses)}`)
  for (const trouble of TROUBLES) t.true((tally.troubles.get(trouble) ?? 0) > 0, trouble)
})

/** Without any of these the stories would have shown less than they say. */
const TROUBLES = [
  ...['lost', 'refused', 'twice', 'forgotten', 'reply lost', 'reply cut', 'reply old', 'server replaced'],
  ...['disk lost', 'disk torn', 'disk empty', 'disk gone', 'disk late', 'disk full', 'disk torn at opening'],
  ...['overwritten: raced', 'overwritten: deployed client']
]
