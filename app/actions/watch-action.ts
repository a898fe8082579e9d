import type { ActionDeclaration } from './declaration.ts'
import type { ActionServices } from './services.ts'

/** Receives the results of an action that is watched. */
export interface WatchListener<Out> {
  /** Called with the first result, and with each one that differs from the one before. */
  onOutput(output: Out): void
  /** Called if it fails; it is run again when something changes. */
  onFailure(error: unknown): void
}

/** The parts of an action that a watch needs. */
interface WatchedAction<In, Out> extends Pick<ActionDeclaration<In, Out>, 'changesAt' | 'watch'> {
  run(): Promise<Out>
}

/**
 * Runs an action now and whenever its result may be another one, until the returned function is called. One run at a time; what
 * changes meanwhile causes another one.
 *
 * @throws what `watch` of the action throws
 */
export const watchResults = <In, Out extends object>(
  services: ActionServices,
  { run, watch, changesAt }: WatchedAction<In, Out>,
  input: In,
  listener: WatchListener<Out>
): (() => void) => {
  const { clock } = services.io
  let isOver = false
  let isRunning = false
  let hasChanged = false
  let latest: string | undefined
  let cancel = (): void => {}
  const runLater = (milliseconds: number): void => {
    cancel()
    cancel = clock.after(milliseconds, () => void runNow())
  }
  const runNow = async (): Promise<void> => {
    cancel()
    isRunning = true
    hasChanged = false
    const began = clock.monotonic()
    let next: number | undefined
    try {
      const output = await run()
      const text = JSON.stringify(output)
      next = changesAt?.(output)
      if (!isOver && text !== latest) listener.onOutput(output)
      latest = text
    } catch (error) {
      latest = undefined
      if (!isOver) listener.onFailure(error)
    }
    isRunning = false
    if (isOver) return
    const left = next === undefined ? 0 : next - clock.now()
    // What takes long is not done all the time, as while a wallet reads its chain.
    if (hasChanged) runLater(Math.min(MAX_REST_MS, GATHER_MS + REST * (clock.monotonic() - began)))
    else if (left > 0) runLater(Math.min(left + 1, MAX_TIMER_MS))
  }
  const stop = watch?.(services, input, () => {
    if (isOver) return
    if (!isRunning && !hasChanged) runLater(GATHER_MS)
    hasChanged = true
  })
  void runNow()
  return () => {
    isOver = true
    cancel()
    stop?.()
  }
}

/** Changes that come together cause one run. */
const GATHER_MS = 10
/** The rest after a run, as a multiple of what it took. */
const REST = 4
const MAX_REST_MS = 1000
const MAX_TIMER_MS = 2 ** 31 - 1
