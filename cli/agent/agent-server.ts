import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { compact, type Io, isWalletError, type KernelOptions, type Plugin } from '../../kernel/index.ts'
import { type FileLock, lockFolder } from '../../plugins/storage/file/file-lock.ts'
import { CliError } from '../errors/cli-error.ts'
import { clientTimeZone, isTimeZone } from '../output/texts.ts'
import { pluginStamp } from '../plugins/plugin-list.ts'
import { AGENT_HOLDER } from '../profile/open-world.ts'
import type { ProfilePaths } from '../profile/paths.ts'
import { Programs } from '../programs/programs.ts'
import type { Agent, AgentStatus } from '../session/agent.ts'
import type { Session } from '../session/session.ts'
import { drawAtOnce } from '../terminal/process-terminal.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { agentFolder, codeOf, makeAgentFolder, readRecord, removeRecord, writeRecord } from './agent-files.ts'
import { isSet, versionOf } from './client.ts'
import { Connection, type RunningClient } from './connection.ts'
import type { RunFrame } from './frames.ts'
import { KernelPool } from './kernel-pool.ts'

/** Runs a command line: `runCli`, which is above this layer. */
export type RunCommandLine = (options: {
  readonly argv: readonly string[]
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly agent: Agent
  readonly plugins: readonly Plugin[]
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
  readonly payingGraceMs?: number
}) => Promise<number>

/** Options of {@link AgentServer}. */
export interface AgentServerOptions {
  readonly paths: ProfilePaths
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly io: Io
  readonly runCli: RunCommandLine
  /** The version and build of this process; a client of another one makes the agent end. */
  readonly version: string
  /** Milliseconds without a command after which keys are dropped; 0 for never. */
  readonly idleMs: number
  /** Milliseconds without an open account and a command after which the agent ends; never if 0 or left out. */
  readonly lingerMs?: number
  readonly plugins?: readonly Plugin[]
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
  readonly payingGraceMs?: number
}

/** The idle time is compared this often, in milliseconds. */
const TICK_MS = 5000
/**
 * A comparison that comes this much too late by the wall clock means that the machine was suspended. The monotonic clock tells
 * that on Linux alone: that of macOS and Windows goes on in a suspend.
 */
const SUSPEND_MS = 30_000
/** The longest wait for an agent that is ending, in milliseconds. */
const LOCK_WAIT_MS = 3000
/** The longest wait for payments in flight before the keys are dropped. */
const PAYMENT_MS = 60_000

/**
 * The agent of a profile: runs the command lines of its clients on shared kernels.
 *
 * It listens on a Unix socket in a private folder, and answers nobody who does not present the token of that folder. Other
 * programs of the same user can do that: against those help the lock, and the approval of each payment.
 */
export class AgentServer {
  readonly #options: AgentServerOptions
  readonly #pool: KernelPool
  readonly #lock: FileLock
  readonly #socket: string
  readonly #token = randomBytes(32).toString('base64url')
  readonly #server: Server
  readonly #connections = new Set<Connection>()
  readonly #payments = new Set<Promise<unknown>>()
  readonly #programs: Programs
  readonly #started = new Date().toISOString()
  /** The plugins that this agent runs with. */
  readonly #stamp: string
  #idleMs: number
  #lingerMs: number
  #lastUsed = performance.now()
  #lastTick = readClocks()
  #ticker: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined
  #onClosed = (): void => {}
  /** Resolves when the agent has ended. */
  readonly closed: Promise<void> = new Promise<void>(resolve => {
    this.#onClosed = resolve
  })

