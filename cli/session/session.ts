import type { ActionDeclaration } from '../../app/actions/declaration.ts'
import type { ActionServices } from '../../app/actions/services.ts'
import { ageText } from '../../app/format/times.ts'
import type { Devtools } from '../../devtools/core/devtools.ts'
import { compact } from '../../kernel/base/compact.ts'
import type {
  Account,
  Context,
  CurrencyInfo,
  CurrencyWallet,
  Io,
  Kernel,
  KernelOptions,
  LogThreshold,
  ObserverPlugin,
  Plugin,
  SwapPlugin
} from '../../kernel/index.ts'
import { CliError, PAYING_GRACE_MS } from '../errors/cli-error.ts'
import { commandInProfile } from '../grammar/command-line.ts'
import type { GlobalOptions } from '../grammar/options.ts'
import type { CommandResult } from '../output/view.ts'
import { type LoadedPlugins, loadPlugins, pluginProblems } from '../plugins/load-plugins.ts'
import { addedHosts, hasPlugins } from '../plugins/plugin-list.ts'
import type { ClosableWorld, OpenWorld } from '../profile/open-world.ts'
import { FIRST_DEVICE, type ProfilePaths } from '../profile/paths.ts'
import type { WorldControl } from '../profile/world-control.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { StatusLine } from '../terminal/status-line.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Agent, AgentTimes, PooledKernel } from './agent.ts'
import type { LoginTarget, SecretMethod } from './log-in.ts'

/** Options of {@link Session}. */
export interface SessionOptions {
  readonly terminal: Terminal
  readonly globals: GlobalOptions
  /** The command's own flags, by commander's names. */
  readonly flags: Readonly<Record<string, unknown>>
  /** The name of the command, such as `tx list`. */
  readonly commandName: string
  /** Needs a login of its own, although an agent has the account open. */
  readonly needsNewLogin: boolean
  /** The command as it was typed, for advice. */
  readonly commandLine: string
  readonly paths: ProfilePaths
  readonly secrets: Secrets
  readonly statusLine: StatusLine
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal
  /** The scrypt parameters of new passwords. */
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
  /** The time that a stop waits for a payment, in milliseconds. */
  readonly payingGraceMs?: number
  /** Plugins besides those that ship. */
  readonly plugins?: readonly Plugin[]
  /** The agent, if this command runs in one. */
  readonly agent?: Agent
  /** Runs the agent of the profile in this process, until it ends. */
  serveAgent(options: AgentTimes): Promise<void>
  /** Writes a result to standard output. */
  print(result: CommandResult, accountName: string | undefined): Promise<void>
}

/**
 * One run of one command: opens the profile, the kernel and the account when they are first needed, and closes them at
 * the end. In the agent it uses those that are open, and leaves them open.
 */
export class Session {
  readonly terminal: Terminal
  readonly globals: GlobalOptions
  readonly flags: Readonly<Record<string, unknown>>
  readonly commandName: string
  readonly commandLine: string
  readonly paths: ProfilePaths
  readonly secrets: Secrets
  readonly statusLine: StatusLine
  readonly signal: AbortSignal
  readonly payingGraceMs: number
  /** The agent, if this command runs in one. */
  readonly agent: Agent | undefined
  readonly #plugins: readonly Plugin[]
  #loaded: Promise<LoadedPlugins> | undefined
  readonly #needsNewLogin: boolean
  readonly #passwordSnrp: KernelOptions['passwordSnrp']
  readonly #print: SessionOptions['print']
  readonly #serveAgent: SessionOptions['serveAgent']
  readonly #observers: ObserverPlugin[] = []
  #tracer: Devtools | undefined
  readonly #closers: (() => Promise<void>)[] = []
  #logLevel: LogThreshold | undefined
  #io: Promise<Io> | undefined
  #world: Promise<OpenWorld> | undefined
  #kernel: Promise<Kernel> | undefined
  #pooled: PooledKernel | undefined
  #lockCount: number | undefined
  #account: Promise<Account> | undefined
  #opened: Account | undefined
  #accountName: string | undefined
  #services: Promise<ActionServices> | undefined
  #isPaying = false

