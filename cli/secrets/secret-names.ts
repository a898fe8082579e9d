/** The secrets that a command of this version may ask for (ecosystem 1.6). */
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
  'private-key',
  'api-key'
] as const

/** One of them. */
export type SecretName = (typeof secretNames)[number]

/** A secret in words: `recovery key`. */
export const wordsOf = (name: SecretName): string => WORDS.get(name) ?? name.replaceAll('-', ' ')

const WORDS: ReadonlyMap<SecretName, string> = new Map([
  ['pin', 'PIN'],
  ['new-pin', 'new PIN'],
  ['api-key', 'API key'],
  ['otp', 'two-factor code'],
  ['otp-key', 'two-factor key'],
  ['otp-reset', 'reset token']
])

/** What a person is told who writes a secret on the command line. */
export const secretAdvice = (name: string): string =>
  `Other programs can read a command line. Use --${name}-stdin, --${name}-file <path>, or wait to be asked.`

/** The secret that a flag such as `--password` or `--pin=1234` would give away; undefined for any other flag. */
export const secretOfFlag = (flag: string): string | undefined => {
  const name = flag.split('=')[0] ?? ''
  return secretNames.find(secret => name === `--${secret}`)
}
