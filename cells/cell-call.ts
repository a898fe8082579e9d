import { compact, type PluginId, type Reply } from '../kernel/plugin-api.ts'
import { type CallTarget, type CellTime, type ContextShape, encoded, type ToCell } from './protocol.ts'

/** The functions that a cell may call while a context is kept, by name. */
export interface ContextFunctions {
  readonly notes?: Readonly<Record<string, (...args: Reply[]) => void>>
  readonly requests?: Readonly<Record<string, (...args: Reply[]) => Promise<unknown>>>
}

/** One call of a cell. */
export interface CellCall {
  readonly target: CallTarget
  readonly args?: readonly unknown[]
  readonly context?: ContextFunctions &
    Omit<ContextShape, 'notes' | 'requests'> & {
      /** True for one that stays until it is forgotten, such as that of an engine; others give way to newer ones. */
      readonly isKept?: true
    }
  readonly methods?: readonly string[]
  /** True if the cell may be called again after a neighbour of it brought the process down. */
  readonly isRepeatable: boolean
  /** Receives the number of the call, by which its context is aborted. */
  onStart?(id: number): void
}

/** The message of a call, without its time. */
export const callMessage = (
  id: number,
  { target, args = [], context, methods }: CellCall
): Omit<Extract<ToCell, { type: 'call' }>, keyof CellTime> => {
  const shape: ContextShape | null =
    context === undefined
      ? null
      : {
          ...{ at: context.at, signal: context.signal, store: context.store, units: context.units },
          notes: Object.keys(context.notes ?? {}),
          requests: Object.keys(context.requests ?? {})
        }
  const place = { hook: null, tap: null, fn: null, object: null, method: null, ...target }
  return {
    ...{ type: 'call', id, ...place },
    ...{ args: trimmed(args).map(encoded), context: shape, methods: methods ?? null }
  }
}

/** Arguments that are left out stay left out. */
const trimmed = (args: readonly unknown[]): readonly unknown[] =>
  args.at(-1) === undefined && args.length > 0 ? trimmed(args.slice(0, -1)) : args

/** A promise that is settled later, and whose rejection nobody has to handle. */
export const deferred = (): {
  readonly promise: Promise<void>
  settle(error: Error | undefined): boolean
} => {
  let isSettled = false
  let settle: (error: Error | undefined) => void = () => {}
  const promise = new Promise<void>((resolve, reject) => {
    settle = error => (error === undefined ? resolve() : reject(error))
  })
  promise.catch(() => {})
  return {
    promise,
    /** True for the first, which counts. */
    settle(error) {
      if (isSettled) return false
      isSettled = true
      settle(error)
      return true
    }
  }
}

/** The name of a call in errors and traces. */
export const nameOf = (target: CallTarget): string => {
  if ('hook' in target) return target.hook
  return 'method' in target ? target.method : 'a function of an answer'
}

/** A call into a cell that has ended, in words that hold no key. */
export interface CellTrace {
  readonly pluginId: PluginId
  /** The hook or the method. */
  readonly call: string
  /** JSON text of the arguments; left out for a call that may carry keys or settings. */
  readonly args?: string
  /** JSON text of the answer, with what was offered or judged before it; left out as the arguments are. */
  readonly result?: string
  readonly outcome: 'done' | 'failed'
  readonly durationMs: number
  /** Of a call that failed; what a call threw that may carry keys or settings is not shown. */
  readonly message?: string
}

/** Reports calls of one cell. */
export interface CallTracer {
  readonly pluginId: PluginId
  readonly now: () => number
  onCall(trace: CellTrace): void
}

/** Makes a call and reports it when it has ended. What a plugin does after its answer is not part of it. */
export const traced = async (
  { pluginId, now, onCall }: CallTracer,
  name: string,
  call: CellCall,
  run: (call: CellCall) => Promise<Reply>
): Promise<Reply> => {
  const started = now()
  const noted: string[] = []
  const isShown = SHOWN.has(name)
  const end = (outcome: CellTrace['outcome'], rest: Pick<CellTrace, 'message' | 'result'>): void =>
    onCall({
      ...{ pluginId, call: name, outcome, durationMs: now() - started },
      ...compact({ args: isShown ? textOf(call.args ?? []) : undefined }),
      ...rest
    })
  try {
    const reply = await run(isShown ? withNotes(call, noted) : call)
    const answer = reply.value === null ? [] : [textOf(reply.value)]
    end('done', isShown ? { result: [...noted, ...answer].join(' ') } : {})
    return reply
  } catch (error) {
    const message = error instanceof Error ? error.message : 'It failed'
    end('failed', { message: isShown ? message : HIDDEN })
    throw error
  }
}

const withNotes = (call: CellCall, noted: string[]): CellCall => {
  const { context } = call
  if (context?.notes === undefined) return call
  const notes = Object.entries(context.notes).map(([name, note]): [string, typeof note] => [
    name,
    (...args) => {
      if (noted.length < MAX_NOTES)
        noted.push(`${name}(${args.map(({ value }) => textOf(value)).join(', ')})`)
      note(...args)
    }
  ])
  return { ...call, context: { ...context, notes: Object.fromEntries(notes) } }
}

/** An author may have put a key into what is thrown. */
const HIDDEN = 'It failed; what it threw is not shown, since it may hold a key'

const MAX_NOTES = 20
const MAX_TEXT = 2000

const textOf = (value: unknown): string =>
  (JSON.stringify(value, (name, field) => (SECRET.test(name) ? '[…]' : field)) ?? '').slice(0, MAX_TEXT)

/** Fields whose values are never shown, wherever they stand. */
const SECRET = /key|secret|seed|mnemonic|passw|settings|promo|auth|credential|memo|metadata/i

/** Calls that carry neither keys nor what a user has set. All others are reported without their data. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['ready', 'closing', 'fetchRates', 'fetchHistoricRates', 'fetchQuotes', 'watchOrder', 'judgeRules'],
  ...['builtinTokens', 'parseUri', 'encodeUri', 'sampleAddress', 'getTokenId', 'startEngine', 'killEngine'],
  ...['resyncBlockchain', 'getFreshAddress', 'isAddressUsed', 'changePaused', 'changeEnabledTokenIds']
])
