import type { WriteStream } from 'node:tty'
import { Box, Text, useInput } from 'ink'
import type { ReactElement } from 'react'
import type { PluginId } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { renderOnTerminal } from './question.tsx'

/** Options of {@link chooseQuote}. */
export interface QuoteScreenOptions {
  readonly title: string
  readonly isAscii: boolean
  /** Aborted by a signal from outside; Ctrl-C comes as a key. */
  readonly signal: AbortSignal
  /** The round as it stands: ranked quotes first, then who has none (yet). */
  getRound(): { readonly rows: readonly QuoteLines[]; readonly isOver: boolean }
  subscribe(listener: () => void): () => void
  /** Milliseconds until no more answers are waited for; may be negative. */
  waitLeftMs(): number
  /** Stops waiting for answers. */
  stopWaiting(): void
}

/** The decision: a provider's quote, another round, or none. */
export type QuoteChoice =
  | { readonly kind: 'again' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'chosen'; readonly quoteId: string }

const FRAME_MS = 250

/**
 * Shows the quotes of a round as they come, with a countdown on each, until one is chosen or nothing is.
 *
 * @throws CliError INTERRUPTED on Ctrl-C; the signal's reason
 */
export const chooseQuote = async (terminal: Terminal, options: QuoteScreenOptions): Promise<QuoteChoice> => {
  const { signal } = options
  signal.throwIfAborted()
  const selection = new QuoteSelection(options)
  const height = (): number => ((terminal.stderr as WriteStream).rows ?? DEFAULT_ROWS) - 1
  const draw = () => selection.draw(height())
  const screen = renderOnTerminal(draw(), terminal)
  const redraw = (): void => screen.rerender(draw())
  const timer = setInterval(redraw, FRAME_MS)
  const stops = [options.subscribe(redraw)]
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    stops.push(() => signal.removeEventListener('abort', stop))
  })
  selection.onMove = redraw
  try {
    return await Promise.race([selection.choice, stopped])
  } finally {
    clearInterval(timer)
    for (const stop of stops) stop()
    // A chosen quote is reviewed next, and the others are printed as the result: the list is cleared.
    screen.clear()
    screen.unmount()
    await screen.waitUntilExit()
  }
}

const DEFAULT_ROWS = 24

/** The selected quote, and the effects of keys on it. */
class QuoteSelection {
  readonly choice: Promise<QuoteChoice>
  onMove: () => void = () => {}
  readonly #options: QuoteScreenOptions
  /** Undefined until the selection is moved: the best quote is selected, whichever it is. */
  #pluginId: PluginId | undefined
  #settle: (choice: QuoteChoice) => void = () => {}
  #fail: (error: CliError) => void = () => {}

  constructor(options: QuoteScreenOptions) {
    this.#options = options
    this.choice = new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#fail = reject
    })
  }

  draw(height: number) {
    const { title, isAscii, getRound, waitLeftMs } = this.#options
    const { rows, isOver } = getRound()
    return (
      <QuoteScreen
        title={title}
        rows={rows}
        selected={this.#selected()?.pluginId}
        waitSeconds={isOver ? undefined : waitLeftMs() / 1000}
        height={height}
        isAscii={isAscii}
        onKey={key => this.#press(key)}
      />
    )
  }

  #press(key: QuoteListKey): void {
    const { getRound, stopWaiting } = this.#options
    if (key === 'interrupt') this.#fail(new CliError('INTERRUPTED', 'Stopped'))
    else if (key === 'close') this.#settle({ kind: 'closed' })
    else if (key === 'enough') stopWaiting()
    else if (key === 'again' && getRound().isOver) this.#settle({ kind: 'again' })
    else if (key === 'choose') this.#choose()
    else if (key === 'up' || key === 'down') this.#move(key === 'up' ? -1 : 1)
  }

  #choose(): void {
    const quoteId = this.#selected()?.quoteId
    if (quoteId !== undefined && quoteId !== '') this.#settle({ kind: 'chosen', quoteId })
  }

  #move(step: number): void {
    const open = this.#open()
    const at = open.findIndex(({ pluginId }) => pluginId === this.#selected()?.pluginId)
    this.#pluginId = open[Math.min(open.length - 1, Math.max(0, at + step))]?.pluginId
    this.onMove()
  }

  #open(): readonly QuoteLines[] {
    return this.#options.getRound().rows.filter(({ state }) => state === 'open')
  }

  #selected(): QuoteLines | undefined {
    const open = this.#open()
    return open.find(({ pluginId }) => pluginId === this.#pluginId) ?? open[0]
  }
}

/** The actions of keys. */
export type QuoteListKey = 'again' | 'choose' | 'close' | 'down' | 'enough' | 'interrupt' | 'up'

/** Props of {@link QuoteScreen}. */
export interface QuoteListProps {
  /** The title, such as `0.01 BTC from Savings to Litecoin`. */
  readonly title: string
  /** Ranked quotes first, then who has none (yet). */
  readonly rows: readonly QuoteLines[]
  /** The provider whose quote Enter chooses; undefined if none can be chosen. */
  readonly selected: string | undefined
  /** The seconds left to wait for answers; undefined when the round is over. */
  readonly waitSeconds: number | undefined
  /** The number of lines, with one left free. */
  readonly height: number
  readonly isAscii: boolean
  readonly onKey: (key: QuoteListKey) => void
}

/** The quotes of a round as they arrive, with the reasons for their rank and their expiration. */
export const QuoteScreen = (props: QuoteListProps): ReactElement => {
  const { title, rows, selected, waitSeconds, height, isAscii, onKey } = props
  useKeys(onKey)
  const { shown, hidden } = fitting(rows, selected, height - FIXED_LINES)
  return (
    <Box flexDirection="column">
      <Text bold wrap="truncate-end">
        {safeText(title)}
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

// Title, note on hidden rows, progress, keys.
const FIXED_LINES = 4

const useKeys = (onKey: (key: QuoteListKey) => void): void => {
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
      // A narrow line is cut in the middle: the provider and the limit matter.
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

/** Returns the rows that fit, the selected one among them. */
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
  if (waitSeconds === undefined || pending === 0) return 'all quotes are here'
  const time = waitSeconds > 0 ? `${Math.ceil(waitSeconds)} s at most` : 'until the first reply'
  return `waiting for ${pending} of ${rows.length} providers, ${time}`
}

const keysText = (selected: string | undefined, waitSeconds: number | undefined, isAscii: boolean): string =>
  [
    ...(selected === undefined ? [] : [`${isAscii ? 'up/down' : '↑↓'} choose`, 'Enter review it']),
    ...(waitSeconds === undefined ? ['r ask again'] : ['s stop waiting']),
    'q quit'
  ].join('  ')

/** The texts of one provider in a round. */
export interface QuoteLines {
  readonly pluginId: PluginId
  /** The id for `swap approve`; '' without a quote. */
  readonly quoteId: string
  readonly title: string
  readonly state: 'expired' | 'failed' | 'open' | 'pending'
  /** The offer, or the reason why there is none. */
  readonly main: string
  /** Further facts; may be empty. */
  readonly detail: string
  /** The time until the quote expires, such as `4:59`; '' if it does not expire. */
  readonly left: string
}
