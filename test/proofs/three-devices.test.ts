import test from 'ava'
import fc from 'fast-check'
import { drawSeed, runCount, WITHIN_TIME } from '../helpers/drawn-runs.ts'
import { makeSyncTally, runSyncPlan } from '../helpers/sync-run.ts'
import { anySyncPlan, type SyncStep } from '../helpers/sync-steps.ts'

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

test('the same of files that more sessions have edited than a version names', async t => {
  const runs = runCount(400)
  t.timeout(60_000 + runs * 5000)
  const tally = makeSyncTally()
  const sessions = Array.from({ length: 25 }, (): SyncStep[] => [
    { kind: 'restart', device: 0, faults: [] },
    ...['s.json', 't.json'].map(
      (path): SyncStep => ({ kind: 'edit', device: 0, path, fields: [{ field: 'x', isRemoved: false }] })
    ),
    { kind: 'sync', device: 0 }
  ]).flat()
  const others = [1, 2].map((device): SyncStep => ({ kind: 'sync', device }))
  await fc.assert(
    fc.asyncProperty(anySyncPlan, ({ steps, ...plan }) =>
      runSyncPlan({ ...plan, steps: [...sessions, ...others, ...steps] }, tally)
    ),
    { ...WITHIN_TIME, numRuns: runs, seed: drawSeed(t), includeErrorInReport: true }
  )
  t.log(
    `${tally.stories} stories, gone: ${JSON.stringify(tally.losses)}, untold in ${tally.unreported} stories`
  )
  t.true(tally.unreported <= 1, `${tally.unreported} stories`)
})

/** In about one story in twenty thousand a deployed client drops an edit untold (ROADMAP). */
const MAX_UNREPORTED = 1 + Math.ceil(numRuns / 10_000)

/** Without any of these the stories would have shown less than they say. */
const FAULTS = [
  ...['lost', 'refused', 'twice', 'forgotten', 'reply lost', 'reply cut', 'reply old', 'server replaced'],
  ...['disk lost', 'disk torn', 'disk empty', 'disk gone', 'disk late', 'disk full', 'disk torn at opening'],
  ...['overwritten: raced', 'overwritten: deployed client']
]
