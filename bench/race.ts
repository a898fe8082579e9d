import { type Cost, measure, median, medianCost } from './measure.ts'
import { makeQuiet } from './quiet.ts'

/** One of several that do the same work. `before` and `after` are not timed. */
export interface Contender {
  readonly name: string
  /** Does the work once, or `batch` units of it where that is given. */
  run(): unknown
  before?(): unknown
  /** Gets what `run` gave and what it cost; the place to check that it is right. */
  after?(value: unknown, cost: Cost): unknown
  /** How many units of work one `run` is. */
  readonly batch?: number
  /** One sample repeats `run` until it takes about this long; once if left out. For synchronous work only. */
  readonly sampleMs?: number
}

/** How long to race. */
export interface RaceOptions {
  readonly rounds: number
  /** Untimed rounds before. */
  readonly warmUp?: number
}

/** The figures of a race, per unit of work. */
export interface RaceResult {
  cost(name: string): Cost
  /** How many times less CPU `name` takes than `base`: the median over the rounds, pair by pair. */
  ratio(base: string, name: string): number
  /** What `name` takes more than `base`: the median over the rounds, pair by pair. */
  excess(base: string, name: string): Cost
  /** Every sample of a contender, round by round. */
  samples(name: string): readonly Cost[]
}

/**
 * Times contenders side by side: all of them in each round, so that a change of the machine's speed meets them alike.
 *
 * The order turns with the rounds, so that none always comes after the same. Before a round it waits a little for a
 * core that is free.
 */
export const race = async (
  contenders: readonly Contender[],
  { rounds, warmUp = 1 }: RaceOptions
): Promise<RaceResult> => {
  const repeats = new Map(contenders.map(contender => [contender.name, repeatsFor(contender)]))
  const samples = new Map<string, Cost[]>(contenders.map(({ name }) => [name, []]))
  const quiet = makeQuiet(PATIENCE_MS)
  for (let round = -warmUp; round < rounds; round++) {
    if (round >= 0) await quiet()
    for (let i = 0; i < contenders.length; i++) {
      const contender = contenders[(i + Math.max(0, round)) % contenders.length] as Contender
      const cost = await sampleOf(contender, repeats.get(contender.name) ?? 1)
      if (round >= 0) samples.get(contender.name)?.push(cost)
    }
  }
  const of = (name: string): readonly Cost[] => {
    const found = samples.get(name)
    if (found === undefined) throw new Error(`No contender is named ${name}`)
    return found
  }
  return {
    samples: of,
    cost: name => medianCost(of(name)),
    ratio: (base, name) => median(of(base).map(({ cpuMs }, i) => cpuMs / (of(name)[i]?.cpuMs ?? Number.NaN))),
    excess: (base, name) =>
      medianCost(
        of(name).map(({ cpuMs, wallMs }, i) => ({
          cpuMs: cpuMs - (of(base)[i]?.cpuMs ?? Number.NaN),
          wallMs: wallMs - (of(base)[i]?.wallMs ?? Number.NaN)
        }))
      )
  }
}

/** How long a race may wait for a quiet machine, in all. */
const PATIENCE_MS = 4000

const sampleOf = async (contender: Contender, repeat: number): Promise<Cost> => {
  await contender.before?.()
  const { cpuMs, wallMs, value } = await measure(async () => {
    for (let i = 1; i < repeat; i++) contender.run()
    return contender.run()
  })
  await contender.after?.(value, { cpuMs, wallMs })
  const units = repeat * (contender.batch ?? 1)
  return { cpuMs: cpuMs / units, wallMs: wallMs / units }
}

/** Warms the work up, too. */
const repeatsFor = ({ run, sampleMs }: Contender): number => {
  if (sampleMs === undefined) return 1
  let repeat = 1
  while (true) {
    const start = performance.now()
    for (let i = 0; i < repeat; i++) run()
    const durationMs = performance.now() - start
    if (durationMs >= sampleMs / 2) return Math.max(1, Math.round((repeat * sampleMs) / durationMs))
    repeat *= 2
  }
}
