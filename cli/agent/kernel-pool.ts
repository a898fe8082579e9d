import { AsyncLocalStorage } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Devtools, makeDevtools } from '../../devtools/core/devtools.ts'
import { type HookName, hookNames } from '../../devtools/core/model/facts.ts'
import {
  type Account,
  type CurrencyWallet,
  compact,
  type Io,
  type Kernel,
  type KernelOptions,
  type LogLine,
  type ObserverHost,
  type ObserverPlugin,
  type Plugin
} from '../../kernel/index.ts'
import { isAlive } from '../../plugins/storage/file/file-lock.ts'
import { type LoadedPlugins, loadPlugins } from '../plugins/load-plugins.ts'
import { addedHosts } from '../plugins/plugin-list.ts'
import { openProfileKernel } from '../profile/open-profile.ts'
import { AGENT_HOLDER, type OpenWorld, openWorld } from '../profile/open-world.ts'
import type { ProfilePaths } from '../profile/paths.ts'
import type { WorldControl } from '../profile/world-control.ts'
import type { PooledKernel } from '../session/agent.ts'

/** Options of {@link KernelPool}. */
export interface KernelPoolOptions {
  readonly io: Io
  /** The plugins besides those that ship. */
  readonly plugins: readonly Plugin[]
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
}

/** The device of a kernel, and whether the command that needs it has `--offline`. */
export interface OpenKernelOptions {
  readonly device: string
  readonly isOffline: boolean
}

/** The command that an asynchronous call belongs to. */
export interface CommandScope {
  /** True while a command with `--offline` runs: no request that it causes leaves this process. */
  isOffline: boolean
}

/** The time without a command after which memory is given back, in milliseconds. */
const REST_MS = 5000
/** The time without a command after which repos sync less often, in milliseconds. */
const QUIET_MS = 30_000
/** How often repos sync while commands come, and then. */
const SYNC_MS = { used: 30_000, quiet: 180_000 } as const
/** The heap may grow by this many bytes before it is worth a pause. */
const MAX_GARBAGE_BYTES = 16_000_000

/**
 * The world and the kernels of a profile, one kernel a device, for all commands of an agent.
 *
 * A kernel opens when a command first needs it, and stays open until the agent ends.
 */
export class KernelPool {
  readonly #options: KernelPoolOptions
  readonly #scopes = new AsyncLocalStorage<CommandScope>()
  readonly #kernels = new Map<string, Promise<AgentKernel>>()
  #world: Promise<OpenWorld> | undefined
  /** Counts the changes that commands have made to the fake world. */
  #changes = 0
  readonly #worldListeners = new Set<() => void>()
  /** The commands that run now. */
  #running = 0
  #rest: NodeJS.Timeout | undefined
  #quiet: NodeJS.Timeout | undefined
  #use: keyof typeof SYNC_MS = 'used'
  #heapBytes = 0

  constructor(options: KernelPoolOptions) {
    this.#options = options
  }

