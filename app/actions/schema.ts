import { compact } from '../../kernel/index.ts'
import { bareCode, escapedText } from '../format/safe-text.ts'
import { ActionError } from './action-error.ts'

/** The part of JSON Schema (2020-12) in which the inputs and results of actions are described. */
export interface JsonSchema {
  readonly type?: 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string'
  readonly description?: string
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | false
  readonly propertyNames?: JsonSchema
  readonly maxProperties?: number
  readonly anyOf?: readonly JsonSchema[]
}

/**
 * One field of an input or a result, of any type: its JSON Schema, and what JSON Schema has no word for. The check of
 * inputs, the bounds of results and the redaction of the devtools derive from it.
 */
export interface AnyField {
  readonly schema: JsonSchema
  /** Ends the sentence "The field … of … ". */
  readonly rule: string
  /**
   * `chain`: an address or a txid, which can be hidden. `masked`: words of a server, shown without what could be a key. `note`:
   * words of someone else, shown without what could be an address where these are hidden.
   */
  readonly show?: 'chain' | 'masked' | 'note'
  /** Text of someone else: a result has it escaped and cut. */
  readonly isUntrusted?: true
  /** A name without spaces: a result has `?` for all other characters. */
  readonly isCode?: true
  /** The entries of a list. */
  readonly items?: AnyField
  /** The fields of an object. */
  readonly fields?: AnyFields
  /** The values of a table. */
  readonly values?: AnyField
  /** The field without null. */
  readonly present?: AnyField
  readonly isOptional?: boolean
}

/** Fields by name. */
export type AnyFields = Readonly<Record<string, AnyField>>

/** A field of one type: the compiler compares it with the type of the property, and takes no wider or narrower one. */
export interface Field<T> extends AnyField {
  readonly isOptional?: false
  /** For the compiler alone. */
  readonly type?: (value: T) => T
}

/** A field that may be left out. */
export type OptionalField<T> = Omit<Field<T>, 'isOptional'> & { readonly isOptional: true }

/** One field for each property of a type; a property without one does not compile, nor does one of another type. */
export type FieldsOf<T> = {
  readonly [F in keyof T]-?: undefined extends T[F] ? OptionalField<Exclude<T[F], undefined>> : Field<T[F]>
}

/** An object without fields. */
export type Nothing = Readonly<Record<string, never>>

/** A field that may be left out. */
export const optional = <T>(field: Field<T>): OptionalField<T> => ({ ...field, isOptional: true })

/** A field that may be null. */
export const nullable = <T>(field: Field<T>): Field<T | null> => ({
  schema: { anyOf: [field.schema, { type: 'null' }] },
  rule: field.rule,
  present: field
})

/** Says what a field is, for people and for programs. */
export const about = <T>(field: Field<T>, description: string): Field<T> => ({
  ...field,
  schema: { ...field.schema, description }
})

/** An object with these fields and no others. */
export const object = <T extends object>(fields: FieldsOf<T>): Field<T> => {
  const byName = fields as unknown as AnyFields
  const entries = Object.entries(byName)
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
      required: entries.flatMap(([name, { isOptional }]) => (isOptional === true ? [] : [name])),
      additionalProperties: false
    },
    rule: 'must be an object',
    fields: byName
  }
}

/** An input or a result that says nothing. */
export const nothing: Field<Nothing> = object<Nothing>({})

/** A list of at most so many entries. */
export const list = <T>(items: Field<T>, maxItems: number, rule = 'must be a list'): Field<readonly T[]> => ({
  schema: { type: 'array', items: items.schema, maxItems },
  rule,
  items
})

/** Values by name, at most so many. */
export const table = <T>(
  values: Field<T>,
  names: { readonly max: number; readonly pattern?: string },
  rule = 'must be an object'
): Field<Readonly<Record<string, T>>> => ({
  schema: {
    type: 'object',
    additionalProperties: values.schema,
    maxProperties: names.max,
    ...compact({
      propertyNames:
        names.pattern === undefined ? undefined : { type: 'string' as const, pattern: names.pattern }
    })
  },
  rule,
  values
})

/** Text of 1 to so many characters. */
export const text = (maxLength: number): Field<string> => ({
  schema: { type: 'string', minLength: 1, maxLength },
  rule: `must be a text of 1 to ${maxLength} characters`
})

