import test from 'ava'
import fc from 'fast-check'
import { anyPlan } from '../helpers/credential-actions.ts'
import { makeCredentialStart, runPlan } from '../helpers/credential-run.ts'

const numRuns = Number(process.env.HOLDFAST_PROPERTY_RUNS ?? 40)
// Another one each time; the one that failed is printed.
const seed = Number(process.env.HOLDFAST_PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31))

test('whatever two devices change and whatever becomes of their requests, exactly what is enabled logs in', async t => {
  t.timeout(60_000 + numRuns * 2000)
  t.log(`HOLDFAST_PROPERTY_SEED=${seed} HOLDFAST_PROPERTY_RUNS=${numRuns}`)
  const start = await makeCredentialStart()
  await fc.assert(
    fc.asyncProperty(anyPlan, plan => runPlan(start, plan)),
    { numRuns, seed, includeErrorInReport: true }
  )
  t.pass()
})
