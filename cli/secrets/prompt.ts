import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { CliError } from '../errors/cli-error.ts'
import { safeText } from '../terminal/safe-text.ts'
import { canPrompt, type Terminal } from '../terminal/terminal.ts'

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

/**
 * Disables the echo of the terminal for the rest of this process, so that a secret that is typed before its prompt
 * appears is not shown. The typed characters are kept for the prompt; Ctrl-C and Ctrl-Z work as before.
 *
 * Node restores the terminal when the process ends. Without effect on another terminal than that of this process, in the
 * background, and without `stty`.
 */
export const disableEcho = (terminal: Terminal): void => {
  if (terminal.stdin !== process.stdin || !canPrompt(terminal) || process.platform === 'win32') return
  if (isInForeground()) stty()
}

/** A raw mode, which Node offers, would also take the keys that stop a process. */
const stty = (): void => {
  spawnSync('stty', ['-echo'], { stdio: ['inherit', 'ignore', 'ignore'], timeout: TIMEOUT_MS })
}

const TIMEOUT_MS = 2000

/** The system stops a process that changes the terminal from the background. */
const isInForeground = (): boolean => {
  try {
    const [own, foreground] = process.platform === 'linux' ? groupsOfProc() : groupsOfPs()
    return own !== undefined && own === foreground
  } catch {
    return false
  }
}

type Groups = readonly [own: string | undefined, foreground: string | undefined]

/** After the name in brackets: state, parent, group, session, terminal, the terminal's foreground group. */
const groupsOfProc = (): Groups => {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [fields[2], fields[5]]
}

const groupsOfPs = (): Groups => {
  const args = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)]
  const [own, foreground] = spawnSync('ps', args, { encoding: 'utf8', timeout: TIMEOUT_MS })
    .stdout.trim()
    .split(/\s+/)
  return [own, foreground]
}
