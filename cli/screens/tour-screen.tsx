import { Box, Static, Text } from 'ink'
import type { ReactElement } from 'react'
import { durationText } from '../../app/format/times.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { renderOnTerminal } from './question.tsx'

const FRAME_MS = 80

/** The display of a running tour. */
export interface TourScreen {
  onStep(step: TourStep): void
  /** Leaves the last frame on the terminal. */
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

/** Props of {@link TourProgress}. */
export interface TourProgressProps {
  /** Steps that ended; they are written once and scroll away like any output. */
  readonly ended: readonly TourStep[]
  readonly running: TourStep | undefined
  /** Milliseconds since the running step began. */
  readonly elapsedMs: number
  readonly isAscii: boolean
}

/** The steps of the tour with ticks and times; the running one is the last line. */
export const TourProgress = ({ ended, running, elapsedMs, isAscii }: TourProgressProps): ReactElement => (
  <>
    <Static items={[...ended]}>{step => <EndedStep key={step.id} step={step} isAscii={isAscii} />}</Static>
    {running === undefined ? null : (
      <Text>
        <Text color="cyan">{frameOf(elapsedMs, isAscii)}</Text> {running.title}{' '}
        <Text dimColor>{durationText(elapsedMs)}</Text>
      </Text>
    )}
  </>
)

const EndedStep = ({
  step,
  isAscii
}: {
  readonly step: TourStep
  readonly isAscii: boolean
}): ReactElement => {
  const { title, state, detail, lines = [], durationMs = 0 } = step
  const isDone = state === 'done'
  return (
    <Box flexDirection="column">
      <Text>
        <Text color={isDone ? 'green' : 'red'}>{markOf(isDone, isAscii)}</Text> <Text bold>{title}</Text>{' '}
        <Text dimColor>
          {isDone ? '' : 'failed after '}
          {durationText(durationMs)}
        </Text>
      </Text>
      {[...lines, ...(detail === undefined ? [] : [detail])].map(line => (
        <Box key={line} paddingLeft={2}>
          <Text dimColor>{line}</Text>
        </Box>
      ))}
    </Box>
  )
}

const markOf = (isDone: boolean, isAscii: boolean): string => {
  if (isAscii) return isDone ? 'ok' : '!!'
  return isDone ? '✔' : '✘'
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const SPINNER_MS = 80

const frameOf = (elapsedMs: number, isAscii: boolean): string => {
  const frames = isAscii ? ['|', '/', '-', '\\'] : SPINNER
  return frames[Math.floor(elapsedMs / SPINNER_MS) % frames.length] ?? '-'
}

/** One step of the tour: running, then done or failed. */
export interface TourStep {
  readonly id: string
  readonly title: string
  readonly state: 'running' | 'done' | 'failed'
  /** The result in words. */
  readonly detail?: string
  /** Further lines, such as the review of a payment. */
  readonly lines?: readonly string[]
  readonly durationMs?: number
}
