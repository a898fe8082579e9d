import {
  type Clock,
  type EngineLog,
  type JsonObject,
  makeAbort,
  type PluginId,
  type Reply,
  WalletError
} from '../kernel/plugin-api.ts'
import { type CellCall, type CellTrace, type ContextFunctions, traced } from './cell-call.ts'
import type { CellFault, CellGrants, CellPlatform, CellThread, EndReason, ThreadEnd } from './platform.ts'
import {
  addPlace,
  type CallTarget,
  type ContextShape,
  encoded,
  errorJson,
  type FromCell,
  MAX_MESSAGE,
  type PlaceOf,
  readMessage,
  type ToCell
} from './protocol.ts'

/** What a plugin said of itself when it was loaded. */
export interface CellHead {
  readonly taps: readonly string[]
  readonly fields: Reply
}

/** What a cell is made of. */
export interface CellOptions {
  readonly pluginId: PluginId
  readonly code: string
  readonly grants: CellGrants
  readonly options: JsonObject
  readonly hooks: Readonly<Record<string, 'tap' | 'tapPromise'>>
  readonly parts: readonly string[]
  readonly platform: CellPlatform
  readonly log: EngineLog
  readonly placeOf?: PlaceOf | undefined
  readonly onCall?: ((trace: CellTrace) => void) | undefined
  onFault(fault: CellFault): void
}

interface PendingCall {
  readonly call: CellCall
  readonly resolve: (value: Reply) => void
  readonly reject: (error: Error) => void
  readonly cancel: () => void
  isRepeated: boolean
}

/**
 * The cell of one plugin: its thread, the calls in flight, and its life. A cell that dies by its own fault is started again
 * after a quarter of a second, then after a second; with the third such fault in ten minutes it stays stopped. One that dies
 * with its process by the fault of another is started at once, and what may be called again is.
 */
export class Cell {
  readonly pluginId: PluginId
  readonly #options: CellOptions
  readonly #pending = new Map<number, PendingCall>()
  readonly #contexts = new Map<number, ContextFunctions>()
  /** Contexts that give way, the oldest first. */
  readonly #passing: number[] = []
  readonly #faults: number[] = []
  /** Called with each new life of the plugin after the first. */
  readonly #restarted = new Set<() => void>()
  #hostFunctions: Required<ContextFunctions> | undefined
  #thread: CellThread | undefined
  #waitingNotes: Extract<FromCell, { context: number }>[] = []
  #clock: Pick<Clock, 'monotonic' | 'now'>
  #isReady = false
  #isReported = false
  #isAlone: boolean
  #life = makeAbort()
  #nextId = 1
  #stopReason: string | undefined
  /** While it waits to be started again. */
  #pauseReason: string | undefined
  #loading: { resolve(head: CellHead): void; reject(error: Error): void } | undefined

  constructor(options: CellOptions) {
    this.pluginId = options.pluginId
    this.#clock = options.platform.clock
    this.#options = options
    this.#isAlone = options.grants.keys
  }

  /** Starts it for the first time. @throws PLUGIN_INVALID, or what the plugin throws while it is loaded */
  open(): Promise<CellHead> {
    return new Promise((resolve, reject) => {
      this.#loading = { resolve, reject }
      this.#start()
    })
  }

