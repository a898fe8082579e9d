import { readFile, stat } from 'node:fs/promises'
import type { JsonObject } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { secretFlagsOf } from '../secrets/secret-sources.ts'
import type { Session } from './session.ts'

/** The size limit of files that are read as a whole, in bytes. */
const MAX_BYTES = 64_000_000

/**
 * Reads the text of `--value-stdin`, without its last line break, or of `--file`, exactly.
 *
 * @throws CliError USAGE if neither or both are given, or if standard input also carries a secret; NOT_FOUND
 */
export const readValue = async (session: Session): Promise<string> => {
  const path = session.text('file')
  const isPiped = session.isOn('valueStdin')
  if (isPiped === (path !== undefined)) {
    throw new CliError('USAGE', 'Name the source of the text: --value-stdin or --file <file>')
  }
  if (path !== undefined) return readTextFile(path)
  const { stdin, hasJson } = secretFlagsOf(session.flags)
  if (hasJson || stdin.length > 0) {
    throw new CliError('USAGE', 'Standard input cannot contain both a secret and a text', {
      hint: 'Use --file for the text, or a file for the secret.'
    })
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of session.terminal.stdin) {
    chunks.push(Buffer.from(chunk))
    size += chunks.at(-1)?.length ?? 0
    if (size > MAX_BYTES) throw new CliError('USAGE', 'Standard input is too large')
  }
  return decoded(Buffer.concat(chunks), 'Standard input').replace(/\r?\n$/, '')
}

/** Reads the text of a file exactly. @throws CliError NOT_FOUND, USAGE if it is too large or no UTF-8 */
export const readTextFile = async (path: string, limit: number = MAX_BYTES): Promise<string> =>
  decoded(await readBytes(path, limit), `The file ${path}`)

/** Reads the bytes of a file. @throws CliError NOT_FOUND, USAGE if it is too large */
export const readBytes = async (
  path: string,
  limit: number = MAX_BYTES
): Promise<Uint8Array<ArrayBuffer>> => {
  const unreadable = (cause: unknown): CliError =>
    new CliError('NOT_FOUND', `The file ${path} cannot be read`, { cause })
  const { size } = await stat(path).catch((error: unknown) => {
    throw unreadable(error)
  })
  if (size > limit) throw new CliError('USAGE', `The file ${path} is too large`)
  return readFile(path).catch((error: unknown) => {
    throw unreadable(error)
  })
}

/** Returns true for a JSON object, which is neither a list nor null. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const decoded = (bytes: Uint8Array, what: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new CliError('USAGE', `${what} is not UTF-8 text`, { cause: error })
  }
}
