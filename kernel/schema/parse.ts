import { type Schema, ValidationError } from 'yup'
import { copyData, FORBIDDEN_KEYS, MAX_DEPTH } from '../copy-data.ts'
import { WalletError } from '../errors/wallet-error.ts'
import { type JsonLimits, parseJsonText, tryJsonText } from '../types/json-text.ts'

/**
 * Checks a value from outside against a schema and returns it with the schema's type; the only door into yup.
 *
 * Nothing is coerced. Unknown fields are dropped unless the schema keeps them. The error names the path
 * and the rule and never repeats the value.
 *
 * @param source - what the value is, for the message: `login reply`, `login stash`
 * @throws BAD_REPLY
 */
export const parse = <T>(schema: Schema<T>, value: unknown, source: string): T => {
  checkNesting(value, source)
  try {
    return schema.validateSync(value, { strict: false, stripUnknown: true, abortEarly: true })
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    const path = (error.path ?? '').slice(0, 200)
    throw new WalletError('BAD_REPLY', { source, path, rule: `fails the rule "${error.type ?? 'type'}"` })
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
export const readOwnJson = (text: string | undefined): unknown =>
  text === undefined ? undefined : tryJsonText(text)

/**
 * A copy of JSON data that a plugin or a caller gave, which nobody else holds; each property is read once.
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
