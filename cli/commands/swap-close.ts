import type { CommandRun } from '../command.ts'
import { openShelf } from '../swap/quote-shelf.ts'

/** Forgets a quote that an earlier command showed; one that is not there is forgotten already. */
export const swapClose: CommandRun = async (session, text = '') => {
  const shelf = await openShelf(session)
  const kept = shelf.find(text)
  const closed = kept !== undefined && !kept.isApproved
  const quoteId = kept?.quoteId ?? text
  const { dryRun } = session.globals
  if (closed && !dryRun) shelf.forget(kept)
  const done = closed
    ? `The quote ${quoteId} is closed`
    : `There was nothing to close: no open quote ${quoteId} is kept`
  return {
    data: { quoteId, closed: closed && !dryRun, ...(dryRun ? { dryRun } : {}) },
    view: {
      kind: 'text',
      lines: [closed && dryRun ? `Nothing was changed; without --dry-run: ${done}` : done]
    }
  }
}
