import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  HookMap,
  SyncHook,
  SyncWaterfallHook
} from 'tapable'
import { compact } from '../base/compact.ts'
import type { PluginId } from '../types/ids.ts'
import type { PluginKind, TapSnapshot } from '../types/snapshots.ts'
import { asked, type DispatchPort, gated, gathered, observed, piped } from './dispatch.ts'
import { type HookRow, type HostHooks, hookTable, type KernelHooks, type TapOrder } from './hook-table.ts'
import { PluginCalls } from './plugin-calls.ts'

/** Makes every hook, each with the dispatcher and the deadline of its row. */
export const makeKernelHooks = ({
  calls,
  ...port
}: Omit<DispatchPort, 'watcher' | 'calls'> & { readonly calls?: PluginCalls }): KernelHooks => {
  const watch = (ran: TapSnapshot): void => hooks.tapRan.call(Object.freeze(ran))
  const watcher = (): typeof watch | undefined => (hooks.tapRan.taps.length === 0 ? undefined : watch)
  const full: DispatchPort = { ...port, calls: calls ?? new PluginCalls(port), watcher }
  const quiet: DispatchPort = { ...full, onFault: () => {}, watcher: () => undefined }
  const make = (name: string, { dispatch, key, deadlineMs = 0, discard, isQuiet }: HookRow): unknown => {
    const rule = { port: isQuiet ? quiet : full, deadlineMs, ...compact({ discard }) }
    const { Hook, run } = dispatchers[dispatch]
    const one = (): unknown => run(new Hook(['subject', 'context'], name), rule)
    return key === undefined ? one() : new HookMap(one as never)
  }
  const hooks = Object.freeze(
    Object.fromEntries(Object.entries(hookTable).map(([name, row]) => [name, make(name, row)]))
  ) as unknown as KernelHooks
  return hooks
}

/** The class of tapable and the dispatcher of each kind. */
const dispatchers = {
  asked: { Hook: AsyncSeriesBailHook<unknown[], unknown>, run: asked },
  gathered: { Hook: AsyncParallelHook<unknown[]>, run: gathered },
  gated: { Hook: AsyncSeriesHook<unknown[]>, run: gated },
  piped: { Hook: SyncWaterfallHook<unknown[]>, run: piped },
  observed: { Hook: SyncHook<unknown[]>, run: observed }
} as const

/** The hooks that a plugin of a kind may tap, always under its own id. */
export const hostHooks = <Kind extends PluginKind>(
  kind: Kind,
  pluginId: PluginId,
  hooks: KernelHooks
): HostHooks<Kind> => {
  const all = Object.entries(hookTable) as [keyof KernelHooks, HookRow][]
  const rows = ['all', kind].flatMap(audience => all.filter(([, { tappedBy }]) => tappedBy === audience))
  return Object.freeze(
    Object.fromEntries(rows.map(([name, row]) => [name, tapOf(row, pluginId, hooks[name])]))
  ) as HostHooks<Kind>
}

/** Any hook of tapable; the types of the host say which of the two a plugin has. */
interface AnyHook {
  tap(order: object, fn: never): void
  tapPromise(order: object, fn: never): void
}

// The name that a plugin gives is ignored: a tap always carries the plugin's own id, so that a plugin can neither answer nor be
// blamed under another's name.
const tapOf = ({ key, dispatch }: HookRow, pluginId: PluginId, declared: unknown): unknown => {
  const hook = (
    key === undefined ? declared : (declared as { for(key: string): unknown }).for(pluginId)
  ) as AnyHook
  const named = (order: TapOrder = {}) => ({ ...order, name: pluginId })
  if (dispatch === 'piped' || dispatch === 'observed') {
    return Object.freeze({
      tap: (_name: string, fn: (...args: never[]) => unknown, order?: TapOrder) =>
        hook.tap(named(order), fn as never)
    })
  }
  return Object.freeze({
    tapPromise: (_name: string, fn: (...args: never[]) => Promise<unknown>, order?: TapOrder) =>
      hook.tapPromise(named(order), fn as never)
  })
}
