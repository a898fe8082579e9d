import { isWalletError, type NativeAmount, WalletError } from '../../../kernel/plugin-api.ts'
import { isDecimal, nativeOf, type Rounding } from './decimal.ts'
import type { ExactJson } from './exact-json.ts'

/** One value in the reply of a provider. Every reader throws BAD_REPLY, which names the field and not what is in it. */
export class Reply {
  readonly #value: ExactJson | undefined
  readonly #source: string
  readonly #path: string

  constructor(value: ExactJson | undefined, source: string, path = '') {
    this.#value = value
    this.#source = source
    this.#path = path
  }

  /** False for what is absent or null. */
  get isThere(): boolean {
    return this.#value !== undefined && this.#value !== null
  }

  /** A field of an object; one that is not there where this is no object. */
  field(name: string): Reply {
    const value = this.#value
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    const path = this.#path === '' ? name : `${this.#path}.${name}`
    const found =
      isObject && Object.hasOwn(value, name) ? (value as { [name: string]: ExactJson })[name] : undefined
    return new Reply(found, this.#source, path)
  }

  /** The items of a list of at most `most`. */
  list(most: number): readonly Reply[] {
    const value = this.#value
    if (!Array.isArray(value)) return this.#fail('is no list')
    if (value.length > most) return this.#fail(`has more than ${most} items`)
    return (value as readonly ExactJson[]).map(
      (item, index) => new Reply(item, this.#source, `${this.#path}[${index}]`)
    )
  }

  /** What `read` makes of the items of a list; those that it cannot read are left out, unless that is all of them. */
  readable<T>(most: number, read: (item: Reply) => T): readonly T[] {
    const found: T[] = []
    for (const item of this.list(most)) {
      try {
        found.push(read(item))
      } catch (error) {
        if (!isWalletError(error, 'BAD_REPLY')) throw error
      }
    }
    return found.length === 0 ? this.#fail('has nothing that can be read') : found
  }

  /** Text of 1 to 1000 characters. */
  text(): string {
    const value = this.#value
    if (typeof value !== 'string' || value === '' || value.length > 1000)
      return this.#fail('is no short text')
    return value
  }

  /** As {@link text}; undefined where there is nothing, or an empty text. */
  optionalText(): string | undefined {
    return this.isThere && this.#value !== '' ? this.text() : undefined
  }

  isTrue(): boolean {
    return this.#value === true
  }

  isFalse(): boolean {
    return this.#value === false
  }

  /** A decimal number of zero or more, written as number or as text. */
  decimal(): string {
    const value = this.#value
    if (typeof value !== 'string' || !isDecimal(value)) return this.#fail('is no amount')
    return value
  }

  /** A decimal number of coins, in native units. */
  native(multiplier: string, rounding: Rounding): NativeAmount {
    return nativeOf(this.decimal(), multiplier, rounding)
  }

  /** As {@link native}, of what must be more than nothing. */
  positive(multiplier: string, rounding: Rounding): NativeAmount {
    const amount = this.native(multiplier, rounding)
    return amount === '0' ? this.#fail('is nothing') : amount
  }

  /** As {@link native}; undefined where there is nothing. */
  optionalNative(multiplier: string, rounding: Rounding): NativeAmount | undefined {
    return this.isThere ? this.native(multiplier, rounding) : undefined
  }

  /** A whole number of zero or more. */
  integer(): bigint {
    const text = this.decimal()
    return /^\d+$/.test(text) ? BigInt(text) : this.#fail('is no whole number')
  }

  /** A whole number above zero. */
  positiveInteger(): bigint {
    const number = this.integer()
    return number === 0n ? this.#fail('is nothing') : number
  }

  /** As {@link optionalDate}, of what must be there. */
  date(): Date {
    return this.optionalDate() ?? this.#fail('is no date')
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
    return Number.isNaN(date.getTime()) ? this.#fail('is no date') : date
  }

  #fail(rule: string): never {
    throw new WalletError('BAD_REPLY', { source: this.#source, path: this.#path.slice(0, 200), rule })
  }
}

// Taken apart, since not every engine reads a blank for the T, or a zone without a colon.
const ISO_DATE = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,3})?)\d{0,6}(?:(Z|[+-]\d\d)(?::?(\d\d))?)?$/

/** A number below it counts seconds: as milliseconds it would be a day in 1973. */
const SECONDS_UNTIL = 100_000_000_000