  /** Gives the cell the functions and the time of its host; what it requested before waits for them. */
  attach(functions: Required<ContextFunctions>, clock?: Pick<Clock, 'monotonic' | 'now'>): void {
    this.#hostFunctions = functions
    if (clock !== undefined) this.#clock = clock
    for (const message of this.#waitingNotes.splice(0)) this.#serve(message)
  }

  /** Aborted when the present life of the plugin ends: what was made for it is let go. */
  get life(): ReturnType<typeof makeAbort>['signal'] {
    return this.#life.signal
  }

  onRestart(listener: () => void): void {
    this.#restarted.add(listener)
  }

  /** Calls the plugin. @throws PLUGIN_FAILED if its cell dies or is stopped, DEADLINE, or what the plugin throws */
  call(call: CellCall): Promise<Reply> {
    const { onCall, platform } = this.#options
    if (onCall === undefined) return this.#call(call)
    const tracer = { pluginId: this.pluginId, now: () => platform.clock.monotonic(), onCall }
    return traced(tracer, nameOf(call.target), call, each => this.#call(each))
  }

  #call(call: CellCall): Promise<Reply> {
    if (this.#stopReason !== undefined) return Promise.reject(this.#failed(call, this.#stopReason))
    if (this.#pauseReason !== undefined) return Promise.reject(this.#failed(call, this.#pauseReason))
    if (this.#pending.size >= MAX_CALLS)
      return Promise.reject(this.#failed(call, `${MAX_CALLS} earlier calls have not ended yet`))
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      const late = (): void => {
        this.#settle(id)
        const what = `The plugin ${this.pluginId} in ${nameOf(call.target)}`
        reject(new WalletError('DEADLINE', { what, milliseconds: CALL_MS }))
      }
      const cancel = this.#options.platform.clock.after(CALL_MS, late)
      this.#pending.set(id, { call, resolve, reject, cancel, isRepeated: false })
      this.#keepContext(id, call)
      call.onStart?.(id)
      this.#hold()
      if (this.#isReady) this.#sendCall(id, call)
    })
  }

  /** Sends an event of something that the cell follows; of an earlier life it is dropped. */
  emit(message: Extract<ToCell, { type: 'abort' | 'channel' | 'timer' }>): void {
    if (this.#isReady) this.#send(message)
  }

  forgetContext(id: number): void {
    this.#contexts.delete(id)
  }

  close(): void {
    this.#stop('the cells are closed')
  }

  #start(): void {
    const { code, grants, options, hooks, parts, platform } = this.#options
    this.#pauseReason = undefined
    this.#life = makeAbort()
    const open: ToCell = { type: 'open', kind: grants.kind, hooks, parts, options, ...this.#time() }
    const cancel = platform.clock.after(START_MS, () => {
      // It may have been closed, or have given way to another, while it started.
      if (this.#thread !== thread) return
      thread.kill()
      this.#ended({ reason: 'late', blame: 'this' })
    })
    const thread: CellThread = platform.start({
      ...{ code, name: `${this.pluginId}.js`, open: JSON.stringify(open), isAlone: this.#isAlone },
      busyFactor: grants.kind === 'currency' ? 6 : 1,
      onText: text => {
        if (this.#thread === thread) this.#receive(text, cancel)
      },
      onEnd: end => {
        cancel()
        if (this.#thread === thread) this.#ended(end)
      }
    })
    this.#thread = thread
    this.#hold()
  }

  #receive(text: string, cancelStart: () => void): void {
    let message: FromCell
    try {
      message = readMessage(this.pluginId, text)
    } catch {
      this.#thread?.kill()
      this.#ended({ reason: 'flood', blame: 'this' })
      return
    }
    if ('error' in message) addPlace(message.error, this.#options.placeOf)
    switch (message.type) {
      case 'ready':
        cancelStart()
        this.#ready(message)
        return
      case 'unusable':
        cancelStart()
        this.#unusable(message.error)
        return
      case 'thrown':
        this.#options.log.warn(`threw outside of a call: ${message.error.message}`)
        return
      case 'done':
        this.#settle(message.id)?.resolve(message.value)
        return
      case 'failed':
        this.#settle(message.id)?.reject(message.error)
        return
      default:
        this.#serve(message)
    }
  }

  #ready({ found, taps, fields }: Extract<FromCell, { type: 'ready' }>): void {
    const { pluginId } = this
    for (const [field, expected] of [
      ['kind', this.#options.grants.kind],
      ['id', pluginId],
      ['apply', 'function']
    ] as const) {
      const given = found.field(field).value
      if (given === expected) continue
      const shown = typeof given === 'string' ? `"${given.slice(0, 40)}"` : `a ${typeof given}`
      this.#unusable(
        new WalletError('PLUGIN_INVALID', { pluginId, field, found: shown, expected: `"${expected}"` })
      )
      return
    }
    this.#isReady = true
    for (const [id, { call }] of this.#pending) this.#sendCall(id, call)
    const loading = this.#loading
    this.#loading = undefined
    this.#hold()
    if (loading !== undefined) loading.resolve({ taps, fields })
    else {
      if (this.#isReported)
        this.#options.onFault({ pluginId, reason: 'its cell runs again', state: 'running' })
      this.#isReported = false
      for (const listener of this.#restarted) listener()
    }
  }

  /** A plugin that cannot be loaded is not tried again. */
  #unusable(error: Error): void {
    const loading = this.#loading
    this.#loading = undefined
    this.#stop(error.message)
    loading?.reject(error)
  }

  #serve(message: Extract<FromCell, { context: number }>): void {
    const isOfHost = message.context === 0
    if (isOfHost && this.#hostFunctions === undefined) {
      if (this.#waitingNotes.length < MAX_CALLS) this.#waitingNotes.push(message)
      return
    }
    const functions = isOfHost ? this.#hostFunctions : this.#contexts.get(message.context)
    if (message.type === 'note') {
      const note = own(functions?.notes, message.name)
      try {
        note?.(...message.args)
      } catch (error) {
        this.#options.log.warn(`${message.name}: ${error instanceof Error ? error.message : 'failed'}`)
      }
      return
    }
    this.#reply(message, own(functions?.requests, message.name))
  }

  async #reply(
    { id, args, name }: Extract<FromCell, { type: 'request' }>,
    run: ((...args: Reply[]) => Promise<unknown>) | undefined
  ): Promise<void> {
    const thread = this.#thread
    let answer: ToCell
    try {
      if (run === undefined) throw new Error(`${name} is not there any more`)
      answer = { type: 'answer', id, value: encoded(await run(...args)) }
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error('It failed')
      answer = { type: 'answer', id, error: errorJson(error) }
    }
    if (this.#thread === thread) this.#send(answer)
  }

  #keepContext(id: number, { context }: CellCall): void {
    if (context === undefined) return
    this.#contexts.set(id, context)
    if (context.isKept === true) return
    this.#passing.push(id)
    if (this.#passing.length <= MAX_CONTEXTS) return
    // Late ones are dropped, never that of a call which waits: a verdict or an offer would be lost.
    const at = this.#passing.findIndex(one => !this.#pending.has(one))
    for (const late of at < 0 ? [] : this.#passing.splice(at, 1)) this.#contexts.delete(late)
  }

  #sendCall(id: number, { target, args = [], context, methods }: CellCall): void {
    const place = { hook: null, fn: null, object: null, method: null, ...target }
    const shape: ContextShape | null =
      context === undefined
        ? null
        : {
            ...{ at: context.at, signal: context.signal, store: context.store, units: context.units },
            notes: Object.keys(context.notes ?? {}),
            requests: Object.keys(context.requests ?? {})
          }
    this.#send({
      ...{
        type: 'call',
        id,
        ...place,
        args: trimmed(args).map(encoded),
        context: shape,
        methods: methods ?? null
      },
      ...this.#time()
    })
  }

  #send(message: ToCell): void {
    const text = JSON.stringify(message)
    if (text.length <= MAX_MESSAGE) {
      this.#thread?.send(text)
      return
    }
    if (message.type === 'call')
      this.#settle(message.id)?.reject(
        new WalletError('OPTION_INVALID', { option: 'call', rule: 'is too long for a cell' })
      )
    else if (message.type === 'answer')
      this.#thread?.send(
        JSON.stringify({
          type: 'answer',
          id: message.id,
          error: errorJson(new Error('It is too long for a cell'))
        })
      )
  }

  #hold(): void {
    this.#thread?.hold(this.#pending.size > 0 || this.#loading !== undefined)
  }

  #settle(id: number): PendingCall | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    pending?.cancel()
    this.#hold()
    return pending
  }

  #ended({ reason, blame }: ThreadEnd): void {
    this.#thread = undefined
    this.#isReady = false
    this.#life.abort()
    this.#waitingNotes = []
    const { pluginId } = this
    const { clock } = this.#options.platform
    const sentence = SENTENCES[reason]
    if (this.#loading !== undefined && blame === 'this') {
      this.#unusable(new WalletError('PLUGIN_FAILED', { pluginId, hook: 'apply', reason: sentence }))
      return
    }
    for (const [id, pending] of this.#pending) {
      const isSpared = blame !== 'this' && pending.call.isRepeatable && !pending.isRepeated
      pending.isRepeated = true
      if (!isSpared) this.#settle(id)?.reject(this.#failed(pending.call, sentence))
    }
    for (const id of this.#contexts.keys()) if (!this.#pending.has(id)) this.#contexts.delete(id)
    if (blame !== 'this') {
      // Whoever it was, it now takes down nothing but itself.
      if (blame === 'unclear') this.#isAlone = true
      this.#start()
      return
    }
    const now = clock.monotonic()
    const recent = this.#faults.filter(at => now - at < FAULTS_MS)
    this.#faults.splice(0, this.#faults.length, ...recent, now)
    if (recent.length + 1 >= MAX_FAULTS) {
      this.#stop(`its cell was stopped after ${MAX_FAULTS} faults in ten minutes, the last: ${sentence}`)
      this.#options.onFault({ pluginId, reason: this.#stopReason ?? sentence, state: 'stopped' })
      return
    }
    const delay = DELAYS_MS[Math.min(recent.length, DELAYS_MS.length - 1)] ?? 0
    this.#pauseReason = `its cell is being started again, since ${sentence}`
    this.#isReported = true
    this.#options.onFault({ pluginId, reason: sentence, state: 'restarting' })
    clock.after(delay, () => {
      if (this.#stopReason === undefined) this.#start()
    })
  }

  #stop(reason: string): void {
    if (this.#stopReason !== undefined) return
    this.#stopReason = reason
    this.#isReady = false
    this.#thread?.kill()
    this.#thread = undefined
    this.#life.abort()
    this.#contexts.clear()
    for (const [id, { call }] of this.#pending) this.#settle(id)?.reject(this.#failed(call, reason))
    this.#loading?.reject(new WalletError('CONTEXT_CLOSED', {}))
    this.#loading = undefined
  }

  #failed({ target }: CellCall, reason: string): WalletError {
    return new WalletError('PLUGIN_FAILED', { pluginId: this.pluginId, hook: nameOf(target), reason })
  }

  #time(): { readonly now: number; readonly monotonic: number } {
    return { now: this.#clock.now(), monotonic: this.#clock.monotonic() }
  }
}

const nameOf = (target: CallTarget): string => {
  if ('hook' in target) return target.hook
  return 'method' in target ? target.method : 'a function of an answer'
}

/** Arguments that are left out stay left out. */
const trimmed = (args: readonly unknown[]): readonly unknown[] =>
  args.at(-1) === undefined && args.length > 0 ? trimmed(args.slice(0, -1)) : args

const own = <F>(functions: Readonly<Record<string, F>> | undefined, name: string): F | undefined =>
  functions !== undefined && Object.hasOwn(functions, name) ? functions[name] : undefined

const SENTENCES: Readonly<Record<EndReason, string>> = {
  busy: 'it kept its thread busy for too long',
  died: 'it brought its process down',
  error: 'its thread failed',
  exit: 'its thread ended',
  flood: 'it sent more than a cell may',
  killed: 'its thread was ended',
  late: 'it did not say in time what it is',
  memory: 'it took more memory than a cell may'
}
const DELAYS_MS = [250, 1000]
const MAX_FAULTS = 3
const FAULTS_MS = 600_000
const START_MS = 20_000
const CALL_MS = 120_000
const MAX_CALLS = 256
const MAX_CONTEXTS = 200
