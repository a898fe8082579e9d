import { Box, Static, Text } from 'ink'
import type { ReactElement } from 'react'
import type { TourStep } from '../demo/tour-step.ts'
import { durationText } from '../output/times.ts'

/** What the progress is drawn from. */
export interface TourProgressProps {
  /** Steps that ended; they are written once and scroll away like any output. */
  readonly ended: readonly TourStep[]
  readonly running: TourStep | undefined
  /** Milliseconds since the running step began. */
  readonly elapsedMs: number
  readonly isAscii: boolean
}

/** The steps of the tour with ticks and times; the one that runs is the last line. */
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

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 80

const frameOf = (elapsedMs: number, isAscii: boolean): string => {
  const frames = isAscii ? ['|', '/', '-', '\\'] : FRAMES
  return frames[Math.floor(elapsedMs / FRAME_MS) % frames.length] ?? '-'
}
