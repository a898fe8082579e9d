import test from 'ava'
import type { Purpose } from '../../../plugins/currency/utxo/params/coin.ts'
import { feeOf, outputWeightOf, txWeightOf } from '../../../plugins/currency/utxo/spend/fees.ts'
import {
  branchAndBound,
  makeRandomBelow,
  shuffledCoins
} from '../../../plugins/currency/utxo/spend/select-coins.ts'
import { drawSeed, makeSeededRandom } from '../../helpers/drawn-runs.ts'

/** Which subset of the coins has the least waste in the window, found by trying all; undefined for none. */
const leastWaste = (
  values: readonly number[],
  wastes: readonly number[],
  { target, slack }: { readonly target: number; readonly slack: number }
): number | undefined => {
  let least: number | undefined
  for (let subset = 1; subset < 2 ** values.length; subset += 1) {
    const chosen = values.map((_, at) => at).filter(at => (subset & (1 << at)) !== 0)
    const sum = chosen.reduce((all, at) => all + (values[at] ?? 0), 0)
    if (sum < target || sum > target + slack) continue
    const waste = chosen.reduce((all, at) => all + (wastes[at] ?? 0), sum - target)
    if (least === undefined || waste < least) least = waste
  }
  return least
}

test('weights are those of well-known transactions', t => {
  const weightOf = (inputs: [Purpose, number][], outputs: readonly number[]): number =>
    txWeightOf(new Map(inputs), outputs)
  // One input and two outputs of each kind; signatures of 71 bytes with the type.
  t.is(weightOf([[44, 1]], [25, 25]), 4 * 225)
  t.is(weightOf([[32, 1]], [25, 25]), 4 * 225)
  t.is(weightOf([[84, 1]], [22, 22]), 561)
  t.is(weightOf([[49, 1]], [23, 23]), 42 + 363 + 2 * 128)
  t.is(weightOf([[86, 1]], [34]), 444)
  // Each legacy input beside a witness has an empty one of a byte.
  t.is(
    weightOf(
      [
        [84, 1],
        [44, 2]
      ],
      [22]
    ),
    42 + 271 + 2 * (4 * 147 + 1) + 124
  )
  t.is(weightOf([[44, 2]], [22]), 40 + 2 * 4 * 147 + 124)
  // From 253 on, a count takes three bytes.
  t.is(weightOf([[84, 252]], [22]), 42 + 252 * 271 + 124)
  t.is(weightOf([[84, 253]], [22]), 42 + 8 + 253 * 271 + 124)
  t.is(weightOf([[84, 1]], new Array(252).fill(22)), 42 + 271 + 252 * 124)
  t.is(weightOf([[84, 1]], new Array(253).fill(22)), 42 + 8 + 271 + 253 * 124)
  t.is(outputWeightOf(22), 124)
})

test('a fee is that of whole virtual bytes, rounded up', t => {
  t.is(feeOf(561, 1000n), 141n)
  t.is(feeOf(564, 1000n), 141n)
  t.is(feeOf(565, 1000n), 142n)
  t.is(feeOf(561, 1n), 1n)
  t.is(feeOf(4000, 1001n), 1001n)
  t.is(feeOf(4, 1001n), 2n)
})

test('coins without change are those of the least waste, as trying all subsets finds them', t => {
  const seededRandom = makeSeededRandom(drawSeed(t))
  let found = 0
  for (let round = 0; round < 400; round += 1) {
    // Of few kinds, many coins are alike.
    const kinds = seededRandom.pick([1, 2, 4, 40])
    const values = Array.from({ length: 1 + seededRandom.below(9) }, () => {
      return (1 + seededRandom.below(kinds)) * Math.ceil(40 / kinds)
    }).sort((a, b) => b - a)
    const sign = seededRandom.pick([1, -1, 0])
    const isAlike = seededRandom.oneIn(2)
    const wastes = values.map(value => sign * (isAlike ? value % 6 : seededRandom.below(6)))
    const slack = seededRandom.below(8)
    const some = values.filter(() => seededRandom.oneIn(2)).reduce((sum, value) => sum + value, 0)
    const window = { target: Math.max(1, some - seededRandom.below(2 * slack + 2)), slack }
    const chosen = branchAndBound({ values, wastes, ...window, maxTries: 100_000 })
    const least = leastWaste(values, wastes, window)
    t.is(chosen === undefined, least === undefined, JSON.stringify({ values, wastes, window }))
    if (chosen === undefined || least === undefined) continue
    found += 1
    t.is(new Set(chosen).size, chosen.length)
    const sum = chosen.reduce((all, at) => all + (values[at] ?? 0), 0)
    t.true(sum >= window.target && sum <= window.target + window.slack)
    const waste = chosen.reduce((all, at) => all + (wastes[at] ?? 0), sum - window.target)
    // Where fees are low, more coins would be less waste, but the search stops at the first that are enough.
    if (sign >= 0) t.is(waste, least, JSON.stringify({ values, wastes, window, chosen }))
  }
  t.true(found > 50)
})

test('a search for coins without change gives up after so many tries', t => {
  const values = Array.from({ length: 40 }, (_, at) => 2 * (1000 - at))
  const search = { values, wastes: values.map(() => 1), target: 10_001, slack: 0 }
  t.is(branchAndBound({ ...search, maxTries: 1000 }), undefined)
  t.deepEqual(branchAndBound({ ...search, target: 2000, maxTries: 1 }), undefined)
  t.deepEqual(branchAndBound({ ...search, target: 2000, maxTries: 2 }), [0])
})

test('where fees are high a search leaves what is already more wasteful than its best, and so finds more in its tries', t => {
  const search = {
    values: [930, 860, 753, 645, 566, 549, 365, 226],
    wastes: [38, 34, 58, 17, 13, 1, 1, 5],
    target: 1700,
    slack: 200
  }
  t.deepEqual(branchAndBound({ ...search, maxTries: 100_000 }), [4, 5, 6, 7])
  t.deepEqual(branchAndBound({ ...search, maxTries: 79 }), [4, 5, 6, 7])
})

test('three random bytes are one number, and those that would favour small ones are drawn again', t => {
  const drawn = (below: number, ...bytes: readonly number[]): number => {
    const left = [...bytes]
    return makeRandomBelow(count => Uint8Array.from(left.splice(0, count)))(below)
  }
  t.is(drawn(2 ** 24, 1, 2, 3), 0x010203)
  t.is(drawn(2 ** 24, 0, 0, 255), 255)
  t.is(drawn(10, 0, 0, 255), 5)
  // 16,777,210 is the largest multiple of 10 below 2^24.
  t.is(drawn(10, 255, 255, 249), 9)
  t.is(drawn(10, 255, 255, 250, 0, 0, 3), 3)
  t.is(drawn(2 ** 24, 255, 255, 255), 0xffffff)
})

test('what is mixed has each thing once, and any order comes', t => {
  const seen = new Set<string>()
  const seededRandom = makeSeededRandom(drawSeed(t))
  for (let run = 0; run < 200; run += 1) seen.add(shuffledCoins(['a', 'b', 'c'], seededRandom.below).join(''))
  t.deepEqual([...seen].sort(), ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
})