  /**
   * Starts the agent of a profile. A socket that a killed agent left is replaced: the lock of the folder shows that its
   * process is gone.
   *
   * @throws CliError AGENT_RUNNING; AGENT_FAILED if the folder is not private, or the socket cannot be opened
   */
  static async open(options: AgentServerOptions): Promise<AgentServer> {
    const { paths, environment } = options
    drawAtOnce()
    const folder = agentFolder(paths.state)
    makeAgentFolder(folder)
    // One that is being stopped may need a moment.
    const lock = await lockFolder(folder, { holder: AGENT_HOLDER, waitMs: LOCK_WAIT_MS }).catch(
      (error: unknown) => {
        if (!isWalletError(error, 'STORAGE_LOCKED')) throw error
        throw new CliError('AGENT_RUNNING', 'An agent of this profile is already running')
      }
    )
    const server = new AgentServer(options, lock, socketPath({ stateFolder: paths.state, environment }))
    try {
      await server.#listen()
      return server
    } catch (error) {
      await lock.release()
      throw error
    }
  }

  private constructor(options: AgentServerOptions, lock: FileLock, socket: string) {
    this.#options = options
    this.#lock = lock
    this.#socket = socket
    this.#stamp = pluginStamp(options.paths)
    const { io, plugins = [], passwordSnrp, idleMs, lingerMs = 0 } = options
    this.#idleMs = idleMs
    this.#lingerMs = lingerMs
    this.#programs = new Programs(options.paths.state)
    this.#pool = new KernelPool({ io, plugins, ...compact({ passwordSnrp }) })
    this.#server = createServer(client => this.#accept(client))
  }

