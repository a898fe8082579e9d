import test, { type ExecutionContext } from 'ava'
import { CUT_STORIES, makeCutHome } from '../helpers/cut-stories.ts'
import { drawPart } from '../helpers/drawn-runs.ts'
import { type CutChoice, cutStory, describeCuts, makeCutTally } from '../helpers/power-cuts.ts'

/** All with `--full`. A tenth are as many as there are writes: each of the ten faults at one of them. */
const drawn =
  (t: Pick<ExecutionContext, 'log'>): CutChoice['choose'] =>
  faults =>
    drawPart(t, faults, 10)

for (const story of CUT_STORIES) {
  test.serial(
    `wherever the power is cut while ${story.name}, the account opens and nothing promised is gone`,
    async t => {
      t.timeout(600_000)
      const tally = makeCutTally()
      await cutStory(await makeCutHome(), story, { tally, choose: drawn(t) })
      t.log(describeCuts(tally))
      t.deepEqual(tally.losses, [])
      t.true(tally.fired > 0)
    }
  )
}

test.serial(
  'wherever the power is cut of an account that only this device can open, it opens and nothing promised is gone',
  async t => {
    t.timeout(600_000)
    const tally = makeCutTally()
    const home = await makeCutHome({ isLight: true })
    const stories = CUT_STORIES.filter(
      ({ isNewDevice, elsewhere }) => isNewDevice !== true && elsewhere === undefined
    )
    for (const story of stories) await cutStory(home, story, { tally, choose: drawn(t) })
    t.log(describeCuts(tally))
    t.deepEqual(tally.losses, [])
    t.true(tally.fired > 0)
  }
)

for (const story of CUT_STORIES) {
  test.serial(`the same at any batch of a store while ${story.name}`, async t => {
    t.timeout(600_000)
    const tally = makeCutTally()
    await cutStory(await makeCutHome({ medium: 'store' }), story, { tally, choose: drawn(t) })
    t.log(describeCuts(tally))
    t.deepEqual(tally.losses, [])
    t.true(tally.fired > 0)
  })
}
