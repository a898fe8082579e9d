import { copyData } from '../base/copy-data.ts'
import type { JsonObject } from '../base/json.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { PluginKind } from '../types/snapshots.ts'
import type { CurrencyPlugin, Plugin, RatePlugin, SwapPlugin } from './plugin.ts'

const PLUGIN_ID = /^[A-Za-z0-9_-]{1,64}$/
const KINDS: ReadonlySet<unknown> = new Set(['currency', 'rates', 'swap', 'storage', 'policy', 'observer'])
const MAX_TEXT = 200
const MAX_SENTENCE = 500
const MAX_INFO = 100_000
const MULTIPLIER = /^[1-9]\d{0,99}$/

/** What the kernel knows of a plugin before it knows whether it can be used. */
export interface PluginHead {
  readonly id: string
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
export const readPlugin = ({ id, kind }: PluginHead, given: Plugin): Plugin => {
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

const readRates = (id: string, given: RatePlugin): Omit<RatePlugin, 'id' | 'kind' | 'apply'> => {
  const { displayName, bias, retired, checkOptions } = given
  return {
    displayName: isName(displayName) ? displayName : id,
    ...(typeof bias === 'number' ? { bias } : {}),
    ...(retired === undefined ? {} : { retired: sentenceOf(retired) }),
    ...(typeof checkOptions === 'function' && {
      checkOptions: (options: JsonObject) => {
        const said: unknown = Reflect.apply(checkOptions, given, [options])
        return said === undefined ? undefined : sentenceOf(said)
      }
    })
  }
}

const readSwap = (id: string, given: SwapPlugin): Omit<SwapPlugin, 'id' | 'kind' | 'apply'> => {
  const { displayName, isDex, supportEmail, checkSettings } = given
  return {
    displayName: isName(displayName) ? displayName : id,
    isDex: isDex === true,
    ...(isName(supportEmail) ? { supportEmail } : {}),
    ...(typeof checkSettings === 'function' && {
      checkSettings: (userSettings: JsonObject) => {
        const said = fieldsOf(Reflect.apply(checkSettings, given, [userSettings]) ?? {}, ['needsActivation'])
        return { needsActivation: said.needsActivation === true }
      }
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
