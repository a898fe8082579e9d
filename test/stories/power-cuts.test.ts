import test from 'ava'
import { CUT_STORIES, makeCutHome } from '../helpers/cut-stories.ts'
import { cutStory, describeCuts, makeCutTally } from '../helpers/power-cuts.ts'

// test/proofs/power-cuts.test.ts tries every one.
test('the power is cut at some writes of each thing that an account does: it opens and nothing promised is gone', async t => {
  const tally = makeCutTally()
  const home = await makeCutHome()
  for (const story of CUT_STORIES) await cutStory(home, story, { tally, every: 149 })
  t.log(describeCuts(tally))
  t.deepEqual(tally.losses, [])
  t.true(tally.fired > CUT_STORIES.length)
})
