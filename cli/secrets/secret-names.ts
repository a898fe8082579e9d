/** The secrets that a command of this version may ask for; more join with their commands (ecosystem 1.6). */
export const secretNames = [
  'password',
  'new-password',
  'pin',
  'new-pin',
  'otp',
  'otp-key',
  'otp-reset',
  'recovery-key',
  'answers',
  'login-key',
  'private-key'
] as const

/** One of them. */
export type SecretName = (typeof secretNames)[number]

/** A secret in words: `recovery key`. */
export const wordsOf = (name: SecretName): string => WORDS.get(name) ?? name.replaceAll('-', ' ')

const WORDS: ReadonlyMap<SecretName, string> = new Map([
  ['pin', 'PIN'],
  ['new-pin', 'new PIN'],
  ['otp', 'two-factor code'],
  ['otp-key', 'two-factor key'],
  ['otp-reset', 'reset token']
])

/** What a person is told who writes a secret on the command line. */
export const secretAdvice = (name: string): string =>
  `Other programs can read a command line. Use --${name}-stdin, --${name}-file <path>, or wait to be asked.`

// Every secret of the whole grammar, so that none of them is ever echoed or suggested in another form.
const EVER = [...secretNames, 'api-key']

/** The secret that a flag such as `--password` or `--pin=1234` would give away; undefined for any other flag. */
export const secretOfFlag = (flag: string): string | undefined => {
  const name = flag.split('=')[0] ?? ''
  return EVER.find(secret => name === `--${secret}`)
}
