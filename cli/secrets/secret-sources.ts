import { readFile, stat } from 'node:fs/promises'
import { CliError } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/options.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The secrets that commands may need (ecosystem 1.6). */
const secretNames = [
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
  'key-passphrase',
  'api-key',
  'node-login',
  'store-password'
] as const

/** The name of a secret. */
export type SecretName = (typeof secretNames)[number]

/** Returns the words for a secret: `recovery key`. */
export const wordsOf = (name: SecretName): string => WORDS.get(name) ?? name.replaceAll('-', ' ')

const WORDS: ReadonlyMap<SecretName, string> = new Map([
  ['pin', 'PIN'],
  ['new-pin', 'new PIN'],
  ['api-key', 'API key'],
  ['node-login', 'login of the node'],
  ['store-password', 'password of the store'],
  ['otp', 'two-factor code'],
  ['otp-key', 'two-factor key'],
  ['otp-reset', 'reset token']
])

/** Returns the advice to a user who has written a secret on the command line. */
export const secretAdvice = (name: string): string =>
  `Other programs can read a command line. Use --${name}-stdin, --${name}-file <path>, or leave it out and type it at the prompt.`

/** Returns the secret that a flag such as `--password` or `--pin=1234` would expose; undefined for other flags. */
export const secretOfFlag = (flag: string): string | undefined => {
  const name = flag.split('=')[0] ?? ''
  return secretNames.find(secret => name === `--${secret}`)
}

/** Finds the secret flags among parsed flags: `passwordStdin`, `newPinFile`, `secretsStdin`, `secretsFd`. */
export const secretFlagsOf = (flags: Readonly<Record<string, unknown>>): SecretFlags => {
  const files = new Map<SecretName, string>()
  for (const name of secretNames) {
    const path = flags[`${camelOf(name)}File`]
    if (typeof path === 'string') files.set(name, path)
  }
  return {
    stdin: secretNames.filter(name => flags[`${camelOf(name)}Stdin`] === true),
    files,
    hasJson: flags.secretsStdin === true,
    descriptor: typeof flags.secretsFd === 'string' ? flags.secretsFd : undefined
  }
}

/** Returns a flag's name as commander keeps it: `newPinFile` for `new-pin-file`. */
export const camelOf = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The secret flags of one command, as they were given. */
export interface SecretFlags {
  /** Secrets that come from a line of standard input; at most one. */
  readonly stdin: readonly SecretName[]
  readonly files: ReadonlyMap<SecretName, string>
  /** One JSON object with several secrets comes from standard input. */
  readonly hasJson: boolean
  /** The number of an inherited descriptor that brings such an object, as it was typed. */
  readonly descriptor: string | undefined
}

/**
 * Reads all secrets that flags name, without a prompt.
 *
 * @throws CliError SECRET_SOURCE if standard input is needed twice, a file can be read by others, the text is invalid, or
 *   two sources bring the same secret; USAGE for a number that no descriptor has
 */
export const readSecrets = async (
  flags: SecretFlags,
  terminal: Pick<Terminal, 'readDescriptor' | 'stdin'>
): Promise<ReadonlyMap<SecretName, string>> => {
  if (flags.stdin.length + (flags.hasJson ? 1 : 0) > 1) {
    throw new CliError('SECRET_SOURCE', 'Standard input can contain only one secret', {
      hint: 'Use --secrets-stdin with one JSON object for several.'
    })
  }
  const found = new Map<SecretName, string>()
  const add = (name: SecretName, value: string): void => {
    if (found.has(name)) throw new CliError('SECRET_SOURCE', `Two sources bring the ${wordsOf(name)}`)
    found.set(name, value)
  }
  for (const [name, path] of flags.files) add(name, await readSecretFile(name, path))
  for (const name of flags.stdin) add(name, withoutNewline(await textOf(terminal.stdin)))
  if (flags.hasJson) {
    const text = await textOf(terminal.stdin)
    for (const [name, value] of await parseSecrets(text, 'Standard input')) add(name, value)
  }
  if (flags.descriptor !== undefined) {
    const text = await readDescriptor(flags.descriptor, terminal)
    for (const [name, value] of await parseSecrets(text, DESCRIPTOR)) add(name, value)
  }
  return found
}

const MAX_LENGTH = 64 * 1024
const DESCRIPTOR = 'The descriptor of --secrets-fd'
/** Standard input has flags of its own, and the outputs bring nothing. */
const DESCRIPTORS = [3, 1023] as const