/** Text in a result, which may be empty. */
export const shortText = (maxLength: number): Field<string> => ({
  schema: { type: 'string', maxLength },
  rule: `must be a text of up to ${maxLength} characters`
})

/** Text that must match a pattern. `rule` ends the sentence "The field … of … must be ". */
export const patterned = (pattern: string, rule: string): Field<string> => ({
  schema: { type: 'string', pattern },
  rule: `must be ${rule}`
})

/** The number of characters of someone else's text in a result, unless a review needs it whole. */
const MAX_UNTRUSTED = 200

/**
 * Text of someone else in a result: of a payer, a server, a plugin or another device. Results have it in fields named
 * `untrusted`, with invisible characters escaped, and cut.
 */
export const untrusted = (maxLength: number = MAX_UNTRUSTED): Field<string> => ({
  ...shortText(maxLength),
  isUntrusted: true
})

/** The words of a server or a plugin: {@link untrusted}, and the devtools show them without what could be a key. */
export const untrustedMessage: Field<string> = { ...untrusted(), show: 'masked' }

/** Words of someone else that may name an address: {@link untrusted}, and the devtools can hide that. */
export const untrustedNote: Field<string> = { ...untrusted(), show: 'note' }

/**
 * A name that is no text of a person and comes from elsewhere, such as the id of an order: letters, figures and signs
 * without spaces. A result has `?` for all other characters, so that it has no room for words.
 */
export const code = (maxLength: number): Field<string> => ({ ...shortText(maxLength), isCode: true })

/** The ticker of a currency or a token; see {@link code}. */
export const ticker: Field<string> = code(20)

/** An id that this program made: of a wallet, an account, a repo, a draft or a round. */
export const id: Field<string> = patterned('^[A-Za-z0-9_+/=.-]{1,200}$', 'an id')

/** The id of a transaction; the devtools can hide it. */
export const txid: Field<string> = { ...id, show: 'chain' }

/** An address or a payment link in a result; the devtools can hide it. */
export const address: Field<string> = { ...shortText(1000), show: 'chain' }

/** The id of a plugin. */
export const pluginId: Field<string> = patterned('^[a-zA-Z][A-Za-z0-9_-]{0,99}$', 'the id of a plugin')

/** Names of plugins in a {@link table}. */
export const PLUGIN_NAMES: { readonly max: number; readonly pattern: string } = {
  max: 100,
  pattern: pluginId.schema.pattern ?? ''
}

/** Native units as decimal text, from 0. */
export const amount: Field<string> = patterned('^[0-9]{1,100}$', 'native units as decimal text, at least 0')

/** Native units as decimal text, from 1. */
export const positive: Field<string> = patterned(
  '^(?=[0-9]{1,100}$)0*[1-9]',
  'native units as decimal text, at least 1'
)

/** Native units in a result, which may be negative. */
export const signedAmount: Field<string> = patterned('^-?[0-9]{1,100}$', 'native units as decimal text')

/** One of some words. */
export const oneOf = <T extends string>(...words: readonly T[]): Field<T> => ({
  schema: { type: 'string', enum: words },
  rule: `must be one of ${words.join(', ')}`
})

/** True or false. */
export const flag: Field<boolean> = { schema: { type: 'boolean' }, rule: 'must be true or false' }

/** A whole number. */
export const count = (minimum: number, maximum: number): Field<number> => ({
  schema: { type: 'integer', minimum, maximum },
  rule: `must be a whole number from ${minimum} to ${maximum}`
})

/** A number in a result. */
export const number: Field<number> = { schema: { type: 'number' }, rule: 'must be a number' }

/** A number above one and up to another. */
export const numberAbove = (exclusiveMinimum: number, maximum: number): Field<number> => ({
  schema: { type: 'number', exclusiveMinimum, maximum },
  rule: `must be a number above ${exclusiveMinimum} and up to ${maximum}`
})

/** Milliseconds since 1970, in a result. */
export const time: Field<number> = about(number, 'Milliseconds since 1970')

/** The refusal of an input, with nothing of it in it. */
export const inputError = (field: string, message: string): ActionError =>
  new ActionError({ code: 'BAD_MESSAGE', message, details: { field } })

