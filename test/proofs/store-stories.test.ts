import test from 'ava'
import fc from 'fast-check'
import { drawSeed, runCount } from '../helpers/drawn-runs.ts'
import { runStoreStory, storeStories } from '../helpers/store-run.ts'

test('any order of large and small writes, reads, failures, tidying and crashes agrees with a plain list of the writes', async t => {
  await fc.assert(fc.asyncProperty(storeStories, fc.integer({ min: 1, max: 1e9 }), runStoreStory), {
    numRuns: runCount(5000),
    seed: drawSeed(t)
  })
  t.pass()
})
