import { fromDecimal, isDecimal, type NativeAmount, type Rounding } from './amount.ts'
import { isWalletError, WalletError } from './errors.ts'
import { checkJsonText, isRecord, parseJsonText } from './json.ts'

/**
 * Reads one value in the reply of a server.
 *
 * Every reader throws BAD_REPLY, which names the field and never its content.
 *
 * @example
 * ```ts
 * import { Reply } from 'holdfast/plugin'
 *
 * const order = Reply.exact('{"id":"a1","amount":0.1}', 'reply of Corner Shop')
 * order.field('amount').positive('100000000', 'up') // '10000000'
 * order.field('id').decimal() // throws BAD_REPLY: id is no amount
 * ```
 */
export class Reply {
  readonly #value: unknown
  readonly #source: string
  readonly #path: string

  constructor(value: unknown, source: string, path = '') {
    this.#value = value
    this.#source = source
    this.#path = path
  }

  /**
   * Parses JSON text with numbers as doubles, for figures that are no amounts.
   *
   * @param source - begins with a noun, for the message: `reply of Corner Shop`
   * @throws BAD_REPLY if it is no JSON, or nests deeper than 64
   */
  static of(text: string, source: string): Reply {
    return new Reply(
      parsed(source, () => parseJsonText(text)),
      source
    )
  }

  /** Parses JSON text as {@link parseExactJson} does, for amounts. @throws BAD_REPLY as {@link Reply.of} */
  static exact(text: string, source: string): Reply {
    return new Reply(parseExactJson(text, source), source)
  }

  /** The value as it was parsed; undefined for a field that is absent. */
  get value(): unknown {
    return this.#value
  }

  /** False for what is absent or null. */
  get isThere(): boolean {
    return this.value !== undefined && this.value !== null
  }

  /** A field of an object; an absent one where this is no object. */
  field(name: string): Reply {
    const path = this.#path === '' ? name : `${this.#path}.${name}`
    const { value } = this
    return new Reply(
      isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined,
      this.#source,
      path
    )
  }

  /** Returns this reply, which must be an object. */
  object(): this {
    return isRecord(this.value) ? this : this.fail('is no object')
  }