  /**
   * Runs a command.
   *
   * @param mayBeOffline - the command may have `--offline`: then what it causes is known to be its own. From the first such
   * command on, Node follows each promise of the process, which the others need not pay for.
   */
  async run<T>(command: () => Promise<T>, mayBeOffline: boolean): Promise<T> {
    const scope: CommandScope = { isOffline: false }
    clearTimeout(this.#rest)
    clearTimeout(this.#quiet)
    this.#running += 1
    this.#changeUse('used')
    try {
      return await (mayBeOffline ? this.#scopes.run(scope, command) : command())
    } finally {
      // Engines that the command has started go on with the network.
      scope.isOffline = false
      this.#running -= 1
      if (this.#running === 0) {
        this.#rest = setTimeout(() => this.#giveMemoryBack(), REST_MS).unref()
        this.#quiet = setTimeout(() => this.#changeUse('quiet'), QUIET_MS).unref()
      }
    }
  }

  /** The world of the profile. @throws STORAGE_LOCKED if another process has it */
  async world(paths: ProfilePaths): Promise<OpenWorld> {
    const { servedBy } = (await this.#world) ?? {}
    // The servers of a world end with its process, and the kernels cannot go on without them.
    if (servedBy !== undefined && !isAlive(servedBy)) await this.close()
    return this.#openWorld(paths)
  }

  /** The kernel of a device. @throws STORAGE_LOCKED, CORRUPT_FILE */
  async open(paths: ProfilePaths, { device, isOffline }: OpenKernelOptions): Promise<PooledKernel> {
    const scope = this.#scopes.getStore()
    if (scope !== undefined) scope.isOffline = isOffline
    else if (isOffline) throw new Error('The command was not known to be offline')
    await this.world(paths)
    let kernel = this.#kernels.get(device)
    if (kernel === undefined) {
      kernel = this.#open(paths, device)
      this.#kernels.set(device, kernel)
      kernel.catch(() => this.#kernels.delete(device))
    }
    return kernel
  }

  /** Calls a listener after each change that a command has made to the fake world. @returns ends that */
  onWorldChange(listener: () => void): () => void {
    this.#worldListeners.add(listener)
    return () => void this.#worldListeners.delete(listener)
  }

  /** The accounts that are open, on all devices. */
  async accounts(): Promise<readonly Account[]> {
    const kernels = await Promise.all(this.#kernels.values())
    return kernels.flatMap(({ kernel }) => kernel.context.accounts)
  }

  /** Logs every account out, so that this process holds no keys. */
  async lock(): Promise<void> {
    const kernels = await Promise.allSettled(this.#kernels.values())
    await Promise.allSettled(
      kernels.flatMap(opened => (opened.status === 'fulfilled' ? [opened.value.lock()] : []))
    )
  }

  /** Closes the kernels, then the world. @throws the first failure, after the rest is closed */
  async close(): Promise<void> {
    clearTimeout(this.#rest)
    clearTimeout(this.#quiet)
    const kernels = await Promise.allSettled(this.#kernels.values())
    const closed = await Promise.allSettled(
      kernels.flatMap(opened => (opened.status === 'fulfilled' ? [opened.value.close()] : []))
    )
    this.#kernels.clear()
    const world = this.#world
    this.#world = undefined
    await (await world?.catch(() => undefined))?.close()
    for (const result of closed) if (result.status === 'rejected') throw result.reason
  }

  /** V8 collects what logins and long lists leave only when it needs more memory, which an idle agent never does. */
  #giveMemoryBack(): void {
    if (process.memoryUsage().heapUsed < this.#heapBytes + MAX_GARBAGE_BYTES) return
    collectGarbage()
    this.#heapBytes = process.memoryUsage().heapUsed
  }

  /** What nobody looks at need not be the newest; what is written here goes up within a second all the same. */
  #changeUse(use: keyof typeof SYNC_MS): void {
    if (use === this.#use) return
    this.#use = use
    // One that did not open, or is closing, syncs nothing.
    for (const opening of this.#kernels.values())
      opening.then(({ kernel }) => kernel.context.changeSyncPeriod(SYNC_MS[use])).catch(() => {})
  }

  #openWorld(paths: ProfilePaths): Promise<OpenWorld> {
    this.#world ??= openWorld(paths, {
      holder: AGENT_HOLDER,
      io: this.#options.io,
      addedHosts: addedHosts(paths)
    })
      // Every device of the profile is in this process. A real network has no control.
      .then(world =>
        world.real === undefined ? { ...world, isShared: true, control: this.#counted(world.control) } : world
      )
      .catch((error: unknown) => {
        this.#world = undefined
        throw error
      })
    return this.#world
  }

  /** Counts each change when it is over: the engines learn of it a moment later. */
  #counted(control: WorldControl): WorldControl {
    const count = <T>(value: T): T => {
      this.#changes += 1
      for (const listener of this.#worldListeners) listener()
      return value
    }
    return {
      ...control,
      fund: (...args) => control.fund(...args).then(count),
      mine: (...args) => control.mine(...args).then(count),
      changeNetwork: (...args) => control.changeNetwork(...args).then(count)
    }
  }

  async #open(paths: ProfilePaths, device: string): Promise<AgentKernel> {
    const { io, plugins, passwordSnrp } = this.#options
    const world = await this.#openWorld(paths)
    const taps = new LateTaps()
    const devtools = makeDevtools({ clock: world.io.clock })
    const added = await loadPlugins(paths, { onLog: line => taps.log(line), tracer: devtools })
    const opening = openProfileKernel(paths, world, {
      holder: AGENT_HOLDER,
      io,
      isOffline: () => this.#scopes.getStore()?.isOffline === true,
      device,
      ...compact({ passwordSnrp }),
      logLevel: 'debug',
      onLog: line => taps.log(line),
      plugins: [taps.plugin, devtools.plugin, ...plugins],
      added
    })
    const kernel = await opening.catch((error: unknown) => {
      added.close()
      throw error
    })
    return new AgentKernel(kernel, { added, taps, devtools, changes: () => this.#changes })
  }
}

/** Node offers the function only to a process that was started with the flag. */
const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** One kernel of the pool, with the accounts that stay open between commands. */
class AgentKernel implements PooledKernel {
  readonly kernel: Kernel
  readonly devtools: Devtools
  readonly #added: LoadedPlugins
  readonly #taps: LateTaps
  readonly #changes: () => number
  lockCount = 0
  readonly #kept = new Map<string, Account>()
  /** The number of changes that each wallet has seen. */
  readonly #seen = new WeakMap<CurrencyWallet, number>()

  constructor(
    kernel: Kernel,
    parts: {
      readonly added: LoadedPlugins
      readonly taps: LateTaps
      readonly devtools: Devtools
      changes(): number
    }
  ) {
    this.kernel = kernel
    this.#added = parts.added
    this.devtools = parts.devtools
    this.#taps = parts.taps
    this.#changes = parts.changes
  }

  get added(): readonly Plugin[] {
    return this.#added.plugins
  }

  async close(): Promise<void> {
    await this.kernel.close()
    this.#added.close()
  }

  isStale(wallet: CurrencyWallet): boolean {
    const changes = this.#changes()
    const isUnseen = (this.#seen.get(wallet) ?? 0) < changes
    this.#seen.set(wallet, changes)
    return isUnseen || wallet.engine.getSnapshot().failure !== undefined
  }

  observe(plugin: ObserverPlugin): () => void {
    return this.#taps.apply(plugin)
  }

  onLog(listener: (line: LogLine) => void): () => void {
    return this.#taps.onLog(listener)
  }

  kept(loginId: string): Account | undefined {
    const account = this.#kept.get(loginId)
    return account !== undefined && this.kernel.context.accounts.includes(account) ? account : undefined
  }

  keep(account: Account): void {
    // Another command may be using the one that is kept, perhaps for a payment.
    if (this.kept(account.id) === undefined) this.#kept.set(account.id, account)
  }

  async release(loginId: string): Promise<void> {
    const account = this.#kept.get(loginId)
    this.#kept.delete(loginId)
    await account?.logout()
  }

  async lock(): Promise<void> {
    this.lockCount += 1
    this.#kept.clear()
    await Promise.all(this.kernel.context.accounts.map(account => account.logout()))
  }
}

type Tap = (...args: readonly unknown[]) => void

/**
 * Lets observers come and go while a kernel runs.
 *
 * A kernel takes observers when it is made, and no tap can be taken back. So each hook is tapped once, when the first of
 * them needs it, and that tap calls those that are there.
 */
class LateTaps {
  readonly plugin: ObserverPlugin
  readonly #taps = new Map<string, Set<Tap>>()
  readonly #loggers = new Set<(line: LogLine) => void>()
  #hooks: ObserverHost['hooks'] | undefined

  constructor() {
    this.plugin = {
      kind: 'observer',
      id: 'agent',
      apply: ({ hooks }) => {
        this.#hooks = hooks
      }
    }
  }

  log(line: LogLine): void {
    for (const logger of this.#loggers) logger(line)
  }

  onLog(listener: (line: LogLine) => void): () => void {
    this.#loggers.add(listener)
    return () => void this.#loggers.delete(listener)
  }

  /** Applies an observer. @returns takes its taps back */
  apply({ apply }: ObserverPlugin): () => void {
    const undo: (() => void)[] = []
    const hooks = Object.fromEntries(
      hookNames.map(name => [
        name,
        {
          tap: (_: string, tap: Tap) => {
            const taps = this.#tapsOf(name)
            taps.add(tap)
            undo.push(() => void taps.delete(tap))
          }
        }
      ])
    )
    apply({ hooks } as unknown as ObserverHost)
    return () => {
      for (const call of undo) call()
    }
  }

  #tapsOf(name: HookName): Set<Tap> {
    const known = this.#taps.get(name)
    if (known !== undefined) return known
    const taps = new Set<Tap>()
    this.#taps.set(name, taps)
    const callAll: Tap = (...args) => {
      for (const tap of taps) tap(...args)
    }
    this.#hooks?.[name].tap('agent', callAll as never)
    return taps
  }
}
