import { shellWord } from '../../app/format/safe-text.ts'
import {
  catalogue,
  isWalletError,
  type JsonObject,
  type NextCommand,
  scrub,
  type WalletError
} from '../../kernel/index.ts'
import { untrustedText } from '../terminal/safe-text.ts'
import { AdvisedError, cliErrors, isCliError } from './cli-error.ts'

/** A failure as it is printed, as text and as JSON (ecosystem 1.8). */
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

/** Converts any thrown value into a failure; an unknown one is a bug, INTERNAL. */
export const failureOf = (error: unknown): Failure => {
  if (isCliError(error)) {
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
    message: `Unexpected error: ${textOf(error)}`,
    retryable: false,
    details: {},
    hint: 'This is a bug. Run the command again with --debug and report what it prints.',
    next: []
  }
}

/** Returns the chain of causes with their stacks, for `--debug`. Anything that could be a key is scrubbed. */
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
  return error instanceof Error ? scrub(`${error.name}: ${error.message}`) : 'a value that is not an error'
}

/** Returns the commands that help after a failure of the wallet, beyond the one of the catalogue. */
const adviceOf = (error: WalletError): readonly NextCommand[] => {
  if (isWalletError(error, 'OTP')) return secondFactorAdvice(error)
  if (isWalletError(error, 'CHALLENGE')) {
    const { challengeId } = error.details
    return [
      {
        command: `holdfast login <user> --challenge-id ${shellWord(untrustedText(challengeId))}`,
        why: 'once the CAPTCHA is solved'
      }
    ]
  }
  if (isWalletError(error, 'PLUGIN_FOR_TYPE'))
    return [{ command: 'holdfast wallets types', why: 'see the wallet types' }]
  if (isWalletError(error, 'NO_RATE')) return rateAdvice(error)
  if (isWalletError(error, 'NETWORK') && error.details.reason === 'none is named')
    return [{ command: 'holdfast profile edit --help', why: 'name a login server' }]
  const [, profile] = isWalletError(error, 'NETWORK') ? (UNNAMED.exec(error.details.reason ?? '') ?? []) : []
  if (profile !== undefined)
    return [{ command: `holdfast profile edit ${profile} --help`, why: 'name the servers that may be asked' }]
  return error.next === undefined ? [] : [error.next]
}

/** The reason of a request that `onlyNamedHosts` has refused. */
const UNNAMED = /^the profile ([\w.-]{1,40}) does not name it$/

/** Suggests the prefix `iso:` for fiat codes, which is easily forgotten, and a look at the providers. */
const rateAdvice = ({ details: { from, to } }: WalletError<'NO_RATE'>): readonly NextCommand[] => {
  const meant = [from, to].map(code => (isMoney(code) ? `iso:${code}` : code))
  const words = meant.map(code => shellWord(untrustedText(code))).join(' ')
  return [
    ...(meant.join() === [from, to].join()
      ? []
      : [{ command: `holdfast rates get ${words}`, why: 'write a fiat currency with iso:' }]),
    { command: 'holdfast rates providers', why: 'ask again, and see the state of each source' }
  ]
}

const isMoney = (code: string): boolean =>
  /^[A-Z]{3}$/.test(code) && Intl.supportedValuesOf('currency').includes(code)

/** Returns the details of a failure for printing: the proofs of a requester of vouchers or resets are redacted. */
const printableDetails = (error: WalletError): JsonObject => {
  const details = { ...error.details } as JsonObject
  if (!isWalletError(error, 'OTP')) return details
  const proofs = PROOFS.filter(name => error.details[name] !== undefined)
  return { ...details, ...Object.fromEntries(proofs.map(name => [name, { redacted: true }])) }
}

const PROOFS = ['resetToken', 'voucherAuth'] as const

const secondFactorAdvice = ({ details }: WalletError<'OTP'>): readonly NextCommand[] => {
  const { voucherId, voucherActivates, resetDate } = details
  return [
    { command: 'holdfast login <user> --otp-stdin', why: 'give the six-digit code' },
    ...(voucherId === undefined
      ? []
      : [
          {
            command: `holdfast voucher approve ${shellWord(untrustedText(voucherId))}`,
            why: `approve this device on one that is logged in${voucherActivates === undefined ? '' : `, or wait until ${voucherActivates}`}`
          }
        ]),
    resetDate === undefined
      ? {
          command: 'holdfast 2fa reset request <user>',
          why: 'request that two-factor is switched off after the waiting time'
        }
      : { command: 'holdfast login <user>', why: `two-factor is switched off automatically at ${resetDate}` }
  ]
}

/** One exit code with every error code that leads to it. */
export interface ExitCodeRow {
  readonly exitCode: number
  readonly codes: readonly string[]
}

/** The exit code of a batch that failed in part; its data lists the failed parts. */
export const PARTIAL = 9

/** All exit codes, ascending, from the kernel's catalogue and the command line's own (ecosystem 1.9). */
export const exitCodeRows = (): readonly ExitCodeRow[] => {
  const rows = new Map<number, string[]>([
    [0, []],
    [PARTIAL, []]
  ])
  for (const [code, { exitCode }] of [...Object.entries(cliErrors), ...Object.entries(catalogue)]) {
    const codes = rows.get(exitCode) ?? []
    codes.push(code)
    rows.set(exitCode, codes)
  }
  return [...rows].sort(([a], [b]) => a - b).map(([exitCode, codes]) => ({ exitCode, codes: codes.sort() }))
}
