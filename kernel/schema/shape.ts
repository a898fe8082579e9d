import { type ArraySchema, array, type MixedSchema, mixed, object, type Schema, ValidationError } from 'yup'
import { WalletError } from '../base/errors.ts'
import { checkNesting, isRecord, isShortText, isText } from '../base/json.ts'
import { type Box, isBox, type Snrp } from '../types/keys.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const HEX = /^(?:[0-9a-fA-F]{2})*$/

const MAX_ITEMS = 10_000

/** A leaf that must be there. */
export type Leaf<T> = MixedSchema<T>

/** A leaf that may be absent; null reads as absent, as the protocol says. */
export type OptionalLeaf<T> = MixedSchema<T | undefined>

/** Any text up to a million characters. */
export const text = (): Leaf<string> => leaf('text', isText)

/** Text, or absent. */
export const optionalText = (): OptionalLeaf<string> => optional('text', isText)

/** Text of up to a thousand characters: names, addresses, marks. */
export const shortText = (): Leaf<string> => leaf('short text', isShortText)

/** Short text, or absent. */
export const optionalShortText = (): OptionalLeaf<string> => optional('short text', isShortText)

/** Padded standard base64, or absent. */
export const optionalBytes64 = (): OptionalLeaf<string> => optional('base64', isBase64)

/** A date that the platform reads; becomes ISO text, since the platform also reads remarks in brackets. */
export const isoDate = (): Leaf<string> => leaf('date', isDate).transform(toIso) as Leaf<string>

/** A date, or absent. */
export const optionalIsoDate = (): OptionalLeaf<string> =>
  optional('date', isDate).transform(toIso) as OptionalLeaf<string>

/** A finite number. */
export const finite = (): Leaf<number> => leaf('number', isFiniteNumber)

/** A finite number, or absent. */
export const optionalFinite = (): OptionalLeaf<number> => optional('number', isFiniteNumber)

/** An encrypted box; the shape only, opening checks the rest. */
export const box = (): Leaf<Box> => leaf('box', isBox)

/** At most 10,000 encrypted boxes, or absent; one leaf, since yup takes long for each item. */
export const optionalBoxes = (): OptionalLeaf<readonly Box[]> => optional('list of boxes', isBoxes)

/** An encrypted box, or absent. */
export const optionalBox = (): OptionalLeaf<Box> => optional('box', isBox)

/** A box, or `true` for one that exists but is not shown; or absent. */
export const optionalBoxOrTrue = (): OptionalLeaf<Box | true> =>
  optional('box', (value): value is Box | true => value === true || isBox(value))

/** Scrypt parameters, or absent; bounds are checked where they are used. */
export const optionalSnrp = (): OptionalLeaf<Snrp> => optional('snrp', isSnrp)

/** A list of at most 10,000. */
export const listOf = <T>(item: Schema<T>): ArraySchema<T[], object> =>
  array().of(item).strict(false).max(MAX_ITEMS).defined() as unknown as ArraySchema<T[], object>

/** A list of at most 10,000, or absent. */
export const optionalListOf = <T>(item: Schema<T>): ArraySchema<T[] | undefined, object> =>
  array()
    .of(item)
    .max(MAX_ITEMS)
    .nullable()
    .transform((value: unknown) => (value === null ? undefined : value))
    .optional() as unknown as ArraySchema<T[] | undefined, object>

/** An object with these fields; it must be there, and other fields are dropped. */
export const objectOf = <T extends object>(fields: { readonly [K in keyof T]-?: Schema<T[K]> }): Schema<T> =>
  object(fields as never)
    .transform(withoutInheritedNames)
    .default(undefined)
    .required() as unknown as Schema<T>

/** A leaf of one's own, from a type guard. `rule` is the word in the error. */
export const leaf = <T>(rule: string, guard: (value: unknown) => value is T): Leaf<T> =>
  mixed<NonNullable<T>>({ type: rule, check: guard as never })
    .defined()
    .nonNullable() as unknown as Leaf<T>

/** As {@link leaf}, or absent. */
export const optional = <T>(rule: string, guard: (value: unknown) => value is T): OptionalLeaf<T> =>
  mixed<NonNullable<T>>({ type: rule, check: guard as never })
    .nullable()
    .transform((value: unknown) => (value === null ? undefined : value))
    .optional() as unknown as OptionalLeaf<T>

/** Checks if a value has the shape of scrypt parameters. */
export const isSnrp = (value: unknown): value is Snrp =>
  typeof value === 'object' &&
  value !== null &&
  isHex((value as Snrp).salt_hex) &&
  [(value as Snrp).n, (value as Snrp).r, (value as Snrp).p].every(Number.isSafeInteger)

// Hazard: yup looks its fields up in a plain object, where data named `toString` would find a function.
const withoutInheritedNames = (value: unknown): unknown =>
  isRecord(value) && Object.keys(value).some(isInheritedName)
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !isInheritedName(name)))
    : value

const isInheritedName = (name: string): boolean => name in Object.prototype

const isBoxes = (value: unknown): value is readonly Box[] =>
  Array.isArray(value) && value.length <= MAX_ITEMS && value.every(isBox)

const isBase64 = (value: unknown): value is string => isText(value) && BASE64.test(value)
const isHex = (value: unknown): value is string => isText(value) && HEX.test(value)
// A date may carry remarks in brackets of any length.
const toIso = (value: unknown): unknown => (isDate(value) ? new Date(value).toISOString() : value)
const isDate = (value: unknown): value is string => isShortText(value) && !Number.isNaN(Date.parse(value))
const isFiniteNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)

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
