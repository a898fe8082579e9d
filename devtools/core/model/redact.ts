import type { ActionFailure } from '../../../app/actions/action-error.ts'
import { type ActionName, declarations } from '../../../app/actions/actions.ts'
import type { AnyField } from '../../../app/actions/schema.ts'
import { compact, isNativeAmount, type Json, type JsonObject, scrub } from '../../../kernel/index.ts'
import { type FactName, type JournalEntry, type JournalEvent, subjectOf } from './facts.ts'
import {
  chainText,
  chainTexts,
  type Field,
  type Fields,
  masked,
  maybe,
  orNull,
  presentField
} from './field.ts'
import type { SliceName, Slices } from './slices.ts'
import { factFields, rowFields } from './snapshot-fields.ts'

/** Options for addresses and txids. */
export interface RedactOptions {
  /** Show only how long an address or a txid is, and a short mark by which equal ones are known. */
  readonly hideAddresses?: boolean
  /** Makes the marks of one kernel mean nothing for another. */
  readonly salt?: string
}

/** A row of a table with the fields that may be shown; whatever nobody has decided on is left out (pure). */
export const redactRow = <K extends SliceName>(
  slice: K,
  row: Slices[K],
  options: RedactOptions = {}
): Slices[K] =>
  // What is left has the fields of the row: the entries name each one, and none of a snapshot is hidden at its top.
  redactObject(rowFields[slice], row, options) as unknown as Slices[K]

/** An event as a panel may see it (pure). */
export const redactEntry = (
  { seq, at, hook, fact, ...entry }: JournalEntry,
  options: RedactOptions = {}
): JournalEvent => {
  const subject = subjectOf(hook, fact)
  const correlationId = entry.correlationId ?? ('correlationId' in fact ? fact.correlationId : undefined)
  return {
    seq,
    at,
    hook,
    ...compact({ subject, correlationId }),
    data: redactObject(factFields[hook], fact, options)
  }
}

/** Keeps the fields of an event's data that may be shown; undefined for an unknown hook (pure). */
export const redactFact = (
  hook: string,
  data: object,
  options: RedactOptions = {}
): JsonObject | undefined =>
  Object.hasOwn(factFields, hook) ? redactObject(factFields[hook as FactName], data, options) : undefined

/** The result of an action as a panel may see it (pure). */
export const redactOutput = (action: ActionName, output: object, options: RedactOptions = {}): JsonObject =>
  redactObject(outputFields[action], output, options)

/** A failure as a panel may see it: its words are safe, and may still name an address or a txid (pure). */
export const redactFailure = (
  { code, message, hint, details }: ActionFailure,
  options: RedactOptions = {}
): ActionFailure => {
  const wordsOf = (text: string): string => (options.hideAddresses === true ? scrub(text) : text)
  const shown = Object.entries(details ?? {}).map(([name, value = null]): [string, Json] => {
    if (name === 'txid') return [name, chainOf(value, options) ?? null]
    // Ids of wallets and amounts of many digits look like keys.
    const isWords = typeof value === 'string' && name !== 'walletId' && !isNativeAmount(value)
    return [name, isWords ? wordsOf(value) : value]
  })
  return {
    code,
    message: wordsOf(message),
    ...compact({
      hint: hint === undefined ? undefined : wordsOf(hint),
      details: details === undefined ? undefined : Object.fromEntries(shown)
    })
  }
}

const redactObject = (fields: Fields, value: object, options: RedactOptions): JsonObject => {
  const shown: Record<string, Json> = {}
  for (const [name, field] of Object.entries(fields)) {
    if (!Object.hasOwn(value, name)) continue
    const item = redactField(field, (value as Readonly<Record<string, unknown>>)[name], options)
    if (item !== undefined) shown[name] = item
  }
  return shown
}

