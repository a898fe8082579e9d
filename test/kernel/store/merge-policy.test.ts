import test from 'ava'
import { type ChunkSizes, mergeCountOf, runToMerge } from '../../../kernel/store/merge-policy.ts'

const many = (count: number, size: number): number[] => new Array(count).fill(size)

test('the newest chunks of a size class are merged once there are more than seven of each class', t => {
  t.is(mergeCountOf([]), 0)
  t.is(mergeCountOf(many(7, 1)), 0)
  t.is(mergeCountOf(many(8, 1)), 8)
  t.is(mergeCountOf(many(8, 4096)), 8)
  // Of the next class, so fourteen are let stand.
  t.is(mergeCountOf(many(14, 4097)), 0)
  t.is(mergeCountOf(many(15, 4097)), 15)
  t.is(mergeCountOf(many(14, 8 * 4096)), 0)
  t.is(mergeCountOf(many(15, 8 * 4096)), 15)
  t.is(mergeCountOf(many(21, 8 * 4096 + 1)), 0)
  // Only those behind the last larger one, unless there are enough of both.
  t.is(mergeCountOf([...many(5, 4097), ...many(8, 1)]), 8)
  t.is(mergeCountOf([...many(8, 1), 4097, ...many(5, 1)]), 0)
  t.is(mergeCountOf([...many(9, 4097), ...many(6, 1)]), 15)
  t.is(mergeCountOf([1_000_000_000, ...many(7, 1)]), 0)
  t.is(mergeCountOf([...many(7, 1), 4097]), 0)
})

const LARGE = 1_000_000
const whole = (size: number): ChunkSizes => ({ size, live: size })

test('small chunks are merged without those before a large one, and a large one only when much of it is stale', t => {
  const small = Array.from({ length: 8 }, () => whole(10))
  t.deepEqual(runToMerge([]), [])
  t.deepEqual(runToMerge(small), small)
  t.deepEqual(runToMerge([...small, whole(LARGE + 1), ...small.slice(1)]), [])
  const more = Array.from({ length: 8 }, () => whole(20))
  t.deepEqual(runToMerge([...small, whole(LARGE + 1), ...more]), more)
  // As large as that it is one of the small ones: three classes let more than eight stand.
  t.deepEqual(runToMerge([whole(LARGE), ...small]), small)
  t.deepEqual(runToMerge(Array.from({ length: 29 }, () => whole(LARGE))), Array(29).fill(whole(LARGE)))
  t.deepEqual(runToMerge(Array.from({ length: 29 }, () => whole(LARGE + 1))), [])
})

test('chunks of which more than half and 64 kibibytes are stale are written again, alone or with neighbours', t => {
  const stale = { size: 165_537, live: 50_000 }
  t.deepEqual(runToMerge([whole(10), stale, whole(10)]), [stale])
  t.deepEqual(runToMerge([stale]), [stale])
  t.deepEqual(runToMerge([{ ...stale, size: 165_536 }]), [])
  t.deepEqual(runToMerge([{ size: LARGE * 5, live: LARGE * 2 }, stale]), [stale], 'too much would be written')
  const [left, right] = [
    { size: 2 * LARGE, live: LARGE / 2 + 500_000 },
    { size: LARGE, live: 1 }
  ]
  t.deepEqual(runToMerge([left, right]), [right])
  const halves = [
    { size: 180_000, live: 60_000 },
    { size: 60_000, live: 20_000 }
  ]
  t.deepEqual(runToMerge(halves), halves)
  t.deepEqual(runToMerge([{ size: 65_536, live: 0 }]), [])
  t.deepEqual(runToMerge([{ size: 65_537, live: 0 }]), [{ size: 65_537, live: 0 }])
})
