import { Box, Text } from 'ink'
import type { ReactElement } from 'react'
import { untrustedText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { renderOnTerminal } from './question.tsx'

const FRAME_MS = 500

/** A login request that is shown on the terminal. */
export interface EdgeLoginScreen {
  /** Leaves the last line on the terminal. */
  close(): Promise<void>
}

/** Draws the state of a request and the remaining time until it is closed. */
export const openEdgeLoginScreen = (terminal: Terminal, getProps: () => EdgeLoginProps): EdgeLoginScreen => {
  const draw = () => <EdgeLoginStatus {...getProps()} />
  const screen = renderOnTerminal(draw(), terminal)
  const timer = setInterval(() => screen.rerender(draw()), FRAME_MS)
  return {
    async close() {
      clearInterval(timer)
      screen.rerender(draw())
      screen.unmount()
      await screen.waitUntilExit()
    }
  }
}

/** The state of a login request. */
export interface EdgeLoginProps {
  readonly state: 'closed' | 'done' | 'error' | 'pending' | 'started'
  /** The user who approved, once known. */
  readonly username: string | undefined
  readonly secondsLeft: number
  /** The last error, also of a request that continues. */
  readonly errorCode: string | undefined
  /** The number of invalid replies: anyone who sees the code can send one. */
  readonly skippedReplies: number
}

/** The line below the QR code with the state of the request. */
export const EdgeLoginStatus = ({
  state,
  username,
  secondsLeft,
  errorCode,
  skippedReplies
}: EdgeLoginProps): ReactElement => (
  <Box>
    <Text color={COLORS[state]}>{sentenceOf(state, username)}</Text>
    {errorCode === undefined ? null : <Text color="yellow"> ({errorText(errorCode, skippedReplies)})</Text>}
    {state === 'pending' ? <Text dimColor>, {clockText(secondsLeft)} left; Ctrl-C cancels</Text> : null}
  </Box>
)

const COLORS: Readonly<Record<EdgeLoginProps['state'], string>> = {
  pending: 'cyan',
  started: 'cyan',
  done: 'green',
  error: 'red',
  closed: 'yellow'
}

const sentenceOf = (state: EdgeLoginProps['state'], username: string | undefined): string => {
  if (state === 'pending') return 'waiting for approval'
  if (state === 'started') return `approved by ${nameOf(username)}; opening the account`
  if (state === 'done') return `logged in as ${nameOf(username)}`
  return state === 'closed' ? 'cancelled' : 'the request failed'
}

/** Short, since a line has 80 columns. */
const errorText = (errorCode: string, skipped: number): string =>
  skipped === 0 ? errorCode : `skipped ${skipped}: ${errorCode}`

const nameOf = (username: string | undefined): string =>
  username === undefined ? 'a light account' : untrustedText(username)

const clockText = (seconds: number): string => {
  const whole = Math.max(0, Math.ceil(seconds))
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
