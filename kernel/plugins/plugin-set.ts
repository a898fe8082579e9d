import { WalletError } from '../errors/wallet-error.ts'
import type { KernelHooks } from '../hooks/kernel-hooks.ts'
import type { CurrencySnapshot, PluginSnapshot } from '../hooks/snapshots.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { CurrencyTools } from '../types/engine.ts'
import type { JsonObject } from '../types/json.ts'
import type { CurrencyPlugin, Plugin, RatePlugin, SwapPlugin } from './plugin.ts'

const PLUGIN_ID = /^[A-Za-z0-9_-]{1,64}$/

/** A source of rates, and why it is not asked, if it is not. */
export interface AppliedRatePlugin {
  readonly plugin: RatePlugin
  readonly notAsked: string | undefined
}

/**
 * Which plugins are applied, failed or missing, and what the applied currencies say of themselves.
 *
 * Open until `lock`; a login waits for the lock and then for nothing (specification §4 "Account load").
 */
export class PluginSet {
  readonly #hooks: KernelHooks
  readonly #states = new Map<string, PluginSnapshot>()
  readonly #currencies = new Map<string, CurrencyPlugin>()
  readonly #ratePlugins: AppliedRatePlugin[] = []
  readonly #swapPlugins: SwapPlugin[] = []
  /** The first plugin of a wallet type has it. */
  readonly #byWalletType = new Map<string, CurrencyInfo>()
  readonly #tools = new Map<string, Promise<CurrencyTools>>()
  readonly #wanted = new Set<string>()
  readonly #waiting: (() => void)[] = []
  #isLocked = false

  constructor(hooks: KernelHooks, wanted: Iterable<string> = []) {
    this.#hooks = hooks
    for (const pluginId of wanted) this.#wanted.add(pluginId)
  }

  /**
   * Applies one plugin; a throw inside it is recorded, not passed on.
   *
   * @param options - what the application gave this plugin
   * @throws PLUGINS_LOCKED after `lock`
   * @throws TypeError for an id that is malformed or taken: that is a programmer's mistake
   */
  add(plugin: Plugin, apply: () => void, options: JsonObject = {}): void {
    if (this.#isLocked) throw new WalletError('PLUGINS_LOCKED', {})
    if (!PLUGIN_ID.test(plugin.id)) throw new TypeError('A plugin id is letters, digits, - and _')
    if (this.#states.has(plugin.id)) throw new TypeError(`Two plugins have the id ${plugin.id}`)
    try {
      apply()
      this.#keep(plugin, options)
      this.#record({
        ...{ pluginId: plugin.id, kind: plugin.kind, state: 'applied', needsKeysTo: needsOf(plugin) },
        ...(plugin.kind === 'currency' ? { currency: currencyOf(plugin.info) } : {})
      })
    } catch (error) {
      this.#record({
        pluginId: plugin.id,
        kind: plugin.kind,
        state: 'failed',
        needsKeysTo: [],
        ...codeOf(error)
      })
    }
  }

  /** Says that no more plugins come; those that were wanted and never came are missing. */
  lock(): void {
    if (this.#isLocked) return
    this.#isLocked = true
    for (const pluginId of this.#wanted) {
      if (!this.#states.has(pluginId)) {
        this.#record({ pluginId, kind: undefined, state: 'missing', needsKeysTo: [] })
      }
    }
    for (const resume of this.#waiting.splice(0)) resume()
  }

  /**
   * Waits for the lock, then makes sure that every wanted plugin is there.
   *
   * @throws PLUGINS_MISSING
   */
  async ready(): Promise<void> {
    if (!this.#isLocked) await new Promise<void>(resolve => this.#waiting.push(resolve))
    const pluginIds = [...this.#states.values()]
      .filter(({ state }) => state !== 'applied')
      .map(({ pluginId }) => pluginId)
    if (pluginIds.length > 0) throw new WalletError('PLUGINS_MISSING', { pluginIds })
  }

  /** Every plugin that was added or wanted, in order of arrival. */
  get snapshots(): readonly PluginSnapshot[] {
    return [...this.#states.values()]
  }

  /** The currencies that are applied. */
  get currencies(): readonly CurrencyInfo[] {
    return [...this.#currencies.values()].map(({ info }) => info)
  }

  /** The sources of rates that are applied; also those that are not asked. */
  get ratePlugins(): readonly AppliedRatePlugin[] {
    return this.#ratePlugins
  }

  /** The swap providers that are applied. */
  get swapPlugins(): readonly SwapPlugin[] {
    return this.#swapPlugins
  }

  /** The currency of a wallet type, if its plugin is there. */
  findByWalletType(walletType: string): CurrencyInfo | undefined {
    return this.#byWalletType.get(walletType)
  }

  /** The currency of a wallet type. @throws PLUGIN_FOR_TYPE */
  infoOf(walletType: string): CurrencyInfo {
    const info = this.findByWalletType(walletType)
    if (info === undefined) throw new WalletError('PLUGIN_FOR_TYPE', { walletType })
    return info
  }

  /**
   * The tools of a currency, made once and shared; a failure is not kept.
   *
   * @throws PLUGIN_FAILED
   */
  toolsOf(pluginId: string): Promise<CurrencyTools> {
    const known = this.#tools.get(pluginId)
    if (known !== undefined) return known
    const made = this.#makeTools(pluginId)
    this.#tools.set(pluginId, made)
    made.catch(() => this.#tools.delete(pluginId))
    return made
  }

  #keep(plugin: Plugin, options: JsonObject): void {
    if (plugin.kind === 'currency') this.#addCurrency(plugin)
    else if (plugin.kind === 'rates') {
      this.#ratePlugins.push({ plugin, notAsked: plugin.retired ?? plugin.checkOptions?.(options) })
    } else if (plugin.kind === 'swap') this.#swapPlugins.push(plugin)
  }

  #addCurrency(plugin: CurrencyPlugin): void {
    const { walletType } = plugin.info
    this.#currencies.set(plugin.id, plugin)
    if (!this.#byWalletType.has(walletType)) this.#byWalletType.set(walletType, plugin.info)
  }

  async #makeTools(pluginId: string): Promise<CurrencyTools> {
    const tools = await this.#hooks.makeTools.for(pluginId).promise()
    if (tools !== undefined) return tools
    throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'makeTools', reason: 'it made none' })
  }

  #record(snapshot: PluginSnapshot): void {
    this.#states.set(snapshot.pluginId, snapshot)
    this.#hooks.pluginChanged.call(Object.freeze(snapshot))
  }
}

const needsOf = (plugin: Plugin): PluginSnapshot['needsKeysTo'] => {
  if (plugin.kind !== 'currency') return []
  const { needsKeysToSync, needsKeysToSpend, needsKeysToBroadcast } = plugin.info
  return [
    ...(needsKeysToSync === true ? (['sync'] as const) : []),
    ...(needsKeysToSpend === true ? (['spend'] as const) : []),
    ...(needsKeysToBroadcast === true ? (['broadcast'] as const) : [])
  ]
}

const currencyOf = (info: CurrencyInfo): CurrencySnapshot => {
  const { currencyCode, displayName, walletType, denominations } = info
  return Object.freeze({ currencyCode, displayName, walletType, denominations })
}

const codeOf = (error: unknown): { errorCode?: string } =>
  error instanceof WalletError ? { errorCode: error.code } : {}
