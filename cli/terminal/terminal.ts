import type { ReadStream, WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'

/** The process as the command line sees it; tests of single parts make their own. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The process that the terminal belongs to, if it is not this one: the agent runs commands of its clients. */
  readonly owner?: OwnerProcess
  /**
   * Reads a descriptor that the process inherited, to its end; absent where there are none.
   *
   * @throws Error with the rest of a sentence about the descriptor: `is not open`
   */
  readDescriptor?(descriptor: number, maxBytes: number): Promise<string>
  /** Hides what is typed before a prompt; absent where that is impossible. */
  disableEcho?(): Promise<void>
  /** Makes screens draw without colours; absent where they have none. */
  disableColors?(): void
}

/** A process that paths are relative to. */
export interface OwnerProcess {
  /** Its working directory. */
  readonly folder: string
  readonly processId: number
}

/** Returns true if prompts are possible: keys come from a terminal that can hide them, and questions are shown on one. */
export const canPrompt = ({ stdin, stderr }: Terminal): boolean =>
  stdin.isTTY === true && stderr.isTTY === true && typeof (stdin as ReadStream).setRawMode === 'function'

/** The width of an output, 80 where it has none. */
export const widthOf = (stream: Pick<WriteStream, 'columns'>): number =>
  Number.isSafeInteger(stream.columns) && stream.columns > 0 ? stream.columns : 80

/** The tone of a word; each has a colour if colours are enabled, and is never expressed by colour alone. */
export type Tone = 'plain' | 'strong' | 'dim' | 'good' | 'warn' | 'bad' | 'accent'

/** Colours text, or returns it unchanged. */
export type Paint = (text: string, tone: Tone) => string

const CODES: Readonly<Record<Tone, readonly [number, number] | undefined>> = {
  plain: undefined,
  strong: [1, 22],
  dim: [2, 22],
  good: [32, 39],
  warn: [33, 39],
  bad: [31, 39],
  accent: [36, 39]
}

/** Makes a painter with SGR colours, or one without colours. */
export const makePaint = (hasColor: boolean): Paint =>
  hasColor
    ? (text, tone) => {
        const code = CODES[tone]
        return code === undefined || text === '' ? text : `\u001b[${code[0]}m${text}\u001b[${code[1]}m`
      }
    : text => text

/** The choice of `--color`. */
export type ColorChoice = 'auto' | 'always' | 'never'

/**
 * Decides about colours: the flag wins, then `NO_COLOR`, then `FORCE_COLOR`, then whether the output is a terminal.
 *
 * @see https://no-color.org
 */
export const wantsColor = (
  choice: ColorChoice,
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean
): boolean => {
  if (choice !== 'auto') return choice === 'always'
  if ((environment.NO_COLOR ?? '') !== '') return false
  const forced = environment.FORCE_COLOR
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return isTerminal && environment.TERM !== 'dumb'
}

/** Writes text and waits until it has left the process; a closed reader is no failure. */
export const writeText = (stream: NodeJS.WritableStream, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    if (text === '') return resolve()
    stream.write(text, error => {
      if (error == null || isClosedPipe(error)) resolve()
      else reject(error)
    })
  })

/** Returns true for the error of writing to a pipe whose reader has closed it. */
export const isClosedPipe = (error: Error): boolean => 'code' in error && error.code === 'EPIPE'

/** Breaks a line between words where it is wider than the terminal; colours count for nothing. */
export const wrapText = (text: string, width: number): string => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && printedWidth(longer) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line].join('\n')
}

const printedWidth = (text: string): number => stripVTControlCharacters(text).length