const redactField = (given: Field, value: unknown, options: RedactOptions): Json | undefined => {
  const field = presentField(given)
  if (field === 'hidden') return undefined
  if (typeof field === 'string' || 'words' in field) return plainOf(value, 0)
  if ('masked' in field) return typeof value === 'string' ? scrub(value) : undefined
  if ('chain' in field) return chainOf(value, options)
  if ('note' in field) {
    if (typeof value !== 'string') return undefined
    return plainOf(options.hideAddresses === true ? scrub(value) : value, 0)
  }
  if (value === null) return null
  if ('object' in field) return isObject(value) ? redactObject(field.object, value, options) : undefined
  if ('values' in field) return isObject(value) ? redactValues(field.values, value, options) : undefined
  if (!Array.isArray(value)) return undefined
  return value.filter(isObject).map(item => redactObject(field.each, item, options))
}

const redactValues = (fields: Fields, table: object, options: RedactOptions): JsonObject =>
  Object.fromEntries(
    Object.entries(table)
      .filter(([, value]) => isObject(value))
      .map(([name, value]) => [name, redactObject(fields, value as object, options)])
  )

const chainOf = (value: unknown, options: RedactOptions): Json | undefined => {
  if (Array.isArray(value)) return value.flatMap(item => chainOf(item, options) ?? [])
  if (typeof value !== 'string') return undefined
  const isShown = options.hideAddresses !== true || HIDDEN.test(value)
  return isShown ? plainOf(value, 0) : hidden(value, options.salt ?? '')
}

/** Lists and tables of short values, one within the other at most: nothing deeper can be smuggled through. */
const plainOf = (value: unknown, depth: number): Json | undefined => {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (depth > 0 || !isObject(value)) return undefined
  if (Array.isArray(value)) return value.flatMap(item => plainOf(item, 1) ?? [])
  const shown: [string, Json][] = []
  for (const [name, item] of Object.entries(value)) {
    const field = plainOf(item, 1)
    if (field !== undefined) shown.push([name, field])
  }
  return Object.fromEntries(shown)
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Such as `hidden (62 letters, a3f09c1b)`. FNV-1a: it shows which texts are equal; it does not resist guessing. */
const hidden = (text: string, salt: string): string => {
  let hash = 0x811c9dc5
  for (const letter of salt + text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193)
  return `hidden (${text.length} letters, ${(hash >>> 0).toString(16).padStart(8, '0')})`
}

/** Matches the output of {@link hidden}, so that no text is hidden twice. */
const HIDDEN = /^hidden \(\d+ letters, [0-9a-f]{8}\)$/

const MAX_TEXT = 1000

/** Derives the redaction of a result from its declaration (pure). */
const shownField = (field: AnyField): Field => {
  const shown = presentFieldOf(field)
  return field.isOptional === true ? maybe(shown) : shown
}

const presentFieldOf = ({ schema, show, fields, items, values, present }: AnyField): Field => {
  if (present !== undefined) return orNull(presentFieldOf(present))
  if (fields !== undefined) return { object: shownFields(fields) }
  if (items !== undefined) return listField(items)
  if (values !== undefined)
    return values.fields === undefined ? 'table' : { values: shownFields(values.fields) }
  if (show === 'note') return { note: 'text' }
  if (show !== undefined) return show === 'chain' ? chainText : masked
  if (schema.type === 'string') return 'text'
  return schema.type === 'boolean' ? 'flag' : 'number'
}

const listField = ({ fields, show }: AnyField): Field => {
  if (fields !== undefined) return { each: shownFields(fields) }
  return show === 'chain' ? chainTexts : 'texts'
}

const shownFields = (fields: Readonly<Record<string, AnyField>>): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, shownField(field)]))

/** The fields of each action's result. */
const outputFields: Readonly<Record<ActionName, Fields>> = Object.fromEntries(
  (Object.keys(declarations) as ActionName[]).map(name => [
    name,
    shownFields(declarations[name].output.fields ?? {})
  ])
) as Record<ActionName, Fields>
