import type { JsonObject } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { safeText } from '../output/safe-text.ts'
import type { Session } from '../session.ts'
import { canAsk } from '../terminal.ts'

/** What is to be confirmed. */
export interface Confirmation {
  readonly question: string
  /** The same facts for a script. */
  readonly summary: JsonObject
  /** Asks on a terminal in a way of its own, and gives the answer; a plain question if left out. */
  ask?(): Promise<boolean>
}

/**
 * Asks y/N, with no as the default; `--yes` answers it.
 *
 * @throws CliError CONFIRMATION_REQUIRED with the command to run where nobody can be asked; DECLINED, INTERRUPTED
 */
export const confirm = async (session: Session, { question, summary, ask }: Confirmation): Promise<void> => {
  if (session.globals.yes) return
  if (!session.globals.input || !canAsk(session.terminal)) {
    throw new CliError('CONFIRMATION_REQUIRED', 'This needs a confirmation, and nobody can be asked', {
      details: { summary },
      hint: 'Read details.summary, then run the command with --yes.',
      next: [{ command: `${session.commandLine} --yes`, why: 'confirm it' }]
    })
  }
  const answer = ask === undefined ? await askPlainly(session, question) : await ask()
  if (!answer) throw new CliError('DECLINED', 'Declined; nothing was done', { details: { summary } })
}

const askPlainly = async (session: Session, question: string): Promise<boolean> => {
  const { showQuestion } = await import('../screens/show.tsx')
  return showQuestion(session.terminal, safeText(question))
}
