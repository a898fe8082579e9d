import {
  compact,
  type ErrorCode,
  type ErrorDetails,
  isWalletError,
  type Json,
  type JsonObject,
  type Plugin,
  type PluginId,
  Reply,
  type TapOrder,
  WalletError
} from '../kernel/plugin-api.ts'
import { readPlugin, readPluginHead } from '../kernel/plugins/read-plugin.ts'

/** The longest message, in characters, in either direction. */
export const MAX_MESSAGE = 4_000_000

/** What a call of a cell goes to: a tap, a function that an answer had, or a method of an object that was kept. */
export type CallTarget =
  | { readonly hook: string; readonly tap?: number }
  | { readonly fn: number }
  | { readonly object: number; readonly method: string }

/** A tap of a cell: its place among all of them, by which it is called, and the order that it asked for. */
export interface CellTap {
  readonly target: { readonly hook: string; readonly tap: number }
  readonly order: TapOrder
}

/** The argument that a cell completes with functions. */
export interface ContextShape {
  /** Its place among the arguments. */
  readonly at: number
  /** Functions that return nothing, and functions that return a promise. A dot leads into an inner object. */
  readonly notes: readonly string[]
  readonly requests: readonly string[]
  readonly signal: boolean
  readonly store: readonly (readonly [string, string])[] | null
  readonly units: readonly (readonly [string, Json])[] | null
}

/** The time of the kernel, with which a cell counts on. */
export interface CellTime {
  readonly now: number
  readonly monotonic: number
}

/** A message to a cell. */
export type ToCell =
  | ({
      readonly type: 'open'
      readonly kind: string
      readonly hooks: Readonly<Record<string, 'tap' | 'tapPromise'>>
      readonly parts: readonly string[]
      readonly options: JsonObject
    } & CellTime)
  | ({
      readonly type: 'call'
      readonly id: number
      readonly hook: string | null
      readonly tap: number | null
      readonly fn: number | null
      readonly object: number | null
      readonly method: string | null
      readonly args: readonly Json[]
      readonly context: ContextShape | null
      /** For an answer that is an object: the methods that the caller knows. */
      readonly methods: readonly string[] | null
    } & CellTime)
  | { readonly type: 'answer'; readonly id: number; readonly value: Json }
  | { readonly type: 'answer'; readonly id: number; readonly error: Json }
  | { readonly type: 'timer' | 'abort'; readonly id: number }
  | { readonly type: 'channel'; readonly id: number; readonly text: string }
  | { readonly type: 'channel'; readonly id: number; readonly text: null; readonly error: Json }

/** A message from a cell, read and checked. */
export type FromCell =
  | {
      readonly type: 'ready'
      /** The plugin, for {@link standIn}. */
      readonly found: Reply
      readonly taps: readonly CellTap[]
      /** What its own checks answered when it was applied. */
      readonly answers: Reply
    }
  | {
      readonly type: 'unusable'
      readonly error: Error
      /** Absent for what did not become a plugin. */
      readonly found: Reply
    }
  | { readonly type: 'thrown'; readonly error: Error }
  /** An asynchronous `apply` has ended; with an error also at any later time: the plugin cannot do its work. */
  | { readonly type: 'late'; readonly error: Error | undefined }
  | { readonly type: 'done'; readonly id: number; readonly value: Reply }
  | { readonly type: 'failed'; readonly id: number; readonly error: Error }
  | {
      readonly type: 'request'
      readonly id: number
      readonly context: number
      readonly name: string
      readonly args: readonly Reply[]
    }
  | {
      readonly type: 'note'
      readonly context: number
      readonly name: string
      readonly args: readonly Reply[]
    }

/**
 * Reads one message of a cell. Its length, depth and number of values are bounded before it is parsed.
 *
 * @throws BAD_REPLY for a text that no honest cell sends
 */
