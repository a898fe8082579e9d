import { CliError } from '../errors/cli-error.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** A prompt whose answer is hidden. */
export interface SecretQuestion {
  readonly message: string
  /** Returns a sentence if the answer is invalid. */
  readonly check?: (answer: string) => string | undefined
}

/**
 * Prompts for a secret; only its length is shown. The caller has checked that a prompt is possible.
 *
 * @throws CliError INTERRUPTED on Ctrl-C
 */
export const promptSecret = (terminal: Terminal, { message, check }: SecretQuestion): Promise<string> =>
  runPrompt(terminal, {
    type: 'password',
    name: 'answer',
    message: safeText(message),
    mask: '*',
    // Without this, the prompt advertises a key that shows the secret.
    toggleMask: false,
    validate: (text: string) => check?.(text) ?? true
  })

/** Prompts for text that may be shown. @throws CliError INTERRUPTED on Ctrl-C */
export const promptText = (terminal: Terminal, message: string): Promise<string> =>
  runPrompt(terminal, { type: 'input', name: 'answer', message: safeText(message) })

/** Prompts for one of several choices with the arrow keys. @throws CliError INTERRUPTED on Ctrl-C */
export const promptChoice = (
  terminal: Terminal,
  message: string,
  choices: readonly Choice[]
): Promise<string> =>
  runPrompt(terminal, {
    type: 'select',
    name: 'answer',
    message: safeText(message),
    pageSize: Math.min(choices.length, MAX_CHOICES_SHOWN),
    choices: choices.map(({ text, value }) => ({ name: safeText(text), value }))
  })

/** One text to choose, and what it stands for. */
export interface Choice {
  readonly text: string
  readonly value: string
}

const MAX_CHOICES_SHOWN = 12

const runPrompt = async ({ stdin, stderr }: Terminal, question: object): Promise<string> => {
  const { default: inquirer } = await import('inquirer')
  const prompt = inquirer.createPromptModule({ input: stdin, output: stderr })
  try {
    const { answer } = await prompt<{ answer: string }>([question as never])
    return answer
  } catch (error) {
    if (error instanceof Error && /^(ExitPrompt|AbortPrompt)Error$/.test(error.name)) {
      throw new CliError('INTERRUPTED', 'Stopped', { cause: error })
    }
    throw error
  }
}
