import type {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  SyncHook,
  SyncWaterfallHook
} from 'tapable'
import type { JsonObject } from '../base/json.ts'
import type { KernelHooks, TellingHooks } from '../hooks/kernel-hooks.ts'
import type { Disk } from '../io/disk.ts'
import type { Io } from '../io/io.ts'
import type { EngineLog } from '../types/engine.ts'
import type {
  CurrencyHost,
  LifeHooks,
  ObserverHost,
  PolicyHost,
  PromiseTap,
  RateHost,
  StorageHost,
  SwapHost,
  SyncTap,
  TapOrder
} from './plugin.ts'
import { currencyIo, type OnFault, rateIo, swapIo } from './plugin-io.ts'

/** What the kernel puts into a plugin's host. `disk` is the plugin's own jail. */
export interface HostParts {
  readonly hooks: KernelHooks
  readonly io: Io
  readonly disk: Disk
  readonly log: EngineLog
  readonly options: JsonObject
  readonly onFault: OnFault
}

/** The host of a currency plugin: its own makers only. */
export const currencyHost = (pluginId: string, parts: HostParts): CurrencyHost => {
  const { hooks, io, disk, log, options, onFault } = parts
  return Object.freeze({
    hooks: Object.freeze({
      ...lifeHooks(pluginId, hooks),
      makeTools: promiseTap(pluginId, hooks.makeTools.for(pluginId)),
      makeEngine: promiseTap(pluginId, hooks.makeEngine.for(pluginId)),
      builtinTokens: promiseTap(pluginId, hooks.builtinTokens.for(pluginId))
    }),
    io: currencyIo(io, onFault),
    disk,
    log,
    options
  })
}

/** The host of a rate plugin. */
export const rateHost = (pluginId: string, parts: HostParts): RateHost => {
  const { hooks, io, disk, log, options, onFault } = parts
  const fetchRates = promiseTap(pluginId, hooks.fetchRates)
  const fetchHistoricRates = promiseTap(pluginId, hooks.fetchHistoricRates)
  return Object.freeze({
    hooks: Object.freeze({ ...lifeHooks(pluginId, hooks), fetchRates, fetchHistoricRates }),
    io: rateIo(io, onFault),
    disk,
    log,
    options
  })
}

/** The host of a swap plugin. */
export const swapHost = (pluginId: string, parts: HostParts): SwapHost => {
  const { hooks, io, disk, log, options, onFault } = parts
  const fetchQuotes = promiseTap(pluginId, hooks.fetchQuotes)
  return Object.freeze({
    hooks: Object.freeze({ ...lifeHooks(pluginId, hooks), fetchQuotes }),
    io: swapIo(io, onFault),
    disk,
    log,
    options
  })
}

/** The host of a storage plugin. */
export const storageHost = (
  pluginId: string,
  parts: Omit<HostParts, 'disk' | 'io' | 'onFault'>
): StorageHost => {
  const { hooks, log, options } = parts
  const openDisk = promiseTap(pluginId, hooks.openDisk)
  return Object.freeze({ hooks: Object.freeze({ ...lifeHooks(pluginId, hooks), openDisk }), log, options })
}

/** The host of a policy plugin. */
export const policyHost = (pluginId: string, parts: HostParts): PolicyHost => {
  const { hooks, log, options } = parts
  return Object.freeze({
    hooks: Object.freeze({
      ...lifeHooks(pluginId, hooks),
      beforeSign: promiseTap(pluginId, hooks.beforeSign),
      rankQuotes: syncTap(pluginId, hooks.rankQuotes)
    }),
    log,
    options
  })
}

const TELLING: { readonly [Name in keyof TellingHooks]: true } = {
  pluginChanged: true,
  usersChanged: true,
  loginChanged: true,
  accountChanged: true,
  lobbyChanged: true,
  repoChanged: true,
  filesExchanged: true,
  walletChanged: true,
  engineChanged: true,
  transactionsChanged: true,
  addressChanged: true,
  tokensDetected: true,
  spendChanged: true,
  ratesChanged: true,
  routeFound: true,
  quoteChanged: true,
  pluginFault: true,
  logged: true,
  tapRan: true
}

/** The host of an observer: every telling hook, and nothing else at all. */
export const observerHost = (pluginId: string, hooks: KernelHooks): ObserverHost => {
  const names = Object.keys(TELLING) as (keyof TellingHooks)[]
  const taps = Object.fromEntries(names.map(name => [name, syncTap(pluginId, hooks[name])]))
  return Object.freeze({
    hooks: Object.freeze({ ...lifeHooks(pluginId, hooks), ...taps }) as ObserverHost['hooks']
  })
}

const lifeHooks = (pluginId: string, hooks: KernelHooks): LifeHooks => ({
  ready: promiseTap(pluginId, hooks.ready),
  closing: promiseTap(pluginId, hooks.closing)
})

// biome-ignore lint/suspicious/noExplicitAny: the facade's own type says what may be tapped.
type Asynchronous = AsyncSeriesBailHook<any, any> | AsyncParallelHook<any> | AsyncSeriesHook<any>
// biome-ignore lint/suspicious/noExplicitAny: as above.
type Synchronous = SyncHook<any> | SyncWaterfallHook<any>

// The name a plugin gives is ignored: a tap always carries the plugin's own id, so that a plugin can
// neither answer nor be blamed under another's name.
// biome-ignore lint/suspicious/noExplicitAny: as above.
const promiseTap = (pluginId: string, hook: Asynchronous): PromiseTap<any, any> =>
  Object.freeze({
    tapPromise(_name: string, fn: (...args: never[]) => Promise<unknown>, order: TapOrder = {}): void {
      hook.tapPromise({ ...order, name: pluginId }, fn as never)
    }
  })

// biome-ignore lint/suspicious/noExplicitAny: as above.
const syncTap = (pluginId: string, hook: Synchronous): SyncTap<any, any> =>
  Object.freeze({
    tap(_name: string, fn: (...args: never[]) => unknown, order: TapOrder = {}): void {
      hook.tap({ ...order, name: pluginId }, fn as never)
    }
  })
