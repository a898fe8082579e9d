import type { SyncHook } from 'tapable'
import { scrub } from '../base/errors.ts'
import { isoOf } from '../base/time.ts'
import type { SnrpOptions } from '../crypto/key-derivation.ts'
import type { Disk } from '../io/disk.ts'
import type { Clock, Io } from '../io/io.ts'
import type { EngineLog } from '../types/engine.ts'
import type { LogLevel, LogLine } from '../types/snapshots.ts'
import type { KernelHooks } from './hook-types.ts'
import type { PluginCalls } from './plugin-calls.ts'
import type { PluginSet } from './plugin-set.ts'

/** The settings that the application gives once, when it makes the kernel. */
export interface KernelConfig {
  /** Sent as `authorization: Token <apiKey>`. */
  readonly apiKey: string
  /** '' for the root app. */
  readonly appId: string
  /** Base of the login server, with its `/api` prefix; '' for none. */
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  /** Shown on other devices beside a login that waits for approval. */
  readonly deviceDescription?: string
  readonly hideKeys: boolean
  readonly logLevel: LogThreshold
  /** The cost of guessing a new password. */
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
  /** Passes a failure that belongs to no call to the application's error listener. */
  report(source: string, error: unknown): void
}

/** Builds `inBackground` from a report function. */
export const makeInBackground =
  (report: Services['report']): Services['inBackground'] =>
  (name, promise) =>
    void promise.catch(error => report(name, error))

const RANK: Readonly<Record<LogLevel | 'silent', number>> = {
  debug: 0,
  info: 1,
  warn: 2,
  error: 3,
  silent: 4
}

/** The lowest level of log lines that are emitted; the default is `warn` (specification §9). */
export type LogThreshold = LogLevel | 'silent'

/** The receiver of log lines, and their lowest level. */
export interface LogPort {
  readonly clock: Clock
  readonly logged: SyncHook<[LogLine]>
  readonly threshold: LogThreshold
}

/**
 * The log of one module or plugin. Text only; it is cut to 500 characters and anything that could be a key is
 * masked, so that a careless line of a plugin gives nothing away.
 */
export const makeLog = (source: string, { clock, logged, threshold }: LogPort): EngineLog => {
  const write = (level: LogLevel, text: string): void => {
    if (RANK[level] < RANK[threshold]) return
    logged.call(Object.freeze({ source, level, text: scrub(text), at: isoOf(clock.now()) }))
  }
  return Object.freeze({
    debug: text => write('debug', text),
    info: text => write('info', text),
    warn: text => write('warn', text),
    error: text => write('error', text)
  } satisfies EngineLog)
}
