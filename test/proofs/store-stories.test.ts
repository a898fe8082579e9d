import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { drawSeed, runCount, WITHIN_TIME } from '../helpers/drawn-runs.ts'
import { runStoreStory, storeStories } from '../helpers/store-run.ts'
import { folderPlaces, memoryPlace, type StoryPlace } from '../helpers/story-place.ts'

const stories = async (t: ExecutionContext, numRuns: number, makePlace: () => StoryPlace): Promise<void> => {
  const story = fc.asyncProperty(storeStories, fc.integer({ min: 1, max: 1e9 }), (steps, seed) =>
    runStoreStory(steps, seed, makePlace())
  )
  await fc.assert(story, { ...WITHIN_TIME, numRuns: runCount(numRuns), seed: drawSeed(t) })
  t.pass()
}

test('any order of large and small writes, reads, failures, tidying and crashes agrees with a plain list of the writes', t =>
  stories(t, 5000, () => memoryPlace('disk')))

test('the same in a store of bytes', t => stories(t, 2500, () => memoryPlace('store')))

test('the same in a folder', t => stories(t, 200, folderPlaces(t)))
