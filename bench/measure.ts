/** What a piece of work cost: processor time of the whole process, all threads, and time on the wall. */
export interface Cost {
  readonly cpuMs: number
  readonly wallMs: number
}

/** How much this process has used up to a moment, and when that was; two of them make a {@link Cost}. */
export type Moment = Cost

/** The present moment. */
export const momentNow = (): Moment => {
  const { user, system } = process.cpuUsage()
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() }
}

/** What lies between two moments. */
export const costBetween = (start: Moment, end: Moment): Cost => ({
  cpuMs: end.cpuMs - start.cpuMs,
  wallMs: end.wallMs - start.wallMs
})

/** Runs some work once and tells what it cost. */
export const measure = async <T>(work: () => T | Promise<T>): Promise<Cost & { readonly value: T }> => {
  const start = momentNow()
  const started = work()
  const value = started instanceof Promise ? await started : started
  return { ...costBetween(start, momentNow()), value }
}

/** The middle of some numbers; NaN of none. */
export const median = (numbers: readonly number[]): number => {
  const sorted = [...numbers].sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? upper) + upper) / 2
}

/** The median of each part by itself. */
export const medianCost = (costs: readonly Cost[]): Cost => ({
  cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
  wallMs: median(costs.map(({ wallMs }) => wallMs))
})
