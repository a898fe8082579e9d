import test from 'ava'
import { runDrawn, STORY_RUNS } from './story-table.ts'

// All stories once more with a second on every reply. Most of that is waiting, and a real node has no clock of ours: the stories run
// beside each other, and without `--full` a drawn part of them, without those that take minutes.
const DELAY_MS = 1000
const PART = 20
const isFull = process.env.HOLDFAST_FULL === '1'

runDrawn(
  test,
  STORY_RUNS.filter(({ isLongLate }) => isFull || !isLongLate),
  PART,
  { delayMs: DELAY_MS }
)
