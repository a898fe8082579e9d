/** What a password lacks, and how long guessing it would take. */
export interface PasswordRules {
  /** An estimate for a guesser who tries a million passwords a second. */
  readonly secondsToCrack: number
  /** Under 10 characters. */
  readonly tooShort: boolean
  readonly noNumber: boolean
  readonly noLowerCase: boolean
  readonly noUpperCase: boolean
  /** Good enough: nothing is lacking, or it has 16 characters or more. */
  readonly passed: boolean
}

/** Judges a password (specification §5, §9; pure; vectors `password-rules`). Only advice: no call refuses a weak one. */
export const checkPasswordRules = (password: string): PasswordRules => {
  const has = (letters: RegExp): boolean => letters.test(password)
  const tooShort = password.length < SHORTEST
  const noNumber = !has(/[0-9]/)
  const noLowerCase = !has(/[a-z]/)
  const noUpperCase = !has(/[A-Z]/)
  const isFlawless = !(tooShort || noNumber || noLowerCase || noUpperCase)
  return {
    secondsToCrack: secondsToCrack(password),
    tooShort,
    noNumber,
    noLowerCase,
    noUpperCase,
    passed: isFlawless || password.length >= LONG_ENOUGH
  }
}

const SHORTEST = 10
const LONG_ENOUGH = 16
const GUESSES_PER_SECOND = 1e6

const CLASSES: readonly { readonly letters: RegExp; readonly count: number }[] = [
  { letters: /[0-9]/, count: 10 },
  { letters: /[a-z]/, count: 26 },
  { letters: /[A-Z]/, count: 26 },
  // As many as the deployed system counts.
  { letters: /[^0-9a-zA-Z]/, count: 30 }
]

const secondsToCrack = (password: string): number => {
  const alphabet = CLASSES.reduce((sum, { letters, count }) => sum + (letters.test(password) ? count : 0), 0)
  // Infinity is no JSON.
  return Math.min(alphabet ** password.length / GUESSES_PER_SECOND, Number.MAX_VALUE)
}
