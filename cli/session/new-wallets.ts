import { type JsonObject, type NewWalletOfType, parseJsonText } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { readTextFile } from './value-input.ts'

/** A type as people write it: with or without `wallet:`. */
export const walletTypeOf = (text: string): string => (text.startsWith('wallet:') ? text : `wallet:${text}`)

/**
 * Reads a file with one wallet to make per row: a JSON list of objects, or one object a line, each with `type`, `name`,
 * `fiat`, `keyOptions` and `tokens`, all but the type optional.
 *
 * @param type - for rows that name none
 * @throws CliError NOT_FOUND, USAGE naming the row; nothing is made then
 */
export const readBatch = async (
  path: string,
  type: string | undefined
): Promise<readonly NewWalletOfType[]> => {
  const rows = rowsOf(await readTextFile(path), path)
  if (rows.length > MAX_ROWS) throw new CliError('USAGE', `The file ${path} has more than ${MAX_ROWS} rows`)
  return rows.map((row, index) => newWalletOf(row, { place: `Row ${index + 1} of ${path}`, type }))
}

const MAX_ROWS = 1000

const rowsOf = (text: string, path: string): readonly unknown[] => {
  try {
    if (text.trimStart().startsWith('[')) return parseJsonText(text) as unknown[]
    return text
      .split('\n')
      .filter(line => line.trim() !== '')
      .map(line => parseJsonText(line))
  } catch (error) {
    throw new CliError('USAGE', `The file ${path} is neither a JSON list nor one JSON object a line`, {
      hint: 'A row looks like {"type": "bitcoin", "name": "Savings", "fiat": "iso:EUR"}.',
      cause: error
    })
  }
}

const newWalletOf = (
  row: unknown,
  { place, type: usual }: { readonly place: string; readonly type: string | undefined }
): NewWalletOfType => {
  const refuse = (rule: string): CliError => new CliError('USAGE', `${place} ${rule}`)
  if (!isObject(row)) throw refuse('is no object')
  const { type = usual, name, fiat, keyOptions, tokens, ...others } = row
  const [stranger] = Object.keys(others)
  if (stranger !== undefined) throw refuse(`has a field "${stranger}" that means nothing`)
  if (typeof type !== 'string') throw refuse('says no type, and neither does the command')
  if (!isMaybeText(name) || !isMaybeText(fiat)) throw refuse('has a name or fiat that is no text')
  if (keyOptions !== undefined && !isObject(keyOptions)) throw refuse('has keyOptions that are no object')
  if (tokens !== undefined && !isTexts(tokens)) throw refuse('has tokens that are no list of ids')
  return {
    type: walletTypeOf(type),
    ...(name === undefined ? {} : { name }),
    ...(fiat === undefined ? {} : { fiatCurrencyCode: fiat }),
    ...(keyOptions === undefined ? {} : { keyOptions }),
    ...(tokens === undefined ? {} : { enabledTokenIds: tokens })
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isMaybeText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string'

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')
