import {
  type Clock,
  type EngineLog,
  type JsonObject,
  makeAbort,
  type Plugin,
  type PluginId,
  type Reply,
  WalletError
} from '../kernel/plugin-api.ts'
import {
  type CellCall,
  type CellTrace,
  type ContextFunctions,
  callMessage,
  deferred,
  nameOf,
  traced
} from './cell-call.ts'
import { CellFunctions } from './cell-functions.ts'
import {
  type CellFault,
  type CellGrants,
  type CellPlatform,
  type CellThread,
  endSentence,
  type ThreadEnd
} from './platform.ts'
import {
  addPlace,
  type CellTap,
  errorJson,
  type FromCell,
  MAX_MESSAGE,
  type PlaceOf,
  readGiven,
  readMessage,
  type ToCell
} from './protocol.ts'

/** What a plugin said of itself when it was loaded. */
export interface CellHead {
  readonly taps: readonly CellTap[]
  /** Its fields; its functions are there, and do nothing. */
  readonly given: Plugin
  /** What its own checks answered. */
  readonly answers: Reply
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
  readonly #functions: CellFunctions
  readonly #late = deferred()
  readonly #faults: number[] = []
  #thread: CellThread | undefined
  #clock: Pick<Clock, 'monotonic' | 'now'>
  #isReady = false
  /** True for a policy in a later life whose `apply` has not ended: it may not know its rules yet. */
  #isApplying = false
  #taps: string | undefined
  /** Why a policy judges nothing. */
  #failure: Error | undefined
  #onFailure: ((error: Error) => void) | undefined
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
    this.#functions = new CellFunctions({
      log: options.log,
      clock: () => this.#clock,
      isInFlight: id => this.#pending.has(id)
    })
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
    if (clock !== undefined) this.#clock = clock
    this.#functions.attach(functions)
  }

  /** Settles as an asynchronous `apply` does, in the first life in which that ends. */
  get late(): Promise<void> {
    return this.#late.promise
  }

  /**
   * Takes the listener for the failure of a policy that has been applied: it tapped too late, gave up, or was not applied in a
   * later life. One that comes in place of the end of `apply` is in {@link late}.
   */
  onFailure(listener: (error: Error) => void): void {
    this.#onFailure = listener
    if (this.#failure !== undefined) listener(this.#failure)
  }

  /** The time by which the cell counts. */
  get clock(): Pick<Clock, 'monotonic' | 'now'> {
    return this.#clock
  }

  /** Aborted when the present life of the plugin ends: what was made for it is let go. */
  get life(): ReturnType<typeof makeAbort>['signal'] {
    return this.#life.signal
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
      if (call.context !== undefined) this.#functions.keep(id, call.context, call.context.isKept === true)
      call.onStart?.(id)
      this.#hold()
      if (this.#isReady && !this.#isApplying) this.#sendCall(id, call)
    })
  }

  /** Sends an event of something that the cell follows; of an earlier life it is dropped. */
  emit(message: Extract<ToCell, { type: 'abort' | 'channel' | 'timer' }>): void {
    if (this.#isReady) this.#send(message)
  }

  forgetContext(id: number): void {
    this.#functions.forget(id)
  }

  close(): void {
    this.#stop('the cells are closed')
  }

  #start(): void {
    const { code, grants, options, hooks, parts, platform } = this.#options
    this.#pauseReason = undefined
    this.#life = makeAbort()
    const open: ToCell = { type: 'open', kind: grants.kind, hooks, parts, options, ...this.#time() }
    let thread: CellThread | undefined
    const late = (): void => {
      // It may have been closed, or have given way to another, while it started.
      if (this.#thread !== thread) return
      thread?.kill()
      this.#ended({ reason: 'late', blame: 'this' })
    }
    let cancel = platform.clock.after(WAIT_MS, late)
    try {
      thread = platform.start({
        ...{ code, name: `${this.pluginId}.js`, open: JSON.stringify(open), isAlone: this.#isAlone },
        busyFactor: grants.kind === 'currency' ? 6 : 1,
        onBegin: () => {
          cancel()
          cancel = platform.clock.after(START_MS, late)
        },
        onText: text => {
          if (this.#thread === thread) this.#receive(text, cancel)
        },
        onEnd: end => {
          cancel()
          if (this.#thread === thread) this.#ended(end)
        }
      })
    } catch (error) {
      cancel()
      this.#ended({ reason: 'unstarted', blame: 'this' }, error)
      return
    }
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
    if ('error' in message && message.error !== undefined) addPlace(message.error, this.#options.placeOf)
    switch (message.type) {
      case 'ready':
        cancelStart()
        this.#ready(message)
        return
      case 'unusable':
        cancelStart()
        // What is wrong with its fields goes before what it threw when it was applied.
        this.#unusable((message.found.isThere && mistakeIn(message.found)) || message.error)
        return
      case 'late':
        if (message.error === undefined) this.#applied()
        else this.#fail(message.error)
        return
      case 'thrown':
        this.#functions.warn(`threw outside of a call: ${message.error.message}`)
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

  #ready({ found, taps, answers }: Extract<FromCell, { type: 'ready' }>): void {
    const { pluginId } = this
    let given: Plugin
    try {
      given = readGiven(found)
    } catch (error) {
      this.#unusable(error as Error)
      return
    }
    for (const [field, expected] of [
      ['kind', this.#options.grants.kind],
      ['id', pluginId]
    ] as const) {
      if (given[field] === expected) continue
      const mistake = { field, found: `"${given[field]}"`, expected: `"${expected}"` }
      this.#unusable(new WalletError('PLUGIN_INVALID', { pluginId, ...mistake }))
      return
    }
    this.#isReady = true
    const loading = this.#loading
    this.#loading = undefined
    const isPolicy = this.#options.grants.kind === 'policy'
    const before = this.#taps
    this.#taps = JSON.stringify(taps)
    if (isPolicy && loading === undefined && this.#taps !== before) {
      this.#fail(new Error('it taps other hooks than in its first life'))
      return
    }
    // In the first life the kernel refuses each use of keys until then.
    if (!answers.field('isLate').isTrue()) this.#late.settle(undefined)
    this.#isApplying = isPolicy && loading === undefined && answers.field('isLate').isTrue()
    if (!this.#isApplying) this.#sendPending()
    this.#hold()
    if (loading !== undefined) loading.resolve({ taps, given, answers })
    else {
      if (this.#isReported)
        this.#options.onFault({ pluginId, reason: 'its cell runs again', state: 'running' })
      this.#isReported = false
    }
  }

  #applied(): void {
    this.#late.settle(undefined)
    if (!this.#isApplying) return
    this.#isApplying = false
    this.#sendPending()
  }

  #sendPending(): void {
    for (const [id, { call }] of this.#pending) this.#sendCall(id, call)
  }

  /** A policy that cannot do its work is stopped, so that what it should judge is refused; any other plugin goes on. */
  #fail(error: Error): void {
    const isEndOfApply = this.#late.settle(error)
    if (this.#options.grants.kind !== 'policy' || this.#failure !== undefined) return
    if (this.#loading !== undefined) {
      this.#unusable(error)
      return
    }
    this.#failure = error
    this.#stop(error.message)
    this.#options.onFault({ pluginId: this.pluginId, reason: error.message, state: 'stopped' })
    if (!isEndOfApply) this.#onFailure?.(error)
  }

  /** A plugin that cannot be loaded is not tried again. */
  #unusable(error: Error): void {
    const loading = this.#loading
    this.#loading = undefined
    this.#stop(error.message)
    loading?.reject(error)
  }

  #serve(message: Extract<FromCell, { context: number }>): void {
    const thread = this.#thread
    this.#functions.serve(message, answer => {
      if (this.#thread === thread) this.#send(answer)
    })
  }

  #sendCall(id: number, call: CellCall): void {
    this.#send({ ...callMessage(id, call), ...this.#time() })
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
    else if (message.type === 'answer') {
      const error = errorJson(new Error('It is too long for a cell'))
      this.#thread?.send(JSON.stringify({ type: 'answer', id: message.id, error }))
    }
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

  /** @param error - of the system, for a thread that it does not start */
  #ended({ reason, blame }: ThreadEnd, error?: unknown): void {
    this.#thread = undefined
    this.#isReady = false
    this.#isApplying = false
    this.#life.abort()
    const { pluginId } = this
    const { clock } = this.#options.platform
    const sentence = endSentence(reason, error)
    if (this.#loading !== undefined && blame === 'this') {
      this.#unusable(new WalletError('PLUGIN_FAILED', { pluginId, hook: 'apply', reason: sentence }))
      return
    }
    for (const [id, pending] of this.#pending) {
      const isSpared = blame !== 'this' && pending.call.isRepeatable && !pending.isRepeated
      pending.isRepeated = true
      if (!isSpared) this.#settle(id)?.reject(this.#failed(pending.call, sentence))
    }
    this.#functions.endLife()
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
    for (const [id, { call }] of this.#pending) this.#settle(id)?.reject(this.#failed(call, reason))
    this.#functions.endLife()
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

const mistakeIn = (found: Reply): Error | undefined => {
  try {
    readGiven(found)
    return undefined
  } catch (error) {
    return error as Error
  }
}

const DELAYS_MS = [250, 1000]
const MAX_FAULTS = 3
const FAULTS_MS = 600_000
/** Milliseconds in which a plugin has to say what it is, and those for which its thread may wait for others before. */
const START_MS = 20_000
const WAIT_MS = 120_000
const CALL_MS = 120_000
const MAX_CALLS = 256
