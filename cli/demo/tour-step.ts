/** One step of the tour as it is told: begun, then done with what came of it. */
export interface TourStep {
  readonly id: string
  readonly title: string
  readonly state: 'running' | 'done' | 'failed'
  /** What came of it, for people. */
  readonly detail?: string
  /** Further lines, such as the review of a payment. */
  readonly lines?: readonly string[]
  readonly durationMs?: number
}

/** Hears every change of a step. */
export type OnTourStep = (step: TourStep) => void

/** What a step gives back. */
export interface StepOutcome<T> {
  readonly value: T
  readonly detail: string
  readonly lines?: readonly string[]
}

/** Runs one step and tells of it. */
export type RunStep = <T>(id: string, title: string, work: () => Promise<StepOutcome<T>>) => Promise<T>

/** Makes the runner of steps; `pauseMs` lets a person read along. */
export const makeRunStep =
  (onStep: OnTourStep, pauseMs: number): RunStep =>
  async (id, title, work) => {
    const started = performance.now()
    onStep({ id, title, state: 'running' })
    try {
      const { value, detail, lines } = await work()
      const durationMs = performance.now() - started
      onStep({ id, title, state: 'done', detail, durationMs, ...(lines === undefined ? {} : { lines }) })
      if (pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pauseMs))
      return value
    } catch (error) {
      onStep({ id, title, state: 'failed', durationMs: performance.now() - started })
      throw error
    }
  }
