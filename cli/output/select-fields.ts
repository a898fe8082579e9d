import type { JsonObject } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { FieldPath } from '../grammar/options.ts'

/** Data with the chosen fields only, and those that it does not have, as they were typed. */
export interface SelectedFields {
  readonly data: JsonObject
  readonly unknown: readonly string[]
}

/**
 * Selects fields of a result, in the order in which they are named (pure). Lists are passed through: `wallets.name` is the
 * name of each wallet. Below null, and below an empty list, any field is known.
 *
 * @example
 * ```ts
 * selectFields({ wallets: [{ id: 'a', name: 'Savings' }] }, [['wallets', 'name']]).data // { wallets: [{ name: 'Savings' }] }
 * ```
 */
export const selectFields = (data: JsonObject, fields: readonly FieldPath[]): SelectedFields => ({
  data: select(data, fields) as JsonObject,
  unknown: fields.filter(field => !isKnown(data, field)).map(field => field.join('.'))
})

/** The error about fields that a result does not have; it lists those that there are. */
export const unknownFields = (data: JsonObject, unknown: readonly string[]): CliError => {
  const fields = [...fieldsOf(data, '')]
  return new CliError('USAGE', `The result has no field ${unknown.join(', ')}`, {
    hint: fields.length === 0 ? 'It has no fields.' : `The fields are: ${fields.join(', ')}.`,
    details: { unknown: [...unknown], fields }
  })
}

const select = (value: unknown, fields: readonly FieldPath[]): unknown => {
  if (Array.isArray(value)) return value.map(item => select(item, fields))
  if (!isObject(value)) return value
  const inner = new Map<string, FieldPath[]>()
  for (const [name = '', ...rest] of fields)
    if (isKnown(value, [name, ...rest])) inner.set(name, [...(inner.get(name) ?? []), rest])
  return Object.fromEntries(
    [...inner].map(([name, rests]) => [
      name,
      rests.some(rest => rest.length === 0) ? value[name] : select(value[name], rests)
    ])
  )
}

const isKnown = (value: unknown, [name, ...rest]: FieldPath): boolean => {
  if (name === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0 || value.some(item => isKnown(item, [name, ...rest]))
  return isObject(value) && Object.hasOwn(value, name) && isKnown(value[name], rest)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** More items of a list have no other fields. */
const MAX_ITEMS = 100

const fieldsOf = (value: unknown, path: string): Set<string> => {
  const found = new Set<string>()
  const add = (more: Iterable<string>): void => {
    for (const field of more) found.add(field)
  }
  if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_ITEMS)) add(fieldsOf(item, path))
  } else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const field = path === '' ? name : `${path}.${name}`
      found.add(field)
      add(fieldsOf(inner, field))
    }
  }
  return found
}
