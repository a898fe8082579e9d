import type { LogLine } from '../../kernel/index.ts'
import { safeText } from './safe-text.ts'
import {
  type ColorChoice,
  makePaint,
  type Paint,
  type Terminal,
  wantsColor,
  widthOf,
  wrapText
} from './terminal.ts'

/** Everything that is said to a person beside the result; it goes to standard error. */
export interface StatusLine {
  /** Paints what is said; without colours where they are not wanted. */
  readonly paint: Paint
  /** What goes on, in one line; replaced by the next one, and only where a person waits. */
  step(text: string): void
  /** A line that stays, unless `--quiet`. */
  info(text: string): void
  warn(text: string): void
  /** A line of the kernel's log, as far as `-v` asks for it. */
  log(line: LogLine): void
  /** Removes the line of `step`. */
  clear(): void
}

/** How many `-v` each level of the log takes. */
const NEEDED: Readonly<Record<LogLine['level'], number>> = { error: 0, warn: 1, info: 1, debug: 2 }

/** The global options that decide what is said, and how. */
export interface StatusLineOptions {
  readonly color: ColorChoice
  readonly quiet: boolean
  readonly verbosity: number
  readonly json: boolean
}

/** Makes the talk of a command. */
export const makeStatusLine = (
  { stderr, environment }: Terminal,
  { color, quiet, verbosity, json }: StatusLineOptions
): StatusLine => {
  const isTerminal = stderr.isTTY === true
  const paint = makePaint(wantsColor(color, environment, isTerminal))
  let hasStep = false
  const clear = (): void => {
    if (hasStep) stderr.write('\r\u001b[K')
    hasStep = false
  }
  const line = (text: string): void => {
    clear()
    stderr.write(`${isTerminal ? wrapText(text, widthOf(stderr)) : text}\n`)
  }
  return {
    paint,
    clear,
    step(text) {
      if (!isTerminal || quiet || json) return
      stderr.write(`\r\u001b[K${paint(text.slice(0, widthOf(stderr) - 1), 'dim')}`)
      hasStep = true
    },
    info(text) {
      if (!quiet) line(safeText(text))
    },
    warn(text) {
      if (!quiet) line(`${paint('warning:', 'warn')} ${safeText(text)}`)
    },
    log({ level, source, text }) {
      if (quiet || verbosity < NEEDED[level]) return
      line(paint(`${level} ${source}: ${safeText(text)}`, 'dim'))
    }
  }
}