/**
 * Checks the input of an action: from a socket it may be anything. Fields that the action does not know are left out,
 * and so are those that are undefined.
 *
 * @throws ActionError BAD_MESSAGE, naming the field
 */
export const readFields = <T>(name: string, { fields = {} }: Field<T>, input: unknown): T => {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw inputError('input', `The input of ${name} must be an object`)
  const read: Record<string, unknown> = {}
  for (const [field, { rule, schema, isOptional }] of Object.entries(fields)) {
    const value = Object.hasOwn(input, field) ? (input as Record<string, unknown>)[field] : undefined
    if (value === undefined && isOptional === true) continue
    if (!isValid(schema, value)) throw inputError(field, `The field ${field} of ${name} ${rule}`)
    read[field] = value
  }
  return read as T
}

/** Returns true if a value is valid against a schema of this file. No text has a lone surrogate: no encoding could carry it. */
export const isValid = (schema: JsonSchema, value: unknown): boolean => {
  if (schema.anyOf !== undefined) return schema.anyOf.some(each => isValid(each, value))
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' && isValidText(schema, value)
    case 'integer':
      return Number.isInteger(value) && isWithin(schema, value as number)
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && isWithin(schema, value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value) && isValidList(schema, value)
    default:
      return (
        typeof value === 'object' && value !== null && !Array.isArray(value) && isValidObject(schema, value)
      )
  }
}

const isValidText = (schema: JsonSchema, value: string): boolean => {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, enum: words } = schema
  // Of a long text the characters need not be counted.
  if (value.length > 2 * maxLength || /\p{Cs}/u.test(value)) return false
  const length = value.length > maxLength || minLength > 1 ? [...value].length : value.length
  if (length < minLength || length > maxLength) return false
  if (words !== undefined && !words.includes(value)) return false
  return pattern === undefined || new RegExp(pattern, 'u').test(value)
}

const isWithin = (schema: JsonSchema, value: number): boolean => {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY, exclusiveMinimum } = schema
  return value >= minimum && value <= maximum && (exclusiveMinimum === undefined || value > exclusiveMinimum)
}

const isValidList = ({ items, maxItems = Number.POSITIVE_INFINITY }: JsonSchema, value: unknown[]): boolean =>
  value.length <= maxItems && (items === undefined || value.every(each => isValid(items, each)))

const isValidObject = (schema: JsonSchema, value: object): boolean => {
  const { properties = {}, required = [], additionalProperties, propertyNames, maxProperties } = schema
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  if (maxProperties !== undefined && entries.length > maxProperties) return false
  if (required.some(name => !Object.hasOwn(value, name))) return false
  return entries.every(([name, each]) => {
    if (propertyNames !== undefined && !isValid(propertyNames, name)) return false
    if (Object.hasOwn(properties, name)) return isValid(properties[name] ?? {}, each)
    return (
      additionalProperties !== false &&
      additionalProperties !== undefined &&
      isValid(additionalProperties, each)
    )
  })
}

/**
 * Brings a result into the bounds of its field: fields that are not declared are left out, texts and lists are cut, and
 * texts of others are escaped. So no handler can forget it (pure).
 */
export const boundedResult = <T>(field: Field<T>, value: T): T => bounded(field, value) as T

const bounded = (field: AnyField, value: unknown): unknown => {
  if (value === null || value === undefined) return value
  const { schema, fields, items, values, present, show, isUntrusted, isCode } = field
  if (present !== undefined) return bounded(present, value)
  if (typeof value === 'string') {
    const { maxLength } = schema
    // An address comes from a plugin.
    if (isUntrusted === true || show === 'chain') return escapedText(value, maxLength)
    if (isCode === true) return bareCode(value, maxLength)
    return maxLength === undefined || value.length <= maxLength
      ? value
      : [...value].slice(0, maxLength).join('')
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, schema.maxItems)
    return items === undefined ? kept : kept.map(each => bounded(items, each))
  }
  if (typeof value !== 'object') return value
  if (values !== undefined)
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => schema.propertyNames === undefined || isValid(schema.propertyNames, name))
        .slice(0, schema.maxProperties)
        .map(([name, each]) => [name, bounded(values, each)])
    )
  return Object.fromEntries(
    Object.entries(fields ?? {}).flatMap(([name, each]) => {
      const found = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
      return found === undefined ? [] : [[name, bounded(each, found)]]
    })
  )
}
