import test from 'ava'
import fc from 'fast-check'
import { drawSeed, runCount, WITHIN_TIME } from '../helpers/drawn-runs.ts'
import { makeSyncTally, runSyncPlan } from '../helpers/sync-run.ts'
import { anyLongSyncPlan, anySyncPlan } from '../helpers/sync-steps.ts'

const numRuns = runCount(4000)

test('three devices, each on a disk or each in a store of bytes, agree after any edits and failures, and an edit is lost only to a deployed client, reported and kept', async t => {
  t.timeout(60_000 + numRuns * 500)
  const seed = drawSeed(t)
  const tally = makeSyncTally()
  await fc.assert(
    fc.asyncProperty(anySyncPlan, fc.nat({ max: 3 }), (plan, draw) =>
      runSyncPlan(plan, tally, draw === 0 ? 'store' : 'disk')
    ),
    { ...WITHIN_TIME, numRuns, seed, includeErrorInReport: true }
  )
  t.log(`${tally.stories} stories, ${tally.edits} edits`)
  t.log(`troubles: ${[...tally.faultCounts].map(([what, count]) => `${count} ${what}`).join(', ')}`)
  t.log(`gone: ${JSON.stringify(tally.losses)}, untold in ${tally.unreported} stories with a deployed client`)
  t.true(tally.unreported <= MAX_UNREPORTED, `${tally.unreported} stories`)
  for (const fault of FAULTS) t.true((tally.faultCounts.get(fault) ?? 0) > 0, fault)
})

test('no edit is lost of files that many sessions have edited, on three devices or on many more', async t => {
  const runs = runCount(4000)
  t.timeout(60_000 + runs * 1000)
  const tally = makeSyncTally()
  await fc.assert(
    fc.asyncProperty(anyLongSyncPlan, fc.nat({ max: 3 }), (plan, draw) =>
      runSyncPlan({ ...plan, hasDeployed: false }, tally, draw === 0 ? 'store' : 'disk')
    ),
    { ...WITHIN_TIME, numRuns: runs, seed: drawSeed(t), includeErrorInReport: true }
  )
  t.is(tally.stories, runs)
  t.log(`${tally.stories} stories, ${tally.edits} edits, gone: ${JSON.stringify(tally.losses)}`)
})

/** In about one story in twenty thousand a deployed client drops an edit untold (ROADMAP). */
const MAX_UNREPORTED = 1 + Math.ceil(numRuns / 10_000)

/** Without any of these the stories would have shown less than they say. */
const FAULTS = [
  ...['lost', 'refused', 'twice', 'forgotten', 'reply lost', 'reply cut', 'reply old', 'server replaced'],
  ...['disk lost', 'disk torn', 'disk empty', 'disk gone', 'disk late', 'disk full', 'disk torn at opening'],
  ...['overwritten: raced', 'overwritten: deployed client']
]
