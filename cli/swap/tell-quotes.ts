import type { JsonObject, QuoteSnapshot } from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import { openEventStream } from '../output/event-stream.ts'
import type { Session } from '../session.ts'
import { type AskedRound, askQuotes, settledQuotes } from './ask-quotes.ts'
import { keptResult } from './kept-result.ts'
import { quoteJson, rejectedJson } from './quote-facts.ts'
import { failureText, offerText, quotesTable } from './quote-lines.ts'
import type { AskedSwap } from './swap-wish.ts'

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
