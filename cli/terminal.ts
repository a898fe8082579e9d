import type { ReadStream, WriteStream } from 'node:tty'

/** The process as the command line sees it; tests of single parts make their own. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The terminal of this process. */
export const processTerminal = (): Terminal => ({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env
})

/** True if somebody can be asked: keys come from a terminal that can hide them, and questions reach one. */
export const canAsk = ({ stdin, stderr }: Terminal): boolean =>
  stdin.isTTY === true && stderr.isTTY === true && typeof (stdin as ReadStream).setRawMode === 'function'

/** The width of an output, 80 where it has none. */
export const widthOf = (stream: Pick<WriteStream, 'columns'>): number =>
  Number.isSafeInteger(stream.columns) && stream.columns > 0 ? stream.columns : 80
