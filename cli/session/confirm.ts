import { shellWord } from '../../app/format/safe-text.ts'
import type { JsonObject } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { promptText } from '../secrets/prompt.ts'
import { canPrompt } from '../terminal/terminal.ts'
import type { Session } from './session.ts'

/** A confirmation. */
interface Confirmation {
  readonly question: string
  /** The facts of the question as JSON. */
  readonly summary: JsonObject
  /** Prompts on a terminal in another way; a y/N question if left out. */
  prompt?(): Promise<boolean>
}

/**
 * Asks for a confirmation with y/N, no by default; `--yes` confirms it.
 *
 * @throws CliError CONFIRMATION_REQUIRED with the command to run if no prompt is possible; DECLINED, INTERRUPTED
 */
export const confirm = async (
  session: Session,
  { question, summary, prompt }: Confirmation
): Promise<void> => {
  if (session.globals.yes) return
  if (!session.globals.input || !canPrompt(session.terminal)) {
    throw new CliError(
      'CONFIRMATION_REQUIRED',
      'This needs a confirmation, but there is no terminal for a prompt',
      {
        details: { summary },
        hint: 'Read details.summary, then run the command with --yes.',
        next: [{ command: `${session.commandLine} --yes`, why: 'confirm it' }]
      }
    )
  }
  const answer = prompt === undefined ? await promptPlainly(session, question) : await prompt()
  if (!answer) throw new CliError('DECLINED', 'Declined; nothing was done', { details: { summary } })
}

const promptPlainly = async (session: Session, question: string): Promise<boolean> => {
  const { showQuestion } = await import('../screens/question.tsx')
  return showQuestion(session.terminal, question)
}

/** A confirmation of an action that cannot be undone. */
export interface TypedConfirmation extends Omit<Confirmation, 'prompt'> {
  /** The text to type: the name of the thing that will be deleted. */
  readonly name: string
  /** The reason for it, without a full stop; that it cannot be undone if left out. */
  readonly reason?: string
}

/**
 * Asks for a typed confirmation of an action that cannot be undone; `--yes --confirm <name>` confirms it (ecosystem
 * 1.4).
 *
 * @throws CliError CONFIRMATION_REQUIRED, DECLINED if another name was given, INTERRUPTED
 */
export const confirmTyped = async (
  session: Session,
  { question, name, reason = 'This cannot be undone', summary }: TypedConfirmation
): Promise<void> => {
  const given = session.text('confirm')
  const isScripted = session.globals.yes && given !== undefined
  if (!isScripted && (!session.globals.input || !canPrompt(session.terminal))) {
    throw new CliError('CONFIRMATION_REQUIRED', `${reason}: "${name}" has to be typed`, {
      details: { summary },
      hint: 'Read details.summary, then run the command with --yes and --confirm.',
      next: [
        {
          command: [
            session.commandLine,
            ...(session.globals.yes ? [] : ['--yes']),
            ...(given === undefined ? ['--confirm', shellWord(name)] : [])
          ].join(' '),
          why: 'confirm it'
        }
      ]
    })
  }
  const typed = isScripted ? given : await promptText(session.terminal, `${question} Type "${name}":`)
  if (typed.trim() === name) return
  throw new CliError('DECLINED', 'The name differs; nothing was done', { details: { summary } })
}
