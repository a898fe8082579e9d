import type { JsonObject, NextCommand, WalletError } from '../../kernel/index.ts'

/** A failure of the command line: a code, one sentence, and what to do about it. Holds no secret. */
export class CliError extends Error {
  /** The client of the agent is bundled apart from the rest, and each bundle has this class. */
  readonly isCliError = true
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

/** Returns true for a failure of the command line, also of one that was made in the other bundle. */
export const isCliError = (error: unknown): error is CliError =>
  error instanceof Error && 'isCliError' in error

/** Options of {@link CliError}. */
interface CliErrorOptions extends Advice {
  readonly details?: JsonObject
  readonly cause?: unknown
}

/** A failure of the wallet with advice and details of the command, beyond those of the catalogue. */
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

/**
 * The time that a stopped command waits for a payment, in milliseconds: as long as a server usually takes. A second stop
 * ends it at once.
 */
export const PAYING_GRACE_MS = 3000

/** Returns true if the reason is a stop by the user or the system, and no failure. */
export const isStop = (reason: unknown): boolean =>
  reason === undefined ||
  (isCliError(reason) && (reason.code === 'INTERRUPTED' || reason.code === 'TERMINATED'))

/** The reason of a stop by the end of the agent that runs the command. @param reason - why it ends, as a sentence */
export const agentEnded = (reason: string): CliError =>
  new CliError('TERMINATED', reason, { details: { by: 'agent' }, hint: 'Run the command again.' })

/** Returns true if the end of the agent has stopped the command, which no user of it wanted. */
export const isAgentEnded = (reason: unknown): boolean => isCliError(reason) && reason.details.by === 'agent'

/** Adds to the reason of a stop that a payment may have left, so that it is not made a second time. */
export const stopDuringPayment = (reason: unknown): unknown =>
  isStop(reason) && isCliError(reason)
    ? new CliError(reason.code, `${reason.message} while a payment was being sent; it may have been sent`, {
        hint: 'See its state with: holdfast tx open'
      })
    : reason

/** Adds to the reason of a stop that an agent may still do what the command had begun. */
export const stopBeforeEnd = (reason: unknown): unknown =>
  isStop(reason) && isCliError(reason)
    ? new CliError(reason.code, `${reason.message}; what had begun may still be done`)
    : reason

/** The stable name of a failure of the command line. */
export type CliErrorCode =
  | 'AGENT_FAILED'
  | 'AGENT_LOST'
  | 'AGENT_NOT_RUNNING'
  | 'AGENT_REFUSED'
  | 'AGENT_RUNNING'
  | 'CLIENT_ENDED'
  | 'CLIENT_REFUSED'
  | 'CONFIRMATION_REQUIRED'
  | 'DECLINED'
  | 'INTERNAL'
  | 'INTERRUPTED'
  | 'MIN_RECEIVE'
  | 'NODE_MISSING'
  | 'NOT_FOUND'
  | 'NOT_LOGGED_IN'
  | 'NOT_NEEDED'
  | 'PLUGIN_REFUSED'
  | 'PROFILE_INVALID'
  | 'PROMPT_IMPOSSIBLE'
  | 'PROPOSAL_ENDED'
  | 'PROPOSALS_FULL'
  | 'RATE_TOO_OLD'
  | 'SECRET_SOURCE'
  | 'TERMINATED'
  | 'TOUR_DIFFERS'
  | 'USAGE'
  | 'WALLET_BEHIND'
  | 'WORLD_FAILED'
  | 'WORLD_NOT_SHARED'

/** The catalogue entry of a failure of the command line. */
export interface CliErrorEntry {
  readonly name: string
  /** See `holdfast help exit-codes`. */
  readonly exitCode: number
  /** The meaning in the list of exit codes. */
  readonly meaning: string
  readonly retryable?: boolean
}

/**
 * The failures of the command line itself; those of the wallet are in the kernel's catalogue.
 *
 * Codes are never renamed or reused (ecosystem 1.9).
 */
export const cliErrors: { readonly [C in CliErrorCode]: CliErrorEntry } = {
  INTERNAL: { name: 'Error', exitCode: 1, meaning: 'a bug: something unexpected' },
  TOUR_DIFFERS: {
    name: 'Error',
    exitCode: 1,
    meaning: 'the second device of the tour shows a different state'
  },
  USAGE: { name: 'UsageError', exitCode: 2, meaning: 'unknown command or flag, missing argument, bad value' },
  SECRET_SOURCE: {
    name: 'UsageError',
    exitCode: 2,
    meaning: 'a secret came from a source that is not allowed'
  },
  NOT_LOGGED_IN: { name: 'LoginError', exitCode: 3, meaning: 'no account is logged in' },
  PLUGIN_REFUSED: { name: 'PluginRefusedError', exitCode: 4, meaning: 'a plugin cannot be added or loaded' },
  PROFILE_INVALID: { name: 'ProfileError', exitCode: 4, meaning: 'the profile cannot be used' },
  CONFIRMATION_REQUIRED: {
    name: 'ConfirmationError',
    exitCode: 5,
    meaning: 'a confirmation is needed, but there is no terminal for a prompt'
  },
  DECLINED: { name: 'ConfirmationError', exitCode: 5, meaning: 'the confirmation was declined' },
  PROMPT_IMPOSSIBLE: {
    name: 'ConfirmationError',
    exitCode: 5,
    meaning: 'a secret is needed, but there is no terminal for a prompt'
  },
  NODE_MISSING: {
    name: 'Error',
    exitCode: 6,
    meaning: 'a program of a real node is needed, and not installed'
  },
  NOT_FOUND: { name: 'Error', exitCode: 6, meaning: 'there is no such wallet, device, key or topic' },
  NOT_NEEDED: { name: 'Error', exitCode: 16, meaning: 'the requested change is not needed' },
  WORLD_NOT_SHARED: {
    name: 'ProfileError',
    exitCode: 4,
    meaning: 'another device cannot reach the fake world of this command'
  },
  AGENT_NOT_RUNNING: { name: 'ProfileError', exitCode: 4, meaning: 'no agent is running' },
  AGENT_RUNNING: { name: 'ProfileError', exitCode: 4, meaning: 'an agent of the profile is already running' },
  AGENT_REFUSED: {
    name: 'ProfileError',
    exitCode: 4,
    meaning: 'the agent refused the command, or its folder is not private'
  },
  AGENT_FAILED: { name: 'Error', exitCode: 1, meaning: 'the agent could not start' },
  AGENT_LOST: {
    name: 'Error',
    exitCode: 1,
    meaning: 'the agent ended during the command; a payment may have been sent'
  },
  CLIENT_REFUSED: {
    name: 'ProfileError',
    exitCode: 4,
    meaning: 'the token of a program is unknown or revoked, or does not allow this'
  },
  CLIENT_ENDED: { name: 'ProfileError', exitCode: 4, meaning: 'the time of a program is over' },
  PROPOSAL_ENDED: {
    name: 'Error',
    exitCode: 16,
    meaning: 'the proposal of a program no longer waits for an answer'
  },
  PROPOSALS_FULL: {
    name: 'Error',
    exitCode: 16,
    meaning: 'so many proposals of a program wait for an answer that it can make no other',
    retryable: true
  },
  WALLET_BEHIND: {
    name: 'NetworkError',
    exitCode: 20,
    meaning: 'no server of a wallet’s chain can be reached, so its figures are old',
    retryable: true
  },
  WORLD_FAILED: {
    name: 'Error',
    exitCode: 20,
    meaning: 'the running fake world refused the request',
    retryable: true
  },
  MIN_RECEIVE: { name: 'Error', exitCode: 36, meaning: 'no quote is within --min-receive and --max-fee' },
  RATE_TOO_OLD: {
    name: 'Error',
    exitCode: 47,
    meaning: 'every exchange rate is older than --max-age allows',
    retryable: true
  },
  INTERRUPTED: { name: 'InterruptError', exitCode: 130, meaning: 'stopped by Ctrl-C' },
  TERMINATED: { name: 'InterruptError', exitCode: 143, meaning: 'stopped by a termination signal' }
}

/** The advice after a failure. */
export interface Advice {
  readonly hint?: string
  readonly next?: readonly NextCommand[]
}
