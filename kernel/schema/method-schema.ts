import { isRecord, type Json } from '../base/json.ts'
import type { ValueSchema } from '../types/currency.ts'

/** A mistake in a schema, and its place. */
export interface SchemaFault {
  /** Such as `.getAllowance.arguments.type`. */
  readonly path: string
  readonly found: unknown
  readonly expected: string
}

/** Finds the first fault of the methods that a currency declares (pure). */
export const findMethodFault = (methods: unknown): SchemaFault | undefined => {
  if (!isRecord(methods))
    return { path: '', found: methods, expected: 'an object with a schema for each name' }
  const names = Object.keys(methods)
  if (names.length > MAX_METHODS)
    return { path: '', found: names.length, expected: `at most ${MAX_METHODS} methods` }
  for (const name of names) {
    const path = `.${name}`
    const { [name]: method } = methods
    // `then` would make a promise of the object that has the methods.
    if (!METHOD_NAME.test(name) || name === 'then')
      return { path, found: name, expected: 'named by up to 64 letters and digits, and not then' }
    if (!isRecord(method))
      return { path, found: method, expected: 'an object with description, arguments and result' }
    const { description, arguments: args, result } = method
    if (typeof description !== 'string' || description === '' || description.length > 500)
      return {
        path: `${path}.description`,
        found: description,
        expected: 'a sentence of up to 500 characters'
      }
    const fault = findSchemaFault(args, `${path}.arguments`) ?? findSchemaFault(result, `${path}.result`)
    if (fault !== undefined) return fault
    if ((args as ValueSchema).type !== 'object')
      return { path: `${path}.arguments.type`, found: (args as ValueSchema).type, expected: '"object"' }
  }
  return undefined
}

const MAX_METHODS = 50
const METHOD_NAME = /^[A-Za-z][A-Za-z0-9]{0,63}$/
const COMMON = ['type', 'description']
/** The words that a schema of a type may have, besides `type` and `description`. */
const WORDS: Readonly<Record<ValueSchema['type'], readonly string[]>> = {
  array: ['items', 'maxItems'],
  boolean: [],
  integer: ['minimum', 'maximum'],
  null: [],
  number: ['minimum', 'maximum'],
  object: ['properties', 'required'],
  string: ['enum', 'format', 'maxLength']
}
const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.every(item => typeof item === 'string')
const NUMBER = { expected: 'a number', isValid: Number.isFinite }
const RULES: Readonly<
  Record<string, { readonly expected: string; readonly isValid: (value: unknown) => boolean }>
> = {
  description: { expected: 'a text', isValid: value => typeof value === 'string' },
  enum: { expected: 'a list of texts', isValid: isTextList },
  format: { expected: '"native-amount"', isValid: value => value === 'native-amount' },
  maxLength: NUMBER,
  maxItems: NUMBER,
  minimum: NUMBER,
  maximum: NUMBER,
  properties: { expected: 'an object with a schema for each field', isValid: isRecord },
  required: { expected: 'a list of names', isValid: isTextList }
}

const findSchemaFault = (schema: unknown, path: string): SchemaFault | undefined => {
  if (!isRecord(schema)) return { path, found: schema, expected: 'a schema, such as { type: "string" }' }
  const { type, items, properties = {}, required = [] } = schema
  const types = Object.keys(WORDS)
  if (typeof type !== 'string' || !types.includes(type))
    return { path: `${path}.type`, found: type, expected: `one of ${types.join(', ')}` }
  const words = [...COMMON, ...WORDS[type as ValueSchema['type']]]
  for (const [word, value] of Object.entries(schema)) {
    const place = `${path}.${word}`
    if (!words.includes(word))
      return { path: place, found: value, expected: `one of ${words.join(', ')} for the type ${type}` }
    const { [word]: rule } = RULES
    if (rule !== undefined && !rule.isValid(value))
      return { path: place, found: value, expected: rule.expected }
  }
  if (type === 'array') return findSchemaFault(items, `${path}.items`)
  const missing = (required as readonly string[]).find(name => !Object.hasOwn(properties as object, name))
  if (missing !== undefined)
    return { path: `${path}.required`, found: missing, expected: 'names that properties has' }
  for (const [name, inner] of Object.entries(properties as object)) {
    const fault = findSchemaFault(inner, `${path}.properties.${name}`)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Options of {@link readValue}. */
export interface ReadValueOptions {
  /** Refuses fields that the schema does not list; otherwise they are left out. */
  readonly isStrict: boolean
  /** Makes the error; `path` is such as `targets[1].amount`, '' for the whole, `rule` such as `must be a text`. */
  fail(path: string, rule: string): Error
}

/** Reads a copied value by a schema that {@link findMethodFault} has passed; the result has the fields of the schema alone. */
export const readValue = (
  schema: ValueSchema,
  value: unknown,
  { isStrict, fail }: ReadValueOptions,
  path: string = ''
): Json => {
  const inner = (part: ValueSchema, given: unknown, place: string): Json =>
    readValue(part, given, { isStrict, fail }, place)
  if (schema.type === 'array') {
    if (!Array.isArray(value)) throw fail(path, 'must be a list')
    const { items, maxItems = Number.POSITIVE_INFINITY } = schema
    if (value.length > maxItems) throw fail(path, `must have at most ${maxItems} items`)
    return items === undefined ? [] : value.map((item, at) => inner(items, item, `${path}[${at}]`))
  }
  if (schema.type === 'object') {
    if (!isRecord(value)) throw fail(path, 'must be an object')
    const { properties = {}, required = [] } = schema
    const fieldAt = (name: string): string => (path === '' ? name : `${path}.${name}`)
    const odd = isStrict ? Object.keys(value).find(name => !Object.hasOwn(properties, name)) : undefined
    if (odd !== undefined) throw fail(fieldAt(odd), 'is not known')
    const fields: [string, Json][] = []
    for (const [name, part] of Object.entries(properties)) {
      const isThere = Object.hasOwn(value, name) && value[name] !== undefined
      if (isThere) fields.push([name, inner(part, value[name], fieldAt(name))])
      else if (required.includes(name)) throw fail(fieldAt(name), 'is missing')
    }
    return Object.fromEntries(fields)
  }
  const rule = leafFault(schema, value)
  if (rule !== undefined) throw fail(path, rule)
  return (value ?? null) as Json
}

const leafFault = (schema: ValueSchema, value: unknown): string | undefined => {
  const { type, minimum = -Infinity, maximum = Infinity } = schema
  switch (type) {
    case 'string':
      return textFault(schema, value)
    case 'integer':
    case 'number':
      if (typeof value !== 'number' || (type === 'integer' && !Number.isSafeInteger(value)))
        return type === 'integer' ? 'must be a whole number' : 'must be a number'
      if (value < minimum) return `must be at least ${minimum}`
      return value > maximum ? `must be at most ${maximum}` : undefined
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    default:
      return value === null || value === undefined ? undefined : 'must be null'
  }
}

const textFault = (schema: ValueSchema, value: unknown): string | undefined => {
  const { enum: texts, format, maxLength = MAX_TEXT } = schema
  if (typeof value !== 'string') return 'must be a text'
  if (value.length > maxLength) return `must have at most ${maxLength} characters`
  if (texts !== undefined && !texts.includes(value)) return `must be one of ${texts.join(', ')}`
  return format === undefined || /^\d{1,100}$/.test(value) ? undefined : 'must be a native amount'
}

const MAX_TEXT = 100_000
