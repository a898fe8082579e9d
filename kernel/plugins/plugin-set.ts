import { compact } from '../base/compact.ts'
import { frozenCopy } from '../base/copy-data.ts'
import { errorOf, isWalletError, scrubBut, WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Io } from '../io/io.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { CurrencyTools } from '../types/engine.ts'
import type { PluginId } from '../types/ids.ts'
import type { CurrencySnapshot, PluginMistake, PluginSnapshot } from '../types/snapshots.ts'
import { hookTable } from './hook-table.ts'
import type { KernelHooks } from './hook-types.ts'
import { missingTaps } from './hooks.ts'
import { type MethodNames, toolMethods } from './method-names.ts'
import type { CurrencyPlugin, Plugin, RatePlugin, SwapPlugin } from './plugin.ts'
import { mistakeOf, mistakeText } from './plugin-mistake.ts'
import { type PluginHead, readPlugin, readPluginHead } from './read-plugin.ts'

/** A source of rates, and why it is not asked, if it is not. */
export interface AppliedRatePlugin {
  readonly plugin: RatePlugin
  readonly leftOutReason: string | undefined
}

/** Why the currency of a wallet type is not there: its plugin, and the sentence that it threw. */
export interface CurrencyFailure {
  readonly pluginId: PluginId
  readonly reason: string
}

/** Why a policy judges nothing: it failed, or its asynchronous `apply` has not ended yet. */
export interface PolicyFailure {
  readonly pluginId: PluginId
  readonly reason: string
}

/** Which plugins an application has announced. */
export interface AnnouncedPlugins {
  /** They come with `addPlugin`. */
  readonly later?: readonly string[]
  /** No account opens without them. */
  readonly required?: readonly string[]
}

/** What is known of a plugin that is added. */
export interface AddOptions {
  /** Its id and kind, if they were read before. */
  readonly head?: PluginHead
  /** What the application gave this plugin. */
  readonly options?: JsonObject
  /** Called with the reason if it fails, and the id under which it is recorded. */
  readonly onFailure?: (pluginId: PluginId, error: WalletError) => void
  /** Called with what an asynchronous `apply` throws later. */
  readonly onFault?: (error: unknown) => void
}

/**
 * Which plugins are applied, failed or missing, and what the applied currencies say of themselves.
 *
 * Open until `lock`; a login waits for the lock and then for nothing. It fails only for a plugin that the application
 * requires (specification §4 "Account load"): a plugin that fails otherwise is missing to its own wallets alone.
 */
export class PluginSet {
  readonly #hooks: KernelHooks
  readonly #io: Pick<Io, 'crypto' | 'random'> | undefined
  readonly #states = new Map<string, PluginSnapshot>()
  readonly #currencies = new Map<string, CurrencyPlugin>()
  readonly #ratePlugins: AppliedRatePlugin[] = []
  readonly #swapPlugins: SwapPlugin[] = []
  readonly #byWalletType = new Map<string, CurrencyInfo>()
  /** The wallet types of currencies that failed. */
  readonly #failures = new Map<string, CurrencyFailure>()
  /** Policies that judge nothing, and why. */
  readonly #policyFailures = new Map<PluginId, string>()
  readonly #tools = new Map<string, Promise<CurrencyTools>>()
  readonly #wanted: ReadonlySet<string>
  readonly #required: ReadonlySet<string>
  readonly #waiting: (() => void)[] = []
  #isLocked = false

  constructor(
    hooks: KernelHooks,
    { later = [], required = [] }: AnnouncedPlugins = {},
    io?: Pick<Io, 'crypto' | 'random'>
  ) {
    this.#hooks = hooks
    this.#io = io
    this.#wanted = new Set([...later, ...required])
    this.#required = new Set(required)
  }

