import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from '../errors/cli-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { codeOf, readRecord } from './agent-files.ts'
import {
  type AgentProfile,
  agentProfileOf,
  type ClientOptions,
  isListening,
  isSet,
  runByAgent
} from './client.ts'

/** Options of {@link startAgent}. */
export interface AgentStart extends AgentProfile {
  readonly environment: Terminal['environment']
  /** The flags of `agent run`. */
  readonly flags?: readonly string[]
  /** Ends the wait; the agent goes on. */
  readonly signal?: AbortSignal
}

/** An agent that listens; `isNew` if it is the one that was started, and not one that another process started at once. */
export interface StartedAgent {
  readonly pid: number
  readonly isNew: boolean
}

/** The longest start of an agent, in milliseconds: a busy machine takes seconds. */
const START_MS = 15_000
const POLL_MS = 25

/**
 * Starts the agent of a profile in a process of its own, and waits until it listens. If two processes start one at once,
 * both get the one that has the lock.
 *
 * @throws CliError AGENT_FAILED with what the agent said; the reason of a stop
 */
export const startAgent = async (options: AgentStart): Promise<StartedAgent> => {
  const { profile, stateFolder, environment, flags = [], signal } = options
  const { argv, execArgv, execPath } = process
  // Loaded here, since the commands after the first one start nothing.
  const { spawn } = await import('node:child_process')
  const args = ['agent', 'run', '--quiet', '--no-agent', '--profile', profile, ...flags]
  const child = spawn(execPath, [...execArgv, argv[1] ?? '', ...args], {
    detached: true,
    windowsHide: true,
    cwd: '/',
    env: { ...environment, ...absoluteHome(environment) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  const controller = new AbortController()
  const over = AbortSignal.any([controller.signal, ...(signal === undefined ? [] : [signal])])
  try {
    return await Promise.race([listening(child), another(child, stateFolder, over), tooLate(child, over)])
  } finally {
    controller.abort()
    child.stderr?.destroy()
    if (child.connected) child.disconnect()
    child.unref()
  }
}

const listening = async (child: ChildProcess): Promise<StartedAgent> => {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', more => {
    text += more
  })
  await new Promise<void>((resolve, reject) => {
    child.once('error', error => reject(failed(`its process cannot be started (${codeOf(error)})`)))
    child.once('message', () => resolve())
    child.once('close', (code, signal) =>
      reject(failed(reasonIn(text) ?? `its process ended with ${code ?? signal}`))
    )
  })
  return { pid: child.pid ?? 0, isNew: true }
}

/** The line that an agent says when it cannot start, without its code; `--quiet` leaves no other. */
const reasonIn = (said: string): string | undefined =>
  said
    .split('\n')
    .map(line => /^(.*) \(AGENT_[A-Z]+\)$/.exec(line.trim())?.[1])
    .find(reason => reason !== undefined)

const failed = (reason: string): CliError =>
  new CliError('AGENT_FAILED', `The agent could not start: ${reason}`)

/** Waits for the agent of another process, which has the lock that this one waits for. */
const another = async (
  child: ChildProcess,
  stateFolder: string,
  over: AbortSignal
): Promise<StartedAgent> => {
  for (;;) {
    await sleep(POLL_MS, undefined, { signal: over })
    const pid = readRecord(stateFolder)?.pid
    if (pid === undefined || pid === child.pid || !(await isListening(stateFolder))) continue
    // It would become the agent when the other one ends, which nobody expects then.
    child.kill('SIGKILL')
    return { pid, isNew: false }
  }
}

/** Ends an agent that does not listen in time: it has done nothing yet, so that its command can run elsewhere. */
const tooLate = async (child: ChildProcess, over: AbortSignal): Promise<never> => {
  await sleep(START_MS, undefined, { signal: over })
  child.kill('SIGKILL')
  throw failed(`it does not listen after ${START_MS / 1000} seconds`)
}

const absoluteHome = ({
  HOLDFAST_HOME: home
}: Terminal['environment']): { readonly HOLDFAST_HOME?: string } =>
  home === undefined || home === '' ? {} : { HOLDFAST_HOME: resolve(home) }

/** An agent that a command has started ends after this time without an open account and a command. */
const LINGER = '1m'

/**
 * Starts the agent of a profile for a command, and runs the command in it.
 *
 * @param onProblem - called with a sentence if there can be no agent here
 * @returns the exit code; undefined if the command has to run in this process
 * @throws CliError AGENT_REFUSED, AGENT_LOST, and the reason of a stop
 */
export const runByNewAgent = async (
  request: ClientOptions,
  profile: AgentProfile,
  onProblem: (text: string) => void
): Promise<number | undefined> => {
  const { terminal, signal } = request
  const { environment } = terminal
  try {
    const started = startAgent({ ...profile, environment, flags: ['--linger', LINGER], signal })
    // Users type their PIN while the agent starts.
    await Promise.all([started, terminal.disableEcho?.()])
  } catch (error) {
    if (signal.aborted) throw signal.reason
    onProblem(error instanceof Error ? error.message : String(error))
    return undefined
  }
  return runByAgent({ ...request, stateFolder: profile.stateFolder })
}

/** The names of the commands that open an account: set by the bundler, so that the client need not load them. */
declare const ACCOUNT_COMMANDS: readonly string[] | undefined

/**
 * Finds the profile of a command line that surely opens an account, without parsing it; undefined where only the parser
 * can tell, and where no agent may be started.
 */
export const newAgentProfileOf = ({ argv, terminal }: ClientOptions): AgentProfile | undefined => {
  if (typeof ACCOUNT_COMMANDS === 'undefined' || isSet(terminal.environment.CI)) return undefined
  if (argv.some(word => HELP.has(word))) return undefined
  const end = argv.findIndex(word => word.startsWith('-'))
  const words = argv.slice(0, end === -1 ? MAX_WORDS : Math.min(end, MAX_WORDS))
  const isKnown = words.some((_, at) => ACCOUNT_COMMANDS.includes(words.slice(0, at + 1).join(' ')))
  return isKnown ? agentProfileOf(argv, terminal.environment) : undefined
}

const MAX_WORDS = 3
const HELP: ReadonlySet<string> = new Set(['-h', '--help', '-V', '--version'])
