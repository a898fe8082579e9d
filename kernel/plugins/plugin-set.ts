import { compact } from '../base/compact.ts'
import { copyData, frozenCopy } from '../base/copy-data.ts'
import { errorOf, isWalletError, scrub, WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { CurrencyTools } from '../types/engine.ts'
import type { PluginId } from '../types/ids.ts'
import type { CurrencySnapshot, PluginKind, PluginSnapshot } from '../types/snapshots.ts'
import type { KernelHooks } from './hook-table.ts'
import type { CurrencyPlugin, Plugin, RatePlugin, SwapPlugin } from './plugin.ts'

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

/** Which plugins an application has announced. */
export interface AnnouncedPlugins {
  /** They come with `addPlugin`. */
  readonly later?: readonly string[]
  /** No account opens without them. */
  readonly required?: readonly string[]
}

/**
 * Which plugins are applied, failed or missing, and what the applied currencies say of themselves.
 *
 * Open until `lock`; a login waits for the lock and then for nothing. It fails only for a plugin that the application
 * requires (specification §4 "Account load"): a plugin that fails otherwise is missing to its own wallets alone.
 */
export class PluginSet {
  readonly #hooks: KernelHooks
  readonly #states = new Map<string, PluginSnapshot>()
  readonly #currencies = new Map<string, CurrencyPlugin>()
  readonly #ratePlugins: AppliedRatePlugin[] = []
  readonly #swapPlugins: SwapPlugin[] = []
  /** The first plugin of a wallet type has it. */
  readonly #byWalletType = new Map<string, CurrencyInfo>()
  /** The wallet types of currencies that failed. */
  readonly #failures = new Map<string, CurrencyFailure>()
  readonly #tools = new Map<string, Promise<CurrencyTools>>()
  readonly #wanted: ReadonlySet<string>
  readonly #required: ReadonlySet<string>
  readonly #waiting: (() => void)[] = []
  #isLocked = false

  constructor(hooks: KernelHooks, { later = [], required = [] }: AnnouncedPlugins = {}) {
    this.#hooks = hooks
    this.#wanted = new Set([...later, ...required])
    this.#required = new Set(required)
  }

  /**
   * Takes a copy of one plugin and applies that; whatever goes wrong is recorded with its reason, not passed on.
   *
   * @param apply - is given the copy
   * @param about - its id and kind, if they were read before; and what the application gave this plugin
   * @throws PLUGINS_LOCKED after `lock`
   * @throws TypeError for an id that is malformed or taken: that is a programmer's mistake
   */
  add(
    given: Plugin,
    apply: (plugin: Plugin) => void,
    { head, options = {} }: { readonly head?: PluginHead; readonly options?: JsonObject } = {}
  ): PluginSnapshot {
    if (this.#isLocked) throw new WalletError('PLUGINS_LOCKED', {})
    const known = head ?? readPluginHead(given)
    const { id: pluginId, kind } = known
    if (this.#states.has(pluginId)) throw new TypeError(`Two plugins have the id ${pluginId}`)
    let plugin: Plugin | undefined
    try {
      plugin = readPlugin(known, given)
      apply(plugin)
      this.#keep(plugin, options)
      return this.#record({
        ...{ pluginId, kind, state: 'applied', needsKeysTo: needsOf(plugin) },
        ...compact({ currency: plugin.kind === 'currency' ? currencyOf(plugin.info) : undefined })
      })
    } catch (thrown) {
      const error = errorOf(thrown)
      const reason = scrub(error.message)
      if (plugin?.kind === 'currency') this.#failures.set(plugin.info.walletType, { pluginId, reason })
      return this.#record({
        ...{ pluginId, kind, state: 'failed', needsKeysTo: [], message: reason },
        ...compact({ errorCode: isWalletError(error) ? error.code : undefined })
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

  #keep(plugin: Plugin, options: JsonObject): void {
    if (plugin.kind === 'currency') this.#addCurrency(plugin)
    else if (plugin.kind === 'rates') {
      this.#ratePlugins.push({ plugin, leftOutReason: plugin.retired ?? plugin.checkOptions?.(options) })
    } else if (plugin.kind === 'swap') this.#swapPlugins.push(plugin)
  }

  #addCurrency(plugin: CurrencyPlugin): void {
    const { walletType } = plugin.info
    this.#currencies.set(plugin.id, plugin)
    if (!this.#byWalletType.has(walletType)) this.#byWalletType.set(walletType, plugin.info)
  }

  async #makeTools(pluginId: PluginId): Promise<CurrencyTools> {
    const tools: unknown = await this.#hooks.makeTools.for(pluginId).promise()
    if (tools !== undefined) return captureMethods<CurrencyTools>(tools, TOOLS)
    throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'makeTools', reason: 'it made none' })
  }

  #record(snapshot: PluginSnapshot): PluginSnapshot {
    const frozen = frozenCopy(snapshot)
    this.#states.set(snapshot.pluginId, frozen)
    this.#hooks.pluginChanged.call(frozen)
    return frozen
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

/** A method that is not here does not reach the kernel. */
const TOOLS: Readonly<Record<keyof CurrencyTools, true>> = {
  ...{ createPrivateKey: true, derivePublicKey: true, parseUri: true, encodeUri: true },
  ...{ sampleAddress: true, checkPublicKey: true, importPrivateKey: true, getTokenId: true },
  ...{ findOwnAddresses: true },
  ...{ getDisplayPrivateKey: true, getDisplayPublicKey: true, getSplittableTypes: true }
}

