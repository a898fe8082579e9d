import { type Schema, ValidationError } from 'yup'
import { WalletError } from '../errors/wallet-error.ts'

/** The deepest nesting that any JSON from outside may have. */
const MAX_DEPTH = 64

const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

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
 * @throws BAD_REPLY if it is no JSON, nests deeper than 64, or has a key that would reach a prototype
 */
export const parseJson = (text: string, source: string): unknown => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new WalletError('BAD_REPLY', { source, path: '', rule: 'is no JSON' })
  }
  checkNesting(value, source)
  return value
}

/** Reads JSON text that this device wrote for itself and can do without: undefined for none, and for what is no JSON. */
export const readOwnJson = (text: string | undefined): unknown => {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A copy of JSON data that a plugin or a caller gave, which nobody else holds.
 *
 * @throws BAD_REPLY as {@link parseJson}, and if it is longer than `maxLength` characters
 */
export const copyJson = (value: unknown, source: string, maxLength: number): unknown => {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // Rings, and what else has no text.
  }
  if (text === undefined) throw new WalletError('BAD_REPLY', { source, path: '', rule: 'is no JSON' })
  if (text.length > maxLength) throw new WalletError('BAD_REPLY', { source, path: '', rule: 'is too long' })
  return parseJson(text, source)
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
