import type { QuoteRound, QuoteSnapshot, SwapQuote } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { Session } from '../session.ts'
import { writeProviderRecords } from './provider-record.ts'
import { failureText } from './quote-lines.ts'
import type { AskedSwap } from './swap-wish.ts'

/** A round of quotes that ends with the command. */
export interface AskedRound {
  readonly round: QuoteRound
  /** Forgets the round, and remembers how its providers did. */
  close(): void
}

/**
 * Asks the providers for quotes.
 *
 * @param stop - what Ctrl-C does: it closes the round, so that nothing of it can be approved afterwards, or has it wait
 *   for no more answers
 * @throws NO_SWAP_PROVIDERS, SAME_CURRENCY and what else a wish can meet
 */
export const askQuotes = async (
  session: Session,
  { wish, options }: AskedSwap,
  stop: 'close' | 'wait no longer' = 'close'
): Promise<AskedRound> => {
  const { signal, paths } = session
  const account = await session.account()
  signal.throwIfAborted()
  const round = account.askForQuotes(wish, options)
  const onStop = (): void => (stop === 'close' ? round.close() : round.stop())
  signal.addEventListener('abort', onStop, { once: true })
  let isClosed = false
  return {
    round,
    close() {
      if (isClosed) return
      isClosed = true
      signal.removeEventListener('abort', onStop)
      writeProviderRecords(paths.session, round.getSnapshot().providers)
      round.close()
    }
  }
}

/** Waits for the end of a round, and says how many have answered. @throws the best error if there is no quote */
export const settledQuotes = async (
  session: Session,
  { round }: AskedRound,
  asked: AskedSwap
): Promise<readonly SwapQuote[]> => {
  const tell = (): void => {
    const { providers } = round.getSnapshot()
    const answered = providers.filter(({ state }) => state !== 'pending').length
    session.talk.step(`asking for quotes: ${answered} of ${providers.length} have answered…`)
  }
  const stop = round.subscribe(tell)
  tell()
  try {
    return await round.settled
  } catch (error) {
    warnOfFailures(session, round.getSnapshot().providers, asked, error)
    throw error
  } finally {
    stop()
    session.talk.clear()
  }
}

/** The error tells of one provider; a person is told of all of them. */
const warnOfFailures = (
  session: Session,
  providers: readonly QuoteSnapshot[],
  { places }: AskedSwap,
  error: unknown
): void => {
  if (session.globals.json || session.signal.aborted || providers.length < 2) return
  session.talk.clear()
  const { code } = failureOf(error)
  for (const quote of providers) {
    const isTold = quote.errorCode === code && quote.limit === undefined
    if (!isTold) session.talk.warn(`${quote.displayName}: ${failureText(quote, places)}`)
  }
}
