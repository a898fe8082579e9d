import type { JsonObject } from '../base/json.ts'
import type { Disk } from '../io/disk.ts'
import type { Clock, Io } from '../io/io.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { EngineLog } from '../types/engine.ts'
import type { PluginId } from '../types/ids.ts'
import type { PluginKind } from '../types/snapshots.ts'
import type { HostHooks, KernelHooks } from './hook-types.ts'
import { hostHooks } from './hooks.ts'
import { currencyIo, type OnFault, type RateIo, rateIo, type SwapIo, swapIo } from './plugin-io.ts'

/** The members of every host. `options`: those that the application gave this plugin. */
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

/**
 * The host of a policy plugin: it can judge the rules of accounts, object to a use of keys and reorder quotes. `clock` is the
 * device's own; `RuleContext` gives the time of the account, and a store for each account.
 *
 * @example
 * ```ts
 * import type { PolicyHost } from 'holdfast/plugin'
 *
 * const apply = ({ hooks, disk, fail }: PolicyHost) => {
 *   hooks.beforeSign.tapPromise('guard', async () => {})
 *   hooks.ready.tapPromise('guard', async () => {
 *     if ((await disk.getText('rules')) === undefined) fail(new Error('the rules are gone'))
 *   })
 * }
 * ```
 */
export interface PolicyHost extends Host {
  readonly hooks: HostHooks<'policy'>
  readonly clock: Pick<Clock, 'monotonic' | 'now'>
  readonly disk: Disk
  /**
   * Says that the policy cannot judge any more, for example because its own file is gone: it counts as failed with this error,
   * and nothing is signed until a new kernel is made.
   */
  fail(error: Error): void
}

/** The host of an observer; it receives every notification and can change nothing. */
export interface ObserverHost {
  readonly hooks: HostHooks<'observer'>
}

export interface PluginOf<Kind extends PluginKind, H> {
  readonly kind: Kind
  /** Letters, digits, `-` and `_`; the kernel, settings and files use it as the name of the plugin. */
  readonly id: PluginId
  /**
   * The servers that it reaches, such as `rates.example.org` or `rates.example.org:8443`, and for `io.connect` with its scheme, as
   * `tls://coins.example.org:50002` or `tcp://…`. In a cell it reaches no other, and whoever adds it sees them first.
   */
  readonly hosts?: readonly string[]
  /** Called once. If it throws, the plugin counts as failed; other plugins are applied nevertheless. */
  apply(host: H): void
}

/**
 * A currency: keys, URIs and engines for one wallet type.
 *
 * @example
 * ```ts
 * import type { CurrencyEngine, CurrencyPlugin, CurrencyTools, EngineRequest } from 'holdfast/plugin'
 *
 * declare const tools: CurrencyTools
 * declare const makeEngine: (request: EngineRequest) => CurrencyEngine
 * const units = { currencyCode: 'TOL', displayName: 'Tollar', denominations: [{ name: 'TOL', multiplier: '1000' }] }
 * export const tollar: CurrencyPlugin = {
 *   kind: 'currency',
 *   id: 'tollar',
 *   info: { ...units, pluginId: 'tollar', walletType: 'wallet:tollar' },
 *   apply({ hooks }) {
 *     hooks.makeTools.tapPromise('tollar', async () => tools)
 *     hooks.makeEngine.tapPromise('tollar', async request => makeEngine(request))
 *   }
 * }
 * ```
 */
export interface CurrencyPlugin extends PluginOf<'currency', CurrencyHost> {
  readonly info: CurrencyInfo
}

/**
 * A source of exchange rates.
 *
 * @example
 * ```ts
 * import type { RatePlugin } from 'holdfast/plugin'
 *
 * export const onePrice: RatePlugin = {
 *   kind: 'rates',
 *   id: 'oneprice',
 *   displayName: 'One Price',
 *   apply({ hooks }) {
 *     hooks.fetchRates.tapPromise('oneprice', async context => {
 *       context.offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, 64_000)
 *     })
 *   }
 * }
 * ```
 */
export interface RatePlugin extends PluginOf<'rates', RateHost> {
  readonly displayName: string
  /** Added to the cost of every hop through it (specification §9); 0 if left out. */
  readonly bias?: number
  /** Why it gives no rates any more, in a sentence. Settings may still name its id. */
  readonly retired?: string
  /**
   * Checks the options that the application gave it: a sentence says why it is not asked, for example that a key is missing.
   */
  checkOptions?(options: JsonObject): string | undefined
}

/**
 * A swap provider.
 *
 * @example
 * ```ts
 * import { nativeAmount, type SwapPlugin } from 'holdfast/plugin'
 *
 * export const cornerShop: SwapPlugin = {
 *   kind: 'swap',
 *   id: 'cornershop',
 *   displayName: 'Corner Shop',
 *   apply({ hooks }) {
 *     hooks.fetchQuotes.tapPromise('cornershop', async ({ request, offer }) => {
 *       const spendTargets = [{ publicAddress: 'an address of the shop', nativeAmount: request.nativeAmount }]
 *       offer({
 *         fromNativeAmount: request.nativeAmount,
 *         toNativeAmount: nativeAmount('740000'),
 *         isEstimate: false,
 *         networkFee: nativeAmount('1128'),
 *         payment: { spends: [{ tokenId: null, spendTargets }] }
 *       })
 *     })
 *   }
 * }
 * ```
 */
