import type { WriteStream } from 'node:tty'
import type { QuoteSnapshot } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { isOpen } from '../swap/quote-facts.ts'
import { quoteLines } from '../swap/quote-lines.ts'
import type { SwapPlaces } from '../swap/swap-place.ts'
import type { Terminal } from '../terminal.ts'
import { type BoardKey, QuoteBoard } from './quote-board.tsx'
import { renderOnTerminal } from './show.tsx'

/** What the board shows and what it can do. */
export interface QuoteScreenOptions {
  readonly title: string
  readonly places: SwapPlaces
  readonly isAscii: boolean
  /** Aborted by a signal from outside; Ctrl-C comes as a key. */
  readonly signal: AbortSignal
  /** The round as it stands. */
  look(): { readonly providers: readonly QuoteSnapshot[]; readonly isOver: boolean }
  subscribe(listener: () => void): () => void
  /** Milliseconds until no more answers are waited for; may be negative. */
  waitLeft(): number
  /** Waits for no more answers. */
  enough(): void
  /** Unix milliseconds. */
  now(): number
}

/** What a person decided: a provider's quote, another round, or nothing. */
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
  const board = new Board(options)
  const height = (): number => ((terminal.stderr as WriteStream).rows ?? DEFAULT_ROWS) - 1
  const draw = () => board.draw(height())
  const screen = renderOnTerminal(draw(), terminal)
  const redraw = (): void => screen.rerender(draw())
  const timer = setInterval(redraw, FRAME_MS)
  const stops = [options.subscribe(redraw)]
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    stops.push(() => signal.removeEventListener('abort', stop))
  })
  board.onMove = redraw
  try {
    return await Promise.race([board.choice, stopped])
  } finally {
    clearInterval(timer)
    for (const stop of stops) stop()
    // What is chosen is reviewed next, and what is not is printed as the result: the board itself goes.
    screen.clear()
    screen.unmount()
    await screen.waitUntilExit()
  }
}

const DEFAULT_ROWS = 24

/** What is selected, and what keys do to it. */
class Board {
  readonly choice: Promise<QuoteChoice>
  onMove: () => void = () => {}
  readonly #options: QuoteScreenOptions
  /** Undefined until somebody moves: then the best quote is selected, whichever that is by now. */
  #pluginId: string | undefined
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
    const { title, places, isAscii, look, now, waitLeft } = this.#options
    const { providers, isOver } = look()
    return (
      <QuoteBoard
        title={title}
        rows={providers.map(quote => quoteLines(quote, places, now()))}
        selected={this.#selected()?.pluginId}
        waitSeconds={isOver ? undefined : waitLeft() / 1000}
        height={height}
        isAscii={isAscii}
        onKey={key => this.#press(key)}
      />
    )
  }

  #press(key: BoardKey): void {
    const { look, enough } = this.#options
    if (key === 'interrupt') this.#fail(new CliError('INTERRUPTED', 'Stopped'))
    else if (key === 'close') this.#settle({ kind: 'closed' })
    else if (key === 'enough') enough()
    else if (key === 'again' && look().isOver) this.#settle({ kind: 'again' })
    else if (key === 'choose') this.#choose()
    else if (key === 'up' || key === 'down') this.#move(key === 'up' ? -1 : 1)
  }

  #choose(): void {
    const quoteId = this.#selected()?.quoteId
    if (quoteId !== undefined) this.#settle({ kind: 'chosen', quoteId })
  }

  #move(step: number): void {
    const open = this.#open()
    const at = open.findIndex(({ pluginId }) => pluginId === this.#selected()?.pluginId)
    this.#pluginId = open[Math.min(open.length - 1, Math.max(0, at + step))]?.pluginId
    this.onMove()
  }

  #open(): readonly QuoteSnapshot[] {
    const { look, now } = this.#options
    return look().providers.filter(quote => isOpen(quote, now()))
  }

  #selected(): QuoteSnapshot | undefined {
    const open = this.#open()
    return open.find(({ pluginId }) => pluginId === this.#pluginId) ?? open[0]
  }
}
