import { Box, Text, useInput } from 'ink'
import type { ReactElement } from 'react'
import type { SpendSummary } from '../spend/spend-summary.ts'

/** What ends a question. */
export type Answer = 'yes' | 'no' | 'interrupt'

/** What the review is drawn from. */
export interface SendReviewProps {
  readonly summary: SpendSummary
  /** What a yes does. */
  readonly question: string
  /** How many recipients fit on the screen; the others have been printed above it. */
  readonly maxRecipients: number
  readonly onAnswer: (answer: Answer) => void
}

const LABEL = 13

/** What a person approves before anything is signed. No is the default. */
export const SendReview = ({ summary, question, maxRecipients, onAnswer }: SendReviewProps): ReactElement => {
  const shown = summary.recipients.slice(0, maxRecipients)
  const hidden = summary.recipients.length - shown.length
  return (
    <Box flexDirection="column">
      <Text bold>Review the payment</Text>
      {summary.lines.map(([label, value]) => (
        <Field key={label} label={label} value={value} isStrong={label === 'total'} />
      ))}
      {shown.map(({ groups, amount, place }) => (
        <Box key={place}>
          <Box width={LABEL} flexShrink={0}>
            <Text dimColor>to</Text>
          </Box>
          <Text>
            <Text color="cyan">{groups.join(' ')}</Text> {amount}
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
      <Text dimColor>{label}</Text>
    </Box>
    <Text bold={isStrong}>{value}</Text>
  </Box>
)

/** One question with y/N. Enter, Escape and n mean no; other keys mean nothing. */
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
      {text} <Text bold>[y/N]</Text>{' '}
    </Text>
  )
}
