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

/** Messages beside the result, on standard error: a line of progress, and lines that stay. */
export interface StatusLine {
  /** Colours text, if colours are enabled. */
  readonly paint: Paint
  /** Shows the current step in one line, which the next one replaces; on a terminal only. */
  step(text: string): void
  /** Prints a line, unless `--quiet`. */
  info(text: string): void
  warn(text: string): void
  /** Prints a line of the kernel's log, if `-v` includes its level. */
  log(line: LogLine): void
  /** Removes the line of `step`. */
  clear(): void
}

/** The number of `-v` that each log level needs. */
const NEEDED: Readonly<Record<LogLine['level'], number>> = { error: 0, warn: 1, info: 1, debug: 2 }

/** The global options that decide which messages are printed, and how. */
export interface StatusLineOptions {
  readonly color: ColorChoice
  readonly quiet: boolean
  readonly verbosity: number
  readonly json: boolean
}

/** Makes the status line of a command. */
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
      stderr.write(`\r\u001b[K${paint(safeText(text).slice(0, widthOf(stderr) - 1), 'dim')}`)
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
