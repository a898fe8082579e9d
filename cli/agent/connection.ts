import type { Socket } from 'node:net'
import { agentEnded, CliError } from '../errors/cli-error.ts'
import { MAX_LINE_BYTES, onFrames, type RunFrame, readRunFrame, sendFrame } from './frames.ts'
import { makeRemoteTerminal, type RemoteTerminal } from './remote-terminal.ts'

/** A client has to present its token within this time, in milliseconds, and in a line of this many bytes. */
const HELLO_MS = 10_000
const HELLO_BYTES = 4096
/** The time that a stopped command has, in milliseconds; payments are waited for before. */
const STOP_MS = 5000

/** The part of a client that a running command needs. */
export interface RunningClient {
  readonly terminal: RemoteTerminal
  readonly signal: AbortSignal
  runAlone(): void
  stayIdle(): void
  stayOpen(): void
}

/** The agent, as a connection sees it. */
export interface ConnectionHost {
  readonly version: string
  /** It runs with other plugins than the profile has by now. */
  isOutdated(): boolean
  isToken(token: string): boolean
  /** A person has typed something. */
  noteUse(): void
  run(request: RunFrame, client: RunningClient): Promise<number>
  retire(): Promise<'busy' | 'retired'>
  /** Ends the agent unless it is used; false if it stays. */
  leave(): Promise<boolean>
}

/** One client: it presents the token, then sends one command line. */
export class Connection {
  readonly #socket: Socket
  readonly #host: ConnectionHost
  readonly #controller = new AbortController()
  #terminal: RemoteTerminal | undefined
  #isTrusted = false
  #isRefused = false
  #work: Promise<void> | undefined
  #isRunning = false
  #isIdle = false
  #isOpen = false

  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket
    this.#host = host
    const timer = setTimeout(() => {
      // A process that was busy reads what has come meanwhile first.
      setImmediate(() => {
        if (!this.#isTrusted) socket.destroy()
      })
    }, HELLO_MS)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      this.#controller.abort(new CliError('TERMINATED', 'The terminal of the command has gone'))
    })
    onFrames(
      socket,
      frame => (this.#isTrusted ? this.#onFrame(frame) : this.#onHello(frame)),
      () => (this.#isTrusted ? MAX_LINE_BYTES : HELLO_BYTES)
    )
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** True for a program: it can stay for days, and nobody sits at it. */
  get isIdle(): boolean {
    return this.#isIdle
  }

  /**
   * True while the command does what it was started for. One that is left open, as a stream, the panel or a question, does
   * not: what a person does in it is noted then.
   */
  get isWorking(): boolean {
    return this.#isRunning && !this.#isIdle && !this.#isOpen && this.#terminal?.isWaiting !== true
  }

  /**
   * Stops the command, and waits until it has ended; a client that does not read keeps nothing waiting.
   *
   * @param reason - a sentence for the user of the command
   */
  async stop(reason: string): Promise<void> {
    this.#controller.abort(agentEnded(reason))
    const cut = setTimeout(() => this.#socket.destroy(), STOP_MS)
    await this.#work
    clearTimeout(cut)
  }

  /** A client without the token gets no answer, and neither does a web page: what it sends is no such line. */
  #onHello({ type, token, version, leave }: Readonly<Record<string, unknown>>): void {
    if (type !== 'hello' || typeof token !== 'string' || !this.#host.isToken(token)) {
      this.#socket.destroy()
      return
    }
    this.#isTrusted = true
    sendFrame(this.#socket, { type: 'hello' })
    if (version === this.#host.version && !this.#host.isOutdated()) return
    // The command is in the socket already, and must not run here.
    this.#isRefused = true
    const answer = (type: 'busy' | 'retired'): void => void sendFrame(this.#socket, { type })
    const ended = leave === true ? this.#leave() : this.#host.retire()
    ended.then(answer, () => this.#socket.destroy())
  }

  async #leave(): Promise<'busy' | 'retired'> {
    return (await this.#host.leave()) ? 'retired' : 'busy'
  }

  #onFrame(frame: Readonly<Record<string, unknown>>): void {
    const { type } = frame
    if (this.#isRefused) return
    if (this.#work === undefined) {
      const request = readRunFrame(frame)
      if (request === undefined) this.#socket.destroy()
      else this.#work = this.#run(request)
    } else if (type === 'input' && typeof frame.bytes === 'string') {
      // A program may write to a pipe for ever; keys are typed.
      if (this.#terminal?.stdin.isTTY === true && !this.#isIdle) this.#host.noteUse()
      this.#terminal?.onInput(Buffer.from(frame.bytes, 'base64'))
    } else if (type === 'input-end') this.#terminal?.onInputEnd()
    else if (type === 'descriptor') {
      const { text, problem = 'cannot be read' } = frame
      this.#terminal?.onDescriptor(typeof text === 'string' ? { text } : { problem: String(problem) })
    } else if (type === 'resize' && isSize(frame.columns) && isSize(frame.rows)) {
      this.#terminal?.onResize(frame.columns, frame.rows)
    } else if (type === 'stop') this.#controller.abort(stopError(frame.code))
  }

  async #run(request: RunFrame): Promise<void> {
    const terminal = makeRemoteTerminal(this.#socket, request)
    this.#terminal = terminal
    this.#isRunning = true
    let isAlone = false
    const code = await this.#host.run(request, {
      terminal,
      signal: this.#controller.signal,
      runAlone() {
        isAlone = true
      },
      stayIdle: () => {
        this.#isIdle = true
      },
      stayOpen: () => {
        this.#isOpen = true
      }
    })
    this.#isRunning = false
    if (this.#socket.destroyed) return
    // The client closes the connection, when it has read everything.
    sendFrame(this.#socket, isAlone ? { type: 'run-alone' } : { type: 'exit', code })
  }
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

const stopError = (code: unknown): CliError => {
  if (code === 'READER_GONE') return new CliError('INTERRUPTED', 'The reader has gone')
  return code === 'INTERRUPTED'
    ? new CliError('INTERRUPTED', 'Stopped')
    : new CliError('TERMINATED', 'Terminated')
}
