import type { ReadStream, WriteStream } from 'node:tty'
import { type Instance, render } from 'ink'
import type { ReactElement } from 'react'
import { CliError } from '../errors/cli-error.ts'
import { type SpendSummary, summaryLines } from '../spend/spend-summary.ts'
import type { Terminal } from '../terminal.ts'
import { type Answer, Question, SendReview } from './send-review.tsx'

/**
 * Shows the review of a payment and waits for the answer.
 *
 * @throws CliError INTERRUPTED on Ctrl-C
 */
export const showSendReview = (
  terminal: Terminal,
  summary: SpendSummary,
  question = 'Sign and send it?'
): Promise<boolean> => {
  const { rows } = terminal.stderr as WriteStream
  const room = Math.floor((rows - summary.lines.length - FIXED_LINES) / LINES_EACH)
  if (summary.recipients.length > room) {
    for (const line of summaryLines(summary)) terminal.stderr.write(`${line}\n`)
  }
  // A picture as high as the terminal would flicker, and could not be read to its end.
  if (room < 1) return showQuestion(terminal, question)
  return askOnScreen(terminal, onAnswer => (
    <SendReview summary={summary} question={question} maxRecipients={room} onAnswer={onAnswer} />
  ))
}

// Title, question, the note on hidden recipients, and a free line.
const FIXED_LINES = 4
// An address and its amount may need a second line.
const LINES_EACH = 2

/** Asks one question with y/N. @throws CliError INTERRUPTED on Ctrl-C */
export const showQuestion = (terminal: Terminal, text: string): Promise<boolean> =>
  askOnScreen(terminal, onAnswer => <Question text={text} onAnswer={onAnswer} />)

/**
 * Draws on standard error, so that standard output stays data. The screen never fills the terminal.
 *
 * Not incrementally: Ink 6.8 counts the lines wrong when a picture of several lines changes, and leaves parts of the one
 * before.
 */
export const renderOnTerminal = (node: ReactElement, { stdin, stderr }: Terminal): Instance =>
  render(node, {
    stdin: stdin as ReadStream,
    stdout: stderr as WriteStream,
    stderr: stderr as WriteStream,
    exitOnCtrlC: false,
    patchConsole: false
  })

const askOnScreen = async (
  terminal: Terminal,
  draw: (onAnswer: (answer: Answer) => void) => ReactElement
): Promise<boolean> => {
  let screen: Instance | undefined
  const answer = await new Promise<Answer>(resolve => {
    screen = renderOnTerminal(draw(resolve), terminal)
  })
  screen?.unmount()
  await screen?.waitUntilExit()
  terminal.stderr.write(`${answer === 'yes' ? 'yes' : 'no'}\n`)
  if (answer === 'interrupt') throw new CliError('INTERRUPTED', 'Stopped')
  return answer === 'yes'
}
