import { copyData } from './copy-data.ts'
import type { ErrorEntry, NextCommand } from './errors/entry.ts'
import { type LoginErrorDetails, loginErrors } from './errors/login-errors.ts'
import { type SpendErrorDetails, spendErrors } from './errors/spend-errors.ts'
import { type SystemErrorDetails, systemErrors } from './errors/system-errors.ts'

/**
 * The one error class of the kernel: a code of the catalogue with its typed details.
 *
 * `name` and `message` are those of the deployed system, so that interfaces which recognise errors by name
 * keep working. `cause` holds the original and is never shown or serialised.
 *
 * @example
 * ```ts
 * import { WalletError } from 'holdfast/plugin'
 *
 * const error = new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'BTC' })
 * error.name // 'InsufficientFundsError'
 * error.retryable // false
 * ```
 */
export class WalletError<C extends ErrorCode = ErrorCode> extends Error {
  declare readonly code: C
  /** Frozen, nested objects included. */
  declare readonly details: ErrorDetails[C]
  /** Only what this constructor made has it, and no `Proxy` of that. */
  readonly #isOwn = true

  constructor(code: C, details: ErrorDetails[C], cause?: unknown) {
    const entry = entryOf(code)
    const kept = detailsOf(details)
    super(entry.message(kept))
    const shownDetails = withHidden({ ...kept }, entry.secretDetails ?? [])
    Object.defineProperty(this, 'code', { value: code, enumerable: true })
    Object.defineProperty(this, 'details', { value: Object.freeze(shownDetails), enumerable: true })
    this.name = entry.name
    if (cause !== undefined) {
      Object.defineProperty(this, 'cause', { value: cause, enumerable: false, configurable: true })
    }
  }

  /** The next step for the user, in one sentence, if the catalogue knows one. */
  get hint(): string | undefined {
    return entryOf(this.code).hint?.(this.details)
  }

  /** A command that helps, if the catalogue knows one. */
  get next(): NextCommand | undefined {
    return entryOf(this.code).next?.(this.details)
  }

  /** True if the same call may succeed later. */
  get retryable(): boolean {
    return entryOf(this.code).retryable ?? false
  }

  /** The exit code of the command line for this failure. */
  get exitCode(): number {
    return entryOf(this.code).exitCode
  }

