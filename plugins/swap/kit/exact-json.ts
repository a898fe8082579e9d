import { checkJsonText, parseJsonText, WalletError } from '../../../kernel/plugin-api.ts'

/** JSON as {@link parseExactJson} reads it: a number is the text that the sender wrote, such as `'0.1'` or `'1e-8'`. */
export type ExactJson =
  | null
  | boolean
  | string
  | readonly ExactJson[]
  | { readonly [name: string]: ExactJson }

/**
 * Reads JSON and keeps every number as its own text, since a float would change amounts.
 *
 * Each number outside of texts is put in quotes before it is parsed. A number that JSON does not allow, such as
 * `01`, `.5` or `NaN`, is no match or only half a match, and what is left over makes the whole text invalid.
 *
 * @param source - who sent it, for the message
 * @throws BAD_REPLY if it is no JSON, or nests deeper than 64
 */
export const parseExactJson = (text: string, source: string): ExactJson => {
  try {
    checkJsonText(text)
    return parseJsonText(text.replace(TEXT_OR_NUMBER, quoteNumber)) as ExactJson
  } catch (error) {
    const rule = error instanceof SyntaxError ? error.message : 'is no JSON'
    throw new WalletError('BAD_REPLY', { source, path: '', rule })
  }
}

// A text always matches, also one that never ends: else each quote in it would be tried anew, up to the end each time.
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*["\\]?|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

const quoteNumber = (token: string): string => (token.startsWith('"') ? token : `"${token}"`)
