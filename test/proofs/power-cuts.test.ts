import test from 'ava'
import { CUT_STORIES, makeCutHome } from '../helpers/cut-stories.ts'
import { cutStory, describeCuts, makeCutTally } from '../helpers/power-cuts.ts'

for (const story of CUT_STORIES) {
  test.serial(
    `the power is cut at every write while ${story.name}: the account opens and nothing promised is gone`,
    async t => {
      t.timeout(600_000)
      const tally = makeCutTally()
      await cutStory(await makeCutHome(), story, { tally, every: 1 })
      t.log(describeCuts(tally))
      t.deepEqual(tally.losses, [])
      t.true(tally.fired > 0)
    }
  )
}

test.serial(
  'the power is cut at every write of an account that only this device can open: it opens and nothing promised is gone',
  async t => {
    t.timeout(600_000)
    const tally = makeCutTally()
    const home = await makeCutHome(true)
    const stories = CUT_STORIES.filter(
      ({ isNewDevice, elsewhere }) => isNewDevice !== true && elsewhere === undefined
    )
    for (const story of stories) await cutStory(home, story, { tally, every: 1 })
    t.log(describeCuts(tally))
    t.deepEqual(tally.losses, [])
    t.true(tally.fired > 0)
  }
)
