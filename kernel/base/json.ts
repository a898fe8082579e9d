import { copyData, FORBIDDEN_KEYS, MAX_DEPTH } from './copy-data.ts'
import { WalletError } from './errors.ts'

/** Any value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object; keys that come from outside must be read through `Object.hasOwn` or a Map. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Checks if two JSON values say the same: fields in any order, items of a list in theirs. */
export const isSameJson = (left: unknown, right: unknown): boolean => {
  if (Object.is(left, right)) return true
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isSameJson(item, right[index]))
  }
  if (!isObject(left) || !isObject(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every(name => Object.hasOwn(right, name) && isSameJson(left[name], right[name]))
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The limits of JSON text. */
export interface JsonLimits {
  /** The deepest nesting of lists and objects; 64 if left out. */
  readonly maxDepth?: number
  /** The most values, names of fields included; a million if left out. */
  readonly maxValues?: number
}

/**
 * Parses JSON text from outside; the only caller of `JSON.parse` for such text (`npm run check` enforces it).
 *
 * Depth and number of values are counted before anything is made of the text: 190 MB of `[` are refused at the 65th character,
 * where `JSON.parse` would take the process down.
 *
 * @throws SyntaxError whose message is a rule such as `is no JSON` and quotes nothing of the text
 *
 * @example
 * ```ts
 * import { parseJsonText } from 'holdfast/plugin'
 *
 * const settings = parseJsonText('{"gapSeconds": 60}', { maxDepth: 2 })
 * ```
 */
export const parseJsonText = (text: string, limits?: JsonLimits): unknown => {
  checkJsonText(text, limits)
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError('is no JSON')
  }
}

/**
 * Parses JSON text as {@link parseJsonText} does; the check before it goes in slices, with a call of `pause` after each.
 *
 * @throws SyntaxError as {@link parseJsonText}
 */
export const parseJsonInSlices = async (
  text: string,
  pause: () => Promise<void> | undefined
): Promise<unknown> => {
  const scan = new JsonScan(text, {})
  while (scan.advance(JSON_SLICE_LENGTH)) await pause()
  await pause()
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError('is no JSON')
  }
}

/** Text of at most so many characters is checked in one go. */
export const JSON_SLICE_LENGTH = 65_536

/**
 * Checks JSON text as {@link parseJsonText} does, without parsing it.
 *
 * @throws SyntaxError as {@link parseJsonText}
 *
 * @example
 * ```ts
 * import { checkJsonText } from 'holdfast/plugin'
 *
 * checkJsonText('[[[]]]', { maxDepth: 2 }) // throws SyntaxError: nests deeper than 2
 * ```
 */
export const checkJsonText = (text: string, limits: JsonLimits = {}): void => {
  new JsonScan(text, limits).advance(text.length)
}

/**
 * Parses JSON text as {@link parseJsonText} does; undefined for text that is refused.
 *
 * @example
 * ```ts
 * import { tryJsonText } from 'holdfast/plugin'
 *
 * tryJsonText('{"height": 7}') // { height: 7 }
 * tryJsonText('<html>') // undefined
 * ```
 */
export const tryJsonText = (text: string, limits?: JsonLimits): unknown => {
  try {
    return parseJsonText(text, limits)
  } catch {
    return undefined
  }
}

/** The report of {@link JsonScan} for a comma or colon, or for a bracket with the depth inside of it. */
export type OnMark = (code: number, depth: number, at: number) => void

/**
 * Counts depth and values of JSON text, as much at a time as the caller likes.
 *
 * It does not check the grammar, which `JSON.parse` does; up to the first error of grammar both see the same brackets.
 */
export class JsonScan {
  readonly #text: string
  readonly #maxDepth: number
  readonly #maxValues: number
  readonly #onMark: OnMark | undefined
  #at = 0
  #depth = 0
  #values = 1

  constructor(
    text: string,
    { maxDepth = DEFAULT_DEPTH, maxValues = DEFAULT_VALUES }: JsonLimits,
    onMark?: OnMark
  ) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#maxValues = maxValues
    this.#onMark = onMark
  }

  /**
   * Reads about `length` characters more; a string that begins among them is read to its end.
   *
   * @returns true if there is more to read
   * @throws SyntaxError as {@link parseJsonText}
   */
  advance(length: number): boolean {
    const text = this.#text
    const onMark = this.#onMark
    const end = Math.min(text.length, this.#at + length)
    let at = this.#at
    for (; at < end; at += 1) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) at = stringEnd(text, at)
      else if (code === COMMA || code === COLON) {
        this.#values += 1
        onMark?.(code, this.#depth, at)
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        this.#depth += 1
        this.#values += 1
        if (this.#depth > this.#maxDepth) throw new SyntaxError(`nests deeper than ${this.#maxDepth}`)
        onMark?.(code, this.#depth, at)
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        onMark?.(code, this.#depth, at)
        this.#depth -= 1
      }
      if (this.#values > this.#maxValues) throw new SyntaxError(`holds more than ${this.#maxValues} values`)
    }
    this.#at = at
    return at < text.length
  }
}

const DEFAULT_DEPTH = 64
const DEFAULT_VALUES = 1_000_000

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Returns the end of the string that begins at `start`: its closing quotation mark, or the end of a text without one. */
const stringEnd = (text: string, start: number): number => {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at)
    if (at < 0) return text.length
    let before = at - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    if ((at - before) % 2 === 1) return at
  }
}

/**
 * Reads JSON text from outside.
 *
 * @throws BAD_REPLY if it is no JSON, nests deeper than 64, holds more than a million values, or has a key that would reach
 * a prototype
 */
export const parseJson = (text: string, source: string, limits?: JsonLimits): unknown => {
  let value: unknown
  try {
    value = parseJsonText(text, limits)
  } catch (error) {
    const rule = error instanceof SyntaxError ? error.message : 'is no JSON'
    throw new WalletError('BAD_REPLY', { source, path: '', rule })
  }
  checkNesting(value, source)
  return value
}

/** Reads JSON text that this device wrote for itself and can do without: undefined for none, and for what is no JSON. */
export const tryParseJson = (text: string | undefined): unknown =>
  text === undefined ? undefined : tryJsonText(text)

/**
 * Returns a private copy of JSON data that a plugin or a caller gave; each property is read once.
 *
 * @throws BAD_REPLY if it cannot be copied as {@link copyData} does
 */
export const copyJson = (value: unknown, source: string, maxLength: number): unknown => {
  const refuse = (rule: string): WalletError => new WalletError('BAD_REPLY', { source, path: '', rule })
  const copy = copyData(value, { maxLength, refuse })
  if (copy === undefined) throw refuse('is no JSON')
  return copy
}

/** Refuses JSON that nests deeper than 64, or has a key that would reach a prototype. @throws BAD_REPLY */
export const checkNesting = (root: unknown, source: string): void => {
  const fail = (rule: string): never => {
    throw new WalletError('BAD_REPLY', { source, path: '', rule })
  }
  const walk = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
    if (depth > MAX_DEPTH) fail(`nests deeper than ${MAX_DEPTH}`)
    for (const key of Object.keys(value)) {
      if (FORBIDDEN_KEYS.has(key)) fail('has a forbidden key')
      walk((value as Record<string, unknown>)[key], depth + 1)
    }
  }
  walk(root, 0)
}

/** Checks if a value is a plain JSON object. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks if a value is text of up to a thousand characters. */
export const isShortText = (value: unknown): value is string =>
  isText(value) && value.length <= MAX_SHORT_TEXT

export const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_TEXT

const MAX_SHORT_TEXT = 1000

const MAX_TEXT = 1_000_000
