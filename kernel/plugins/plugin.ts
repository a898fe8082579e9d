import type { JsonObject } from '../base/json.ts'
import type { Disk } from '../io/disk.ts'
import type { Io } from '../io/io.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { EngineLog } from '../types/engine.ts'
import type { PluginKind } from '../types/snapshots.ts'
import type { HostHooks, KernelHooks } from './hook-table.ts'
import { hostHooks } from './hooks.ts'
import { currencyIo, type OnFault, type RateIo, rateIo, type SwapIo, swapIo } from './plugin-io.ts'

/** The members of every host. `options` are those that the application gave this plugin. */
export interface Host {
  readonly log: EngineLog
  readonly options: JsonObject
}

/** The host of a currency plugin: the hooks of its own currency, and a disk of its own. */
export interface CurrencyHost extends Host {
  readonly hooks: HostHooks<'currency'>
  readonly io: Io
  readonly disk: Disk
}

/** The host of a rate plugin; it reaches no wallet and no key. */
export interface RateHost extends Host {
  readonly hooks: HostHooks<'rates'>
  readonly io: RateIo
  readonly disk: Disk
}

/** The host of a swap plugin; it can describe a spend but not make, sign or send one. */
export interface SwapHost extends Host {
  readonly hooks: HostHooks<'swap'>
  readonly io: SwapIo
  readonly disk: Disk
}

/** The host of a storage plugin; it receives repo contents already encrypted. */
export interface StorageHost extends Host {
  readonly hooks: HostHooks<'storage'>
}

/** The host of a policy plugin; it can object to a spend and reorder quotes. */
export interface PolicyHost extends Host {
  readonly hooks: HostHooks<'policy'>
}

/** The host of an observer; it receives every notification and can change nothing. */
export interface ObserverHost {
  readonly hooks: HostHooks<'observer'>
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

/** The parts from which a plugin's host is made. `disk` is the plugin's own jail. */
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
    hooks: hostHooks('currency', pluginId, hooks),
    io: currencyIo(io, onFault),
    disk,
    log,
    options
  })
}

/** The host of a rate plugin. */
export const rateHost = (pluginId: string, parts: HostParts): RateHost => {
  const { hooks, io, disk, log, options, onFault } = parts
  return Object.freeze({
    hooks: hostHooks('rates', pluginId, hooks),
    io: rateIo(io, onFault),
    disk,
    log,
    options
  })
}

/** The host of a swap plugin. */
export const swapHost = (pluginId: string, parts: HostParts): SwapHost => {
  const { hooks, io, disk, log, options, onFault } = parts
  return Object.freeze({
    hooks: hostHooks('swap', pluginId, hooks),
    io: swapIo(io, onFault),
    disk,
    log,
    options
  })
}

/** The host of a storage plugin. */
export const storageHost = (
  pluginId: string,
  { hooks, log, options }: Omit<HostParts, 'disk' | 'io' | 'onFault'>
): StorageHost => Object.freeze({ hooks: hostHooks('storage', pluginId, hooks), log, options })

/** The host of a policy plugin. */
export const policyHost = (pluginId: string, { hooks, log, options }: HostParts): PolicyHost =>
  Object.freeze({ hooks: hostHooks('policy', pluginId, hooks), log, options })

/** The host of an observer: every hook that notifies, and nothing else at all. */
export const observerHost = (pluginId: string, hooks: KernelHooks): ObserverHost =>
  Object.freeze({ hooks: hostHooks('observer', pluginId, hooks) })
