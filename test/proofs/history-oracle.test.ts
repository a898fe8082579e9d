import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { drawSeed, runCount, WITHIN_TIME } from '../helpers/drawn-runs.ts'
import { historyRounds, playHistory } from '../helpers/history-run.ts'
import { folderPlaces, memoryPlace, type StoryPlace } from '../helpers/story-place.ts'

const histories = async (
  t: ExecutionContext,
  numRuns: number,
  makePlace: () => StoryPlace
): Promise<void> => {
  const rounds = fc.array(historyRounds, { minLength: 1, maxLength: 10 })
  const history = fc.asyncProperty(rounds, some => playHistory(makePlace(), some))
  await fc.assert(history, { ...WITHIN_TIME, numRuns: runCount(numRuns), seed: drawSeed(t) })
  t.pass()
}

test('after any events in any order, every list, page, search and stream shows the last reports with the present files', t =>
  histories(t, 3000, () => memoryPlace('disk')))

test('the same in a store of bytes', t => histories(t, 1000, () => memoryPlace('store')))

test('the same in a folder', t => histories(t, 200, folderPlaces(t)))

test('the same of a history in which a search looks at more than the newest', async t => {
  const rounds = fc.array(historyRounds, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(rounds, fc.constantFrom('disk' as const, 'store' as const), (some, kind) =>
      playHistory(memoryPlace(kind), some, 450)
    ),
    { ...WITHIN_TIME, numRuns: runCount(300), seed: drawSeed(t) }
  )
  t.pass()
})
