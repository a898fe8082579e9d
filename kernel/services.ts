import type { SnrpOptions } from './crypto/snrp.ts'
import type { KernelHooks } from './hooks/kernel-hooks.ts'
import type { PluginCalls } from './hooks/plugin-calls.ts'
import type { Io } from './io/io.ts'
import { describeError, type LogThreshold } from './log.ts'
import type { PluginSet } from './plugins/plugin-set.ts'
import type { Disk } from './repo/disk.ts'
import type { EngineLog } from './types/engine.ts'

/** What the application says once, when it makes the kernel. */
export interface KernelConfig {
  /** Sent as `authorization: Token <apiKey>`. */
  readonly apiKey: string
  /** '' for the root app. */
  readonly appId: string
  /** Base of the login server, with its `/api` prefix. */
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  /** Shown on other devices beside a login that waits for approval. */
  readonly deviceDescription?: string
  readonly hideKeys: boolean
  readonly logLevel: LogThreshold
  /** How costly guessing a new password shall be. */
  readonly passwordSnrp?: SnrpOptions
  /** Hides the block height from wallet snapshots. */
  readonly skipBlockHeight: boolean
}

/** The bundle that every kernel module is given; made once by `createKernel`. */
export interface Services {
  readonly io: Io
  readonly hooks: KernelHooks
  /** Every call of a plugin that is waited for goes through it. */
  readonly calls: Pick<PluginCalls, 'call'>
  readonly disk: Disk
  readonly config: KernelConfig
  readonly plugins: PluginSet
  /** A log under a name of one's own. */
  logOf(source: string): EngineLog
  /** Lets a promise run on without an owner; a failure is logged under `name` and reported, never lost. */
  inBackground(name: string, promise: Promise<unknown>): void
  /** Hands a failure that belongs to nobody to the application's error listener. */
  report(source: string, error: unknown): void
}

/** Builds `inBackground` from a report function. */
export const makeInBackground =
  (report: Services['report']): Services['inBackground'] =>
  (name, promise) =>
    void promise.catch(error => report(name, error))

/** One line about a failure for the log. */
export const failureLine = (what: string, error: unknown): string => `${what}: ${describeError(error)}`
