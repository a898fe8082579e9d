import test from 'ava'
import { runDrawn, STORY_RUNS } from './story-table.ts'

// What the other files leave out. Without `--full` a drawn part of it: what the stories show of payments is shown there, and what each
// way of asking adds is in few places.
const PART = 6

runDrawn(
  test,
  STORY_RUNS.filter(({ isAlways }) => !isAlways),
  PART
)
