import { statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { CliError, stopBeforeEnd } from '../errors/cli-error.ts'
import { profilePaths, usualProfile } from '../profile/paths.ts'
import { packageFolder } from '../terminal/package-folder.ts'
import { isClosedPipe, type Terminal } from '../terminal/terminal.ts'
import { agentFolder, folderProblem, readRecord } from './agent-files.ts'
import {
  type AgentFrame,
  type ClientFrame,
  type ClientStream,
  onFrames,
  PORTION_BYTES,
  type StopCode,
  sendFrame
} from './frames.ts'

/** Options of {@link runByAgent}. */
export interface ClientOptions {
  readonly argv: readonly string[]
  readonly terminal: Terminal
  /** Aborted by the first Ctrl-C, with the error that ends the command. */
  readonly signal: AbortSignal
  /** The state folder of the profile, if the arguments have been parsed already. */
  readonly stateFolder?: string
  /** The version and build of this process, if it is not that of its main file. */
  readonly version?: string
  /** The time that the agent has to answer, in milliseconds; ten seconds if left out. */
  readonly answerMs?: number
}

/**
 * Runs a command line in the agent of its profile, as if it ran in this process.
 *
 * This file and what it imports are all that a start needs, so that a command costs little more than Node itself: the
 * arguments are sent as they are, and parsed by the agent.
 *
 * @returns the exit code; undefined if no agent runs, or if the command has to run in this process
 * @throws CliError AGENT_REFUSED, AGENT_LOST
 */
export const runByAgent = async (options: ClientOptions): Promise<number | undefined> => {
  const { argv, terminal } = options
  const { stateFolder = agentProfileOf(argv, terminal.environment)?.stateFolder } = options
  const agent = stateFolder && (await connectTo(stateFolder))
  if (!agent) return undefined
  try {
    return await new Request(agent.socket, options).run(agent)
  } finally {
    agent.socket.destroy()
  }
}

/** Reads a variable that is on or off. */
export const isSet = (value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== '0' && value !== 'false'

/** The profile of a command line, and its state folder. */
export interface AgentProfile {
  readonly profile: string
  readonly stateFolder: string
}

/**
 * Finds the profile of a command line without parsing it; undefined where only the parser can tell, and where no agent is
 * wanted. The parser knows which words are values of other flags.
 */
export const agentProfileOf = (
  argv: readonly string[],
  environment: Terminal['environment']
): AgentProfile | undefined => {
  const isAlone = argv.some(word => word === '--no-agent' || OWN_DATA.test(word))
  if (
    argv.length === 0 ||
    isAlone ||
    isSet(environment.HOLDFAST_NO_AGENT) ||
    isSet(environment.HOLDFAST_STORE)
  )
    return undefined
  const [at = -1, second] = argv.flatMap((word, index) => (/^--profile(?:=|$)/.test(word) ? [index] : []))
  if (second !== undefined || (at > 0 && (mayTakeValue(argv[at - 1] ?? '') || argv.includes('--'))))
    return undefined
  const word = argv[at] ?? ''
  const named = word.includes('=') ? word.slice('--profile='.length) : argv[at + 1]
  const profile = at === -1 ? environment.HOLDFAST_PROFILE || usualProfile(environment) : (named ?? '')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/.test(profile)) return undefined
  return { profile, stateFolder: profilePaths(profile, environment).state }
}

/** The agent has the plugins and the accounts of the profile alone. */
const OWN_DATA = /^(?:-C|--(?:config-folder|store)(?:=|$))/

/** The global flags without a value. */
export const BARE: ReadonlySet<string> = new Set(
  '--json --no-input -y --yes --dry-run --offline --ascii -q --quiet -v -vv --verbose --debug'.split(' ')
)

const mayTakeValue = (word: string): boolean => word.startsWith('-') && !word.includes('=') && !BARE.has(word)

/**
 * Connects to the agent of a profile; undefined if none runs. What a killed agent left is replaced by the next one.
 *
 * @throws CliError AGENT_REFUSED if its folder is not private
 */
const connectTo = async (stateFolder: string): Promise<AgentConnection | undefined> => {
  const record = readRecord(stateFolder)
  if (record === undefined) return undefined
  const folders = process.platform === 'win32' ? [] : [agentFolder(stateFolder), dirname(record.socket)]
  for (const folder of folders) {
    const problem = folderProblem(folder)
    if (problem === undefined) continue
    throw new CliError('AGENT_REFUSED', `The folder of the agent, ${folder}, ${problem}`, {
      hint: 'Remove the folder, or run the command with --no-agent.'
    })
  }
  const socket = connect(record.socket)
  return new Promise(resolve => {
    socket.once('connect', () => resolve({ stateFolder, socket, token: record.token, pid: record.pid }))
    socket.once('error', () => resolve(undefined))
  })
}

/** Returns true if an agent of a profile takes connections. */
export const isListening = async (stateFolder: string): Promise<boolean> => {
  const agent = await connectTo(stateFolder).catch(() => undefined)
  agent?.socket.destroy()
  return agent !== undefined
}

/**
 * Ends an agent that a command has started and that nobody uses: no command runs in it, and no account is open. The
 * profile is free then.
 */
export const endUnusedAgent = async (stateFolder: string): Promise<void> => {
  const agent = await connectTo(stateFolder).catch(() => undefined)
  if (agent === undefined) return
  const { socket, token } = agent
  const cut = setTimeout(() => socket.destroy(), LEAVE_MS)
  await new Promise<void>(resolve => {
    socket.on('error', () => {})
    socket.once('close', () => resolve())
    onFrames(socket, ({ type }) => void (type !== 'hello' && socket.destroy()))
    sendFrame(socket, { type: 'hello', token, leave: true })
  })
  clearTimeout(cut)
}

const LEAVE_MS = 2000

interface AgentConnection {
  readonly stateFolder: string
  readonly pid: number
  readonly socket: Socket
  readonly token: string
}

/** Identifies the code of a main file, by default that of this process: a rebuilt command line is another version. */
export const versionOf = (main: string | undefined = process.argv[1]): string => {
  const { mtimeMs = 0 } = (main !== undefined && statSync(main, { throwIfNoEntry: false })) || {}
  return `${packageFolder()?.version ?? 'unknown'} ${Math.round(mtimeMs)}`
}

const STOP_CODES: ReadonlySet<string> = new Set<StopCode>(['INTERRUPTED', 'TERMINATED'])

/** An agent that is there answers within this time, however busy it is, in milliseconds; also a stop. */
const ANSWER_MS = 10_000

const unanswered = (pid: number): CliError =>
  new CliError('AGENT_REFUSED', `The agent of this profile (process ${pid}) does not answer`, {
    hint: `If it stays so, end it with: kill -9 ${pid}. Nothing is lost by that.`
  })

const lost = (): CliError =>
  new CliError('AGENT_LOST', 'The agent has ended before the command did', {
    hint: 'If the command was paying, the payment may have been sent: see holdfast tx open.'
  })

const refused = (): CliError =>
  new CliError('AGENT_REFUSED', 'The agent of this profile refused the command', {
    hint: 'Stop it with: holdfast agent stop, or run the command with --no-agent.'
  })

/** Waits a moment for an agent to be gone: its record is removed or replaced, or it was killed and takes no connection any more. */
const hasLeft = async ({ stateFolder, token }: AgentConnection): Promise<boolean> => {
  for (let waited = 0; waited <= LEAVE_MS; waited += POLL_MS) {
    if (readRecord(stateFolder)?.token !== token || !(await isListening(stateFolder))) return true
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
  return false
}

const POLL_MS = 50

const ENDS: ReadonlySet<string> = new Set<AgentFrame['type']>(['busy', 'exit', 'retired', 'run-alone'])

/** The variables that the command line reads, and those that a browser needs; no others leave this process. */
const VARIABLES =
  /^(?:HOLDFAST_.*|CI|NO_COLOR|FORCE_COLOR|TERM|COLORTERM|LANG|LC_.*|TZ|PATH|HOME|TMPDIR|DISPLAY|WAYLAND_DISPLAY|XDG_.*|DBUS_SESSION_BUS_ADDRESS|BROWSER)$/

const NEWLINE = 0x0a

/** One command line on its way through the agent. */
class Request {
  readonly #socket: Socket
  readonly #terminal: Terminal
  readonly #argv: readonly string[]
  readonly #signal: AbortSignal
  readonly #version: string
  readonly #answerMs: number
  #isReading = false
  #hasStarted = false
  #timer: NodeJS.Timeout | undefined
  #reject: (error: unknown) => void = () => {}
  /** The answer that ends the command has come; output may still wait for its reader. */
  #hasEnded = false
  #isLineOpen = false

  constructor(socket: Socket, { argv, terminal, signal, version, answerMs = ANSWER_MS }: ClientOptions) {
    this.#socket = socket
    this.#terminal = terminal
    this.#argv = argv
    this.#signal = signal
    this.#version = version ?? versionOf()
    this.#answerMs = answerMs
  }

  async run(agent: AgentConnection): Promise<number | undefined> {
    const { stdin, stdout, stderr } = this.#terminal
    const stop = (): void => this.#stop()
    const resize = (): void => {
      const { columns = 80, rows = 24 } = stderr.isTTY ? stderr : stdout
      this.#send({ type: 'resize', columns, rows })
    }
    const readerGone = (error: Error): void => {
      if (isClosedPipe(error)) this.#send({ type: 'stop', code: 'READER_GONE' })
    }
    this.#signal.addEventListener('abort', stop, { once: true })
    for (const stream of [stdout, stderr]) stream.on('resize', resize)
    stdout.on('error', readerGone)
    try {
      const ended = this.#ended(agent)
      this.#send({ type: 'hello', token: agent.token, version: this.#version })
      this.#send({
        type: 'run',
        argv: this.#argv,
        cwd: process.cwd(),
        pid: process.pid,
        environment: Object.fromEntries(
          Object.entries(this.#terminal.environment).filter(
            (entry): entry is [string, string] => entry[1] !== undefined && VARIABLES.test(entry[0])
          )
        ),
        stdin: { isTerminal: stdin.isTTY === true },
        stdout: streamOf(stdout),
        stderr: streamOf(stderr)
      })
      if (this.#signal.aborted) stop()
      return await ended
    } finally {
      clearTimeout(this.#timer)
      this.#signal.removeEventListener('abort', stop)
      for (const stream of [stdout, stderr]) stream.removeListener('resize', resize)
      stdout.removeListener('error', readerGone)
      if (this.#isReading) stdin.pause()
      if (stdin.isTTY && stdin.isRaw) stdin.setRawMode(false)
    }
  }

  #send(frame: ClientFrame): void {
    if (!this.#socket.destroyed) sendFrame(this.#socket, frame)
  }

  #stop(): void {
    const { code } = this.#signal.reason as { readonly code?: string }
    this.#send({ type: 'stop', code: STOP_CODES.has(code ?? '') ? (code as StopCode) : 'TERMINATED' })
    // The agent answers a stop within a few seconds, or says why it cannot.
    this.#giveUp(this.#answerMs, () => stopBeforeEnd(this.#signal.reason))
  }

  /** Ends the wait for the agent with an error after some time, unless an answer comes before. */
  #giveUp(milliseconds: number, error: () => unknown): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#reject(error()), milliseconds)
  }

  /** Does what the agent says, until the command has ended. */
  #ended(agent: AgentConnection): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      this.#giveUp(this.#answerMs, () => unanswered(agent.pid))
      this.#socket.on('error', () => {})
      this.#socket.on('close', () => {
        if (this.#hasEnded) return
        if (this.#hasStarted) {
          // A question, or the current step, stands in the line.
          if (this.#isLineOpen) this.#terminal.stderr.write('\n')
          reject(lost())
        }
        // One that was just ending has not begun the command, which runs without it.
        else hasLeft(agent).then(isGone => (isGone ? resolve(undefined) : reject(refused())), reject)
      })
      onFrames(this.#socket, frame => {
        // The first line shows that the agent is there; a command may take any time.
        if (!this.#hasStarted && !this.#signal.aborted) clearTimeout(this.#timer)
        this.#hasStarted = true
        this.#hasEnded ||= ENDS.has(String(frame.type))
        const given = frame as unknown as AgentFrame
        if (given.type === 'exit') this.#drained(() => resolve(given.code))
        else if (given.type === 'run-alone' || given.type === 'retired') resolve(undefined)
        else if (given.type === 'busy') {
          reject(
            new CliError('AGENT_REFUSED', 'An agent of another version is sending a payment', {
              hint: 'Run the command again when the payment has been sent.'
            })
          )
        } else this.#do(given)
      })
    })
  }

  #do(frame: AgentFrame): void {
    const { stdin, disableEcho } = this.#terminal
    switch (frame.type) {
      case 'output': {
        const stream = this.#terminal[frame.to]
        const bytes = Buffer.from(frame.bytes, 'base64')
        if (stream.isTTY && bytes.length > 0) this.#isLineOpen = bytes.at(-1) !== NEWLINE
        // A slow reader slows the command down, as it would in one process; one that has gone does not.
        const resume = (): void => void this.#socket.resume()
        if (!stream.write(bytes, resume)) this.#socket.pause()
        return
      }
      case 'read':
        this.#read()
        return
      case 'read-descriptor':
        void this.#readDescriptor(frame.descriptor, frame.maxBytes)
        return
      case 'raw':
        if (stdin.isTTY) stdin.setRawMode(frame.isRaw)
        return
      case 'hide-echo':
        void disableEcho?.()
    }
  }

  /** Sends standard input, portion by portion. */
  #read(): void {
    if (this.#isReading) return
    this.#isReading = true
    const { stdin } = this.#terminal
    stdin.on('data', (chunk: Buffer | string) => {
      const bytes = Buffer.from(chunk as string)
      for (let at = 0; at < bytes.length; at += PORTION_BYTES) {
        this.#send({ type: 'input', bytes: bytes.subarray(at, at + PORTION_BYTES).toString('base64') })
      }
      if (!this.#socket.writableNeedDrain) return
      stdin.pause()
      this.#socket.once('drain', () => stdin.resume())
    })
    stdin.on('end', () => this.#send({ type: 'input-end' }))
  }

  /** Sends what a descriptor of this process brings: the agent has another one of that number, or none. */
  async #readDescriptor(descriptor: number, maxBytes: number): Promise<void> {
    try {
      const text = await this.#terminal.readDescriptor?.(descriptor, maxBytes)
      this.#send(text === undefined ? { type: 'descriptor' } : { type: 'descriptor', text })
    } catch (error) {
      const problem = error instanceof Error && !('code' in error) ? error.message : 'cannot be read'
      this.#send({ type: 'descriptor', problem })
    }
  }

  /** Calls back when all output has left this process; a reader that has gone needs none. */
  #drained(done: () => void): void {
    const { stdout, stderr } = this.#terminal
    stdout.write('', () => stderr.write('', () => done()))
  }
}

const streamOf = (stream: NodeJS.WriteStream): ClientStream =>
  stream.isTTY ? { isTerminal: true, columns: stream.columns, rows: stream.rows } : { isTerminal: false }
