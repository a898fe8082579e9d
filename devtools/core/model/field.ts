import type { NativeAmount } from '../../../kernel/index.ts'

/** The type of a short value. `table`: texts by name. `any`: what no other kind describes, such as a word or a number. */
export type Kind = 'text' | 'number' | 'flag' | 'texts' | 'table' | 'any'

/**
 * One field of a snapshot: its shape, and how much of it may be shown. From it derive the redaction of rows, events and
 * results, the lines of a recording, and the check of the rows of a recording that is opened.
 *
 * A kind or `words` is shown as it is; `words` names each word of a union. `masked`: text of people and plugins, shown
 * without everything that could be a key. `chain`: addresses and txids, which can be hidden. `note`: words of a program, without
 * what could be an address where these are hidden. `hidden`: never shown.
 * `object`: an object with fields; `each`: the objects of a list; `values`: those of a table, whose names are not judged.
 */
export type Field =
  | Kind
  | 'hidden'
  | { readonly masked: 'text' }
  | { readonly chain: 'text' | 'texts' }
  | { readonly note: 'text' }
  | { readonly words: Readonly<Record<string, true>> }
  | { readonly object: Fields }
  | { readonly each: Fields }
  | { readonly values: Fields }
  | { readonly maybe: Field }
  | { readonly orNull: Field }

/** The fields of one snapshot by name, in the order in which they are written. */
export type Fields = Readonly<Record<string, Field>>

/** One entry for each field of a type, of its shape: a new field of a snapshot is a compile error until it has one. */
export type FieldsOf<T> = {
  readonly [F in keyof T]-?:
    | 'hidden'
    | (null extends T[F]
        ? { readonly orNull: FieldOf<NonNullable<T[F]>> }
        : undefined extends T[F]
          ? { readonly maybe: FieldOf<NonNullable<T[F]>> }
          : FieldOf<T[F]>)
}

type FieldOf<T> = [T] extends [string]
  ? TextFieldOf<T>
  : [T] extends [number]
    ? 'number'
    : [T] extends [boolean]
      ? 'flag'
      : [T] extends [readonly string[]]
        ? 'texts' | { readonly chain: 'texts' }
        : [T] extends [readonly (infer Item extends object)[]]
          ? { readonly each: FieldsOf<Item> }
          : [T] extends [object]
            ? ObjectFieldOf<T>
            : 'any'

/** Lists every word of a union type. */
type TextFieldOf<T extends string> = [string] extends [T]
  ? AnyText
  : [T] extends [NativeAmount]
    ? AnyText
    : { readonly words: Readonly<Record<T, true>> }

type AnyText = 'text' | { readonly masked: 'text' } | { readonly chain: 'text' }

type ObjectFieldOf<T extends object> = [string] extends [keyof T]
  ? [T[keyof T]] extends [string]
    ? 'table'
    : [T[keyof T]] extends [object]
      ? { readonly values: FieldsOf<T[keyof T]> }
      : never
  : { readonly object: FieldsOf<T> }

/** A field that may be absent. */
export const maybe = <F extends Field>(field: F): { readonly maybe: F } => ({ maybe: field })

/** A field that may be null. */
export const orNull = <F extends Field>(field: F): { readonly orNull: F } => ({ orNull: field })

/** Text that has one of these words. */
export const words = <W extends string>(
  of: Readonly<Record<W, true>>
): { readonly words: Readonly<Record<W, true>> } => ({ words: of })

/** Text of a person, a plugin or a server. */
export const masked: { readonly masked: 'text' } = { masked: 'text' }

/** An address or a txid. */
export const chainText: { readonly chain: 'text' } = { chain: 'text' }

/** Addresses, txids, or other names that a chain or another client makes. */
export const chainTexts: { readonly chain: 'texts' } = { chain: 'texts' }

/** Returns the field without its `maybe` and `orNull` (pure). */
export const presentField = (field: Field): Exclude<Field, { maybe: Field } | { orNull: Field }> => {
  if (typeof field === 'string') return field
  if ('maybe' in field) return presentField(field.maybe)
  return 'orNull' in field ? presentField(field.orNull) : field
}
