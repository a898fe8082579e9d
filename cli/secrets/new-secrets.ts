import { type Context, type PasswordRules, WalletError } from '../../kernel/index.ts'
import type { StatusLine } from '../terminal/status-line.ts'
import type { SecretName } from './secret-sources.ts'
import type { Secrets } from './secrets.ts'

/** The parts of a session that new secrets need. */
export interface NewSecretOptions {
  readonly secrets: Secrets
  readonly statusLine: StatusLine
}

/**
 * Returns a new password, from a flag or typed twice, and prints how long guessing it takes.
 *
 * @throws PASSWORD_TOO_WEAK with the problems, CliError PROMPT_IMPOSSIBLE, INTERRUPTED
 */
export const newPassword = async (
  { secrets, statusLine }: NewSecretOptions,
  context: Context,
  name: SecretName = 'new-password'
): Promise<string> => {
  const problemOf = (password: string): string | undefined => {
    const problems = problemsOf(context.checkPasswordRules(password))
    return problems.length === 0 ? undefined : `It ${problems.join(', ')}`
  }
  const password = (await secrets.given(name)) ?? (await promptTwice(secrets, name, problemOf))
  const rules = context.checkPasswordRules(password)
  checkRules(rules)
  statusLine.info(`Guessing this password would take ${crackTimeText(rules.secondsToCrack)}.`)
  return password
}

/** Refuses a password that breaks the rules. @throws PASSWORD_TOO_WEAK */
export const checkRules = (rules: PasswordRules): void => {
  const problems = problemsOf(rules)
  if (problems.length > 0) throw new WalletError('PASSWORD_TOO_WEAK', { problems })
}

/** Returns a new PIN, from a flag or typed twice. @throws CliError PROMPT_IMPOSSIBLE, INTERRUPTED */
export const newPin = async ({ secrets }: NewSecretOptions, name: SecretName = 'new-pin'): Promise<string> =>
  (await secrets.given(name)) ?? promptTwice(secrets, name, pinProblem)

/** Returns the problem of a PIN in a sentence; undefined without one. */
export const pinProblem = (text: string): string | undefined =>
  /^\d{4,}$/.test(text) ? undefined : 'Type four digits or more'

const promptTwice = async (
  secrets: Secrets,
  name: SecretName,
  check: (text: string) => string | undefined
): Promise<string> => {
  const word = name.endsWith('pin') ? 'PIN' : 'password'
  const first = await secrets.prompt(name, { message: `New ${word}:`, check })
  await secrets.prompt(name, {
    message: 'Repeat it:',
    check: text => (text === first ? undefined : 'The two entries differ')
  })
  return first
}

const problemsOf = ({ passed, tooShort, noNumber, noLowerCase, noUpperCase }: PasswordRules): string[] => {
  if (passed) return []
  return [
    ...(tooShort ? ['has fewer than 10 characters'] : []),
    ...(noNumber ? ['has no digit'] : []),
    ...(noLowerCase ? ['has no lower-case letter'] : []),
    ...(noUpperCase ? ['has no upper-case letter'] : [])
  ]
}

const UNITS: readonly (readonly [seconds: number, word: string])[] = [
  [31_557_600, 'year'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second']
]

/** Formats the time that guessing takes: `about 3 minutes`, `more than a trillion years`. */
export const crackTimeText = (seconds: number): string => {
  for (const [size, word] of UNITS) {
    const count = Math.floor(seconds / size)
    if (count >= A_TRILLION) return `more than a trillion ${word}s`
    if (count >= 1) return `about ${roundCount(count)} ${word}${count === 1 ? '' : 's'}`
  }
  return 'less than a second'
}

const A_TRILLION = 1e12

const roundCount = (count: number): string => {
  if (count >= 1e9) return `${Math.floor(count / 1e9)} billion`
  if (count >= 1e6) return `${Math.floor(count / 1e6)} million`
  if (count >= 10_000) return `${Math.floor(count / 1000)},000`
  return String(count)
}
