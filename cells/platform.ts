import type { Clock, PluginId } from '../kernel/plugin-api.ts'

/** What a plugin wants, as the user saw it when it was added. */
export interface CellGrants {
  readonly kind: 'currency' | 'observer' | 'policy' | 'rates' | 'storage' | 'swap'
  /** Servers that it may reach: `example.org` and `example.org:8443` by https, or with a scheme, such as `http://127.0.0.1:80`. */
  readonly hosts: readonly string[]
  /** True for a currency that gets private keys: its cell shares its process with no other. */
  readonly keys: boolean
}

/** A cell that has died, or that stays dead. */
export interface CellFault {
  readonly pluginId: PluginId
  /** In a sentence. */
  readonly reason: string
  readonly state: 'restarting' | 'running' | 'stopped'
}

/** Why a thread has ended. */
export type EndReason =
  | 'busy'
  | 'died'
  | 'error'
  | 'exit'
  | 'flood'
  | 'killed'
  | 'late'
  | 'memory'
  | 'refused'
  | 'unstarted'

/** How a thread has ended, and whose fault that is. */
export interface ThreadEnd {
  readonly reason: EndReason
  /** `unclear`: one of several in a process that died. */
  readonly blame: 'neighbour' | 'this' | 'unclear'
}

/** A running thread with one realm in it. */
export interface CellThread {
  send(text: string): void
  /** Keeps this process alive, or lets it end although the thread runs. */
  hold(isHeld: boolean): void
  /** Ends it; `onEnd` is not called any more. */
  kill(): void
}

/** What a thread is made of. */
export interface ThreadRequest {
  readonly code: string
  readonly name: string
  readonly open: string
  /** True for a process of its own. */
  readonly isAlone: boolean
  /** How many times as long as others it may run without a pause. */
  readonly busyFactor: number
  onText(text: string): void
  onEnd(end: ThreadEnd): void
}

/** Makes threads; each platform has its own. */
export interface CellPlatform {
  readonly clock: Clock
  /** @throws what the system says if it has no process, file or folder left */
  start(request: ThreadRequest): CellThread
}
