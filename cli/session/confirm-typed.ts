import { shellWord } from '../../devtools/core/shell-word.ts'
import { CliError } from '../errors/cli-error.ts'
import { promptText } from '../secrets/prompt.ts'
import type { Session } from '../session.ts'
import { canAsk } from '../terminal.ts'
import type { Confirmation } from './confirm.ts'

/** A confirmation of something that cannot be undone. */
export interface TypedConfirmation extends Omit<Confirmation, 'ask'> {
  /** What has to be typed: the name of what will be gone. */
  readonly name: string
}

/**
 * Has a name typed before something that cannot be undone; `--yes --confirm <name>` does the same (ecosystem 1.4).
 *
 * @throws CliError CONFIRMATION_REQUIRED, DECLINED if another name was given, INTERRUPTED
 */
export const confirmTyped = async (
  session: Session,
  { question, name, summary }: TypedConfirmation
): Promise<void> => {
  const given = session.text('confirm')
  const isScripted = session.globals.yes && given !== undefined
  if (!isScripted && (!session.globals.input || !canAsk(session.terminal))) {
    throw new CliError('CONFIRMATION_REQUIRED', `This cannot be undone: "${name}" has to be typed`, {
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
  throw new CliError('DECLINED', 'That is another name; nothing was done', { details: { summary } })
}
