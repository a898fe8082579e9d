import type { Clock, PluginId } from '../kernel/plugin-api.ts'

/** What a plugin wants, as the user saw it when it was added. */
export interface CellGrants {
  readonly kind: 'currency' | 'observer' | 'policy' | 'rates' | 'storage' | 'swap'
  /** Servers that it may reach: `example.org` and `example.org:8443` by https, or with a scheme, such as `http://127.0.0.1:80`. */
  readonly hosts: readonly string[]
  /** True for a currency that gets private keys: its cell shares its process with no other. One for which the kernel signs needs none. */
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
  /** Called when it starts; until then it waits for the threads before it. */
  onBegin?(): void
  onText(text: string): void
  onEnd(end: ThreadEnd): void
}

/** Makes threads; each platform has its own. */
export interface CellPlatform {
  readonly clock: Clock
  /** @throws what the system says if it has no process, file or folder left */
  start(request: ThreadRequest): CellThread
}

/** The end of a thread in a sentence, with the code of the error of the system if there is one. */
export const endSentence = (reason: EndReason, error?: unknown): string => {
  const code = codeOf(error)
  return code === undefined ? SENTENCES[reason] : `${SENTENCES[reason]} (${code})`
}

/** The code of an error of the system, such as EMFILE or ENOSPC: its message may name a folder of the user. */
const codeOf = (error: unknown): string | undefined => {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && /^[A-Z_]{2,40}$/.test(code) ? code : undefined
}

const SENTENCES: Readonly<Record<EndReason, string>> = {
  busy: 'it kept its thread busy for too long',
  died: 'it brought its process down',
  error: 'its thread failed',
  exit: 'its thread ended',
  flood: 'it sent more than a cell may',
  killed: 'its thread was ended',
  late: 'it did not say in time what it is',
  memory: 'it took more memory than a cell may',
  refused: 'this page does not let its thread start',
  unstarted: 'the system does not start its thread'
}
