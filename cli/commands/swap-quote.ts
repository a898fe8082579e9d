import type { CommandRun } from '../command.ts'
import type { Session } from '../session.ts'
import { chooseAndApprove } from '../swap/choose-and-approve.ts'
import { readSwap } from '../swap/swap-wish.ts'
import { rankedQuotes, watchQuotes } from '../swap/tell-quotes.ts'
import { canAsk } from '../terminal.ts'

/** Asks for quotes: in a terminal to choose one, elsewhere to see them ranked. */
export const swapQuote: CommandRun = async session => {
  const asked = await readSwap(session)
  if (session.isOn('watch')) return watchQuotes(session, asked)
  return isWatchedByPerson(session) ? chooseAndApprove(session, asked) : rankedQuotes(session, asked)
}

/** Somebody sees the quotes and can choose one. */
const isWatchedByPerson = ({ terminal, globals }: Session): boolean =>
  !globals.json &&
  !globals.dryRun &&
  globals.input &&
  terminal.stdout.isTTY === true &&
  terminal.environment.TERM !== 'dumb' &&
  canAsk(terminal)
