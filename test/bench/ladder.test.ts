import test from 'ava'
import { growthExponent } from '../../bench/growth.ts'
import { PEER } from '../../bench/peer-package.ts'
import { type LadderResult, rowsOfStep } from '../../bench/size/ladder.ts'
import { Unfinished } from '../../bench/size/run-job.ts'
import type { Figures } from '../../bench/size/size-bench.ts'
import { watch } from '../../bench/stall.ts'

test('a growth exponent is 1 for linear work, 2 for a square, and none for one size', t => {
  const sizes = [100, 200, 400, 800]
  const of = (cost: (size: number) => number): number =>
    growthExponent(sizes.map(size => [size, cost(size)] as const))
  t.true(Math.abs(of(size => 3 * size) - 1) < 1e-9)
  t.true(Math.abs(of(size => size * size) - 2) < 1e-9)
  t.true(Math.abs(of(() => 7)) < 1e-9)
  const bent = of(size => (size === 800 ? 16 * size : size))
  t.true(bent > 1.5 && bent < 3)
  t.is(growthExponent([[100, 1]]), Number.NaN)
  t.is(
    growthExponent([
      [100, 1],
      [200, Number.NaN]
    ]),
    Number.NaN
  )
})

test('a stall is the longest time that a timer was kept waiting', async t => {
  const block = (ms: number): void => {
    const end = performance.now() + ms
    while (performance.now() < end);
  }
  const { value, stallMs, wallMs } = await watch(async () => {
    await new Promise(resolve => setTimeout(resolve, 20))
    block(60)
    await new Promise(resolve => setTimeout(resolve, 20))
    block(30)
    return 'done'
  })
  t.is(value, 'done')
  t.true(wallMs >= 125)
  t.true(stallMs >= 50, `${stallMs} ms`)
  const { stallMs: last } = await watch(async () => block(40))
  t.true(last >= 30, `what ends the work counts too: ${last} ms`)
})

const figures = (cpuMs: number, stallMs: number): Figures => ({
  cost: () => ({ cpuMs, wallMs: cpuMs, stallMs }),
  fact: () => 5
})

const lines = {
  step: 'all',
  title: (size: number) => `all ${size}`,
  goals: new Map([[10_000, 120]]),
  peerFacts: (of: Figures) => ({ seen: of.fact('seen') })
}

test('a ladder compares with the peer where it ran, and else with its recorded figures', t => {
  const result: LadderResult = {
    work: 'list',
    sizes: [5000, 10_000, 50_000],
    growing: [5000, 10_000],
    own: new Map([
      [5000, figures(50, 10)],
      [10_000, figures(100, 70)],
      [50_000, figures(500, 10)]
    ]),
    peer: new Map<number, Figures | Unfinished>([
      [10_000, figures(3000, 2900)],
      [50_000, new Unfinished('failed: too many open files')]
    ])
  }
  const rows = rowsOfStep(result, lines)
  t.deepEqual(
    rows.map(({ name }) => name),
    [
      'all 5000',
      'all 10000',
      `all 10000, ${PEER}`,
      'all 50000',
      `all 50000, ${PEER}, recorded`,
      'growth from all 5000 on'
    ]
  )
  const [small, middle, peer, large, recorded, growth] = rows
  t.deepEqual(small?.facts, { 'stall ms': 10 })
  t.deepEqual(middle?.facts, { 'peer ÷ ours': 30, 'stall ms': 70 })
  t.deepEqual(
    middle?.goals?.map(({ isMet }) => isMet),
    [true, false]
  )
  t.deepEqual(peer?.facts, { 'stall ms': 2900, seen: 5 })
  t.deepEqual(large?.facts, { 'peer’s recorded ÷ ours': 150, 'stall ms': 10 })
  t.deepEqual([recorded?.cpuMs, recorded?.facts], [75_000, { here: 'failed: too many open files' }])
  t.true(growth?.goals?.[0]?.isMet)
})

test('a ladder reports a size for which even the record has no figure', t => {
  const own = new Map([[500, figures(800, 10)]])
  const result: LadderResult = { work: 'startup', sizes: [500], growing: [500], own, peer: new Map() }
  const [ours, theirs] = rowsOfStep(result, { ...lines, step: 'usable' })
  t.deepEqual(ours?.facts, { 'stall ms': 10 })
  t.deepEqual(theirs, {
    name: `all 500, ${PEER}, recorded`,
    facts: { recorded: 'not finished in 400 s' }
  })
})
