/** What a piece of work cost: processor time of the whole process, all threads, and time on the wall. */
export interface Cost {
  readonly cpuMs: number
  readonly wallMs: number
}

/** Runs some work once and tells what it cost. */
export const measure = async <T>(work: () => T | Promise<T>): Promise<Cost & { readonly value: T }> => {
  const cpu = process.cpuUsage()
  const wall = performance.now()
  const started = work()
  const value = started instanceof Promise ? await started : started
  const wallMs = performance.now() - wall
  const { user, system } = process.cpuUsage(cpu)
  return { cpuMs: (user + system) / 1000, wallMs, value }
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
