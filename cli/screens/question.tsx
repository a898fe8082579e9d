import type { ReadStream, WriteStream } from 'node:tty'
import { type Instance, render, Text, useInput } from 'ink'
import type { ReactElement } from 'react'
import { CliError } from '../errors/cli-error.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Prompts with y/N. @throws CliError INTERRUPTED on Ctrl-C */
export const showQuestion = (terminal: Terminal, text: string): Promise<boolean> =>
  promptOnScreen(terminal, onAnswer => <Question text={text} onAnswer={onAnswer} />)

export const promptOnScreen = async (
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

/**
 * Draws on standard error, so that standard output stays data. The screen never fills the terminal.
 *
 * Incremental rendering is off: Ink 6.8 counts the lines wrong when several lines change, and leaves parts of the old
 * ones.
 */
export const renderOnTerminal = (node: ReactElement, { stdin, stderr }: Terminal): Instance =>
  render(node, {
    stdin: stdin as ReadStream,
    stdout: stderr as WriteStream,
    stderr: stderr as WriteStream,
    exitOnCtrlC: false,
    patchConsole: false
  })

/** The answer to a question. */
export type Answer = 'yes' | 'no' | 'interrupt'

/** A question with y/N. Enter, Escape and n mean no; other keys are ignored. */
export const Question = ({
  text,
  onAnswer
}: {
  readonly text: string
  readonly onAnswer: (answer: Answer) => void
}): ReactElement => {
  useInput((input, key) => {
    if (key.ctrl && input === 'c') onAnswer('interrupt')
    else if (input === 'y' || input === 'Y') onAnswer('yes')
    else if (input === 'n' || input === 'N' || key.return || key.escape) onAnswer('no')
  })
  return (
    <Text>
      {safeText(text)} <Text bold>[y/N]</Text>{' '}
    </Text>
  )
}
