import { compact } from '../kernel/base/compact.ts'
import type { KernelOptions, Plugin, WalletError } from '../kernel/index.ts'
import {
  AdvisedError,
  CliError,
  isAgentEnded,
  isStop,
  stopBeforeEnd,
  stopDuringPayment
} from './errors/cli-error.ts'
import type { Failure } from './errors/failure.ts'
import { typedCommandLineOf } from './grammar/command-line.ts'
import { type GlobalOptions, readGlobalOptions, wantsJson } from './grammar/options.ts'
import {
  type EnvelopeMeta,
  failureEnvelope,
  failureLines,
  jsonText,
  resultText
} from './output/print-result.ts'
import type { CommandResult } from './output/view.ts'
import { type ParsedArguments, parseArguments, resolvePaths } from './parse-arguments.ts'
import { profilePaths, usualProfile } from './profile/paths.ts'
import { secretFlagsOf } from './secrets/secret-sources.ts'
import { makeSecrets } from './secrets/secrets.ts'
import type { Agent } from './session/agent.ts'
import { type CommandSpec, startsAgent } from './session/command.ts'
import type { Session } from './session/session.ts'
import { makeStatusLine } from './terminal/status-line.ts'
import { makePaint, type Terminal, wantsColor, widthOf, wrapText, writeText } from './terminal/terminal.ts'

/** Options of {@link runCli}. */
export interface RunOptions {
  readonly argv: readonly string[]
  readonly terminal: Terminal
  /** Aborted by the first Ctrl-C, with the error that ends the command. */
  readonly signal: AbortSignal
  /** The scrypt parameters of new passwords; the kernel benchmarks this machine if left out. */
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
  /** The time that a stopped command waits for a payment, in milliseconds; 3000 if left out. */
  readonly payingGraceMs?: number
  /** Plugins besides those that ship. */
  readonly plugins?: readonly Plugin[]
  /** The agent, if the command line runs in one. */
  readonly agent?: Agent
  /** True in a process that the user has started: an agent is used, and started for a command that opens an account. */
  readonly usesAgent?: boolean
  /** The reason why no agent could be started for this command; another start is not tried then. */
  readonly agentProblem?: string | undefined
}

/** Runs one command line and gives its exit code. Never throws. */
export const runCli = async (options: RunOptions): Promise<number> => {
  const { argv, terminal } = options
  let context = unparsed(terminal)
  try {
    const parsed = resolvePaths(
      parseArguments(argv, Math.min(widthOf(terminal.stdout), MAX_HELP_WIDTH)),
      terminal
    )
    if (parsed.kind === 'help') {
      await writeText(terminal.stdout, parsed.text)
      return 0
    }
    const globals = readGlobalOptions(parsed.flags, terminal)
    if (parsed.kind === 'version') return await printVersion(globals, terminal)
    context = { command: parsed.spec.name, profile: globals.profile, globals }
    return await runCommand(parsed, globals, options)
  } catch (error) {
    return reportFailure(error, options, context)
  }
}

const MAX_HELP_WIDTH = 110
/** The time that a stopped command has to clean up, in milliseconds. */
const GRACE_MS = 1000

type ParsedRun = Extract<ParsedArguments, { kind: 'run' }>

const runCommand = async (
  { spec, args, flags }: ParsedRun,
  globals: GlobalOptions,
  options: RunOptions
): Promise<number> => {
  const { argv, terminal, signal, passwordSnrp, payingGraceMs, plugins = [], agent } = options
  const started = performance.now()
  const paths = profilePaths(globals.profile, terminal.environment, globals.device)
  if (agent !== undefined && (spec.runsAlone === true || !agent.isOf(paths))) {
    agent.runAlone()
    return 0
  }
  // Before anything is loaded: users type their PIN while a command starts.
  if (globals.input && (spec.secrets?.length ?? 0) > 0) await terminal.disableEcho?.()
  if (options.usesAgent === true) {
    const code = await runElsewhere(spec, globals, options)
    if (code !== undefined) return code
  }
  const commandLine = typedCommandLineOf(argv)
  const statusLine = makeStatusLine(terminal, globals)
  const network = await networkIn(globals.profile, terminal)
  if (network !== 'fake' && !globals.json && terminal.stderr.isTTY === true)
    statusLine.info(`${globals.profile}: ${network} network`)
  if (!wantsColor(globals.color, terminal.environment, terminal.stderr.isTTY === true)) {
    terminal.disableColors?.()
  }
  const print = async (result: CommandResult, account: string | undefined): Promise<void> => {
    statusLine.clear()
    if (!globals.json) for (const warning of result.warnings ?? []) statusLine.warn(warning)
    const meta = {
      schema: `${spec.name.replaceAll(' ', '.')}/1`,
      profile: globals.profile,
      network,
      ...compact({ account }),
      durationMs: Math.round(performance.now() - started)
    }
    const readsOnly = spec.readsOnly === true
    await writeText(terminal.stdout, await resultText(result, meta, { terminal, globals, readsOnly }))
    if (!globals.json) for (const line of result.advice ?? []) statusLine.info(line)
  }
  // Loaded here and not above, so that help and mistakes do not wait for the kernel.
  const { Session } = await import('./session/session.ts')
  const session = new Session({
    terminal,
    globals,
    flags,
    commandName: spec.name,
    needsNewLogin: spec.needsNewLogin === true,
    commandLine,
    paths,
    secrets: makeSecrets({ terminal, flags: secretFlagsOf(flags), mayPrompt: globals.input, commandLine }),
    statusLine,
    signal: isTimed(spec, flags, terminal) ? stoppedAfter(signal, globals.timeoutMs) : signal,
    ...compact({ passwordSnrp, payingGraceMs, agent }),
    plugins,
    async serveAgent(times) {
      const { serveAgent } = await import('./agent/agent-server.ts')
      await serveAgent(session, { ...times, runCli, plugins, ...compact({ passwordSnrp, payingGraceMs }) })
    },
    print
  })
  let result: CommandResult | undefined
  try {
    result = await untilStopped(spec, session, args)
  } catch (error) {
    for (const warning of await closeSession(session)) statusLine.warn(warning)
    throw error
  }
  const warnings = await closeSession(session)
  if (result === undefined) for (const warning of warnings) statusLine.warn(warning)
  else await print({ ...result, warnings: [...(result.warnings ?? []), ...warnings] }, session.accountName)
  return result?.exitCode ?? 0
}