  /**
   * Takes a copy of one plugin and applies that; whatever goes wrong is recorded with its reason, not passed on.
   *
   * A plugin without an id of its own is recorded under one that is made up.
   *
   * @param apply - is given the copy
   * @throws PLUGINS_LOCKED after `lock`
   */
  add(given: Plugin, apply: (plugin: Plugin) => void, about: AddOptions = {}): PluginSnapshot {
    if (this.#isLocked) throw new WalletError('PLUGINS_LOCKED', {})
    const head = about.head ?? readPluginHead(given, this.#states.size + 1)
    const { options = {}, onFault = () => {} } = about
    const isTaken = this.#states.has(head.id)
    const pluginId = isTaken ? this.#freeId(head.id) : head.id
    const { kind } = head
    let plugin: Plugin | undefined
    try {
      if (head.mistake !== undefined) throw head.mistake
      if (isTaken)
        throw mistakeOf(pluginId, {
          field: 'id',
          found: `"${head.id}", which another plugin has`,
          expected: 'an id of its own'
        })
      plugin = readPlugin(head, given, applied => this.#follow({ pluginId, kind }, applied, onFault))
      if (plugin.kind === 'currency') this.#checkWalletType(plugin)
      apply(plugin)
      const failed = this.#states.get(pluginId)
      if (failed !== undefined) return failed
      this.#checkTaps(plugin)
      this.#keep(plugin, options)
      return this.#record({
        ...{ pluginId, kind, state: 'applied', needsKeysTo: needsOf(plugin) },
        ...compact({ currency: plugin.kind === 'currency' ? currencyOf(plugin.info) : undefined })
      })
    } catch (thrown) {
      const error = errorOf(thrown)
      const mistake = isWalletError(error, 'PLUGIN_INVALID') ? mistakeIn(error.details) : undefined
      const reason =
        mistake === undefined ? scrubBut(error.message, new Set([pluginId, ...NAMES])) : mistakeText(mistake)
      if (plugin?.kind === 'currency') this.#failures.set(plugin.info.walletType, { pluginId, reason })
      if (kind === 'policy') this.#policyFailures.set(pluginId, reason)
      about.onFailure?.(
        pluginId,
        mistake === undefined
          ? new WalletError('PLUGIN_FAILED', { pluginId, hook: 'apply', reason }, error)
          : mistakeOf(pluginId, mistake)
      )
      return this.#record({
        ...{ pluginId, kind, state: 'failed', needsKeysTo: [], message: reason },
        ...compact({ errorCode: isWalletError(error) ? error.code : undefined, mistake })
      })
    }
  }

  /** Says that no more plugins come; those that were wanted and never came are missing. */
  lock(): void {
    if (this.#isLocked) return
    this.#isLocked = true
    for (const pluginId of this.#wanted) {
      if (!this.#states.has(pluginId)) {
        this.#record({
          ...{ pluginId, kind: undefined, state: 'missing', needsKeysTo: [] },
          message: 'it was announced and never added'
        })
      }
    }
    for (const resume of this.#waiting.splice(0)) resume()
  }

  /**
   * Waits for the lock, then makes sure that every plugin that the application requires is there.
   *
   * @throws PLUGINS_MISSING with the sentence of each
   */
  async ready(): Promise<void> {
    if (!this.#isLocked) await new Promise<void>(resolve => this.#waiting.push(resolve))
    const missing = [...this.#states.values()].filter(
      ({ pluginId, state }) => state !== 'applied' && this.#required.has(pluginId)
    )
    if (missing.length === 0) return
    throw new WalletError('PLUGINS_MISSING', {
      pluginIds: missing.map(({ pluginId }) => pluginId),
      reasons: missing.map(({ message = '' }) => message)
    })
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

  /** The currency of a wallet type. @throws PLUGIN_FOR_TYPE with the sentence of a plugin that failed */
  infoOf(walletType: string): CurrencyInfo {
    const info = this.findByWalletType(walletType)
    if (info === undefined)
      throw new WalletError('PLUGIN_FOR_TYPE', { walletType, ...this.failureOf(walletType) })
    return info
  }

  /** Why the currency of a wallet type is not there, if its plugin failed. */
  failureOf(walletType: string): CurrencyFailure | undefined {
    return this.#byWalletType.has(walletType) ? undefined : this.#failures.get(walletType)
  }

  /** A policy that was added and judges nothing. What it would have refused is not known, so nothing is signed without it. */
  get policyFailure(): PolicyFailure | undefined {
    const [first] = this.#policyFailures
    return first === undefined ? undefined : { pluginId: first[0], reason: first[1] }
  }

  /**
   * The tools of a currency, made once and shared; a failure is not kept.
   *
   * @throws PLUGIN_FAILED
   */
  toolsOf(pluginId: PluginId): Promise<CurrencyTools> {
    const known = this.#tools.get(pluginId)
    if (known !== undefined) return known
    const made = this.#makeTools(pluginId)
    this.#tools.set(pluginId, made)
    made.catch(() => this.#tools.delete(pluginId))
    return made
  }

  /** Follows an `apply` that is asynchronous. Other plugins stay applied if it fails: what they tapped before is there. */
  #follow(
    { pluginId, kind }: Pick<PluginSnapshot, 'kind' | 'pluginId'>,
    applied: Promise<unknown>,
    onFault: (error: unknown) => void
  ): void {
    const isPolicy = kind === 'policy'
    if (isPolicy) this.#policyFailures.set(pluginId, 'its apply has not ended yet')
    const ended = (): void => {
      // One that has failed in the meantime stays so.
      if (this.#states.get(pluginId)?.state !== 'failed') this.#policyFailures.delete(pluginId)
    }
    const failed = (thrown: unknown): void => {
      if (isPolicy) this.failPolicy(pluginId, thrown)
      onFault(thrown)
    }
    applied.then(ended, failed)
  }

  /** Records that a policy judges nothing from now on; the first reason stays. */
  failPolicy(pluginId: PluginId, thrown: unknown): void {
    if (this.#states.get(pluginId)?.state === 'failed') return
    const message = scrubBut(errorOf(thrown).message, new Set([pluginId, ...NAMES]))
    this.#policyFailures.set(pluginId, message)
    this.#record({ pluginId, kind: 'policy', state: 'failed', needsKeysTo: [], message })
  }

  /** @throws PLUGIN_INVALID for a plugin that has not tapped what only it can answer */
  #checkTaps(plugin: Plugin): void {
    const { id, kind } = plugin
    // One that gives no rates any more is there for its name.
    const isRetired = plugin.kind === 'rates' && plugin.retired !== undefined
    const missing = isRetired ? [] : missingTaps(kind, id, this.#hooks)
    if (missing.length === 0) return
    throw mistakeOf(id, {
      field: `hooks.${missing[0]}`,
      found: 'not tapped',
      expected: 'tapped in apply, before it returns',
      hint: `A ${kind} plugin without that does nothing. What an async apply taps after its first await comes too late.`
    })
  }

  /** @throws PLUGIN_INVALID if another currency has the wallet type: no wallet would ever get to this one */
  #checkWalletType({ id, info: { walletType } }: CurrencyPlugin): void {
    const owner = this.#byWalletType.get(walletType)
    if (owner === undefined) return
    throw mistakeOf(id, {
      field: 'info.walletType',
      found: `"${walletType}", which the plugin ${owner.pluginId} has`,
      expected: 'one of its own'
    })
  }

  #freeId(id: PluginId): PluginId {
    let count = 2
    while (this.#states.has(`${id}-${count}`)) count += 1
    return `${id}-${count}`
  }

  #keep(plugin: Plugin, options: JsonObject): void {
    if (plugin.kind === 'currency') this.#addCurrency(plugin)
    else if (plugin.kind === 'rates') {
      this.#ratePlugins.push({ plugin, leftOutReason: plugin.retired ?? plugin.checkOptions?.(options) })
    } else if (plugin.kind === 'swap') this.#swapPlugins.push(plugin)
  }

  #addCurrency(plugin: CurrencyPlugin): void {
    const { walletType } = plugin.info
    this.#currencies.set(plugin.id, plugin)
    this.#byWalletType.set(walletType, plugin.info)
  }

  async #makeTools(pluginId: PluginId): Promise<CurrencyTools> {
    const tools: unknown = await this.#hooks.makeTools.for(pluginId).promise()
    const info = this.#currencies.get(pluginId)?.info
    if (tools !== undefined && info !== undefined) return captureTools(tools, info, this.#io)
    throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'makeTools', reason: 'it made none' })
  }

  #record(snapshot: PluginSnapshot): PluginSnapshot {
    const frozen = frozenCopy(snapshot)
    this.#states.set(snapshot.pluginId, frozen)
    this.#hooks.pluginChanged.call(frozen)
    return frozen
  }
}

