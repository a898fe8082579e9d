import { CliError } from '../errors/cli-error.ts'
import type { Terminal } from '../terminal.ts'

/** A question whose answer is hidden. */
export interface SecretQuestion {
  readonly message: string
  /** Gives a sentence if the answer will not do. */
  readonly check?: (answer: string) => string | undefined
}

/**
 * Asks for a secret on the terminal; only its length is shown. The caller has made sure that somebody can be asked.
 *
 * @throws CliError INTERRUPTED on Ctrl-C
 */
export const promptSecret = async (
  { stdin, stderr }: Terminal,
  { message, check }: SecretQuestion
): Promise<string> => {
  const { default: inquirer } = await import('inquirer')
  const prompt = inquirer.createPromptModule({ input: stdin, output: stderr })
  try {
    const { answer } = await prompt<{ answer: string }>([
      {
        type: 'password',
        name: 'answer',
        message,
        mask: '*',
        // Without this, the prompt advertises a key that shows the secret.
        toggleMask: false,
        validate: (text: string) => check?.(text) ?? true
      }
    ])
    return answer
  } catch (error) {
    if (error instanceof Error && /^(ExitPrompt|AbortPrompt)Error$/.test(error.name)) {
      throw new CliError('INTERRUPTED', 'Stopped', { cause: error })
    }
    throw error
  }
}
