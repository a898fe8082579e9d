import test from 'ava'
import fc from 'fast-check'
import { runStoreStory, storeStories } from '../helpers/store-run.ts'

const numRuns = Number(process.env.HOLDFAST_PROPERTY_RUNS ?? 500)

test('writes large and small, reads, failures, tidying, crashes and reopenings in any order agree with a plain list of the writes', async t => {
  await fc.assert(fc.asyncProperty(storeStories, fc.integer({ min: 1, max: 1e9 }), runStoreStory), {
    numRuns
  })
  t.pass()
})