const readDescriptor = async (
  number: string,
  { readDescriptor: read }: Pick<Terminal, 'readDescriptor'>
): Promise<string> => {
  const descriptor = parseCount(number, 'descriptor of --secrets-fd', DESCRIPTORS)
  if (read === undefined) throw new CliError('SECRET_SOURCE', `${DESCRIPTOR} cannot be read here`)
  return read(descriptor, MAX_LENGTH).catch((error: unknown) => {
    throw new CliError(
      'SECRET_SOURCE',
      `${DESCRIPTOR} ${error instanceof Error && !('code' in error) ? error.message : 'cannot be read'}`
    )
  })
}

/**
 * Reads a file that only its owner can read, without its last line break.
 *
 * @param name - the name in the flag, such as `pin` of `--pin-file`
 * @throws CliError SECRET_SOURCE
 */
export const readSecretFile = async (name: string, path: string): Promise<string> => {
  const refuse = (rule: string, cause?: unknown): CliError =>
    new CliError('SECRET_SOURCE', `The file of --${name}-file ${rule}`, { cause })
  const info = await stat(path).catch((error: unknown) => {
    throw refuse('cannot be read', error)
  })
  if (!info.isFile()) throw refuse('is no file')
  if (process.platform !== 'win32' && (info.mode & 0o077) !== 0) {
    throw new CliError('SECRET_SOURCE', `The file of --${name}-file can be read by others`, {
      hint: 'Make it private with chmod 600, and assume that others know the secret.'
    })
  }
  if (info.size > MAX_LENGTH) throw refuse('is too large')
  return withoutNewline(await readFile(path, 'utf8'))
}

/**
 * Returns the entries of a JSON object of texts (the list of answers as JSON), whatever their names; only known ones are
 * used.
 */
const parseSecrets = async (
  text: string,
  source: string
): Promise<readonly (readonly [SecretName, string])[]> => {
  const refuse = (): CliError =>
    new CliError(
      'SECRET_SOURCE',
      `${source} must be one JSON object of texts, such as {"password": "…"}; answers are a list of texts`
    )
  return Object.entries(await parseSecretObject(text, refuse)).map(([name, secret]) => {
    const plain = name === 'answers' && Array.isArray(secret) ? JSON.stringify(secret) : secret
    if (typeof plain !== 'string') throw refuse()
    return [name as SecretName, plain] as const
  })
}

const textOf = async (stdin: NodeJS.ReadStream): Promise<string> => {
  if (stdin.isTTY)
    throw new CliError(
      'SECRET_SOURCE',
      'Standard input is a terminal; leave out the flag and type the secret at the prompt'
    )
  let text = ''
  stdin.setEncoding('utf8')
  for await (const chunk of stdin) {
    text += String(chunk)
    if (text.length > MAX_LENGTH)
      throw new CliError('SECRET_SOURCE', 'Standard input is too large for a secret')
  }
  return text
}

const withoutNewline = (text: string): string => text.replace(/\r?\n$/, '')

/**
 * Reads a JSON object that holds secrets.
 *
 * @throws the error of `refuse` for any other text
 */
export const parseSecretObject = async (
  text: string,
  refuse: () => CliError
): Promise<Readonly<Record<string, unknown>>> => {
  const value = await parseSecretJson(text, refuse)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse()
  return value as Readonly<Record<string, unknown>>
}

/** Reads the answers to recovery questions: a JSON list of texts. @throws CliError SECRET_SOURCE */
export const parseAnswers = async (text: string): Promise<readonly string[]> => {
  const refuse = (): CliError =>
    new CliError('SECRET_SOURCE', 'The answers must be a JSON list of texts, such as ["…", "…"]')
  const value = await parseSecretJson(text, refuse)
  if (!Array.isArray(value) || value.some(answer => typeof answer !== 'string')) throw refuse()
  return value as string[]
}

/** Parses JSON that holds secrets; the error of the parser, which would repeat the text, is dropped. */
const parseSecretJson = async (text: string, refuse: () => CliError): Promise<unknown> => {
  // This file is loaded at every start, and the kernel only when a command needs it.
  const { parseJsonText } = await import('../../kernel/index.ts')
  try {
    return parseJsonText(text)
  } catch {
    throw refuse()
  }
}