  /** The fields of an object of at most `most`; errors name each one by its own name alone. */
  entries(most: number = MAX_ITEMS): readonly (readonly [name: string, value: Reply])[] {
    const entries = Object.entries(this.object().value as Record<string, unknown>)
    if (entries.length > most) return this.fail(`has more than ${most} fields`)
    return entries.map(([name, value]) => [name, new Reply(value, this.#source, name)])
  }

  /** The items of a list of at most `most`. */
  list(most: number = MAX_ITEMS): readonly Reply[] {
    const { value } = this
    if (!Array.isArray(value)) return this.fail('is no list')
    if (value.length > most) return this.fail(`has more than ${most} items`)
    return value.map((item, index) => new Reply(item, this.#source, `${this.#path}[${index}]`))
  }

  /** Reads the items of a list and leaves out those that cannot be read. @throws BAD_REPLY if that is all of them */
  readable<T>(most: number, read: (item: Reply) => T): readonly T[] {
    const found: T[] = []
    for (const item of this.list(most)) {
      try {
        found.push(read(item))
      } catch (error) {
        if (!isWalletError(error, 'BAD_REPLY')) throw error
      }
    }
    return found.length === 0 ? this.fail('has nothing that can be read') : found
  }

  /** Text of 1 to 1000 characters. */
  text(): string {
    const { value } = this
    if (typeof value !== 'string' || value === '' || value.length > 1000) return this.fail('is no short text')
    return value
  }

  /** As {@link text}; undefined where there is nothing, or an empty text. */
  optionalText(): string | undefined {
    return this.isThere && this.value !== '' ? this.text() : undefined
  }

  /** True for `true` alone. */
  isTrue(): boolean {
    return this.value === true
  }

  /** True for `false` alone. */
  isFalse(): boolean {
    return this.value === false
  }

  /**
   * A figure written as number or as decimal text; NaN for anything else.
   *
   * It is a double and fit for rates, never for amounts of money.
   */
  number(): number {
    const { value } = this
    if (typeof value === 'number') return value
    return typeof value === 'string' && value.length <= MAX_NUMBER_LENGTH && NUMBER_TEXT.test(value)
      ? Number(value)
      : Number.NaN
  }

  /** A decimal number of zero or more: text, or in an exact reply also a number. */
  decimal(): string {
    const { value } = this
    if (typeof value !== 'string' || !isDecimal(value)) return this.fail('is no amount')
    return value
  }

  /** A decimal number of coins, in native units. */
  native(multiplier: string, rounding: Rounding): NativeAmount {
    return fromDecimal(this.decimal(), multiplier, rounding)
  }

  /** As {@link native}, of what must be more than nothing. */
  positive(multiplier: string, rounding: Rounding): NativeAmount {
    const amount = this.native(multiplier, rounding)
    return amount === '0' ? this.fail('is nothing') : amount
  }

  /** As {@link native}; undefined where there is nothing. */
  optionalNative(multiplier: string, rounding: Rounding): NativeAmount | undefined {
    return this.isThere ? this.native(multiplier, rounding) : undefined
  }

  /** A whole number of zero or more. */
  integer(): bigint {
    const text = this.decimal()
    return /^\d+$/.test(text) ? BigInt(text) : this.fail('is no whole number')
  }

  /** A whole number above zero. */
  positiveInteger(): bigint {
    const number = this.integer()
    return number === 0n ? this.fail('is nothing') : number
  }

  /** As {@link optionalDate}, of what must be there. */
  date(): Date {
    return this.optionalDate() ?? this.fail('is no date')
  }

  /**
   * A date as ISO text or as seconds or milliseconds since 1970; undefined where there is nothing. A time without a zone
   * is one of UTC: that of the device would let what has expired be good for hours.
   */
  optionalDate(): Date | undefined {
    if (!this.isThere) return undefined
    const text = this.text()
    const [, day, time, hours = 'Z', minutes = ''] = ISO_DATE.exec(text) ?? []
    const number = /^\d{9,14}$/.test(text) ? Number(text) : Number.NaN
    const date = new Date(
      day === undefined
        ? number * (number < SECONDS_UNTIL ? 1000 : 1)
        : `${day}T${time}${hours}${minutes && `:${minutes}`}`
    )
    return Number.isNaN(date.getTime()) ? this.fail('is no date') : date
  }

  /** Refuses this value. @throws BAD_REPLY with the rule that it breaks, such as `is no amount` */
  fail(rule: string): never {
    throw badReply(this.#source, this.#path.slice(0, 200), rule)
  }
}

/**
 * Makes the error for a reply that differs from its documented shape; `path` names the field.
 *
 * @example
 * ```ts
 * import { badReply } from 'holdfast/plugin'
 *
 * throw badReply('reply of Corner Shop', 'order.id', 'is no text')
 * ```
 */
export const badReply = (source: string, path: string, rule: string): WalletError =>
  new WalletError('BAD_REPLY', { source, path, rule })

const parsed = <T>(source: string, parse: () => T): T => {
  try {
    return parse()
  } catch (error) {
    throw badReply(source, '', error instanceof SyntaxError ? error.message : 'is no JSON')
  }
}

const MAX_ITEMS = 5000
const MAX_NUMBER_LENGTH = 100
const NUMBER_TEXT = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/

// Taken apart, since not every engine reads a blank for the T, or a zone without a colon.
const ISO_DATE = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,3})?)\d{0,6}(?:(Z|[+-]\d\d)(?::?(\d\d))?)?$/

/** A number below it counts seconds: as milliseconds it would be a day in 1973. */
const SECONDS_UNTIL = 100_000_000_000

/** JSON as {@link parseExactJson} reads it: a number is the text that the sender wrote, such as `'0.1'` or `'1e-8'`. */
export type ExactJson =
  | null
  | boolean
  | string
  | readonly ExactJson[]
  | { readonly [name: string]: ExactJson }

/**
 * Parses JSON with every number kept as the text that was sent, since a float would change amounts.
 *
 * @param source - the sender, for the message
 * @throws BAD_REPLY for text that is not JSON or nests deeper than 64
 *
 * @example
 * ```ts
 * import { parseExactJson } from 'holdfast/plugin'
 *
 * parseExactJson('{"amount":0.10}', 'reply of Corner Shop') // { amount: '0.10' }
 * ```
 */
export const parseExactJson = (text: string, source: string): ExactJson =>
  parsed(source, () => {
    checkJsonText(text)
    return parseJsonText(text.replace(TEXT_OR_NUMBER, quoteNumber)) as ExactJson
  })

// A text always matches, also one that never ends: else each quote in it would be tried again, up to the end each time.
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*["\\]?|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

const quoteNumber = (token: string): string => (token.startsWith('"') ? token : `"${token}"`)
