import type { Field, Fields, Kind } from './field.ts'
import type { SliceName } from './slices.ts'
import { rowFields } from './snapshot-fields.ts'

/** Returns true if a kernel could have sent this row: rows of a file are drawn without further checks (pure). */
export const isRowOf = (slice: SliceName, row: unknown): boolean =>
  isRecord(row) && hasFields(rowFields[slice], row)

const hasFields = (wanted: Fields, value: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(wanted).every(([name, field]) => fits(field, value[name]))

const fits = (field: Field, value: unknown): boolean => {
  if (typeof field === 'string') return field === 'hidden' || kinds[field](value)
  if ('maybe' in field) return value === undefined || fits(field.maybe, value)
  if ('orNull' in field) return value === null || fits(field.orNull, value)
  if ('masked' in field) return kinds[field.masked](value)
  if ('chain' in field) return kinds[field.chain](value)
  if ('note' in field) return kinds[field.note](value)
  if ('words' in field) return typeof value === 'string' && Object.hasOwn(field.words, value)
  const holds = (fields: Fields, item: unknown): boolean => isRecord(item) && hasFields(fields, item)
  if ('object' in field) return holds(field.object, value)
  if ('each' in field) return Array.isArray(value) && value.every(item => holds(field.each, item))
  return isRecord(value) && Object.values(value).every(item => holds(field.values, item))
}

const isText = (value: unknown): boolean => typeof value === 'string'

const kinds: { readonly [K in Kind]: (value: unknown) => boolean } = {
  text: isText,
  number: value => typeof value === 'number',
  flag: value => typeof value === 'boolean',
  texts: value => Array.isArray(value) && value.every(isText),
  table: value => isRecord(value) && Object.values(value).every(isText),
  any: () => true
}

/** Returns true for an object with fields that is not a list (pure). */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
