import { parseJsonText } from '../../kernel/index.ts'
import type { CliError } from '../errors/cli-error.ts'

/**
 * Reads a JSON object that holds secrets.
 *
 * @throws what `refuse` makes, for anything else: the parser's own words would repeat the text
 */
export const parseSecretObject = (
  text: string,
  refuse: () => CliError
): Readonly<Record<string, unknown>> => {
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch {
    throw refuse()
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse()
  return value as Readonly<Record<string, unknown>>
}
