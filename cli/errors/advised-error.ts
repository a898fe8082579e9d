import type { WalletError } from '../../kernel/index.ts'
import type { CliErrorOptions } from './cli-error.ts'

/** A failure of the wallet of which a command knows more than the catalogue: what to do about it, and more details. */
export class AdvisedError extends Error {
  override readonly cause: WalletError
  readonly advice: Omit<CliErrorOptions, 'cause'>

  constructor(cause: WalletError, advice: Omit<CliErrorOptions, 'cause'>) {
    super(cause.message, { cause })
    this.name = cause.name
    this.cause = cause
    this.advice = advice
  }
}