export const readMessage = (pluginId: PluginId, text: string): FromCell => {
  const source = `message of the plugin ${pluginId}`
  if (text.length > MAX_MESSAGE) return new Reply(undefined, source).fail(`is longer than ${MAX_MESSAGE}`)
  const message = Reply.of(text, source)
  const field = (name: string): Reply => message.field(name)
  const type = field('type').text()
  switch (type) {
    case 'ready':
      return {
        ...{ type, found: field('found'), answers: field('answers').object() },
        taps: field('taps').list(200).map(readTap)
      }
    case 'unusable':
      return { type, error: readError(field('error')), found: field('found') }
    case 'late':
      return { type, error: field('error').isThere ? readError(field('error')) : undefined }
    case 'thrown':
      return { type, error: readError(field('error')) }
    case 'done':
      return { type, id: numberOf(field('id')), value: field('value') }
    case 'failed':
      return { type, id: numberOf(field('id')), error: readError(field('error')) }
    case 'request':
    case 'note': {
      const call = {
        context: numberOf(field('context')),
        name: field('name').text(),
        args: field('args').list(10)
      }
      return type === 'note' ? { type, ...call } : { type, id: numberOf(field('id')), ...call }
    }
    default:
      return field('type').fail('is no type of message')
  }
}

const readTap = (reply: Reply, tap: number): CellTap => {
  const [stage, before] = [reply.field('stage'), reply.field('before')]
  const order = compact({
    stage: stage.isThere ? finite(stage) : undefined,
    before: before.isThere ? textOf(before, 100) : undefined
  })
  return { target: { hook: reply.field('hook').text(), tap }, order }
}

const finite = (reply: Reply): number =>
  typeof reply.value === 'number' ? reply.value : reply.fail('is no number')

/** A whole number of zero or more, as a number. */
export const numberOf = (reply: Reply): number => {
  const { value } = reply
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : reply.fail('is no whole number')
}

/** Text of at most `most` characters, which may be empty. */
export const textOf = (reply: Reply, most: number): string => {
  const { value } = reply
  return typeof value === 'string' && value.length <= most
    ? value
    : reply.fail(`is no text of ${most} characters`)
}

/** The error that a cell describes: one of the catalogue where it names a code, with the details that it gives. */
const readError = (reply: Reply): Error => {
  const at = (name: string, most: number): string => textOf(reply.field(name), most)
  const error = new Error(at('message', 10_000))
  const hide = (name: string, value: string): void => {
    Object.defineProperty(error, name, { value, configurable: true, writable: true })
  }
  hide('name', at('name', 100))
  if (reply.field('stack').isThere) hide('stack', at('stack', 4000))
  if (!reply.field('code').isThere) return error
  const coded = Object.assign(new Error(), { code: at('code', 100) })
  if (!isWalletError(coded)) return error
  try {
    return new WalletError(
      coded.code as ErrorCode,
      decoded(reply.field('details')) as ErrorDetails[ErrorCode]
    )
  } catch {
    // The details are not those of the code.
    return error
  }
}

/** Finds in a stack where the author's file threw, such as `src/index.ts:12:5`; undefined if that is not known. */
export type PlaceOf = (stack: string) => string | undefined

/** Adds the place in the source to what a plugin has thrown, unless it is an error of the catalogue. */
export const addPlace = (error: Error, placeOf: PlaceOf | undefined): void => {
  if (placeOf === undefined || isWalletError(error)) return
  const place = placeOf(error.stack ?? '')
  if (place !== undefined) error.message = `${error.message} (at ${place})`
}

/** An error as a cell gets it: nothing of the stack, the cause or the secrets of it. */
export const errorJson = (error: Error): Json => {
  const { name, message } = error
  if (!isWalletError(error)) return { name, message: message.slice(0, 1000) }
  return { name, message: message.slice(0, 1000), code: error.code, details: encoded(error.details) }
}

/** The value of a reply with its dates; bytes and functions stay as they were written. */
export const decoded = (reply: Reply): unknown => decode(reply, reply.value)

const decode = (reply: Reply, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => decode(reply, item))
  const { $: type, value: inner } = value as { readonly $?: unknown; readonly value?: unknown }
  if (type === 'date') {
    return typeof inner === 'number' || inner === null
      ? new Date(inner ?? Number.NaN)
      : reply.fail('holds no date')
  }
  const fields = type === 'plain' ? inner : value
  if (typeof fields !== 'object' || fields === null) return reply.fail('holds no object')
  const copy: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    if (FORBIDDEN.has(name)) reply.fail('has a forbidden key')
    copy[name] = decode(reply, field)
  }
  return copy
}

/**
 * Reads what a cell says of its plugin, with the checks of one in the kernel's own process.
 *
 * @returns an object with its fields, whose functions do nothing
 * @throws PLUGIN_INVALID
 */
export const readGiven = (found: Reply): Plugin => {
  const given = standIn(found) as Plugin
  const head = readPluginHead(given, 1)
  if (head.mistake !== undefined) throw head.mistake
  readPlugin(head, given, () => {})
  return given
}

