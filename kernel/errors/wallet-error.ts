import { catalogue, type ErrorCode, type ErrorDetails } from './catalogue.ts'
import type { ErrorEntry, NextCommand } from './entry.ts'

/**
 * The one error class of the kernel: a code of the catalogue with its typed details.
 *
 * `name` and `message` are those of the deployed system, so interfaces that recognise errors by name
 * keep working. `cause` holds the original and is never shown or serialised.
 */
export class WalletError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly details: ErrorDetails[C]

  constructor(code: C, details: ErrorDetails[C], cause?: unknown) {
    const entry = entryOf(code)
    super(entry.message(details))
    this.code = code
    this.details = { ...details }
    this.name = entry.name
    if (cause !== undefined) {
      Object.defineProperty(this, 'cause', { value: cause, enumerable: false, configurable: true })
    }
  }

  /** What to do next, in one sentence, if the catalogue knows. */
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

  toJSON(): { name: string; code: C; message: string; details: ErrorDetails[C] } {
    return { name: this.name, code: this.code, message: this.message, details: this.details }
  }
}

/**
 * Tells whether a value is a failure of the catalogue, and of which code.
 *
 * Compares the code, never the class: the answer survives bridges and second copies of this module.
 */
export const isWalletError = <C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C
): error is WalletError<C> => {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false
  return code === undefined ? Object.hasOwn(catalogue, error.code) : error.code === code
}

const entryOf = <C extends ErrorCode>(code: C): ErrorEntry<ErrorDetails[C]> => catalogue[code]
