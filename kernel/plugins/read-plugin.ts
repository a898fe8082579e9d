import { compact } from '../base/compact.ts'
import { copyData } from '../base/copy-data.ts'
import { withDeadline } from '../base/deadline.ts'
import { errorOf, type WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Clock } from '../io/io.ts'
import { findMethodFault } from '../schema/method-schema.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { PluginId } from '../types/ids.ts'
import type { PluginKind, PluginMistake } from '../types/snapshots.ts'
import type { CurrencyPlugin, Plugin, PluginSource, RatePlugin, SwapPlugin } from './plugin.ts'
import { meant, mistakeOf, near } from './plugin-mistake.ts'

/** The id and kind of a plugin that may still turn out to be unusable. */
export interface PluginHead {
  /** Made up if it has none that can be used. */
  readonly id: PluginId
  /** Undefined if it is of no kind that there is. */
  readonly kind: PluginKind | undefined
  /** What is wrong with one of them, or what was thrown instead of a plugin. */
  readonly mistake?: Error
}

/** What an application gave as a plugin, and its head. */
export interface SettledPlugin {
  readonly given: Plugin
  readonly head: PluginHead
}

/**
 * Waits for a plugin that comes later, and reads its head. Never rejects: what it throws, or that it did not come in time, is
 * the mistake of the head.
 */
export const settlePlugin = async (
  source: PluginSource,
  position: number,
  clock: Clock
): Promise<SettledPlugin> => {
  try {
    const deadline = { clock, milliseconds: SOURCE_MS, what: `Plugin ${position}` }
    const isLater = typeof source === 'function' || isThenable(source)
    const given = isLater
      ? await withDeadline<Plugin>(deadline, () => (typeof source === 'function' ? source() : source))
      : (source as Plugin)
    return { given, head: readPluginHead(given, position) }
  } catch (thrown) {
    const head = { id: `plugin-${position}`, kind: undefined, mistake: errorOf(thrown) }
    return { given: source as Plugin, head }
  }
}

const SOURCE_MS = 30_000

/**
 * Reads the id and kind of what an application gave as a plugin, each once.
 *
 * @param position - among the plugins of the kernel, from 1: stands in the id of one that has none
 */
export const readPluginHead = (given: unknown, position: number): PluginHead => {
  const standIn = `plugin-${position}`
  const wrong = (mistake: PluginMistake, id: PluginId = standIn): PluginHead => ({
    id,
    kind: undefined,
    mistake: mistakeOf(id, mistake)
  })
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return wrong({
      ...{ field: 'the plugin', found: describe(given), expected: 'an object' },
      ...compact({ hint: hintFor(given) })
    })
  const { id, kind, default: inner } = read(() => fieldsOf(given, ['id', 'kind', 'default']))
  if (kind === undefined && id === undefined && (isThenable(given) || inner !== undefined))
    return wrong({
      field: 'the plugin',
      found: isThenable(given) ? 'a promise' : 'a module',
      expected: 'an object with kind, id and apply',
      hint: isThenable(given) ? 'Wait for it with await.' : 'Give its default export.'
    })
  if (typeof id !== 'string' || !PLUGIN_ID.test(id))
    return wrong({
      field: 'id',
      found: describe(id),
      expected: '1 to 64 letters, digits, - and _',
      hint: 'Settings and files use it as the name of the plugin.'
    })
  if (!KINDS.includes(kind as PluginKind))
    return wrong(
      {
        ...{ field: 'kind', found: describe(kind), expected: `one of ${KINDS.join(', ')}` },
        ...compact({
          hint: meant(typeof kind === 'string' ? (OTHER_NAMES[kind] ?? near(kind, KINDS)) : undefined)
        })
      },
      id
    )
  return { id, kind: kind as PluginKind }
}

/**
 * A frozen copy of a plugin, each property read once: what it says of itself is checked and cannot change any more, and
 * its functions are called as its own.
 *
 * @param onLate - receives the promise of an `apply` that is asynchronous, which nobody waits for
 * @throws PLUGIN_INVALID for a field of the wrong shape, or what the plugin throws while it is read
 */
