import type { Devtools } from '../../devtools/core/devtools.ts'
import type { Account, CurrencyWallet, Kernel, LogLine, ObserverPlugin, Plugin } from '../../kernel/index.ts'
import type { OpenWorld } from '../profile/open-world.ts'
import type { ProfilePaths } from '../profile/paths.ts'
import type { Programs } from '../programs/programs.ts'

/** The times of an agent, in milliseconds; 0 for never. */
export interface AgentTimes {
  /** Without a command, until it locks. */
  readonly idleMs: number
  /** Without an open account and a command, until it ends. */
  readonly lingerMs: number
}

/** The agent, as a command sees it: it holds the kernels of the profile for all commands. */
export interface Agent {
  readonly status: AgentStatus
  /** The programs that use the agent, and what they propose. */
  readonly programs: Programs
  world(paths: ProfilePaths): Promise<OpenWorld>
  /** Calls a listener after each change that a command has made to the fake world. @returns ends that */
  onWorldChange(listener: () => void): () => void
  /** The kernel of a device; `isOffline` while this command uses no network. @throws STORAGE_LOCKED */
  open(
    paths: ProfilePaths,
    options: { readonly device: string; readonly isOffline: boolean }
  ): Promise<PooledKernel>
  /** The accounts that are open, on all devices. */
  accounts(): Promise<readonly Account[]>
  /** Drops all keys, after the payments in flight. */
  lock(): Promise<void>
  /** Ends the agent after this command. */
  stop(): void
  /** Keeps the agent until it is stopped, although a command has started it; with another idle time. */
  stay(idleMs: number | undefined): void
  /** Leaves this command to the process of the client. */
  runAlone(): void
  /** Says that nobody sits at this command: it keeps no account open. */
  stayIdle(): void
  /** Says that this command goes on until it is stopped: only what a person does in it keeps accounts open. */
  stayOpen(): void
  /** Says that a person did something in this command, besides typing. */
  noteUse(): void
  /** True for the profile of the agent. */
  isOf(paths: ProfilePaths): boolean
  /** Keeps the keys and the agent until a payment is over. */
  duringPayment(payment: Promise<unknown>): void
}

/** Facts of a running agent. */
export interface AgentStatus extends AgentTimes {
  readonly pid: number
  readonly version: string
  /** ISO time. */
  readonly started: string
  /** The commands that run now, this one included. */
  readonly commands: number
}

/** A kernel that outlives the command. */
export interface PooledKernel {
  readonly kernel: Kernel
  readonly devtools: Devtools
  /** The plugins of the profile. */
  readonly added: readonly Plugin[]
  /** Applies an observer to the running kernel. @returns takes its taps back */
  observe(plugin: ObserverPlugin): () => void
  /** Calls a listener with each line of the log. @returns ends that */
  onLog(listener: (line: LogLine) => void): () => void
  /** True if an engine that runs may not have what an earlier command has seen or caused; once for each cause. */
  isStale(wallet: CurrencyWallet): boolean
  /** The account that is kept open between commands. */
  kept(loginId: string): Account | undefined
  /** Counts the times that the agent dropped its keys. */
  readonly lockCount: number
  /** Keeps an account open between commands, unless another login of it is kept. */
  keep(account: Account): void
  /** Logs the kept account out. */
  release(loginId: string): Promise<void>
}
