import { Box, Text, useInput } from 'ink'
import type { ReactElement } from 'react'
import type { QuoteLines } from '../swap/quote-lines.ts'

/** What a person does on the board. */
export type BoardKey = 'again' | 'choose' | 'close' | 'down' | 'enough' | 'interrupt' | 'up'

/** What the board is drawn from. */
export interface QuoteBoardProps {
  /** Such as `0.01 BTC from Savings to Litecoin`. */
  readonly title: string
  /** Ranked quotes first, then who has none (yet). */
  readonly rows: readonly QuoteLines[]
  /** The provider whose quote Enter would choose; undefined if nothing can be chosen. */
  readonly selected: string | undefined
  /** How long answers are still waited for; undefined when the round is over. */
  readonly waitSeconds: number | undefined
  /** How many lines there are, with one left free. */
  readonly height: number
  readonly isAscii: boolean
  readonly onKey: (key: BoardKey) => void
}

/** The quotes of a round as they come: what each gives, why it stands where it stands, and how long it holds. */
export const QuoteBoard = (props: QuoteBoardProps): ReactElement => {
  const { title, rows, selected, waitSeconds, height, isAscii, onKey } = props
  useKeys(onKey)
  const { shown, hidden } = fitting(rows, selected, height - FIXED_LINES)
  return (
    <Box flexDirection="column">
      <Text bold wrap="truncate-end">
        {title}
      </Text>
      {shown.map(row => (
        <Row key={row.pluginId} row={row} place={rows.indexOf(row) + 1} {...{ selected, isAscii }} />
      ))}
      {hidden > 0 ? <Text dimColor>and {hidden} more</Text> : null}
      <Text color="cyan" wrap="truncate-end">
        {waitText(rows, waitSeconds)}
      </Text>
      <Text dimColor wrap="truncate-end">
        {keysText(selected, waitSeconds, isAscii)}
      </Text>
    </Box>
  )
}

// Title, note on hidden ones, what is waited for, keys.
const FIXED_LINES = 4

const useKeys = (onKey: (key: BoardKey) => void): void => {
  useInput((input, key) => {
    if (key.ctrl && input === 'c') onKey('interrupt')
    else if (key.upArrow || input === 'k') onKey('up')
    else if (key.downArrow || input === 'j') onKey('down')
    else if (key.return) onKey('choose')
    else if (input === 's') onKey('enough')
    else if (input === 'r') onKey('again')
    else if (input === 'q' || key.escape) onKey('close')
  })
}

interface RowProps {
  readonly row: QuoteLines
  readonly place: number
  readonly selected: string | undefined
  readonly isAscii: boolean
}

const Row = ({ row, place, selected, isAscii }: RowProps): ReactElement => {
  const { title, state, main, detail, left } = row
  if (state === 'pending' || state === 'failed') {
    return (
      // Of a narrow line the ends count: who it is, and the limit.
      <Text wrap={state === 'failed' ? 'truncate-middle' : 'truncate-end'} dimColor={state === 'pending'}>
        {'  '}
        <Text color={state === 'failed' ? 'red' : 'cyan'}>{markOf(state, isAscii)}</Text> {title}: {main}
      </Text>
    )
  }
  const isSelected = row.pluginId === selected
  const time = left === '' ? '' : `${left}${state === 'expired' ? '' : ' left'}  `
  return (
    <Box flexDirection="column">
      <Text wrap="truncate-end" dimColor={state === 'expired'}>
        <Text color="cyan">{isSelected ? (isAscii ? '> ' : '❯ ') : '  '}</Text>
        <Text bold={state === 'open'}>
          {place} {main}
        </Text>
        {'  '}
        {title}
      </Text>
      <Text wrap="truncate-end">
        {'    '}
        <Text color="yellow">{time}</Text>
        <Text dimColor>{detail}</Text>
      </Text>
    </Box>
  )
}

const markOf = (state: 'failed' | 'pending', isAscii: boolean): string => {
  if (state === 'failed') return isAscii ? 'x' : '✘'
  return isAscii ? '.' : '…'
}

/** The rows that fit, with the selected one among them. */
const fitting = (
  rows: readonly QuoteLines[],
  selected: string | undefined,
  room: number
): { readonly shown: readonly QuoteLines[]; readonly hidden: number } => {
  const heightOf = ({ state }: QuoteLines): number => (state === 'open' || state === 'expired' ? 2 : 1)
  const at = rows.findIndex(({ pluginId }) => pluginId === selected)
  for (let first = 0; first < rows.length; first += 1) {
    let left = room
    const shown = rows.slice(first).filter(row => {
      left -= heightOf(row)
      return left >= 0
    })
    if (at < first + shown.length) return { shown, hidden: rows.length - shown.length }
  }
  return { shown: [], hidden: rows.length }
}

const waitText = (rows: readonly QuoteLines[], waitSeconds: number | undefined): string => {
  const pending = rows.filter(({ state }) => state === 'pending').length
  if (waitSeconds === undefined || pending === 0) return 'these are the quotes'
  const time = waitSeconds > 0 ? `${Math.ceil(waitSeconds)} s at most` : 'until the first one answers'
  return `waiting for ${pending} of ${rows.length} providers, ${time}`
}

const keysText = (selected: string | undefined, waitSeconds: number | undefined, isAscii: boolean): string =>
  [
    ...(selected === undefined ? [] : [`${isAscii ? 'up/down' : '↑↓'} choose`, 'Enter review it']),
    ...(waitSeconds === undefined ? ['r ask again'] : ['s wait no longer']),
    'q quit'
  ].join('  ')
