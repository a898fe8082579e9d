import {
  type AbortSignalLike,
  type EngineLog,
  type EngineStore,
  type Json,
  type JsonObject,
  type Reply,
  WalletError
} from '../kernel/plugin-api.ts'
import type { Cell, CellHead } from './cell.ts'
import type { CellCall, ContextFunctions } from './cell-call.ts'
import type { CellGrants } from './platform.ts'

/** What a contained plugin is made of. */
export interface ContainedOptions {
  readonly cell: Cell
  readonly head: CellHead
  readonly grants: CellGrants
  /** Those that it was applied with in the cell. */
  readonly options: JsonObject
  /** For what an observer does, whose host has none. */
  readonly log: EngineLog
}

/** The hooks that every plugin may tap. */
interface LifecycleTaps {
  readonly ready: { tapPromise(name: string, fn: () => Promise<void>): void }
  readonly closing: { tapPromise(name: string, fn: () => Promise<void>): void }
}

/** Passes the hooks of every plugin on to those that its cell has tapped. */
export const tapLifecycle = (cell: Cell, taps: readonly string[], hooks: LifecycleTaps): void => {
  for (const name of ['ready', 'closing'] as const)
    if (taps.includes(name))
      hooks[name].tapPromise(cell.pluginId, async () => {
        await cell.call({ target: { hook: name }, isRepeatable: true })
      })
}

interface HookCall {
  readonly data: object
  readonly functions: ContextFunctions
  readonly signal?: AbortSignalLike
  readonly store?: EngineStore
  readonly units?: readonly (readonly [string, Json])[]
}

/** Calls a tap with a context, and passes an abort of the kernel on. */
export const callHook = async (
  cell: Cell,
  hook: string,
  { data, functions, signal, store, units }: HookCall
): Promise<Reply> => {
  let abort = (): void => {}
  const call: CellCall = {
    ...{ target: { hook }, args: [data], isRepeatable: true },
    context: {
      ...{ ...functions, at: 0, signal: signal !== undefined },
      store: store === undefined ? null : [...store.entries('')],
      units: units ?? null
    },
    onStart(id) {
      abort = () => cell.emit({ type: 'abort', id })
      signal?.addEventListener('abort', abort)
    }
  }
  try {
    return await cell.call(call)
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** @throws PLUGIN_INVALID if the kernel gives other options than those that the plugin was applied with in its cell */
export const checkOptions = (
  { pluginId }: Cell,
  given: JsonObject,
  { options }: { readonly options: JsonObject }
): void => {
  if (isSameText(given, options)) return
  const expected = 'those that its cell was opened with'
  throw new WalletError('PLUGIN_INVALID', { pluginId, field: 'options', found: 'others', expected })
}

const isSameText = (left: JsonObject, right: JsonObject): boolean => {
  const text = (options: JsonObject): string =>
    JSON.stringify(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)))
  return text(left) === text(right)
}

/** Writes what a cell wants to keep: pairs of a key with a text, or with null. */
export const writeStore = async (store: EngineStore, changes: Reply): Promise<null> => {
  const pairs = changes.list().map(pair => {
    const [key, text] = pair.list(2)
    if (key === undefined || text === undefined) return pair.fail('is no change of a store')
    if (text.value !== null && typeof text.value !== 'string') return text.fail('is no text')
    return [key.text(), text.value] as const
  })
  await store.write(new Map(pairs))
  return null
}