  /** Returns true for an unchanged value that this constructor made, which is safe to read. */
  static isSound(value: unknown): value is WalletError {
    // A private name is asked of the value itself: no trap of a proxy runs.
    if (typeof value !== 'object' || value === null || !(#isOwn in value)) return false
    const isText = (name: string): boolean =>
      typeof Object.getOwnPropertyDescriptor(value, name)?.value === 'string'
    return Object.getPrototypeOf(value) === WalletError.prototype && isText('message') && isText('name')
  }

  toJSON(): { name: string; code: C; message: string; details: ErrorDetails[C] } {
    return { name: this.name, code: this.code, message: this.message, details: this.details }
  }
}

// Plugins import this class, so it is frozen.
Object.freeze(WalletError.prototype)
Object.freeze(WalletError)

/** A copy of details. They are a few words and figures; of others, which a caller of the wrong types gives, the words stay. */
const detailsOf = <D>(details: D): D => {
  const refuse = (rule: string): Error => new TypeError(rule)
  try {
    return copyData(details, { maxLength: MAX_DETAILS, isFrozen: true, refuse }) as D
  } catch {
    const words = Object.entries(details ?? {}).map(([name, value]) => [name, wordsOf(value)])
    return Object.freeze(Object.fromEntries(words)) as D
  }
}

const wordsOf = (value: unknown): unknown => {
  if (typeof value === 'string') return value.slice(0, MAX_DETAILS)
  return typeof value === 'object' ? undefined : String(value)
}

const MAX_DETAILS = 100_000

/**
 * Returns true for an error of the catalogue, or of the given code.
 *
 * It compares the code, never the class, so that it also works across bridges and second copies of this module. It accepts any
 * thrown value and never throws itself.
 *
 * @example
 * ```ts
 * import { isWalletError } from 'holdfast'
 *
 * try {
 *   await context.loginWithPassword('alice', 'a guess')
 * } catch (error) {
 *   if (!isWalletError(error, 'PASSWORD')) throw error
 *   console.log(error.message, error.details.waitSeconds)
 * }
 * ```
 */
export const isWalletError = <C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C
): error is WalletError<C> => {
  try {
    if (!(error instanceof Error) || !('code' in error)) return false
    const { code: found } = error
    if (typeof found !== 'string') return false
    return code === undefined ? Object.hasOwn(catalogue, found) : found === code
  } catch {
    return false
  }
}

/** Turns fields into getters that are left out when the object is printed, listed or copied. */
const withHidden = <T extends object>(fields: T, names: readonly (keyof T)[]): T => {
  for (const name of names) {
    const value = fields[name]
    if (value !== undefined) Object.defineProperty(fields, name, { get: () => value, enumerable: false })
  }
  return fields
}

/**
 * An error in place of whatever foreign code has thrown: undefined, a text, a `Proxy`, an object whose getters throw.
 *
 * A {@link WalletError} of this module stays the same object. Anything else is read once and copied: name, message,
 * stack, cause and plain fields, and details where the code is one of the catalogue. Reading the result runs no
 * foreign code. Never throws.
 */
export const errorOf = (thrown: unknown): Error => copyError(thrown, 0)

/** Runs foreign code, and throws {@link errorOf} what it throws. */
export const safely = async <T>(call: () => Promise<T>): Promise<T> => {
  try {
    return await call()
  } catch (thrown) {
    throw errorOf(thrown)
  }
}

const copyError = (thrown: unknown, depth: number): Error => {
  try {
    if (WalletError.isSound(thrown)) return thrown
    if (typeof thrown === 'string') return new Error(cut(thrown, MAX_MESSAGE))
    if (typeof thrown !== 'object' || thrown === null) return new Error(`It threw ${typeof thrown}`)
    return readError(thrown, depth)
  } catch {
    return new Error('It threw something that cannot be read')
  }
}

const readError = (thrown: object, depth: number): Error => {
  const isError = thrown instanceof Error
  const { name, message, stack, code, details, cause } = thrown as Record<string, unknown>
  const text =
    typeof message === 'string' ? cut(message, MAX_MESSAGE) : 'It threw an object without a message'
  const copiedCause =
    cause === undefined || cause === null || depth >= MAX_CAUSES ? undefined : copyError(cause, depth + 1)
  if (isError && typeof code === 'string' && Object.hasOwn(catalogue, code)) {
    return new WalletError(code as ErrorCode, details as ErrorDetails[ErrorCode], copiedCause)
  }
  const error = new Error(text)
  const fields = plainFieldsOf(thrown)
  for (const [field, value] of Object.entries(fields)) Object.defineProperty(error, field, shown(value))
  Object.defineProperty(error, 'name', hidden(typeof name === 'string' ? cut(name, MAX_NAME) : 'Error'))
  if (typeof stack === 'string') Object.defineProperty(error, 'stack', hidden(cut(stack, MAX_STACK)))
  if (copiedCause !== undefined) Object.defineProperty(error, 'cause', hidden(copiedCause))
  return error
}

/** Fields by which errors of the deployed system tell what they are about; no lists and no objects. */
const plainFieldsOf = (thrown: object): Record<string, unknown> => {
  const fields: Record<string, unknown> = {}
  for (const name of Object.keys(thrown).slice(0, MAX_FIELDS)) {
    if (OWN_FIELDS.has(name)) continue
    const value = (thrown as Record<string, unknown>)[name]
    if (typeof value === 'string' ? value.length <= MAX_MESSAGE : PLAIN.has(typeof value))
      fields[name] = value
  }
  return fields
}

const shown = (value: unknown): PropertyDescriptor => ({
  value,
  enumerable: true,
  writable: true,
  configurable: true
})
const hidden = (value: unknown): PropertyDescriptor => ({ ...shown(value), enumerable: false })
const cut = (text: string, length: number): string => text.slice(0, length)

const OWN_FIELDS: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause', 'details', '__proto__'])
const PLAIN: ReadonlySet<string> = new Set(['boolean', 'number'])
const MAX_MESSAGE = 10_000
const MAX_NAME = 100
const MAX_STACK = 20_000
const MAX_FIELDS = 50
const MAX_CAUSES = 5

const entryOf = <C extends ErrorCode>(code: C): ErrorEntry<ErrorDetails[C]> => catalogue[code]

/** Every error code with the details it carries. Codes are never renamed or reused; details hold no secret. */
export interface ErrorDetails extends LoginErrorDetails, SpendErrorDetails, SystemErrorDetails {}

/** The stable, upper-case name of a failure. */
export type ErrorCode = keyof ErrorDetails

/** The error catalogue of specification §8: one entry for each code. `docs/errors.md` is generated from it. */
export const catalogue: { readonly [C in ErrorCode]: ErrorEntry<ErrorDetails[C]> } = {
  ...loginErrors,
  ...spendErrors,
  ...systemErrors
}

/**
 * Returns text that is safe to show: whatever could be a key is replaced, then the text is cut to 500 characters.
 *
 * @example
 * ```ts
 * import { scrub } from 'holdfast'
 *
 * scrub('refused L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ') // 'refused […]'
 * ```
 */
export const scrub = (text: string): string => scrubBut(text, NO_NAMES)

/** {@link scrub} that leaves known identifiers as they are, however long. */
export const scrubBut = (text: string, names: ReadonlySet<string>): string =>
  String(text)
    .slice(0, MAX_READ)
    .replace(KEY_LIKE, run => (names.has(run) ? run : '[…]'))
    .slice(0, MAX_TEXT)

/**
 * A failure in words that are safe to show: the catalogue's message, with the field of a plugin's data that was refused, or the
 * scrubbed text of a foreign error. Whatever was thrown may be given.
 */
export const describeError = (thrown: unknown): string => {
  const error = errorOf(thrown)
  if (!isWalletError(error)) return scrub(`${error.name}: ${error.message}`)
  const field =
    isWalletError(error, 'BOGUS_TX') || isWalletError(error, 'BOGUS_DATA') ? error.details.path : ''
  return `${error.message}${field === '' ? '' : `: ${scrub(field)}`} (${error.code})`
}

const NO_NAMES: ReadonlySet<string> = new Set()
const MAX_TEXT = 500
/** Text beyond it is not even looked at. */
const MAX_READ = 10_000

// A run of 20 or more letters of base16, 32, 58 or 64 may be a key; it never reaches a log line.
const KEY_LIKE = /[A-Za-z0-9+/_-]{20,}={0,2}/g

/** One line about a failure for the log. */
export const failureLine = (what: string, error: unknown): string => `${what}: ${describeError(error)}`

/** Reports a fault that was survived: to the log and the fault hook, never to the caller. */
export type ReportError = (error: unknown) => void
