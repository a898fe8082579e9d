import { CliError } from './cli-error.ts'

/** How long a stopped command waits for a payment: as long as a server usually takes; whoever stops it twice does not wait. */
export const PAYING_GRACE_MS = 3000

/** Whether a reason to end is that somebody stopped the command, and no failure. */
export const isStop = (reason: unknown): boolean =>
  reason === undefined ||
  (reason instanceof CliError && (reason.code === 'INTERRUPTED' || reason.code === 'TERMINATED'))

/** The reason to end, where a payment was not over: whoever only hears of the stop would pay twice. */
export const mayHaveLeft = (reason: unknown): unknown =>
  isStop(reason) && reason instanceof CliError
    ? new CliError(reason.code, `${reason.message} while a payment was being sent; it may have left`, {
        hint: 'See what became of it with: holdfast tx open'
      })
    : reason