/**
 * Runs a command in the agent of its profile: in the one that runs, or in a new one if the command opens an account.
 *
 * @returns undefined if the command has to run in this process
 */
const runElsewhere = async (
  spec: CommandSpec,
  globals: GlobalOptions,
  { argv, terminal, signal, agentProblem }: RunOptions
): Promise<number | undefined> => {
  const { profile, agent, mayStartAgent, verbosity } = globals
  const explain = (problem: string): void => {
    if (verbosity > 0) makeStatusLine(terminal, globals).info(`${problem}; the command runs without one`)
  }
  if (spec.runsAlone === true) return undefined
  const stateFolder = profilePaths(profile, terminal.environment).state
  const request = { argv, terminal, signal, stateFolder }
  const { endUnusedAgent, runByAgent } = await import('./agent/client.ts')
  if (!agent) {
    await endUnusedAgent(stateFolder)
    return undefined
  }
  if (agentProblem !== undefined) {
    explain(agentProblem)
    return undefined
  }
  const code = await runByAgent(request)
  if (code !== undefined || !mayStartAgent || !startsAgent(spec)) return code
  const { runByNewAgent } = await import('./agent/start-agent.ts')
  return runByNewAgent(request, { profile, stateFolder }, explain)
}

/** True for a command that runs until it is stopped and was given a time; a login waits for another device instead. */
const isTimed = (
  { isServer, name }: CommandSpec,
  flags: Readonly<Record<string, unknown>>,
  { environment }: Terminal
): boolean =>
  (flags.timeout ?? environment.HOLDFAST_TIMEOUT) !== undefined &&
  (flags.watch === true || (isServer === true && name !== 'login'))

/** Adds a stop after some time, which ends a stream as Ctrl-C does. */
const stoppedAfter = (signal: AbortSignal, milliseconds: number): AbortSignal => {
  const controller = new AbortController()
  const stop = (): void => controller.abort(new CliError('INTERRUPTED', 'The time of --timeout is over'))
  setTimeout(stop, milliseconds).unref()
  return AbortSignal.any([signal, controller.signal])
}

/**
 * Closes the session and returns its failure as a warning, so that neither the result nor the error of the command is
 * lost: a user who does not learn of a payment makes another.
 */
const closeSession = async (session: Session): Promise<readonly string[]> => {
  try {
    await session.close()
    return []
  } catch (error) {
    const { failureOf } = await import('./errors/failure.ts')
    return [failureOf(error).message]
  }
}

