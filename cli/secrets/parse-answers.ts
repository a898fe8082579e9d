import { parseJsonText } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'

/** Reads the answers to recovery questions: a JSON list of texts. @throws CliError SECRET_SOURCE */
export const parseAnswers = (text: string): readonly string[] => {
  const refuse = (): CliError =>
    new CliError('SECRET_SOURCE', 'The answers must be a JSON list of texts, such as ["…", "…"]')
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch {
    // The parser's own words would repeat the text.
    throw refuse()
  }
  if (!Array.isArray(value) || value.some(answer => typeof answer !== 'string')) throw refuse()
  return value as string[]
}
