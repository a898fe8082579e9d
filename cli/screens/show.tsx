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
export const showSendReview = (terminal: Terminal, summary: SpendSummary): Promise<boolean> => {
  // Title, fields and question take ten lines; each address may take two.
  const room = Math.max(1, Math.floor(((terminal.stderr as WriteStream).rows - 11) / 2))
  if (summary.recipients.length > room) {
    for (const line of summaryLines(summary)) terminal.stderr.write(`${line}\n`)
  }
  return askOnScreen(terminal, onAnswer => (
    <SendReview summary={summary} maxRecipients={room} onAnswer={onAnswer} />
  ))
}

/** Asks one question with y/N. @throws CliError INTERRUPTED on Ctrl-C */
export const showQuestion = (terminal: Terminal, text: string): Promise<boolean> =>
  askOnScreen(terminal, onAnswer => <Question text={text} onAnswer={onAnswer} />)

/** Draws on standard error, so that standard output stays data. The screen never fills the terminal. */
export const renderOnTerminal = (node: ReactElement, { stdin, stderr }: Terminal): Instance =>
  render(node, {
    stdin: stdin as ReadStream,
    stdout: stderr as WriteStream,
    stderr: stderr as WriteStream,
    exitOnCtrlC: false,
    patchConsole: false,
    incrementalRendering: true
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
