import type { Socket } from 'node:net'

/** A stream of the client, as the agent sees it. */
export interface ClientStream {
  readonly isTerminal: boolean
  readonly columns?: number
  readonly rows?: number
}

/** The first line of a client: the proof that it may use the agent. */
export interface HelloFrame {
  readonly type: 'hello'
  readonly token: string
  /** The version and build of the client. */
  readonly version?: string
  /** The client has no command: the agent shall end if nobody uses it. */
  readonly leave?: true
}

/** A command line with its surroundings. */
export interface RunFrame {
  readonly type: 'run'
  readonly argv: readonly string[]
  /** The working directory, against which paths are resolved. */
  readonly cwd: string
  readonly pid: number
  readonly environment: Readonly<Record<string, string>>
  readonly stdin: ClientStream
  readonly stdout: ClientStream
  readonly stderr: ClientStream
}

/** A line from a client. Bytes are base64. */
export type ClientFrame =
  | HelloFrame
  | RunFrame
  | { readonly type: 'input'; readonly bytes: string }
  | { readonly type: 'input-end' }
  /** The text of a descriptor, or the rest of a sentence about one that cannot be read. */
  | { readonly type: 'descriptor'; readonly text?: string; readonly problem?: string }
  | { readonly type: 'resize'; readonly columns: number; readonly rows: number }
  | { readonly type: 'stop'; readonly code: StopCode }

/** Why a client stops a command; the third is a closed reader such as `head`. */
export type StopCode = 'INTERRUPTED' | 'READER_GONE' | 'TERMINATED'

/** A line from the agent. */
export type AgentFrame =
  /** The token is right. */
  | { readonly type: 'hello' }
  | { readonly type: 'output'; readonly to: 'stderr' | 'stdout'; readonly bytes: string }
  /** The command reads standard input from now on. */
  | { readonly type: 'read' }
  /** The command needs what a descriptor of the client brings; asked for once. */
  | { readonly type: 'read-descriptor'; readonly descriptor: number; readonly maxBytes: number }
  | { readonly type: 'raw'; readonly isRaw: boolean }
  | { readonly type: 'hide-echo' }
  /** The command runs in the client's own process: it needs no kernel of the profile. */
  | { readonly type: 'run-alone' }
  /** The agent is of another version and has ended. */
  | { readonly type: 'retired' }
  /** The agent is of another version and cannot end, because a payment is in flight. */
  | { readonly type: 'busy' }
  | { readonly type: 'exit'; readonly code: number }

/** The longest line, in bytes. A longer one closes the connection. */
export const MAX_LINE_BYTES = 1_000_000

/** The most bytes of a stream in one line. */
export const PORTION_BYTES: number = 64 * 1024

/** Sends one line. `onSent` is called when it has left the process, or with the error. */
export const sendFrame = (
  socket: Socket,
  frame: AgentFrame | ClientFrame,
  onSent?: (error?: Error | null) => void
): boolean => socket.write(`${JSON.stringify(frame)}\n`, onSent)

/**
 * Calls a listener with each line of a socket, parsed. A line that is too long or no JSON object destroys the socket:
 * an HTTP request of a web page, for example, is closed without an answer.
 *
 * @param maxBytes - the longest line now; it is asked again for each line
 */
export const onFrames = (
  socket: Socket,
  listener: (frame: Readonly<Record<string, unknown>>) => void,
  maxBytes: () => number = () => MAX_LINE_BYTES
): void => {
  let parts: Buffer[] = []
  let size = 0
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk
    for (;;) {
      const end = rest.indexOf(0x0a)
      size += end === -1 ? rest.length : end
      if (size > maxBytes()) return void socket.destroy()
      if (end === -1) {
        parts.push(rest)
        return
      }
      const line = Buffer.concat([...parts, rest.subarray(0, end)])
      parts = []
      size = 0
      rest = rest.subarray(end + 1)
      const frame = parsed(line)
      if (frame === undefined) return void socket.destroy()
      listener(frame)
      if (socket.destroyed) return
    }
  })
}

const parsed = (line: Buffer): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}

/** Checks a command line from a client, and copies it; undefined if it is none. */
export const readRunFrame = (frame: Readonly<Record<string, unknown>>): RunFrame | undefined => {
  const { type, argv, cwd, pid, environment } = frame
  const [stdin, stdout, stderr] = [frame.stdin, frame.stdout, frame.stderr].map(readStream)
  const isSound =
    type === 'run' &&
    Array.isArray(argv) &&
    argv.every(isText) &&
    isText(cwd) &&
    Number.isSafeInteger(pid) &&
    typeof environment === 'object' &&
    environment !== null &&
    Object.values(environment).every(isText)
  if (!isSound || stdin === undefined || stdout === undefined || stderr === undefined) return undefined
  return {
    type,
    argv: [...argv],
    cwd,
    pid: pid as number,
    environment: { ...environment } as Record<string, string>,
    stdin,
    stdout,
    stderr
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const readStream = (value: unknown): ClientStream | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  const { isTerminal, columns, rows } = value as Readonly<Record<string, unknown>>
  if (typeof isTerminal !== 'boolean') return undefined
  if (!isTerminal) return { isTerminal }
  return {
    isTerminal,
    columns: Number.isSafeInteger(columns) ? (columns as number) : 80,
    rows: Number.isSafeInteger(rows) ? (rows as number) : 24
  }
}
