import type { Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import type { Terminal } from '../terminal/terminal.ts'
import { type ClientStream, PORTION_BYTES, type RunFrame, sendFrame } from './frames.ts'

/** The terminal of a client, at the agent's end of the socket. */
export interface RemoteTerminal extends Terminal {
  /** True while the command waits for keys, or for the rest of a standard input that is no terminal. */
  readonly isWaiting: boolean
  /** Takes bytes of standard input. */
  onInput(bytes: Buffer): void
  /** Ends standard input. */
  onInputEnd(): void
  onResize(columns: number, rows: number): void
  /** Takes what a descriptor brought, or the problem with it. */
  onDescriptor(answer: { readonly text: string } | { readonly problem: string }): void
}

/**
 * Makes the terminal of one command line. Its streams behave as those of a process do towards inquirer and Ink: raw mode,
 * width and height are those of the client's terminal.
 */
export const makeRemoteTerminal = (socket: Socket, request: RunFrame): RemoteTerminal => {
  const stdin = new RemoteInput(socket, request.stdin.isTerminal)
  const stdout = new RemoteOutput(socket, 'stdout', request.stdout)
  const stderr = new RemoteOutput(socket, 'stderr', request.stderr)
  let onDescriptor: RemoteTerminal['onDescriptor'] = () => {}
  return {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    get isWaiting() {
      return stdin.isWaiting
    },
    environment: request.environment,
    owner: { folder: request.cwd, processId: request.pid },
    readDescriptor: (descriptor, maxBytes) =>
      new Promise((resolve, reject) => {
        onDescriptor = answer => ('text' in answer ? resolve(answer.text) : reject(new Error(answer.problem)))
        sendFrame(socket, { type: 'read-descriptor', descriptor, maxBytes })
      }),
    async disableEcho() {
      sendFrame(socket, { type: 'hide-echo' })
    },
    disableColors() {
      for (const output of [stdout, stderr]) output.hasColors = false
    },
    onInput: bytes => stdin.receive(bytes),
    onInputEnd: () => stdin.receive(null),
    onDescriptor: answer => onDescriptor(answer),
    onResize(columns, rows) {
      for (const output of [stdout, stderr]) output.resize(columns, rows)
    }
  }
}

const MAX_WAITING_BYTES = 64 * 1024 * 1024

class RemoteInput extends Readable {
  readonly isTTY: true | undefined
  readonly #socket: Socket
  isRaw = false
  #hasRequested = false
  #hasEnded = false

  constructor(socket: Socket, isTerminal: boolean) {
    super()
    this.#socket = socket
    this.isTTY = isTerminal ? true : undefined
    // What cannot hide keys has no such method, as with a pipe of a process.
    if (!isTerminal) Object.defineProperty(this, 'setRawMode', { value: undefined })
  }

  /** A prompt reads single keys. */
  get isWaiting(): boolean {
    return this.isTTY === true ? this.isRaw : this.#hasRequested && !this.#hasEnded
  }

  /** Takes bytes, or the end; what comes after the end is dropped. */
  receive(bytes: Buffer | null): void {
    if (this.#hasEnded) return
    this.#hasEnded = bytes === null
    this.push(bytes)
    // A command that reads takes it at once. What nobody reads ends the client, before it fills the memory of the agent.
    if (this.readableLength > MAX_WAITING_BYTES) this.#socket.destroy()
  }

  /** Standard input is left alone until the command reads it. */
  override _read(): void {
    if (this.#hasRequested) return
    this.#hasRequested = true
    sendFrame(this.#socket, { type: 'read' })
  }

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw
    sendFrame(this.#socket, { type: 'raw', isRaw })
    return this
  }

  // The socket keeps the process alive.
  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

class RemoteOutput extends Writable {
  readonly isTTY: true | undefined
  columns: number | undefined
  rows: number | undefined
  hasColors = true
  readonly #socket: Socket
  readonly #to: 'stderr' | 'stdout'

  constructor(socket: Socket, to: 'stderr' | 'stdout', { isTerminal, columns, rows }: ClientStream) {
    super({ decodeStrings: false })
    this.#socket = socket
    this.#to = to
    this.isTTY = isTerminal ? true : undefined
    if (isTerminal) {
      this.columns = columns
      this.rows = rows
    }
  }

  resize(columns: number, rows: number): void {
    if (this.isTTY === undefined) return
    this.columns = columns
    this.rows = rows
    this.emit('resize')
  }

  getWindowSize(): readonly [columns: number, rows: number] {
    return [this.columns ?? 80, this.rows ?? 24]
  }

  /** Prompts end the stream that they write to; like those of a process, it cannot be closed. */
  override end(): this {
    return this
  }

  override _write(
    chunk: Buffer | string,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void
  ): void {
    // A client that has gone needs nothing: the command learns of it by its signal.
    if (this.#socket.destroyed) {
      done()
      return
    }
    const text = typeof chunk === 'string' && !this.hasColors ? withoutColors(chunk) : chunk
    const bytes = typeof text === 'string' ? Buffer.from(text, encoding) : text
    let isFlowing = true
    for (let at = 0; at < bytes.length; at += PORTION_BYTES) {
      const portion = bytes.subarray(at, at + PORTION_BYTES).toString('base64')
      isFlowing = sendFrame(this.#socket, { type: 'output', to: this.#to, bytes: portion })
    }
    // Done at once, so that nothing of the other stream overtakes the next chunk of this one.
    if (isFlowing) done()
    else whenDrained(this.#socket, done)
  }
}

/** Calls back when a slow client has taken what waits, or has gone. */
const whenDrained = (socket: Socket, done: () => void): void => {
  const over = (): void => {
    socket.removeListener('drain', over)
    socket.removeListener('close', over)
    done()
  }
  socket.once('drain', over)
  socket.once('close', over)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that set colours begin with it
const COLORS = /\u001b\[[\d;]*m/g

/** Ink colours for every client of the agent; the sequences that move the cursor stay. */
const withoutColors = (text: string): string => text.replace(COLORS, '')
