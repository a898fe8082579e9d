import {
  type AbortSignalLike,
  type EngineLog,
  type EngineStore,
  type Json,
  type JsonObject,
  type LifecycleHooks,
  type Reply,
  WalletError
} from '../kernel/plugin-api.ts'
import type { Cell, CellHead } from './cell.ts'
import type { CellCall, ContextFunctions } from './cell-call.ts'
import type { CellGrants } from './platform.ts'
import type { CellTap } from './protocol.ts'

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

/** The taps of a hook in a cell. The kernel gets one for each, so that it calls them as those of any plugin. */
export const tapsOf = ({ taps }: Pick<CellHead, 'taps'>, hook: string): readonly CellTap[] =>
  taps.filter(({ target }) => target.hook === hook)

/** Passes the hooks of every plugin on to those that its cell has tapped. */
export const tapLifecycle = (cell: Cell, head: Pick<CellHead, 'taps'>, hooks: LifecycleHooks): void => {
  for (const name of ['ready', 'closing'] as const)
    for (const { target, order } of tapsOf(head, name))
      hooks[name].tapPromise(
        cell.pluginId,
        async () => {
          await cell.call({ target, isRepeatable: true })
        },
        order
      )
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
  target: CellTap['target'],
  { data, functions, signal, store, units }: HookCall
): Promise<Reply> => {
  let abort = (): void => {}
  const call: CellCall = {
    ...{ target, args: [data], isRepeatable: true },
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
