import type { ExecutionContext } from 'ava'
import { WalletError } from '../../kernel/base/errors.ts'

// `npm run test:proofs -- --full` sets it.
const isFull = process.env.HOLDFAST_FULL === '1'

/** How many of `whole` runs are made now: all of them with `--full`, else one of `part`, and one at least. */
export const runCount = (whole: number, part = 10): number =>
  isFull ? whole : Math.max(1, Math.ceil(whole / part))

/**
 * Ends a property after some minutes, also one that looks for a shorter failure: a run that never waits lets no timer of ava end it.
 */
export const WITHIN_TIME: {
  readonly interruptAfterTimeLimit: number
  readonly markInterruptAsFailure: true
} = { interruptAfterTimeLimit: (isFull ? 60 : 4) * 60_000, markInterruptAsFailure: true }

/**
 * The seed of a random test: a new one for each process, or that of `HOLDFAST_SEED`. It is printed, so that what was
 * drawn can be drawn again.
 */
export const drawSeed = (t: Pick<ExecutionContext, 'log'>): number => {
  const given = process.env.HOLDFAST_SEED
  const seed = given === undefined ? Math.floor(Math.random() * 0x1_0000_0000) : Number(given)
  if (!Number.isInteger(seed)) throw new TypeError('HOLDFAST_SEED must be an integer')
  t.log(`seed ${seed} (HOLDFAST_SEED=${seed} draws the same again)`)
  return seed
}

/** A stream of chance that one seed repeats. */
export interface SeededRandom {
  /** An integer from 0 up to, and without, `bound`. */
  below(bound: number): number
  /** True once in `n` on average. */
  oneIn(n: number): boolean
  pick<T>(items: readonly T[]): T
}

/** Makes the stream of a seed (mulberry32). */
export const makeSeededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  return {
    below,
    oneIn: n => below(n) === 0,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError('There is nothing to pick from')
      return items[below(items.length)] as T
    }
  }
}

/** The items that are tried now: all of them with `--full`, else the `part`-th part, drawn by a new seed. */
export const drawPart = <T>(
  t: Pick<ExecutionContext, 'log'>,
  items: readonly T[],
  part: number
): readonly T[] => {
  if (isFull) return items
  const random = makeSeededRandom(drawSeed(t))
  const left = [...items]
  const count = Math.ceil(items.length / part)
  return Array.from({ length: count }, () => left.splice(random.below(left.length), 1)).flat()
}

/** The places of a row that are tried now, from 1: each one with `--full`, else each `part`-th after one that a new seed draws. */
export const drawSteps = (
  t: Pick<ExecutionContext, 'log'>,
  part: number
): { readonly first: number; readonly step: number } =>
  isFull ? { first: 1, step: 1 } : { first: 1 + makeSeededRandom(drawSeed(t)).below(part), step: part }

/** Prints how often each kind came, as the table of a suite, sorted by name. */
export const logCounts = (
  t: Pick<ExecutionContext, 'log'>,
  title: string,
  counts: ReadonlyMap<string, number>
): void => {
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  t.log(
    [
      `${title}: ${counts.size} kinds`,
      ...rows.map(([kind, n]) => `  ${String(n).padStart(6)}  ${kind}`)
    ].join('\n')
  )
}

/** Passes over a failure that a caller must expect, in a run that makes calls fail; one that is no {@link WalletError} is a fault. */
export const passWalletError = (error: unknown): undefined => {
  if (!(error instanceof WalletError)) throw error
}