/** Runs the command; after a stop it gets a moment to clean up. A server, or `--watch`, ends by being stopped. */
const untilStopped = async (
  spec: CommandSpec,
  session: Session,
  args: readonly (string | undefined)[]
): Promise<CommandResult | undefined> => {
  const run = await spec.load()
  const { signal, agent } = session
  signal.throwIfAborted()
  const isLeftOpen = spec.isServer === true || session.isOn('watch')
  if (isLeftOpen) agent?.stayOpen()
  const work = run(session, ...args)
  if (isLeftOpen) {
    const result = await work.catch((error: unknown) => {
      throw agent === undefined ? error : withLock(error)
    })
    if (!isStop(signal.reason) || isAgentEnded(signal.reason)) throw signal.reason
    return result
  }
  let stop = (): void => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, stopped])
  } catch (error) {
    if (!signal.aborted) throw error
    const { isPaying, payingGraceMs } = session
    let cut: NodeJS.Timeout | undefined
    const grace = new Promise<'over'>(resolve => {
      cut = setTimeout(resolve, isPaying ? payingGraceMs : GRACE_MS, 'over')
    })
    const ended = await Promise.race([work.catch(() => undefined), grace])
    clearTimeout(cut)
    if (ended === 'over' && (isPaying || agent !== undefined)) {
      throw isPaying ? stopDuringPayment(error) : stopBeforeEnd(error)
    }
    if (!isPaying) throw error
    return await work
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** A stream outlives the lock of an agent, without the account. */
const withLock = (error: unknown): unknown =>
  error instanceof Error && 'code' in error && error.code === 'LOGGED_OUT'
    ? new AdvisedError(error as WalletError, {
        hint: 'The agent drops its keys after some time without use, and by holdfast agent lock. Run the command again.'
      })
    : error

const printVersion = async (globals: GlobalOptions, terminal: Terminal): Promise<number> => {
  const { profile } = globals
  const meta = { schema: 'version/1', profile, network: await networkIn(profile, terminal), durationMs: 0 }
  await writeText(
    terminal.stdout,
    await resultText(await versionResult(globals.json), meta, { terminal, globals, readsOnly: true })
  )
  return 0
}

/** The network of a profile, for the envelope. */
const networkIn = async (
  profile: string,
  { environment }: Pick<Terminal, 'environment'>
): Promise<EnvelopeMeta['network']> => {
  const { networkOf } = await import('./profile/settings.ts')
  return networkOf(profilePaths(profile, environment))
}

const unparsed = ({ environment }: Terminal): FailureContext => ({
  command: 'holdfast',
  profile: environment.HOLDFAST_PROFILE ?? usualProfile(environment),
  globals: undefined
})

interface FailureContext {
  readonly command: string
  readonly profile: string
  readonly globals: GlobalOptions | undefined
}

/** Prints a failure outside a command, and gives the exit code. */
export const reportFailure = async (
  error: unknown,
  { argv, terminal }: Pick<RunOptions, 'argv' | 'terminal'>,
  { command, profile, globals }: FailureContext = unparsed(terminal)
): Promise<number> => {
  const { stdout, stderr, environment } = terminal
  const { causesOf, failureOf } = await import('./errors/failure.ts')
  const failure = withProfile(withOffline(failureOf(error), globals?.offline === true), profile, terminal)
  const hasJson = globals?.json ?? wantsJson(argv.includes('--json'), environment)
  if (hasJson) {
    const network = await networkIn(profile, terminal)
    const envelope = failureEnvelope(failure, { command, profile, network })
    await writeText(stdout, jsonText(envelope, stdout.isTTY === true))
  }
  const isQuiet = globals?.quiet ?? (argv.includes('-q') || argv.includes('--quiet'))
  if (!(hasJson && isQuiet)) {
    const paint = makePaint(wantsColor(globals?.color ?? 'auto', environment, stderr.isTTY === true))
    const causes = (globals?.debug ?? argv.includes('--debug')) ? causesOf(error) : []
    const lines = isQuiet ? [`${failure.message} (${failure.code})`] : failureLines(failure, causes, paint)
    const fitted = (line: string): string => (stderr.isTTY === true ? wrapText(line, widthOf(stderr)) : line)
    await writeText(stderr, lines.map(line => `${fitted(line)}\n`).join(''))
  }
  return failure.exitCode
}

/** With `--offline` a network failure is no fault of the network. */
const withOffline = (failure: Failure, isOffline: boolean): Failure =>
  isOffline && failure.code === 'NETWORK'
    ? { ...failure, hint: 'This needs the network. Run the command again without --offline.' }
    : failure

/** The commands that help name the profile, where they would be those of another one without it. */
const withProfile = (failure: Failure, profile: string, { environment }: Terminal): Failure => ({
  ...failure,
  next: failure.next.map(({ command, why }) => {
    const isFree =
      !command.startsWith('holdfast ') || / --profile\b|^holdfast (?:help|profile)\b/.test(command)
    return {
      command: isFree || profile === usualProfile(environment) ? command : `${command} --profile ${profile}`,
      why
    }
  })
})

/** The version of the package; with `--json` also those of Node and of the bundled plugins. */
const versionResult = async (wantsMore: boolean): Promise<CommandResult> => {
  const { packageFolder } = await import('./terminal/package-folder.ts')
  const version = packageFolder()?.version ?? 'unknown'
  const data = { holdfast: version, node: process.versions.node }
  const view = { kind: 'text', lines: [version] } as const
  if (!wantsMore) return { data, view }
  const { defaultPlugins } = await import('../plugins/default-plugins.ts')
  return { data: { ...data, plugins: defaultPlugins.map(({ id, kind }) => ({ id, kind, version })) }, view }
}
