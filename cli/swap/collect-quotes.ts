import { swapActions } from '../../app/actions/swaps.ts'
import { failureText, offerText, quoteJson, quotesJson, rejectedJson } from '../../app/format/quotes.ts'
import { compact } from '../../kernel/base/compact.ts'
import type { JsonObject, QuoteRound, QuoteSnapshot, SwapQuote } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import { commandInProfile } from '../grammar/command-line.ts'
import type { CommandResult } from '../output/view.ts'
import { openEventStream } from '../session/event-stream.ts'
import type { Session } from '../session/session.ts'
import { safeText } from '../terminal/safe-text.ts'
import { openQuoteCache } from './kept-quotes.ts'
import { writeProviderRecords } from './provider-record.ts'
import { quotesTable, quotesText, unitsOfSides } from './quote-texts.ts'
import type { SwapQuery } from './read-swap.ts'

/** Requests quotes and returns them ranked, with the reasons, to be approved by a later command. */
export const rankedQuotes = async (session: Session, query: SwapQuery): Promise<CommandResult> => {
  const running = await requestQuotes(session, query)
  try {
    await settledQuotes(session, running, query)
    return await rankedResult(session, query, running.round.getSnapshot().providers)
  } finally {
    running.close()
  }
}

/** Requests quotes and reports each answer as it comes; Ctrl-C stops waiting for more. */
export const watchQuotes = async (session: Session, query: SwapQuery): Promise<CommandResult | undefined> => {
  const running = await requestQuotes(session, query, 'stop waiting')
  const stream = openEventStream(session)
  try {
    await reportAnswers(running, async quote => {
      await stream.emit(...eventOf(quote, query))
      if (!session.globals.json) await session.print(lineOf(quote, query))
    }).catch((error: unknown) => {
      // A stop before the first quote is no failure.
      if (!session.signal.aborted) throw error
    })
    const result = await rankedResult(session, query, running.round.getSnapshot().providers)
    if (!session.globals.json) return result
    await stream.emit('swap.ranked', result.data)
    await stream.end(session.signal.aborted ? 'stopped' : 'settled')
    return undefined
  } finally {
    running.close()
  }
}

/** Reports each answer once, in the order of arrival; ends with the round. */
const reportAnswers = async (
  { round }: OpenRound,
  report: (quote: QuoteSnapshot) => Promise<void>
): Promise<void> => {
  const reported = new Set<string>()
  let reporting = Promise.resolve()
  const reportNew = (): void => {
    for (const quote of round.getSnapshot().providers) {
      // A better offer of the same provider is a new answer.
      const key = `${quote.pluginId} ${quote.state} ${quote.quoteId ?? ''}`
      if (quote.state === 'pending' || reported.has(key)) continue
      reported.add(key)
      reporting = reporting.then(() => report(quote))
    }
  }
  const stop = round.subscribe(reportNew)
  reportNew()
  try {
    await round.settled
  } finally {
    stop()
    await reporting
  }
}

const eventOf = (quote: QuoteSnapshot, { sides }: SwapQuery): [event: string, data: JsonObject] =>
  quote.state === 'resolved'
    ? ['swap.quote', quoteJson(quote, unitsOfSides(sides))]
    : ['swap.rejected', rejectedJson(quote, unitsOfSides(sides))]

const lineOf = (quote: QuoteSnapshot, { sides }: SwapQuery): CommandResult => {
  const isGiven = quote.state === 'resolved'
  const text = isGiven
    ? offerText(quote, unitsOfSides(sides))
    : safeText(failureText(quote, unitsOfSides(sides)))
  const line = `${isGiven ? 'quote' : 'no quote'}\t${quote.pluginId}\t${text}${isGiven ? `\t${quote.quoteId}` : ''}`
  return { data: {}, view: { kind: 'text', lines: [line] } }
}

const rankedResult = async (
  session: Session,
  query: SwapQuery,
  providers: readonly QuoteSnapshot[]
): Promise<CommandResult> => {
  const result = await keptResult(session, query, providers)
  if (session.terminal.stdout.isTTY === true) return result
  const { clock } = (await session.world()).io
  return { ...result, view: quotesTable(providers, query.sides, clock.now()) }
}

/** A round of quotes that ends with the command. */
interface OpenRound {
  readonly round: QuoteRound
  /** Closes the round, and records the results of its providers. */
  close(): void
}

/**
 * Requests quotes of the providers.
 *
 * @param stop - the effect of Ctrl-C: it closes the round, so that no quote of it can be approved afterwards, or stops
 *   waiting for answers
 * @throws NO_SWAP_PROVIDERS, SAME_CURRENCY and the other errors of a request
 */
export const requestQuotes = async (
  session: Session,
  { request, options }: SwapQuery,
  stop: 'close' | 'stop waiting' = 'close'
): Promise<OpenRound> => {
  const { signal, paths } = session
  const { fromWallet, toWallet, fromTokenId, toTokenId, nativeAmount, quoteFor } = request
  signal.throwIfAborted()
  const { roundId } = await session.run(swapActions['swap.ask'], {
    ...{ fromWalletId: fromWallet.id, toWalletId: toWallet.id, nativeAmount, quoteFor },
    ...compact({ fromTokenId: fromTokenId ?? undefined, toTokenId: toTokenId ?? undefined }),
    ...options
  })
  const round = (await session.actionServices()).rounds.get(roundId)
  const onStop = (): void => (stop === 'close' ? round.close() : round.stop())
  signal.addEventListener('abort', onStop, { once: true })
  if (signal.aborted) onStop()
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

/**
 * Waits for the end of a round, and shows how many providers have answered. @throws the best error if there is no quote
 */
export const settledQuotes = async (
  session: Session,
  { round }: OpenRound,
  query: SwapQuery
): Promise<readonly SwapQuote[]> => {
  const report = (): void => {
    const { providers } = round.getSnapshot()
    const answered = providers.filter(({ state }) => state !== 'pending').length
    session.statusLine.step(`getting quotes: ${answered} of ${providers.length} providers have replied…`)
  }
  const stop = round.subscribe(report)
  report()
  try {
    return await round.settled
  } catch (error) {
    warnOfFailures(session, round.getSnapshot().providers, query, error)
    throw error
  } finally {
    stop()
    session.statusLine.clear()
  }
}

/** The error is that of one provider; the failures of the others are warnings. */
const warnOfFailures = (
  session: Session,
  providers: readonly QuoteSnapshot[],
  { sides }: SwapQuery,
  error: unknown
): void => {
  if (session.globals.json || session.signal.aborted || providers.length < 2) return
  session.statusLine.clear()
  const { code } = failureOf(error)
  for (const quote of providers) {
    const isReported = quote.errorCode === code && quote.limit === undefined
    if (!isReported)
      session.statusLine.warn(`${quote.displayName}: ${safeText(failureText(quote, unitsOfSides(sides)))}`)
  }
}

/** The result of a round without an approval: its quotes, kept for `swap approve`. */
export const keptResult = async (
  session: Session,
  query: SwapQuery,
  providers: readonly QuoteSnapshot[]
): Promise<CommandResult> => {
  const [cache, { id }, { io }] = [
    await openQuoteCache(session),
    await session.account(),
    await session.world()
  ]
  const [best] = cache.keep(id, query, providers)
  return {
    data: quotesJson(providers, unitsOfSides(query.sides)),
    view: quotesText(providers, query.sides, io.clock.now()),
    ...compact({
      advice:
        best === undefined
          ? undefined
          : [`To approve the best one: ${commandInProfile(session.globals, `swap approve ${best}`)}`]
    })
  }
}
