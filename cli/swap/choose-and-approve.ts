import { amountText } from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import type { QuoteChoice } from '../screens/show-quotes.tsx'
import type { Session } from '../session.ts'
import { approveQuote } from './approve-quote.ts'
import { askQuotes } from './ask-quotes.ts'
import { keptResult } from './kept-result.ts'
import { placeName, type SwapPlaces } from './swap-place.ts'
import type { AskedSwap } from './swap-wish.ts'

/** Shows quotes as they come until a person chooses one, which is then reviewed and approved, or none. */
export const chooseAndApprove = async (session: Session, asked: AskedSwap): Promise<CommandResult> => {
  for (;;) {
    const result = await oneRound(session, asked)
    if (result !== undefined) return result
  }
}

/** Undefined if another round is wanted. */
const oneRound = async (session: Session, asked: AskedSwap): Promise<CommandResult | undefined> => {
  const [{ chooseQuote }, { io }] = await Promise.all([import('../screens/show-quotes.tsx'), session.world()])
  const { clock } = io
  const asking = await askQuotes(session, asked)
  const { round } = asking
  const until = clock.monotonic() + asked.options.waitMs
  try {
    const choice: QuoteChoice = await chooseQuote(session.terminal, {
      title: titleOf(asked),
      places: asked.places,
      isAscii: session.globals.ascii,
      signal: session.signal,
      look: round.getSnapshot,
      subscribe: round.subscribe,
      waitLeft: () => until - clock.monotonic(),
      enough: () => round.stop(),
      now: () => clock.now()
    })
    if (choice.kind === 'again') return undefined
    if (choice.kind === 'chosen') {
      const quote = round.quotes.find(({ quoteId }) => quoteId === choice.quoteId)
      if (quote === undefined) throw new CliError('NOT_FOUND', 'That quote is gone')
      return await approveQuote(session, asked, quote)
    }
    return await keptResult(session, asked, round.getSnapshot().providers)
  } finally {
    asking.close()
  }
}

/** What is asked for, in a line. */
const titleOf = ({ places, wish }: AskedSwap): string => {
  const { quoteFor, nativeAmount } = wish
  if (quoteFor === 'max') return `All ${places.from.asset.currencyCode} ${wayOf(places)}`
  const asset = quoteFor === 'to' ? places.to.asset : places.from.asset
  return `${amountText(nativeAmount, asset)} ${wayOf(places)}`
}

const wayOf = ({ from, to }: SwapPlaces): string => `from ${placeName(from)} to ${placeName(to)}`
