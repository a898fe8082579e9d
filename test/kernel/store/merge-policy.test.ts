import test from 'ava'
import { mergeCountOf } from '../../../kernel/store/merge-policy.ts'

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
})
