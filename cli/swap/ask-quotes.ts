import type { JsonObject, QuoteRound, QuoteSnapshot, SwapQuote } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import { commandHere } from '../grammar/command-line.ts'
import type { CommandResult } from '../output/view.ts'
import { openEventStream } from '../session/event-stream.ts'
import type { Session } from '../session/session.ts'
import { openShelf } from './kept-quotes.ts'
import { writeProviderRecords } from './provider-record.ts'
import {
  failureText,
  offerText,
  quoteJson,
  quotesJson,
  quotesTable,
  quotesText,
  rejectedJson
} from './quotes.ts'
import type { AskedSwap } from './request.ts'

/** Asks for quotes and gives them ranked, with the reasons, to be approved by a later command. */
export const rankedQuotes = async (session: Session, asked: AskedSwap): Promise<CommandResult> => {
  const asking = await askQuotes(session, asked)
  try {
    await settledQuotes(session, asking, asked)
    return await rankedResult(session, asked, asking.round.getSnapshot().providers)
  } finally {
    asking.close()
  }
}

/** The same, and tells of every answer as it comes; Ctrl-C waits for no more of them. */
export const watchQuotes = async (session: Session, asked: AskedSwap): Promise<CommandResult | undefined> => {
  const asking = await askQuotes(session, asked, 'wait no longer')
  const stream = openEventStream(session)
  try {
    await tellAnswers(asking, async quote => {
      await stream.emit(...eventOf(quote, asked))
      if (!session.globals.json) await session.print(lineOf(quote, asked))
    }).catch((error: unknown) => {
      // Whoever stops before the first quote has seen what there was.
      if (!session.signal.aborted) throw error
    })
    const result = await rankedResult(session, asked, asking.round.getSnapshot().providers)
    if (!session.globals.json) return result
    await stream.emit('swap.ranked', result.data)
    await stream.end(session.signal.aborted ? 'stopped' : 'settled')
    return undefined
  } finally {
    asking.close()
  }
}

/** Tells of each answer once, in the order in which they come; ends with the round, as the round ends. */
const tellAnswers = async (
  { round }: AskedRound,
  tell: (quote: QuoteSnapshot) => Promise<void>
): Promise<void> => {
  const told = new Set<string>()
  let telling = Promise.resolve()
  const look = (): void => {
    for (const quote of round.getSnapshot().providers) {
      // A better offer of the same provider is another answer.
      const key = `${quote.pluginId} ${quote.state} ${quote.quoteId ?? ''}`
      if (quote.state === 'pending' || told.has(key)) continue
      told.add(key)
      telling = telling.then(() => tell(quote))
    }
  }
  const stop = round.subscribe(look)
  look()
  try {
    await round.settled
  } finally {
    stop()
    await telling
  }
}

const eventOf = (quote: QuoteSnapshot, { places }: AskedSwap): [event: string, data: JsonObject] =>
  quote.state === 'resolved'
    ? ['swap.quote', quoteJson(quote, places)]
    : ['swap.rejected', rejectedJson(quote, places)]

const lineOf = (quote: QuoteSnapshot, { places }: AskedSwap): CommandResult => {
  const isGiven = quote.state === 'resolved'
  const text = isGiven ? offerText(quote, places) : failureText(quote, places)
  const line = `${isGiven ? 'quote' : 'no quote'}\t${quote.pluginId}\t${text}${isGiven ? `\t${quote.quoteId}` : ''}`
  return { data: {}, view: { kind: 'text', lines: [line] } }
}

const rankedResult = async (
  session: Session,
  asked: AskedSwap,
  providers: readonly QuoteSnapshot[]
): Promise<CommandResult> => {
  const result = await keptResult(session, asked, providers)
  if (session.terminal.stdout.isTTY === true) return result
  const { clock } = (await session.world()).io
  return { ...result, view: quotesTable(providers, asked.places, clock.now()) }
}

/** A round of quotes that ends with the command. */
interface AskedRound {
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

/** The end of a round from which nothing was approved: its quotes, kept for `swap approve`. */
export const keptResult = async (
  session: Session,
  asked: AskedSwap,
  providers: readonly QuoteSnapshot[]
): Promise<CommandResult> => {
  const [shelf, { id }, { io }] = [await openShelf(session), await session.account(), await session.world()]
  const [best] = shelf.keep(id, asked, providers)
  return {
    data: quotesJson(providers, asked.places),
    view: quotesText(providers, asked.places, io.clock.now()),
    ...(best === undefined
      ? {}
      : { advice: [`To approve the best one: ${commandHere(session.globals, `swap approve ${best}`)}`] })
  }
}