  constructor(options: SessionOptions) {
    this.terminal = options.terminal
    this.globals = options.globals
    this.flags = options.flags
    this.commandName = options.commandName
    this.#needsNewLogin = options.needsNewLogin
    this.commandLine = options.commandLine
    this.paths = options.paths
    this.secrets = options.secrets
    this.statusLine = options.statusLine
    this.signal = options.signal
    this.payingGraceMs = options.payingGraceMs ?? PAYING_GRACE_MS
    this.agent = options.agent
    this.#plugins = options.plugins ?? []
    this.#passwordSnrp = options.passwordSnrp
    this.#print = (result, accountName) => options.print(result, accountName)
    this.#serveAgent = times => options.serveAgent(times)
  }

  /** Runs the agent of the profile in this process, until it ends. @throws CliError AGENT_RUNNING */
  serveAgent(times: AgentTimes): Promise<void> {
    return this.#serveAgent(times)
  }

  /** Prints a result before the end; for commands that continue. */
  print(result: CommandResult): Promise<void> {
    return this.#print(result, this.#accountName)
  }

  /** Marks the start of a payment: from now on a stop waits for its result, and does not claim that nothing was sent. */
  paying(step = 'signing and sending…'): void {
    this.signal.throwIfAborted()
    // An agent may have a connection open, which nothing else would keep from sending.
    if (this.globals.offline) throw new CliError('USAGE', 'Nothing can be sent with --offline')
    if (!this.#isPaying) {
      this.agent?.duringPayment(new Promise(resolve => this.#closers.unshift(async () => resolve(undefined))))
    }
    this.#isPaying = true
    this.statusLine.step(step)
  }

  get isPaying(): boolean {
    return this.#isPaying
  }

  /** The text of a flag of this command. */
  text(flag: string): string | undefined {
    const value = this.flags[flag]
    return typeof value === 'string' ? value : undefined
  }

  /** The texts of a flag that can be given several times. */
  texts(flag: string): readonly string[] {
    const value = this.flags[flag]
    return Array.isArray(value) ? (value as string[]) : []
  }

  isOn(flag: string): boolean {
    return this.flags[flag] === true
  }

  /** The name of this process in messages to waiting processes. */
  get holder(): string {
    return `holdfast ${this.commandName}`
  }

  /** The account's name for the envelope, once there is one. */
  get accountName(): string | undefined {
    return this.#accountName
  }

  /** The world of the profile. @throws STORAGE_LOCKED */
  world(): Promise<OpenWorld> {
    this.#world ??= this.#openWorld()
    return this.#world
  }

  /** The world that an agent has in its process; undefined outside an agent. Closing it leaves it to the agent. */
  async agentWorld(): Promise<ClosableWorld | undefined> {
    const world = (await this.agent?.world(this.paths))?.local
    return world && { world, close: async () => {} }
  }

  /** Returns the currencies of all plugins of the profile. */
  async currencies(): Promise<readonly CurrencyInfo[]> {
    return (await this.#allPlugins()).flatMap(plugin => (plugin.kind === 'currency' ? [plugin.info] : []))
  }

  /** Returns the plugins of all swap providers. */
  async swapPlugins(): Promise<readonly SwapPlugin[]> {
    return (await this.#allPlugins()).flatMap(plugin => (plugin.kind === 'swap' ? [plugin] : []))
  }

  /** Opens the kernel of this device. @throws STORAGE_LOCKED */
  async context(): Promise<Context> {
    this.#kernel ??= this.#openKernel()
    return (await this.#kernel).context
  }

  /**
   * Logs in to the account of this command; by a certain method if only that is sufficient.
   *
   * @throws CliError NOT_LOGGED_IN, and the errors of a login
   */
  account(method?: SecretMethod): Promise<Account> {
    this.#account ??= this.#openAccount(method)
    return this.#account
  }

  /** Remembers an account that the command itself opened, for its own time. */
  adoptAccount(account: Account): Account {
    this.#account = Promise.resolve(account)
    this.#opened = account
    this.#accountName = account.username ?? account.id
    if (this.#pooled !== undefined && this.#pooled.kept(account.id) !== account)
      this.#closers.push(() => account.logout())
    return account
  }

  /** Remembers an account as {@link adoptAccount} does; an agent keeps it open for later commands. */
  keepAccount(account: Account): Account {
    if (this.#pooled === undefined) return this.adoptAccount(account)
    const isKept = this.isKept(account)
    if (this.#pooled.lockCount === this.#lockCount) this.#pooled.keep(account)
    else this.statusLine.warn('the agent was locked meanwhile, so it does not keep the account open')
    if (!isKept && this.isKept(account)) this.#announceOpen(account)
    return this.adoptAccount(account)
  }

  /** True if an agent keeps the account open for later commands. */
  isKept({ id }: Account): boolean {
    return this.#pooled?.kept(id) !== undefined
  }

  /** The account that an agent keeps open; undefined while it is locked. */
  openAccount(loginId: string): Account | undefined {
    return this.#pooled?.kept(loginId)
  }

  /** Closes an account that an agent keeps open. */
  async releaseAccount(loginId: string): Promise<void> {
    await this.context()
    await this.#pooled?.release(loginId)
  }

  /** The devtools that watch the kernel of an agent from its start. @throws Error outside an agent */
  async agentDevtools(): Promise<Devtools> {
    await this.context()
    if (this.#pooled === undefined) throw new Error('This command runs in no agent')
    return this.#pooled.devtools
  }

  /** Adds what is closed at the end of the command, also of one that is stopped; the last added is closed first. */
  whenClosed(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /** Taps hooks of the kernel; to be called before the kernel is opened. */
  observe(tap: ObserverPlugin['apply']): void {
    this.#observers.push({ kind: 'observer', id: `command-line-${this.#observers.length + 1}`, apply: tap })
  }

  /** Adds devtools, which need all of the log, and see calls into contained plugins. */
  addDevtools(devtools: Devtools): void {
    this.#observers.push(devtools.plugin)
    this.#logLevel = 'debug'
    this.#tracer = devtools
  }

  /**
   * Runs an action in the account of this command. Its result is not cut and escaped as for a program: what prints it
   * escapes it for a terminal.
   *
   * @param listeners - follow what the action signs, and what it searches
   */
  async run<In, Out>(
    { run }: Pick<ActionDeclaration<In, Out>, 'run'>,
    input: In,
    listeners: Pick<ActionServices, 'approval' | 'search'> = {}
  ): Promise<Out> {
    const services = await this.actionServices()
    return run({ ...services, ...listeners }, input)
  }

  /** What the actions of this command run with; its drafts and rounds of quotes end with the command. */
  actionServices(): Promise<ActionServices> {
    this.#services ??= this.#openServices()
    return this.#services
  }

  /** Loads the platform when it is first needed. */
  io(): Promise<Io> {
    this.#io ??= import('../../platform/node/index.ts').then(({ makeNodeIo }) => makeNodeIo())
    return this.#io
  }

  /** Waits for a call, but no longer than `--timeout`. @throws DEADLINE */
  async withTimeout<T>(what: string, call: () => Promise<T>): Promise<T> {
    // In an agent, a command that was stopped begins nothing more.
    if (this.agent !== undefined) this.signal.throwIfAborted()
    const [{ withDeadline }, { clock }] = await Promise.all([import('../../kernel/index.ts'), this.io()])
    return withDeadline({ clock, milliseconds: this.globals.timeoutMs, what }, call)
  }

  /** Shows a step while it waits, as {@link withTimeout} does. @throws DEADLINE */
  async withProgress<T>(what: string, call: () => Promise<T>): Promise<T> {
    this.statusLine.step(`${what.charAt(0).toLowerCase()}${what.slice(1)}…`)
    try {
      return await this.withTimeout(what, call)
    } finally {
      this.statusLine.clear()
    }
  }

  /**
   * Waits until a wallet has seen its chain; a paused wallet, and any wallet offline, keeps its known state.
   *
   * @throws DEADLINE, ENGINE_FAILED, CliError WALLET_BEHIND as soon as every server has failed
   */
  async synced(wallet: CurrencyWallet): Promise<CurrencyWallet> {
    if (this.globals.offline || wallet.getSnapshot().isPaused) return wallet
    this.statusLine.step(`syncing ${wallet.name ?? wallet.currencyInfo.displayName}…`)
    const { explainedWait, untilSynced } = await import('./until-synced.ts')
    await this.withTimeout('Syncing the wallet', async () => {
      const hasLooked = this.#pooled?.isStale(wallet) === true && (await hasSynced(wallet))
      await untilSynced(wallet, this.signal, hasLooked)
    }).catch((error: unknown) => {
      throw explainedWait(error, [wallet])
    })
    this.statusLine.clear()
    return wallet
  }

  /** Closes all that was opened in reverse order. @throws the first failure, after the rest is closed */
  async close(): Promise<void> {
    this.statusLine.clear()
    const failures: unknown[] = []
    for (const close of this.#closers.splice(0).reverse())
      await close().catch((error: unknown) => void failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  /** Tells a person that the next command needs no secret. */
  #announceOpen({ username, id }: Account): void {
    const { terminal, globals, agent, commandName } = this
    if (terminal.stderr.isTTY !== true || globals.json || agent === undefined) return
    if (commandName.startsWith('agent ')) return
    const { idleMs } = agent.status
    const time = idleMs === 0 ? 'until it is locked' : `for ${ageText(idleMs / 1000)} after the last command`
    this.statusLine.info(`${username ?? id} stays open ${time} (${commandInProfile(globals, 'agent lock')})`)
  }

  async #allPlugins(): Promise<readonly Plugin[]> {
    const [{ shippedPlugins }, { readProfile }] = await Promise.all([
      import('../profile/real-world.ts'),
      import('../profile/settings.ts')
    ])
    const shipped = shippedPlugins(readProfile(this.paths))
    return [...shipped, ...this.#plugins, ...(await this.#addedPlugins())]
  }

  async #openWorld(): Promise<OpenWorld> {
    if (this.agent !== undefined) return this.agent.world(this.paths)
    const { isHeldByAgent, openWorld } = await import('../profile/open-world.ts')
    const io = await this.io()
    const opener = { holder: this.holder, io, addedHosts: addedHosts(this.paths) }
    const world = await openWorld(this.paths, opener).catch((error: unknown) => {
      throw isHeldByAgent(error) ? agentHasWorld(this.globals, error) : error
    })
    const { withDeadline } = await import('../../kernel/index.ts')
    // Not `--timeout`: what the command has done must be saved however short that is.
    const saving = { clock: io.clock, milliseconds: SAVING_MS, what: 'Saving the fake world' }
    const inTime = <T>(call: () => Promise<T>): Promise<T> => withDeadline(saving, call)
    this.#closers.push(() => inTime(() => world.close()))
    return world.isShared ? world : { ...world, control: savedInTime(world.control, inTime) }
  }

  async #openKernel(): Promise<Kernel> {
    if (this.agent !== undefined) return this.#joinKernel(this.agent)
    const { openProfileKernel } = await import('../profile/open-profile.ts')
    const kernel = await openProfileKernel(this.paths, await this.world(), {
      holder: this.holder,
      io: await this.io(),
      isOffline: () => this.globals.offline,
      device: this.globals.device,
      ...compact({ passwordSnrp: this.#passwordSnrp }),
      logLevel: this.#logLevel ?? logLevelOf(this.globals),
      onLog: line => this.statusLine.log(line),
      plugins: [...this.#observers, ...this.#plugins],
      store: this.globals.store,
      added: await this.#loadPlugins()
    })
    this.#closers.push(() => kernel.close())
    this.#warnOfPlugins()
    return kernel
  }

  async #joinKernel(agent: Agent): Promise<Kernel> {
    const { device, offline: isOffline } = this.globals
    const pooled = await agent.open(this.paths, { device, isOffline })
    const undo = [
      pooled.onLog(line => this.statusLine.log(line)),
      ...this.#observers.map(observer => pooled.observe(observer))
    ]
    this.#closers.push(async () => {
      for (const call of undo) call()
    })
    this.#pooled = pooled
    this.#lockCount = pooled.lockCount
    this.#warnOfPlugins()
    return pooled.kernel
  }

  /** The plugins of the profile. */
  async #addedPlugins(): Promise<readonly Plugin[]> {
    const { agent, paths, globals } = this
    if (agent === undefined) return (await this.#loadPlugins()).plugins
    if (!hasPlugins(paths, undefined)) return []
    return (await agent.open(paths, { device: globals.device, isOffline: globals.offline })).added
  }

  /** Loads the plugins of the profile, once for this command. */
  #loadPlugins(): Promise<LoadedPlugins> {
    if (this.#loaded === undefined) {
      const loading = loadPlugins(this.paths, {
        configFolder: this.globals.configFolder,
        onLog: line => this.statusLine.log(line),
        tracer: this.#tracer
      })
      this.#loaded = loading
      // The first to be opened is closed last, after the kernel.
      this.#closers.unshift(async () => (await loading).close())
    }
    return this.#loaded
  }

  /** Says what keeps plugins of the profile from being loaded. */
  #warnOfPlugins(): void {
    for (const problem of pluginProblems(this.paths, this.globals)) this.statusLine.warn(problem)
  }

  async #openServices(): Promise<ActionServices> {
    const [{ makeActionServices }, { pausedWalletsIn }] = await Promise.all([
      import('../../app/actions/services.ts'),
      import('../profile/state-files.ts')
    ])
    const services = makeActionServices({
      context: await this.context(),
      accounts: () => (this.#opened === undefined ? [] : [this.#opened]),
      io: await this.io(),
      pausedWallets: pausedWalletsIn(this.paths.session)
    })
    this.#closers.push(async () => services.close())
    return services
  }

  async #openAccount(method: SecretMethod | undefined): Promise<Account> {
    const { findTarget, logInBy, chooseMethod, methodBySecret } = await import('./log-in.ts')
    const context = await this.context()
    const target = findTarget(this, context)
    // A secret that was given is checked, even if the account is open.
    const given = this.#pooled && (await methodBySecret(this.secrets))
    const kept = target.local && this.#pooled?.kept(target.local.loginId)
    // A secret is shown, and the way in changed, only by someone who knows one; some light accounts have none.
    const needsNewLogin = (this.isOn('reveal') || this.#needsNewLogin) && hasSecret(target)
    const isEnough =
      given === undefined && this.text('with') === undefined && method === undefined && !needsNewLogin
    const account =
      kept !== undefined && isEnough
        ? kept
        : await logInBy(method ?? (await chooseMethod(this, target)), { session: this, context, target })
    // What was typed opens the account until the agent locks; what a flag gives is for this command.
    return given === undefined ? this.keepAccount(account) : this.adoptAccount(account)
  }
}

const hasSecret = ({ local }: LoginTarget): boolean =>
  local?.username !== undefined || local?.isPinLoginEnabled === true

const hasSynced = (wallet: CurrencyWallet): Promise<boolean> =>
  wallet.sync().then(
    () => true,
    () => false
  )

/** The failure of a command that runs beside an agent which has an account open. */
const agentHasWorld = ({ profile, usualProfile, store }: GlobalOptions, cause: unknown): CliError => {
  const commandOf = (words: string): string =>
    commandInProfile({ profile, usualProfile, device: FIRST_DEVICE }, words)
  const stop = { command: commandOf('agent stop'), why: 'end the agent' }
  const serve = {
    command: commandOf('fake start'),
    why: 'or keep it, and serve its world in another terminal'
  }
  return new CliError('AGENT_RUNNING', `The agent of the profile ${profile} has its fake world open`, {
    cause,
    hint: 'A command with --store, -C or --no-agent does not run in the agent.',
    // Without a store of its own it needs the accounts, too, which the agent has.
    next: store === undefined ? [stop] : [stop, serve]
  })
}

const SAVING_MS = 60_000

/** Limits the calls of a world in this process: they resolve when the world is saved, and a silent disk never answers. */
const savedInTime = (
  control: WorldControl,
  inTime: <T>(call: () => Promise<T>) => Promise<T>
): WorldControl => {
  const calls = Object.entries(control).map(([name, call]: [string, ControlCall]) => [
    name,
    (...args: readonly unknown[]) => inTime(() => call(...args))
  ])
  return Object.fromEntries(calls)
}

type ControlCall = (...args: readonly unknown[]) => Promise<unknown>

const logLevelOf = ({ quiet, verbosity }: GlobalOptions): LogThreshold => {
  if (quiet) return 'silent'
  return verbosity === 0 ? 'error' : verbosity === 1 ? 'info' : 'debug'
}
