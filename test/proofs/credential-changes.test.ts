import test from 'ava'
import fc from 'fast-check'
import { anyPlan } from '../helpers/credential-actions.ts'
import { makeCredentialStart, runPlan } from '../helpers/credential-run.ts'
import { drawSeed, runCount, WITHIN_TIME } from '../helpers/drawn-runs.ts'

const numRuns = runCount(400)

test('whatever two devices change and whatever becomes of their requests, exactly what is enabled logs in', async t => {
  t.timeout(60_000 + numRuns * 2000)
  const seed = drawSeed(t)
  const start = await makeCredentialStart()
  await fc.assert(
    fc.asyncProperty(anyPlan, plan => runPlan(start, plan)),
    { ...WITHIN_TIME, numRuns, seed, includeErrorInReport: true }
  )
  t.pass()
})
