import type { WriteStream } from 'node:tty'
import { Box, Text } from 'ink'
import type { ReactElement } from 'react'
import { safeText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type Answer, promptOnScreen, Question, showQuestion } from './question.tsx'

/**
 * Shows the review of a payment and waits for the answer. A text in it, such as the name of a wallet, neither moves the cursor nor
 * begins a line.
 *
 * @param options - `question`: what a yes does; `lines`: the same as text, printed where it does not fit on the screen
 * @throws CliError INTERRUPTED on Ctrl-C
 */
export const showSendReview = (
  terminal: Terminal,
  summary: ReviewFacts,
  {
    question,
    lines,
    network
  }: { readonly lines: readonly string[] } & Pick<SendReviewProps, 'network' | 'question'>
): Promise<boolean> => {
  const { rows } = terminal.stderr as WriteStream
  const room = Math.floor((rows - summary.lines.length - FIXED_LINES) / LINES_EACH)
  if (summary.recipients.length > room) {
    for (const line of lines) terminal.stderr.write(`${safeText(line)}\n`)
  }
  // A screen as high as the terminal would flicker, and could not be read to its end.
  if (room < 1) return showQuestion(terminal, question)
  return promptOnScreen(terminal, onAnswer => (
    <SendReview {...{ summary, question, network, onAnswer }} maxRecipients={room} />
  ))
}

// Title, question, the note on hidden recipients, and a free line.
const FIXED_LINES = 4
// An address and its amount may need a second line.
const LINES_EACH = 2

/** The part of a payment's summary that a review shows. */
export interface ReviewFacts {
  /** Label and value, in the order in which they are read. */
  readonly lines: readonly (readonly [label: string, value: string])[]
  /** Each recipient's address in groups that can be compared by eye, with what they get. */
  readonly recipients: readonly Recipient[]
}

/** One line of a payment. `place`: its number, from 1. */
export interface Recipient {
  readonly place: number
  readonly groups: readonly string[]
  readonly amount: string
}

/** Props of {@link SendReview}. */
export interface SendReviewProps {
  readonly summary: ReviewFacts
  /** The effect of a yes. */
  readonly question: string
  /** The network of the payment: `fake world`, or `main network`. */
  readonly network: string
  /** The number of recipients that fit on the screen; all were printed above it otherwise. */
  readonly maxRecipients: number
  readonly onAnswer: (answer: Answer) => void
}

const LABEL = 13

/** The review of a payment before it is signed. No is the default. */
export const SendReview = ({
  summary,
  question,
  network,
  maxRecipients,
  onAnswer
}: SendReviewProps): ReactElement => {
  const shown = summary.recipients.slice(0, maxRecipients)
  const hidden = summary.recipients.length - shown.length
  return (
    <Box flexDirection="column">
      <Text>
        <Text bold>Review the payment</Text> <Text dimColor>({network})</Text>
      </Text>
      {summary.lines.map(([label, value]) => (
        <Field key={label} label={label} value={value} isStrong={label === 'total'} />
      ))}
      {shown.map(({ groups, amount, place }) => (
        <Box key={place}>
          <Box width={LABEL} flexShrink={0}>
            <Text dimColor>to</Text>
          </Box>
          <Text>
            <Text color="cyan">{safeText(groups.join(' '))}</Text> {safeText(amount)}
          </Text>
        </Box>
      ))}
      {hidden > 0 ? <Text color="yellow">and {hidden} more, printed above</Text> : null}
      <Question text={question} onAnswer={onAnswer} />
    </Box>
  )
}

const Field = ({
  label,
  value,
  isStrong
}: {
  readonly label: string
  readonly value: string
  readonly isStrong: boolean
}): ReactElement => (
  <Box>
    <Box width={LABEL} flexShrink={0}>
      <Text dimColor>{safeText(label)}</Text>
    </Box>
    <Text bold={isStrong}>{safeText(value)}</Text>
  </Box>
)
