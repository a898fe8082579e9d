import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  HookMap,
  SyncHook,
  SyncWaterfallHook
} from 'tapable'
import { compact } from '../base/compact.ts'
import type { WalletError } from '../base/errors.ts'
import type { PluginId } from '../types/ids.ts'
import type { PluginKind, TapSnapshot } from '../types/snapshots.ts'
import { asked, type DispatchPort, type DispatchRule, gated, gathered, observed, piped } from './dispatch.ts'
import { type HookRow, hooksOf, hookTable } from './hook-table.ts'
import type { HostHooks, KernelHooks, TapOrder } from './hook-types.ts'
import { PluginCalls } from './plugin-calls.ts'
import { meant, mistakeOf, near } from './plugin-mistake.ts'

/** Makes every hook, each with the dispatcher and the deadline of its row. */
export const makeKernelHooks = ({
  calls,
  ...port
}: Omit<DispatchPort, 'watcher' | 'calls'> & { readonly calls?: PluginCalls }): KernelHooks => {
  const watch = (ran: TapSnapshot): void => hooks.tapRan.call(Object.freeze(ran))
  const watcher = (): typeof watch | undefined => (hooks.tapRan.taps.length === 0 ? undefined : watch)
  const full: DispatchPort = { ...port, calls: calls ?? new PluginCalls(port), watcher }
  const quiet: DispatchPort = { ...full, onFault: () => {}, watcher: () => undefined }
  const make = (
    name: string,
    { dispatch, key, deadlineMs = 0, discard, refuse, isQuiet }: HookRow
  ): unknown => {
    const rule = {
      port: isQuiet ? quiet : full,
      deadlineMs,
      ...compact({ discard, refuse: refuse as DispatchRule['refuse'] })
    }
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
  const own = hooksOf(kind)
  const names = [...own.keys()]
  const known = Object.fromEntries(
    [...own].map(([name, right]) => [name, tapOf({ name, right, pluginId }, hooks[name])])
  )
  return guarded(known, name => {
    if (PROBED.has(name)) return undefined
    return mistakeOf(pluginId, {
      field: `hooks.${name.slice(0, 40)}`,
      found: `no hook of ${kind === 'observer' ? 'an' : 'a'} ${kind} plugin`,
      expected: `one of ${names.join(', ')}`,
      ...compact({ hint: meant(near(name, names)) })
    })
  }) as HostHooks<Kind>
}

/** What the language and its tools look for in any object. */
const PROBED: ReadonlySet<string> = new Set(['then', 'toJSON', 'constructor', 'asymmetricMatch', 'nodeType'])

/** What a plugin of a kind has to tap and has not: without it, it can do nothing. */
export const missingTaps = (kind: PluginKind, pluginId: PluginId, hooks: KernelHooks): readonly string[] => {
  const tapped = (name: keyof KernelHooks): boolean => {
    const { key } = (hookTable as Readonly<Record<string, HookRow>>)[name] ?? {}
    const declared: unknown = hooks[name]
    const { taps } = (
      key === undefined ? declared : (declared as { for(key: string): unknown }).for(pluginId)
    ) as { readonly taps: readonly { readonly name: string }[] }
    return taps.some(tap => tap.name === pluginId)
  }
  return NEEDED[kind].flatMap(any => (any.some(tapped) ? [] : any.slice(0, 1)))
}

/** Of each list a plugin taps one at least. */
const NEEDED: Readonly<Record<PluginKind, readonly (readonly (keyof KernelHooks)[])[]>> = {
  currency: [['makeTools'], ['makeEngine']],
  rates: [['fetchRates', 'fetchHistoricRates']],
  swap: [['fetchQuotes']],
  storage: [['openDisk', 'openStore']],
  // These may do their work in apply, or after it.
  policy: [],
  observer: []
}

/** Any hook of tapable; the types of the host say which of the two a plugin has. */
interface AnyHook {
  tap(order: object, fn: never): void
  tapPromise(order: object, fn: never): void
}

// The name that a plugin gives is ignored: a tap always carries the plugin's own id, so that a plugin can neither answer nor be
// blamed under another's name.
const tapOf = ({ name, right, pluginId }: TappedHook, declared: unknown): unknown => {
  const { key } = hookTable[name]
  const hook = (
    key === undefined ? declared : (declared as { for(key: string): unknown }).for(pluginId)
  ) as AnyHook
  const wrong = (method: string): WalletError =>
    mistakeOf(pluginId, {
      field: `hooks.${name}.${method}`,
      found: 'not how this hook is tapped',
      expected: right,
      hint: right === 'tap' ? 'It waits for no promise.' : 'Its function gives a promise.'
    })
  const tap = (_name: string, fn: (...args: never[]) => unknown, order: TapOrder = {}): void => {
    if (typeof fn !== 'function')
      throw mistakeOf(pluginId, {
        field: `the call of hooks.${name}.${right}`,
        found: 'without a function as its second argument',
        expected: `${right}(name, function)`
      })
    hook[right]({ ...order, name: pluginId }, fn as never)
  }
  return guarded({ [right]: tap }, method => (METHODS.has(method) ? wrong(method) : undefined))
}

const METHODS: ReadonlySet<string> = new Set(['tap', 'tapPromise', 'tapAsync'])

/** Lets a property that is not there have its say when it is read: `in` still tells that it is not there. */
const guarded = (known: object, mistakeFor: (name: string) => WalletError | undefined): object =>
  new Proxy(Object.freeze(known), {
    get(target, name, receiver) {
      const mistake = typeof name !== 'string' || name in target ? undefined : mistakeFor(name)
      if (mistake !== undefined) throw mistake
      return Reflect.get(target, name, receiver)
    }
  })

/** A hook as one plugin sees it. */
interface TappedHook {
  readonly name: keyof KernelHooks
  readonly right: 'tap' | 'tapPromise'
  readonly pluginId: PluginId
}