export const readPlugin = (
  { id, kind }: PluginHead,
  given: Plugin,
  onLate: (applied: Promise<unknown>) => void
): Plugin => {
  const check = new FieldCheck(id, kind ?? 'plugin')
  const { apply } = check.fields(given, { apply: FUNCTION, hosts: HOSTS })
  const head = {
    id,
    apply(host: never): void {
      const answer: unknown = Reflect.apply(apply as () => unknown, given, [host])
      if (isThenable(answer)) onLate(Promise.resolve(answer))
    }
  }
  switch (kind) {
    case 'currency': {
      check.misspelt(given, ['kind', 'id', 'apply', 'info', 'hosts'])
      return Object.freeze<CurrencyPlugin>({ ...head, kind, info: readInfo(check, given as CurrencyPlugin) })
    }
    case 'rates':
      return Object.freeze<RatePlugin>({ ...head, kind, ...readRates(check, given as RatePlugin) })
    case 'swap':
      return Object.freeze<SwapPlugin>({ ...head, kind, ...readSwap(check, given as SwapPlugin) })
    case 'storage':
    case 'policy':
    case 'observer':
      check.misspelt(given, ['kind', 'id', 'apply', 'hosts'])
      return Object.freeze<Plugin>({ ...head, kind })
    default:
      throw new TypeError('A plugin of no kind is not read')
  }
}

/** What a field has to be, in words, and whether a value is that. */
interface FieldRule {
  readonly expected: string
  isValid(value: unknown): boolean
  readonly hint?: string
}

/** Checks the fields of one plugin, and says of the first that is wrong what stands there and what should. */
class FieldCheck {
  readonly pluginId: PluginId
  readonly #kind: string

  constructor(pluginId: PluginId, kind: string) {
    this.pluginId = pluginId
    this.#kind = kind
  }

  /** Reads fields, each once. @throws PLUGIN_INVALID */
  fields(
    given: object,
    rules: Readonly<Record<string, FieldRule>>,
    prefix: string = ''
  ): Readonly<Record<string, unknown>> {
    this.misspelt(
      given,
      [...Object.keys(rules), ...(prefix === '' ? ['kind', 'id', 'apply', 'info', 'hosts'] : [])],
      prefix
    )
    const values = fieldsOf(given, Object.keys(rules))
    for (const [name, { isValid, expected, hint }] of Object.entries(rules)) {
      const value = values[name]
      if (!isValid(value))
        this.refuse({ field: prefix + name, found: describe(value), expected, ...compact({ hint }) })
    }
    return values
  }

  /** Refuses a field that is none, and nearly has the name of one that is not there. @throws PLUGIN_INVALID */
  misspelt(given: object, names: readonly string[], prefix: string = ''): void {
    for (const name of Object.keys(given)) {
      if (names.includes(name)) continue
      const known = near(name, names)
      if (known !== undefined && !(known in given))
        this.refuse({
          field: prefix + name,
          found: `no field of ${this.#kind === 'observer' ? 'an' : 'a'} ${this.#kind} plugin`,
          expected: `spelled ${known}`
        })
    }
  }

  refuse(mistake: PluginMistake): never {
    throw mistakeOf(this.pluginId, mistake)
  }
}

const readInfo = (check: FieldCheck, plugin: CurrencyPlugin): CurrencyInfo => {
  const { info: given } = check.fields(plugin, { info: OBJECT })
  const refuse = (rule: string): WalletError =>
    mistakeOf(check.pluginId, { field: 'info', found: `data that ${rule}`, expected: 'plain data' })
  const info = copyData(given, { maxLength: MAX_INFO, isFrozen: true, refuse }) as Record<string, unknown>
  check.fields(
    info,
    {
      pluginId: {
        expected: `"${check.pluginId}", the id of the plugin`,
        isValid: value => value === check.pluginId
      },
      ...INFO
    },
    'info.'
  )
  for (const [at, unit] of (info.denominations as readonly object[]).entries())
    check.fields(unit, DENOMINATION, `info.denominations[${at}].`)
  if (info.signing !== undefined) {
    check.fields(info.signing as object, SIGNING, 'info.signing.')
    const needs = ['needsKeysToSync', 'needsKeysToSpend', 'needsKeysToBroadcast'].find(name => info[name])
    if (needs !== undefined)
      check.refuse({ field: `info.${needs}`, found: 'true', expected: 'false beside info.signing' })
  }
  for (const [at, field] of ((info.customFeeTemplate ?? []) as readonly object[]).entries())
    check.fields(field, FEE_FIELD, `info.customFeeTemplate[${at}].`)
  const fault = info.otherMethods === undefined ? undefined : findMethodFault(info.otherMethods)
  if (fault !== undefined)
    check.refuse({ ...fault, field: `info.otherMethods${fault.path}`, found: describe(fault.found) })
  for (const [at, option] of ((info.memoOptions ?? []) as readonly object[]).entries())
    check.fields(option, MEMO_OPTION, `info.memoOptions[${at}].`)
  return info as unknown as CurrencyInfo
}