const PLUGIN_ID = /^[A-Za-z0-9_-]{1,64}$/
const KINDS: ReadonlySet<unknown> = new Set(['currency', 'rates', 'swap', 'storage', 'policy', 'observer'])
const MAX_TEXT = 200
const MAX_SENTENCE = 500
const MAX_INFO = 100_000
const MULTIPLIER = /^[1-9]\d{0,99}$/

/** The id and kind of a plugin that may still turn out to be unusable. */
interface PluginHead {
  readonly id: PluginId
  readonly kind: PluginKind
}

/**
 * Reads the id and kind of what an application gave as a plugin, each once.
 *
 * @throws TypeError for an id or a kind that is none: that is a programmer's mistake
 */
export const readPluginHead = (given: unknown): PluginHead => {
  const { id, kind } = fieldsOf(given, ['id', 'kind'])
  if (typeof id !== 'string' || !PLUGIN_ID.test(id))
    throw new TypeError('A plugin id is letters, digits, - and _')
  if (!KINDS.has(kind)) throw new TypeError(`The plugin ${id} is of no kind that there is`)
  return { id, kind: kind as PluginKind }
}

/**
 * A frozen copy of a plugin, each property read once: what it says of itself is checked and cannot change any more, and
 * its functions are called as its own.
 *
 * @throws Error with a sentence about what is wrong with it, or what the plugin throws while it is read
 */
const readPlugin = ({ id, kind }: PluginHead, given: Plugin): Plugin => {
  const { apply } = given
  if (typeof apply !== 'function') throw new TypeError('it has no function apply')
  // An async one is not waited for.
  const head = { id, apply: (host: never): void => void Reflect.apply(apply, given, [host]) }
  switch (kind) {
    case 'currency':
      return Object.freeze<CurrencyPlugin>({ ...head, kind, info: readInfo((given as CurrencyPlugin).info) })
    case 'rates':
      return Object.freeze<RatePlugin>({ ...head, kind, ...readRates(id, given as RatePlugin) })
    case 'swap':
      return Object.freeze<SwapPlugin>({ ...head, kind, ...readSwap(id, given as SwapPlugin) })
    default:
      return Object.freeze<Plugin>({ ...head, kind })
  }
}

/** Checks what a currency says of itself, and copies it. @throws TypeError naming the field */
const readInfo = (given: unknown): CurrencyInfo => {
  const refuse = (rule: string): TypeError => new TypeError(`its info ${rule}`)
  const info = copyData(given, { maxLength: MAX_INFO, isFrozen: true, refuse })
  if (typeof info !== 'object' || info === null || Array.isArray(info)) throw refuse('is no object')
  const { pluginId, walletType, currencyCode, displayName, denominations } = info as Record<string, unknown>
  for (const [name, text] of Object.entries({ pluginId, walletType, currencyCode, displayName })) {
    if (!isName(text)) throw refuse(`has no ${name}`)
  }
  if (!Array.isArray(denominations) || denominations.length === 0 || !denominations.every(isDenomination))
    throw refuse('has no denominations')
  return info as unknown as CurrencyInfo
}

const isDenomination = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false
  const { name, multiplier } = value as Record<string, unknown>
  return isName(name) && typeof multiplier === 'string' && MULTIPLIER.test(multiplier)
}

const readRates = (id: PluginId, given: RatePlugin): Omit<RatePlugin, 'id' | 'kind' | 'apply'> => {
  const { displayName, bias, retired, checkOptions } = given
  return {
    displayName: isName(displayName) ? displayName : id,
    ...compact({
      bias: typeof bias === 'number' ? bias : undefined,
      retired: retired === undefined ? undefined : sentenceOf(retired),
      checkOptions:
        typeof checkOptions === 'function'
          ? (options: JsonObject) => {
              const answer: unknown = Reflect.apply(checkOptions, given, [options])
              return answer === undefined ? undefined : sentenceOf(answer)
            }
          : undefined
    })
  }
}

const readSwap = (id: PluginId, given: SwapPlugin): Omit<SwapPlugin, 'id' | 'kind' | 'apply'> => {
  const { displayName, isDex, supportEmail, checkSettings } = given
  return {
    displayName: isName(displayName) ? displayName : id,
    isDex: isDex === true,
    ...compact({
      supportEmail: isName(supportEmail) ? supportEmail : undefined,
      checkSettings:
        typeof checkSettings === 'function'
          ? (userSettings: JsonObject) => {
              const answer = fieldsOf(Reflect.apply(checkSettings, given, [userSettings]) ?? {}, [
                'needsActivation'
              ])
              return { needsActivation: answer.needsActivation === true }
            }
          : undefined
    })
  }
}

/**
 * The methods of an object that a plugin has made, such as an engine, each read once and called as its own; a method that
 * it does not have is not there.
 *
 * @throws TypeError for what is no object, or what the plugin throws
 */
export const captureMethods = <T extends object>(
  given: unknown,
  names: Readonly<Record<keyof T, true>>
): T => {
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

const fieldsOf = (given: unknown, names: readonly string[]): Readonly<Record<string, unknown>> => {
  if (typeof given !== 'object' || given === null) throw new TypeError('A plugin answers with an object')
  return Object.fromEntries(names.map(name => [name, (given as Record<string, unknown>)[name]]))
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TEXT

const sentenceOf = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_SENTENCE) : 'it does not say why'