  /** Facts for `agent status`. */
  get status(): AgentStatus {
    const { version } = this.#options
    const commands = [...this.#connections].filter(one => one.isRunning && !one.isIdle).length
    const [idleMs, lingerMs] = [this.#idleMs, this.#lingerMs]
    return { pid: process.pid, version, started: this.#started, idleMs, lingerMs, commands }
  }

  /** The path of the socket. */
  get socket(): string {
    return this.#socket
  }

  /** Drops all keys, after the payments in flight. */
  async lock(): Promise<void> {
    await this.#paid()
    await this.#pool.lock()
  }

  /**
   * Ends the agent: the commands that run are stopped, payments in flight are waited for.
   *
   * @param reason - a sentence for the users of those commands
   */
  close(reason = 'The agent has ended'): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #listen(): Promise<void> {
    const { state } = this.#options.paths
    if (process.platform !== 'win32') {
      makeAgentFolder(dirname(this.#socket))
      rmSync(this.#socket, { force: true })
    }
    // Without this, others could connect for a moment.
    const before = process.umask(0o177)
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', error =>
          reject(
            new CliError('AGENT_FAILED', `The socket ${this.#socket} cannot be opened (${codeOf(error)})`)
          )
        )
        this.#server.listen(this.#socket, resolve)
      })
    } finally {
      process.umask(before)
    }
    writeRecord(state, { pid: process.pid, socket: this.#socket, token: this.#token })
    this.#ticker = setInterval(() => this.tick(), TICK_MS)
    this.#ticker.unref()
  }

  /**
   * Locks after the idle time, and after a suspend of the machine, in which no timer runs. Ends when it is not used, and
   * when its record is gone, as with the folder of the profile: then no client finds it.
   *
   * @param now - the two clocks, in milliseconds
   */
  tick(now: Clocks = readClocks()): void {
    const before = this.#lastTick
    this.#lastTick = now
    if ([...this.#connections].some(({ isWorking }) => isWorking)) this.#lastUsed = now.monotonic
    const idleMs = this.#idleMs
    const wasSuspended = now.wall - before.wall > TICK_MS + SUSPEND_MS
    const isIdle = idleMs > 0 && now.monotonic - this.#lastUsed > idleMs
    if (wasSuspended || isIdle) void this.lock()
    if (!this.#hasRecord()) void this.close('The agent has ended: its folder has gone')
    else if (this.#lingerMs > 0 && now.monotonic - this.#lastUsed > this.#lingerMs) void this.#endIfUnused(0)
  }

  /** Ends if no account is open and no command runs. @param others - the clients that do not count */
  async #endIfUnused(others: number): Promise<boolean> {
    const isUsed = (): boolean => this.#connections.size > others || this.#payments.size > 0
    if (isUsed()) return false
    const accounts = await this.#pool.accounts().catch(() => [])
    if (accounts.length > 0 || isUsed()) return false
    await this.close()
    return true
  }

  #hasRecord(): boolean {
    return readRecord(this.#options.paths.state)?.token === this.#token
  }

  #accept(socket: Socket): void {
    // A client that is too late finds another agent, or starts one.
    if (this.#closing !== undefined) return void socket.destroy()
    const connection = new Connection(socket, {
      isToken: token => isSame(token, this.#token),
      version: this.#options.version,
      isOutdated: () => this.#isOutdated(),
      noteUse: () => this.#noteUse(),
      run: (request, client) => this.#run(request, client),
      retire: () => this.#retire(),
      leave: async () => this.#lingerMs > 0 && this.#endIfUnused(1)
    })
    this.#connections.add(connection)
    socket.on('close', () => this.#connections.delete(connection))
  }

  async #run(request: RunFrame, client: RunningClient): Promise<number> {
    const { runCli, plugins = [], passwordSnrp, payingGraceMs, paths } = this.#options
    const before = this.#lastUsed
    const started = performance.now()
    this.#lastUsed = started
    let mustStop = false
    let isIdle = false
    const statusNow = (): AgentStatus => this.status
    const agent: Agent = {
      get status() {
        return statusNow()
      },
      programs: this.#programs,
      world: wanted => this.#pool.world(wanted),
      onWorldChange: listener => this.#pool.onWorldChange(listener),
      open: (wanted, options) => this.#pool.open(wanted, options),
      accounts: () => this.#pool.accounts(),
      lock: () => this.lock(),
      stop() {
        mustStop = true
      },
      stay: idleMs => {
        this.#lingerMs = 0
        this.#idleMs = idleMs ?? this.#idleMs
      },
      runAlone: () => client.runAlone(),
      stayIdle: () => {
        isIdle = true
        client.stayIdle()
        if (this.#lastUsed === started) this.#lastUsed = before
      },
      stayOpen: () => client.stayOpen(),
      noteUse: () => this.#noteUse(),
      isOf: wanted => isSameFolder(wanted.state, paths.state),
      duringPayment: payment => this.#hold(payment)
    }
    const { argv, environment } = request
    const { terminal, signal } = client
    const run = (): Promise<number> =>
      this.#pool.run(
        () => runCli({ argv, terminal, signal, agent, plugins, ...compact({ passwordSnrp, payingGraceMs }) }),
        argv.includes('--offline') || isSet(environment.HOLDFAST_OFFLINE)
      )
    const { TZ: zone } = environment
    const isElsewhere = zone !== undefined && zone !== process.env.TZ && isTimeZone(zone)
    try {
      return await (isElsewhere ? clientTimeZone.run(zone, run) : run())
    } finally {
      if (!isIdle) this.#noteUse()
      if (mustStop) setImmediate(() => void this.close('The agent was stopped'))
    }
  }

  #noteUse(): void {
    this.#lastUsed = performance.now()
  }

  #hold(payment: Promise<unknown>): void {
    this.#payments.add(payment)
    const over = (): void => void this.#payments.delete(payment)
    payment.then(over, over)
  }

  /** Waits for the payments in flight; one that hangs is in the journal, and is sent again by its account. */
  async #paid(): Promise<void> {
    let cut: NodeJS.Timeout | undefined
    const over = new Promise<void>(resolve => {
      cut = setTimeout(resolve, PAYMENT_MS)
    })
    await Promise.race([Promise.allSettled(this.#payments), over])
    clearTimeout(cut)
  }

  #isOutdated(): boolean {
    return pluginStamp(this.#options.paths) !== this.#stamp
  }

  /** Ends for a client of another version, unless a payment is in flight. */
  async #retire(): Promise<'busy' | 'retired'> {
    if (this.#payments.size > 0) return 'busy'
    await this.close(
      this.#isOutdated()
        ? 'The agent has ended: the plugins of its profile have changed'
        : 'The agent has ended: a command of another version of holdfast was started'
    )
    return 'retired'
  }

  async #close(reason: string): Promise<void> {
    clearInterval(this.#ticker)
    this.#programs.proposals.close()
    this.#server.close()
    try {
      // The keys go first, whatever the commands still wait for.
      await this.lock()
      await Promise.all([...this.#connections].map(connection => connection.stop(reason)))
      await this.#pool.close()
    } finally {
      // Another agent may have taken a place that was removed and made again.
      if (this.#hasRecord()) {
        removeRecord(this.#options.paths.state)
        if (process.platform !== 'win32') rmSync(this.#socket, { force: true })
      }
      await this.#lock.release()
      this.#onClosed()
    }
  }
}

/** The time of the day, which goes on in a suspend, and the time that the machine ran. */
interface Clocks {
  readonly wall: number
  readonly monotonic: number
}

const readClocks = (): Clocks => ({ wall: Date.now(), monotonic: performance.now() })

const SOCKET = 'socket'
/** Linux takes 107 bytes and macOS 103; Node cuts a longer path without an error. */
const MAX_SOCKET_BYTES = 103

/** Options of {@link socketPath}. */
export interface SocketPathOptions {
  readonly stateFolder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform?: NodeJS.Platform
}

/**
 * Returns the path of a new agent's socket: below `XDG_RUNTIME_DIR`, which the system empties at logout, or else in the
 * agent's folder. Where that path is too long for a socket, a folder among the temporary files is used.
 *
 * @example
 * ```ts
 * socketPath({ stateFolder: paths.state, environment: process.env }) // '/run/user/1000/holdfast/3f…/socket'
 * ```
 */
export const socketPath = ({
  stateFolder,
  environment,
  platform = process.platform
}: SocketPathOptions): string => {
  // Nobody can guess the name of a pipe, and so nobody can take it before.
  if (platform === 'win32') return `\\\\.\\pipe\\holdfast-${randomBytes(16).toString('hex')}`
  // The hash separates profiles, and keeps the path short.
  const name = createHash('sha256').update(stateFolder).digest('hex').slice(0, 16)
  const { XDG_RUNTIME_DIR: runtime } = environment
  const places = [
    ...(runtime === undefined || runtime === '' ? [] : [join(runtime, 'holdfast', name, SOCKET)]),
    join(agentFolder(stateFolder), SOCKET)
  ]
  return (
    places.find(path => Buffer.byteLength(path) <= MAX_SOCKET_BYTES) ??
    join(tmpdir(), `holdfast-${process.getuid?.() ?? ''}-${name}`, SOCKET)
  )
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** True for one folder by two paths, as through a link. */
const isSameFolder = (one: string, other: string): boolean => {
  if (one === other) return true
  const [a, b] = [one, other].map(path => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** Compares in constant time. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))

/** Options of {@link serveAgent}. */
export interface ServeAgentOptions {
  readonly idleMs: number
  readonly lingerMs: number
  readonly runCli: RunCommandLine
  readonly plugins: readonly Plugin[]
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
  readonly payingGraceMs?: number
}

/** Runs the agent of the session's profile in this process, until it is told to stop or the session is stopped. */
export const serveAgent = async (session: Session, options: ServeAgentOptions): Promise<void> => {
  const { paths, terminal, signal } = session
  const { idleMs, lingerMs, runCli, plugins, passwordSnrp, payingGraceMs } = options
  // Ink decides about colours once for all clients; those who want none get none.
  process.env.FORCE_COLOR = '1'
  const server = await AgentServer.open({
    paths,
    environment: terminal.environment,
    io: await session.io(),
    runCli,
    version: versionOf(),
    idleMs,
    lingerMs,
    plugins,
    ...compact({ passwordSnrp, payingGraceMs })
  })
  const stop = (): void => void server.close()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await session.print({
    data: { pid: process.pid, socket: server.socket },
    view: { kind: 'text', lines: [`The agent is running (process ${process.pid})`] }
  })
  // The command that has started this process may have been stopped, and listens no more.
  if (process.connected) process.send?.('ready', undefined, undefined, () => {})
  await server.closed
}
