import type { ErrorEntry } from './entry.ts'
import { type LoginErrorDetails, loginErrors } from './login-errors.ts'
import { type SpendErrorDetails, spendErrors } from './spend-errors.ts'
import { type SystemErrorDetails, systemErrors } from './system-errors.ts'

/** Every error code with the details it carries. Codes are never renamed or reused; details hold no secret. */
export interface ErrorDetails extends LoginErrorDetails, SpendErrorDetails, SystemErrorDetails {}

/** The stable, upper-case name of a failure. */
export type ErrorCode = keyof ErrorDetails

/** The whole error catalogue of specification §8: one entry per code. */
export const catalogue: { readonly [C in ErrorCode]: ErrorEntry<ErrorDetails[C]> } = {
  ...loginErrors,
  ...spendErrors,
  ...systemErrors
}