/**
 * Makes an object of what a cell says of its plugin that looks to a check as the plugin itself does: a function stands where it has
 * one, a promise where it has one, and what cannot be read there cannot be read here.
 */
export const standIn = (found: Reply): unknown => imitated(found, found.value)

const imitated = (found: Reply, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => imitated(found, item))
  const { $: type, value: inner } = value as { readonly $?: unknown; readonly value?: unknown }
  if (type === 'number') return Number(inner)
  if (type === 'toJSON') return { toJSON: () => imitated(found, inner) }
  if (typeof type === 'string' && Object.hasOwn(ODD, type)) return ODD[type]?.()
  const fields = type === 'plain' ? inner : value
  if (typeof fields !== 'object' || fields === null) return found.fail('holds no object')
  const copy: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    if (FORBIDDEN.has(name)) found.fail('has a forbidden key')
    const isUnreadable = (field as { readonly $?: unknown } | null)?.$ === 'unreadable'
    Object.defineProperty(copy, name, {
      ...(isUnreadable ? { get: unreadable } : { value: imitated(found, field), writable: true }),
      ...{ enumerable: true, configurable: true }
    })
  }
  return copy
}

const unreadable = (): never => {
  throw new TypeError('It cannot be read')
}

/** What JSON does not have. */
const ODD: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  bigint: () => 0n,
  symbol: () => Symbol(),
  function: () => () => undefined,
  // biome-ignore lint/suspicious/noThenProperty: as the promise that it stands for.
  promise: () => ({ then() {} }),
  forbidden: () => Object.defineProperty({}, 'constructor', { value: 1, enumerable: true }),
  deep: () => Array.from({ length: 100 }).reduce<unknown>(inner => [inner], 0)
}

/** The number of a function that a cell has kept. */
export const functionOf = (value: unknown): number | undefined => {
  const { $: type, value: id } = (value ?? {}) as { readonly $?: unknown; readonly value?: unknown }
  return type === 'function' && Number.isSafeInteger(id) ? Number(id) : undefined
}

/** The bytes that a cell wrote, at most `most`. */
export const bytesOf = (reply: Reply, most: number): Uint8Array => {
  const { $: type, value } = (reply.value ?? {}) as { readonly $?: unknown; readonly value?: unknown }
  if (type !== 'bytes' || typeof value !== 'string' || !/^(?:[0-9a-f]{2})*$/.test(value))
    return reply.fail('is no bytes')
  if (value.length > most * 2) return reply.fail(`is longer than ${most}`)
  return Uint8Array.from({ length: value.length / 2 }, (_, at) =>
    Number.parseInt(value.slice(at * 2, at * 2 + 2), 16)
  )
}

/** A value of the kernel as a cell reads it: JSON with dates and bytes. What JSON does not have is left out. */
export const encoded = (value: unknown): Json => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (value instanceof Date) return { $: 'date', value: value.getTime() }
  if (value instanceof Uint8Array) return { $: 'bytes', value: hexOf(value) }
  if (Array.isArray(value)) return value.map(encoded)
  const fields: Record<string, Json> = {}
  for (const [name, field] of Object.entries(value))
    if (field !== undefined && typeof field !== 'function') fields[name] = encoded(field)
  return '$' in fields ? { $: 'plain', value: fields } : fields
}

const hexOf = (bytes: Uint8Array): string => {
  let hex = ''
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0')
  return hex
}

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Finds a text that could load another module: `import(…)` and its relatives. A keyword cannot be written
 * with escapes and no string can become code in a cell, so nothing gets by; a string or comment with such a text is refused too.
 *
 * @returns the place in the text; undefined if there is none
 */
export const findImport = (code: string): number | undefined => {
  for (const { index } of code.matchAll(/(?<![\w$])import(?![\w$])/g)) {
    // A property of that name, but not what is spread. A dot further away may end a number or a comment.
    const isProperty = code[index - 1] === '.' && code[index - 2] !== '.'
    LOADS.lastIndex = index + 6
    if (!isProperty && LOADS.test(code)) return index
  }
  return undefined
}

// A bracket, or a comment of any kind behind which one may stand; also behind a dot and a word, as of `import.defer(…)`.
const LOADS = /\s*(?:\.\s*[\w$\\]*\s*)?(?:\(|\/[*/]|<!|--)/y
