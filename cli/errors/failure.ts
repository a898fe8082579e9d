import {
  isWalletError,
  type JsonObject,
  type NextCommand,
  scrub,
  type WalletError
} from '../../kernel/index.ts'
import { AdvisedError } from './advised-error.ts'
import { CliError } from './cli-error.ts'
import { adviceOf, printableDetails } from './wallet-advice.ts'

/** A failure as people and scripts are told it (ecosystem 1.8). */
export interface Failure {
  readonly name: string
  readonly code: string
  readonly exitCode: number
  readonly message: string
  readonly retryable: boolean
  readonly details: JsonObject
  readonly hint?: string
  readonly next: readonly NextCommand[]
}

/** Reads any thrown value as a failure; what is of no catalogue is a bug, INTERNAL. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof CliError) {
    const { name, code, exitCode, message, retryable, details, next } = error
    return { name, code, exitCode, message, retryable, details, next, ...hintOf(error.hint) }
  }
  if (error instanceof AdvisedError) {
    const { hint, next, details } = error.advice
    const failure = walletFailure(error.cause)
    return {
      ...failure,
      details: { ...failure.details, ...details },
      next: next ?? failure.next,
      ...hintOf(hint ?? failure.hint)
    }
  }
  if (isWalletError(error)) return walletFailure(error)
  return {
    name: 'Error',
    code: 'INTERNAL',
    exitCode: 1,
    message: `Something unexpected happened: ${textOf(error)}`,
    retryable: false,
    details: {},
    hint: 'This is a bug. Run the command again with --debug and report what it prints.',
    next: []
  }
}

/** The chain of causes with their stacks, for `--debug`. Scrubbed of anything that could be a key. */
export const causesOf = (error: unknown): readonly string[] => {
  const lines: string[] = []
  let cause: unknown = error
  for (let depth = 0; depth < 10 && cause !== undefined && cause !== null; depth += 1) {
    lines.push(`${depth === 0 ? '' : 'caused by '}${textOf(cause)}`)
    const stack = cause instanceof Error ? (cause.stack ?? '') : ''
    for (const line of stack.split('\n').filter(text => /^\s+at /.test(text))) lines.push(`  ${line.trim()}`)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return lines
}

const walletFailure = (error: WalletError): Failure => ({
  name: error.name,
  code: error.code,
  exitCode: error.exitCode,
  message: error.message,
  retryable: error.retryable,
  details: printableDetails(error),
  next: adviceOf(error),
  ...hintOf(error.hint)
})

const hintOf = (hint: string | undefined): { hint?: string } => (hint === undefined ? {} : { hint })

const textOf = (error: unknown): string => {
  if (isWalletError(error)) return `${error.name}: ${error.message} (${error.code})`
  return error instanceof Error ? scrub(`${error.name}: ${error.message}`) : 'a value that is no error'
}
