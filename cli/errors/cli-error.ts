import type { JsonObject, NextCommand } from '../../kernel/index.ts'
import { type Advice, type CliErrorCode, cliErrors } from './cli-errors.ts'

/** A failure of the command line: a code, one sentence, and what to do about it. Holds no secret. */
export class CliError extends Error {
  readonly code: CliErrorCode
  readonly details: JsonObject
  readonly hint: string | undefined
  readonly next: readonly NextCommand[]

  constructor(code: CliErrorCode, message: string, { details = {}, ...advice }: CliErrorOptions = {}) {
    super(message, advice.cause === undefined ? {} : { cause: advice.cause })
    this.code = code
    this.name = cliErrors[code].name
    this.details = details
    this.hint = advice.hint
    this.next = advice.next ?? []
  }

  get exitCode(): number {
    return cliErrors[this.code].exitCode
  }

  get retryable(): boolean {
    return cliErrors[this.code].retryable ?? false
  }
}

/** What a {@link CliError} may carry besides its code and sentence. */
export interface CliErrorOptions extends Advice {
  readonly details?: JsonObject
  readonly cause?: unknown
}
