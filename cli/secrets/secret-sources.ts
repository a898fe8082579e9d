import { readFile, stat } from 'node:fs/promises'
import { CliError } from '../errors/cli-error.ts'
import { parseSecretObject } from './parse-secret-object.ts'
import type { SecretName } from './secret-names.ts'

/** The secret flags of one command, as they were given. */
export interface SecretFlags {
  /** Secrets that come from a line of standard input; at most one. */
  readonly stdin: readonly SecretName[]
  readonly files: ReadonlyMap<SecretName, string>
  /** One JSON object with several secrets comes from standard input. */
  readonly hasJson: boolean
}

/**
 * Reads every secret that flags lead to. Nothing is asked.
 *
 * @throws CliError SECRET_SOURCE if standard input is wanted twice, a file can be read by others, or the text is bad
 */
export const readSecrets = async (
  flags: SecretFlags,
  stdin: NodeJS.ReadStream
): Promise<ReadonlyMap<SecretName, string>> => {
  if (flags.stdin.length + (flags.hasJson ? 1 : 0) > 1) {
    throw new CliError('SECRET_SOURCE', 'Standard input can bring one secret only', {
      hint: 'Use --secrets-stdin with one JSON object for several.'
    })
  }
  const found = new Map<SecretName, string>()
  for (const [name, path] of flags.files) found.set(name, await readSecretFile(name, path))
  for (const name of flags.stdin) found.set(name, withoutNewline(await textOf(stdin)))
  if (flags.hasJson) for (const [name, value] of parseSecrets(await textOf(stdin))) found.set(name, value)
  return found
}

const MAX_LENGTH = 64 * 1024

/** The text of a file that only its owner can read, without its last line break; `name`: such as `pin`, of `--pin-file`. @throws CliError SECRET_SOURCE */
export const readSecretFile = async (name: string, path: string): Promise<string> => {
  const refuse = (rule: string, cause?: unknown): CliError =>
    new CliError('SECRET_SOURCE', `The file of --${name}-file ${rule}`, { cause })
  const info = await stat(path).catch((error: unknown) => {
    throw refuse('cannot be read', error)
  })
  if (!info.isFile()) throw refuse('is no file')
  if (process.platform !== 'win32' && (info.mode & 0o077) !== 0) {
    throw new CliError('SECRET_SOURCE', `The file of --${name}-file can be read by others`, {
      hint: 'Make it private with chmod 600, and consider the secret known.'
    })
  }
  if (info.size > MAX_LENGTH) throw refuse('is too large')
  return withoutNewline(await readFile(path, 'utf8'))
}

/** Gives the entries of a JSON object with texts (and the list of answers, as JSON), whatever their names; only known ones are ever asked for. */
const parseSecrets = (text: string): readonly (readonly [SecretName, string])[] => {
  const refuse = (): CliError =>
    new CliError(
      'SECRET_SOURCE',
      'Standard input must be one JSON object of texts, such as {"password": "…"}; answers are a list of texts'
    )
  return Object.entries(parseSecretObject(text, refuse)).map(([name, secret]) => {
    const plain = name === 'answers' && Array.isArray(secret) ? JSON.stringify(secret) : secret
    if (typeof plain !== 'string') throw refuse()
    return [name as SecretName, plain] as const
  })
}

const textOf = async (stdin: NodeJS.ReadStream): Promise<string> => {
  if (stdin.isTTY)
    throw new CliError('SECRET_SOURCE', 'Standard input is a terminal; leave the flag out to be asked')
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
