import type { TourStep } from '../demo/tour-step.ts'
import type { Terminal } from '../terminal.ts'
import { renderOnTerminal } from './show.tsx'
import { TourProgress } from './tour-progress.tsx'

const FRAME_MS = 80

/** A tour that is being drawn. */
export interface TourScreen {
  onStep(step: TourStep): void
  /** Leaves the last picture on the terminal. */
  close(): Promise<void>
}

/** Draws the steps of a tour while it runs. */
export const openTourScreen = (terminal: Terminal, isAscii: boolean): TourScreen => {
  let ended: readonly TourStep[] = []
  let running: TourStep | undefined
  let since = performance.now()
  const draw = () => (
    <TourProgress ended={ended} running={running} elapsedMs={performance.now() - since} isAscii={isAscii} />
  )
  const screen = renderOnTerminal(draw(), terminal)
  const timer = setInterval(() => screen.rerender(draw()), FRAME_MS)
  return {
    onStep(step) {
      if (step.state === 'running') {
        running = step
        since = performance.now()
      } else {
        running = undefined
        ended = [...ended, step]
      }
      screen.rerender(draw())
    },
    async close() {
      clearInterval(timer)
      screen.rerender(draw())
      screen.unmount()
      await screen.waitUntilExit()
    }
  }
}