const mistakeIn = ({ pluginId, ...mistake }: PluginMistake & { readonly pluginId: string }): PluginMistake =>
  mistake

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
  const { currencyCode, displayName, walletType, denominations, signing, customFeeTemplate } = info
  const isSignedByKernel = signing === undefined ? undefined : true
  return Object.freeze({
    ...{ currencyCode, displayName, walletType, denominations },
    ...compact({ isSignedByKernel, customFeeTemplate })
  })
}

/**
 * The tools of a currency, with each method read once; with keys of the kernel where the info says so.
 *
 * @throws TypeError for what is no object, or what the plugin throws
 */
export const captureTools = async (
  given: unknown,
  info: CurrencyInfo,
  io: Pick<Io, 'crypto' | 'random'> | undefined
): Promise<CurrencyTools> => {
  const captured = captureMethods<CurrencyTools>(given, toolMethods)
  const { signing } = info
  if (signing === undefined) return captured
  if (io === undefined) throw new TypeError('These tools need keys of the kernel')
  // Most currencies need none of it.
  const { toolsWithKernelKeys } = await import('../crypto/kernel-signing.ts')
  return toolsWithKernelKeys(captured, { ...info, signing }, io)
}

/** The identifiers of our interface that a plugin's own error may name. */
const NAMES: readonly string[] = [...Object.keys(hookTable), ...Object.keys(toolMethods)]

/**
 * The methods of an object that a plugin has made, such as an engine, each read once and called as its own; a method that
 * it does not have is not there.
 *
 * @throws TypeError for what is no object, or what the plugin throws
 */
export const captureMethods = <T extends object>(given: unknown, names: MethodNames<T>): T => {
  if (typeof given !== 'object' || given === null) throw new TypeError('It is no object')
  const methods: Record<string, unknown> = {}
  for (const name of Object.keys(names)) {
    const method = (given as Record<string, unknown>)[name]
    // Half the memory of a function of ours, and there are thousands.
    if (typeof method === 'function') methods[name] = Reflect.apply(bind, method, [given])
  }
  return Object.freeze(methods) as T
}

const { bind } = Function.prototype
