import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { approveQuote, bestWithin, quoteResult } from '../swap/approve-quote.ts'
import { askQuotes, settledQuotes } from '../swap/ask-quotes.ts'
import { readSwap } from '../swap/swap-wish.ts'

/** Asks for quotes and approves the best one that is within `--min-receive` and `--max-fee`, after a review. */
export const swapRun: CommandRun = async session => {
  if (session.globals.yes && session.text('minReceive') === undefined) {
    throw new CliError('USAGE', 'Say what must arrive at least: --min-receive <amount>', {
      hint: 'Nobody reviews the quote with --yes, and prices move.'
    })
  }
  if (session.globals.yes && session.text('for') === 'to' && session.text('maxPay') === undefined) {
    throw new CliError('USAGE', 'Say what may be paid at most: --max-pay <amount>', {
      hint: 'With --for to the providers say what it costs, and nobody reviews it with --yes.'
    })
  }
  const asked = await readSwap(session)
  const asking = await askQuotes(session, asked)
  try {
    const quotes = await settledQuotes(session, asking, asked)
    const best = bestWithin(asked, quotes)
    if (session.globals.dryRun) return quoteResult(asked.places, best)
    return await approveQuote(session, asked, best)
  } finally {
    asking.close()
  }
}