const readRates = (check: FieldCheck, given: RatePlugin): Omit<RatePlugin, 'id' | 'kind' | 'apply'> => {
  const { displayName, bias, retired, checkOptions } = check.fields(given, RATES) as unknown as RatePlugin
  return {
    displayName: displayName ?? check.pluginId,
    ...compact({
      bias,
      retired: retired?.slice(0, MAX_SENTENCE),
      checkOptions:
        checkOptions &&
        ((options: JsonObject) => {
          const answer: unknown = Reflect.apply(checkOptions, given, [options])
          return answer === undefined ? undefined : sentenceOf(answer)
        })
    })
  }
}

const readSwap = (check: FieldCheck, given: SwapPlugin): Omit<SwapPlugin, 'id' | 'kind' | 'apply'> => {
  const { displayName, isDex, supportEmail, checkSettings } = check.fields(
    given,
    SWAP
  ) as unknown as SwapPlugin
  return {
    displayName: displayName ?? check.pluginId,
    isDex: isDex === true,
    ...compact({
      supportEmail,
      checkSettings:
        checkSettings &&
        ((userSettings: JsonObject) => {
          const answer = Reflect.apply(checkSettings, given, [userSettings]) as object | undefined
          return { needsActivation: fieldsOf(answer ?? {}, ['needsActivation']).needsActivation === true }
        })
    })
  }
}

/** Describes a value that a plugin has in a field: its type, and no more of it than 40 characters. */
export const describe = (value: unknown): string => {
  switch (typeof value) {
    case 'undefined':
      return 'missing'
    case 'string':
      return value === '' ? 'an empty text' : `the text ${JSON.stringify(value.slice(0, 40))}`
    case 'number':
    case 'boolean':
      return `the ${typeof value} ${value}`
    case 'bigint':
      return 'a BigInt'
    case 'function':
      return 'a function'
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
      return isThenable(value) ? 'a promise' : 'an object'
    default:
      return `a ${typeof value}`
  }
}

const hintFor = (given: unknown): string | undefined => {
  if (typeof given === 'function') return 'Call it if it makes the plugin.'
  return Array.isArray(given) ? 'Spread a list of plugins with three dots.' : undefined
}

