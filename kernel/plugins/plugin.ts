import type {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  SyncHook,
  SyncWaterfallHook
} from 'tapable'
import type { JsonObject } from '../base/json.ts'
import type { Disk } from '../io/disk.ts'
import type { Io } from '../io/io.ts'
import type { CurrencyInfo, TokenMap } from '../types/currency.ts'
import type { CurrencyEngine, CurrencyTools, EngineLog, EngineRequest } from '../types/engine.ts'
import type { HistoricRateContext, RateContext } from '../types/rates.ts'
import type { PluginKind, QuoteSnapshot, SpendSnapshot, SwapRequestSnapshot } from '../types/snapshots.ts'
import type { QuoteContext } from '../types/swap.ts'
import type { DiskRequest, KernelHooks, TellingHooks } from './hooks.ts'
import { currencyIo, type OnFault, type RateIo, rateIo, type SwapIo, swapIo } from './plugin-io.ts'

/** Where a tap stands among others; the name is always the plugin's id. */
export interface TapOrder {
  readonly stage?: number
  readonly before?: string
}

/** A hook as a plugin sees it: it can be tapped, and nothing else. */
export interface PromiseTap<Args extends readonly unknown[], Answer> {
  tapPromise(name: string, fn: (...args: Args) => Promise<Answer>, order?: TapOrder): void
}

/** A synchronous hook as a plugin sees it. */
export interface SyncTap<Args extends readonly unknown[], Answer> {
  tap(name: string, fn: (...args: Args) => Answer, order?: TapOrder): void
}

/** Hooks that every plugin may tap. */
export interface LifeHooks {
  readonly ready: PromiseTap<[], void>
  readonly closing: PromiseTap<[], void>
}

/** What every host has. `options` is what the application gave this plugin. */
export interface Host {
  readonly log: EngineLog
  readonly options: JsonObject
}

/** What a currency plugin may reach: the makers of its own currency, and a disk of its own. */
export interface CurrencyHost extends Host {
  readonly hooks: LifeHooks & {
    readonly makeTools: PromiseTap<[], CurrencyTools>
    readonly makeEngine: PromiseTap<[EngineRequest], CurrencyEngine>
    readonly builtinTokens: PromiseTap<[], TokenMap>
  }
  readonly io: Io
  readonly disk: Disk
}

/** What a rate plugin may reach: no wallet, no key. */
export interface RateHost extends Host {
  readonly hooks: LifeHooks & {
    readonly fetchRates: PromiseTap<[RateContext], void>
    readonly fetchHistoricRates: PromiseTap<[HistoricRateContext], void>
  }
  readonly io: RateIo
  readonly disk: Disk
}

/** What a swap plugin may reach: it describes a spend and cannot make, sign or send one. */
export interface SwapHost extends Host {
  readonly hooks: LifeHooks & { readonly fetchQuotes: PromiseTap<[QuoteContext], void> }
  readonly io: SwapIo
  readonly disk: Disk
}

/** What a storage plugin may reach; repo contents come to it already encrypted. */
export interface StorageHost extends Host {
  readonly hooks: LifeHooks & { readonly openDisk: PromiseTap<[DiskRequest], Disk> }
}

/** What a policy plugin may reach: it can object to a spend and re-order quotes. */
export interface PolicyHost extends Host {
  readonly hooks: LifeHooks & {
    readonly beforeSign: PromiseTap<[SpendSnapshot], void>
    readonly rankQuotes: SyncTap<
      [readonly QuoteSnapshot[], SwapRequestSnapshot],
      readonly QuoteSnapshot[] | undefined
    >
  }
}

/** What an observer may reach: it hears everything that is told and can do nothing. */
export interface ObserverHost {
  readonly hooks: LifeHooks & {
    readonly [Name in keyof TellingHooks]: SyncTap<Parameters<TellingHooks[Name]['call']>, void>
  }
}

export interface PluginOf<Kind extends PluginKind, H> {
  readonly kind: Kind
  /** Letters, digits, `-` and `_`; the name under which the kernel, settings and files know it. */
  readonly id: string
  /** Called once. A throw means that the plugin is missing; others go on. */
  apply(host: H): void
}

/** A currency: keys, URIs and engines for one wallet type. */
export interface CurrencyPlugin extends PluginOf<'currency', CurrencyHost> {
  readonly info: CurrencyInfo
}

/** A source of exchange rates. */
export interface RatePlugin extends PluginOf<'rates', RateHost> {
  readonly displayName: string
  /** Added to the cost of every hop through it (specification §9); 0 if left out. */
  readonly bias?: number
  /** Why it gives no rates any more; an id that settings may still name. */
  readonly retired?: string
  /** Judges what the application gave it: a sentence says why it is not asked, such as for want of a key. */
  checkOptions?(options: JsonObject): string | undefined
}

/** A swap provider. */
export interface SwapPlugin extends PluginOf<'swap', SwapHost> {
  readonly displayName: string
  readonly isDex?: boolean
  readonly supportEmail?: string
  /** Judges the user's settings for it: one that needs activation is not asked for quotes. */
  checkSettings?(userSettings: JsonObject): { readonly needsActivation?: boolean }
}

/** A place to keep files. Exactly one is used. */
export type StoragePlugin = PluginOf<'storage', StorageHost>

/** A rule that can refuse a spend. */
export type PolicyPlugin = PluginOf<'policy', PolicyHost>

/** A watcher, such as the devtools. */
export type ObserverPlugin = PluginOf<'observer', ObserverHost>

/** Any plugin. */
export type Plugin = CurrencyPlugin | RatePlugin | SwapPlugin | StoragePlugin | PolicyPlugin | ObserverPlugin

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
