import { confirm } from '../session/confirm.ts'
import type { Session } from '../session.ts'
import { type SpendSummary, summaryLines } from './spend-summary.ts'

/**
 * Shows what is to be approved and asks, with no as the default. `question`: what a yes does.
 *
 * @throws CliError CONFIRMATION_REQUIRED, DECLINED, INTERRUPTED
 */
export const approveSpend = async (
  session: Session,
  summary: SpendSummary,
  question: string
): Promise<void> => {
  if (session.globals.yes) for (const line of summaryLines(summary)) session.talk.say(line)
  await confirm(session, {
    question,
    summary: summary.json,
    async ask() {
      const { showSendReview } = await import('../screens/show.tsx')
      return showSendReview(session.terminal, summary, question)
    }
  })
}
