import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from '../errors/cli-error.ts'
import type { CommandShape } from '../session/command.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { codeOf, readRecord } from './agent-files.ts'
import {
  type AgentProfile,
  agentProfileOf,
  BARE,
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

/** The commands that open an account: set by the bundler, so that the client need not load them. */
declare const ACCOUNT_COMMANDS: readonly CommandShape[] | undefined

/**
 * Finds the profile of a command line that surely opens an account and that the parser surely takes; undefined where only
 * the parser can tell, and where no agent may be started. So a mistyped command leaves no agent behind.
 */
export const newAgentProfileOf = ({ argv, terminal }: ClientOptions): AgentProfile | undefined => {
  const { environment } = terminal
  if (typeof ACCOUNT_COMMANDS === 'undefined' || isSet(environment.CI)) return undefined
  if (JUDGED_VARIABLES.some(name => environment[name])) return undefined
  return isSurelyValid(argv, ACCOUNT_COMMANDS) ? agentProfileOf(argv, environment) : undefined
}

/** The parser judges their values. */
const JUDGED_VARIABLES = ['HOLDFAST_DEVICE', 'HOLDFAST_TIMEOUT']

/** Returns true if a command line is one of these commands as they take it; false where only the parser can tell (pure). */
export const isSurelyValid = (argv: readonly string[], commands: readonly CommandShape[]): boolean => {
  const end = argv.findIndex(word => word.startsWith('-'))
  const words = argv.slice(0, end === -1 ? MAX_WORDS : Math.min(end, MAX_WORDS))
  const names = words.map((_, at) => words.slice(0, at + 1).join(' ')).reverse()
  const known = names.find(name => commands.some(each => each.name === name))
  const shape = commands.find(({ name }) => name === known)
  if (shape === undefined || argv.includes('')) return false
  const given: string[] = []
  let count = 0
  const rest = argv.slice(shape.name.split(' ').length)
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? ''
    if (!word.startsWith('-')) {
      count += 1
      continue
    }
    const [flag = ''] = word.split('=', 1)
    given.push(flag)
    if (GLOBAL_VALUED.has(flag) || shape.valued.includes(flag)) {
      if (word !== flag && !flag.startsWith('--')) return false
      if (word !== flag) continue
      at += 1
      // A value that looks like a flag of every command is taken for that.
      if (rest[at]?.startsWith('-') !== false) return false
    } else if (word !== flag || !(BARE.has(flag) || shape.bare.includes(flag))) return false
  }
  const areBoth = given.some(flag => flag.startsWith('--') && given.includes(`--no-${flag.slice(2)}`))
  return !areBoth && count >= shape.least && count <= shape.most
}

const MAX_WORDS = 3
/** The global flags whose values the parser takes as they are, or that {@link agentProfileOf} judges. */
const GLOBAL_VALUED: ReadonlySet<string> = new Set(['-a', '--account', '--profile'])