/** Reads properties of an object, each once. */
const fieldsOf = (given: object, names: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(names.map(name => [name, (given as Record<string, unknown>)[name]]))

/** What a plugin throws while its head is read makes it one without a head. */
const read = (fields: () => Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  try {
    return fields()
  } catch {
    return {}
  }
}

const isThenable = (value: unknown): boolean => {
  try {
    return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
  } catch {
    return false
  }
}

const isText = (value: unknown, most: number = MAX_TEXT): value is string =>
  typeof value === 'string' && value !== '' && value.length <= most

const sentenceOf = (value: unknown): string =>
  isText(value, Number.MAX_SAFE_INTEGER) ? value.slice(0, MAX_SENTENCE) : 'it does not say why'

const optional = ({ isValid, ...rule }: FieldRule): FieldRule => ({
  ...rule,
  isValid: value => value === undefined || isValid(value)
})

const PLUGIN_ID = /^[A-Za-z0-9_-]{1,64}$/
const KINDS: readonly PluginKind[] = ['currency', 'rates', 'swap', 'storage', 'policy', 'observer']
/** What authors call the kinds. */
const OTHER_NAMES: Readonly<Record<string, PluginKind>> = {
  ...{
    coin: 'currency',
    chain: 'currency',
    wallet: 'currency',
    exchange: 'swap',
    quote: 'swap',
    dex: 'swap'
  },
  ...{ rate: 'rates', price: 'rates', prices: 'rates', disk: 'storage', store: 'storage', rule: 'policy' },
  ...{ rules: 'policy', policies: 'policy', hook: 'observer', hooks: 'observer', logger: 'observer' }
}
const MAX_TEXT = 200
const MAX_SENTENCE = 500
const MAX_INFO = 100_000

const TEXT: FieldRule = { expected: `a text of 1 to ${MAX_TEXT} characters`, isValid: value => isText(value) }
const FUNCTION: FieldRule = { expected: 'a function', isValid: value => typeof value === 'function' }
/** The same as a cell demands. */
const HOST = /^(?:(?:https?|wss?|tcp|tls):\/\/)?[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/
const HOSTS: FieldRule = {
  expected: 'a list of up to 50 names of servers, such as rates.example.org',
  isValid: value =>
    value === undefined ||
    (Array.isArray(value) &&
      value.length <= 50 &&
      value.every(host => typeof host === 'string' && HOST.test(host)))
}
const BOOLEAN: FieldRule = { expected: 'true or false', isValid: value => typeof value === 'boolean' }
const NUMBER: FieldRule = { expected: 'a number', isValid: value => Number.isFinite(value) }
const OBJECT: FieldRule = {
  expected: 'an object',
  isValid: value => typeof value === 'object' && value !== null && !Array.isArray(value)
}

const COUNT: FieldRule = {
  expected: 'a whole number from 0',
  isValid: value => Number.isSafeInteger(value) && Number(value) >= 0
}

const RATES: Readonly<Record<string, FieldRule>> = {
  displayName: optional(TEXT),
  bias: optional(NUMBER),
  retired: optional({ expected: 'a sentence', isValid: value => isText(value, Number.MAX_SAFE_INTEGER) }),
  checkOptions: optional(FUNCTION)
}

const SWAP: Readonly<Record<string, FieldRule>> = {
  displayName: optional(TEXT),
  isDex: optional(BOOLEAN),
  supportEmail: optional(TEXT),
  checkSettings: optional(FUNCTION)
}

const INFO: Readonly<Record<string, FieldRule>> = {
  walletType: {
    expected: 'a text such as "wallet:bitcoin"',
    isValid: value => isText(value) && value.startsWith('wallet:')
  },
  currencyCode: TEXT,
  displayName: TEXT,
  denominations: {
    expected: 'a list of units, the usual one first',
    isValid: value => Array.isArray(value) && value.length > 0 && value.every(OBJECT.isValid)
  },
  requiredConfirmations: optional(COUNT),
  memoOptions: optional({
    expected: 'a list of kinds of memos, such as { type: "text" }',
    isValid: value => Array.isArray(value) && value.every(OBJECT.isValid)
  }),
  maxMemos: optional(COUNT),
  needsKeysToSync: optional(BOOLEAN),
  needsKeysToSpend: optional(BOOLEAN),
  needsKeysToBroadcast: optional(BOOLEAN),
  canImportKeys: optional(BOOLEAN),
  customFeeTemplate: optional({
    expected: 'a list of numbers, such as { key: "rate", displayName: "Fee rate", unit: "sat/vB" }',
    isValid: value => Array.isArray(value) && value.every(OBJECT.isValid)
  }),
  otherMethods: optional(OBJECT),
  signing: optional(OBJECT),
  defaultSettings: optional(OBJECT),
  chainDisplayName: optional(TEXT),
  syncDisplayPrecision: optional({
    expected: 'a whole number from 0 to 6',
    isValid: value => COUNT.isValid(value) && Number(value) <= 6
  }),
  blockExplorer: optional(TEXT),
  xpubExplorer: optional(TEXT),
  maxSupply: optional({
    expected: 'native units as text, such as "2100000000000000"',
    isValid: value => typeof value === 'string' && /^\d{1,100}$/.test(value)
  }),
  addressExplorer: optional(TEXT),
  transactionExplorer: optional(TEXT)
}

const DENOMINATION: Readonly<Record<string, FieldRule>> = {
  name: TEXT,
  multiplier: {
    expected: 'the native units of one, as text such as "100000000"',
    isValid: value => typeof value === 'string' && /^[1-9]\d{0,99}$/.test(value)
  }
}

const SIGNING: Readonly<Record<string, FieldRule>> = {
  curve: {
    expected: 'ed25519 or secp256k1',
    isValid: value => value === 'ed25519' || value === 'secp256k1'
  },
  keyName: {
    expected: 'a name of letters and digits, and none that a wallet has of itself',
    isValid: value =>
      typeof value === 'string' &&
      /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(value) &&
      !['dataKey', 'syncKey', 'imported', 'constructor', 'prototype'].includes(value)
  }
}

const FEE_FIELD: Readonly<Record<string, FieldRule>> = { key: TEXT, displayName: TEXT, unit: TEXT }

const MEMO_OPTION: Readonly<Record<string, FieldRule>> = {
  type: {
    expected: 'text, number or hex',
    isValid: value => value === 'text' || value === 'number' || value === 'hex'
  },
  memoName: optional(TEXT),
  minLength: optional(COUNT),
  maxLength: optional(COUNT),
  maxValue: optional({
    expected: 'a number as text, such as "4294967295"',
    isValid: value => typeof value === 'string' && /^\d{1,100}$/.test(value)
  })
}
