import type { QuoteSnapshot } from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import { commandHere } from '../grammar/command-line.ts'
import type { Session } from '../session.ts'
import { quotesJson } from './quote-facts.ts'
import { quotesText } from './quote-lines.ts'
import { openShelf } from './quote-shelf.ts'
import type { AskedSwap } from './swap-wish.ts'

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