export interface SwapPlugin extends PluginOf<'swap', SwapHost> {
  readonly displayName: string
  readonly isDex?: boolean
  readonly supportEmail?: string
  /** Checks the user's settings for it: one that needs activation is not asked for quotes. */
  checkSettings?(userSettings: JsonObject): { readonly needsActivation?: boolean }
}

/**
 * A place to keep data: a disk of texts, or an ordered store of bytes. A kernel has exactly one.
 *
 * @example
 * ```ts
 * import type { Disk, StoragePlugin } from 'holdfast/plugin'
 *
 * export const storageOn = (disk: Disk): StoragePlugin => ({
 *   kind: 'storage',
 *   id: 'mydisk',
 *   apply: ({ hooks }) => hooks.openDisk.tapPromise('mydisk', async () => disk)
 * })
 * ```
 */
export type StoragePlugin = PluginOf<'storage', StorageHost>

/**
 * A rule that can refuse a use of private keys, and reorder quotes.
 *
 * @example
 * ```ts
 * import { compare, nativeAmount, type PolicyPlugin, WalletError } from 'holdfast/plugin'
 *
 * export const spendLimit: PolicyPlugin = {
 *   kind: 'policy',
 *   id: 'spend-limit',
 *   apply({ hooks }) {
 *     hooks.beforeSign.tapPromise('spend-limit', async spend => {
 *       if (compare(nativeAmount(spend.nativeAmount), nativeAmount('1000000')) <= 0) return
 *       throw new WalletError('SIGN_REFUSED', { pluginId: 'spend-limit', reason: 'more than 0.01' })
 *     })
 *   }
 * }
 * ```
 */
export type PolicyPlugin = PluginOf<'policy', PolicyHost>

/**
 * A watcher, such as the devtools.
 *
 * @example
 * ```ts
 * import type { ObserverPlugin } from 'holdfast/observer'
 *
 * export const watch: ObserverPlugin = {
 *   kind: 'observer',
 *   id: 'watch',
 *   apply({ hooks }) {
 *     hooks.spendChanged.tap('watch', ({ walletId, stage }) => console.log(walletId, stage))
 *   }
 * }
 * ```
 */
export type ObserverPlugin = PluginOf<'observer', ObserverHost>

/**
 * Any plugin.
 *
 * @example
 * ```ts
 * import type { Plugin } from 'holdfast/plugin'
 * import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
 * import { memoryStorage } from 'holdfast/plugins/storage/memory'
 *
 * const plugins: readonly Plugin[] = [memoryStorage(), bitcoin]
 * ```
 */
export type Plugin = CurrencyPlugin | RatePlugin | SwapPlugin | StoragePlugin | PolicyPlugin | ObserverPlugin

/**
 * A plugin, or what gives one within 30 seconds: a promise of it, or a function that makes it, for a plugin whose kind and
 * info are read from elsewhere first.
 *
 * @example
 * ```ts
 * import type { CurrencyPlugin, PluginSource } from 'holdfast/plugin'
 *
 * declare const readInfo: () => Promise<CurrencyPlugin['info']>
 * declare const apply: CurrencyPlugin['apply']
 * export const tollar: PluginSource = async () => ({ kind: 'currency', id: 'tollar', info: await readInfo(), apply })
 * ```
 */
export type PluginSource = Plugin | Promise<Plugin> | (() => Plugin | Promise<Plugin>)

/** The parts from which a plugin's host is made. `disk` is the plugin's own jail. */
export interface HostOptions {
  readonly hooks: KernelHooks
  readonly io: Io
  readonly disk: Disk
  readonly log: EngineLog
  readonly options: JsonObject
  readonly onFault: OnFault
}

/** The host of a currency plugin: its own makers only. */
export const currencyHost = (pluginId: PluginId, parts: HostOptions): CurrencyHost => {
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
export const rateHost = (pluginId: PluginId, parts: HostOptions): RateHost => {
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
export const swapHost = (pluginId: PluginId, parts: HostOptions): SwapHost => {
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
  pluginId: PluginId,
  { hooks, log, options }: Omit<HostOptions, 'disk' | 'io' | 'onFault'>
): StorageHost => Object.freeze({ hooks: hostHooks('storage', pluginId, hooks), log, options })

/** The host of a policy plugin. */
export const policyHost = (pluginId: PluginId, parts: HostOptions & Pick<PolicyHost, 'fail'>): PolicyHost => {
  const { hooks, io, disk, log, options, fail } = parts
  const { clock } = io
  return Object.freeze({
    hooks: hostHooks('policy', pluginId, hooks),
    clock: Object.freeze({ now: () => clock.now(), monotonic: () => clock.monotonic() }),
    disk,
    log,
    options,
    fail
  })
}

/** The host of an observer: every hook that notifies, and nothing else at all. */
export const observerHost = (pluginId: PluginId, hooks: KernelHooks): ObserverHost =>
  Object.freeze({ hooks: hostHooks('observer', pluginId, hooks) })
