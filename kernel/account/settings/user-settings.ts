import { WalletError } from '../../errors/wallet-error.ts'
import { isRecord } from '../../schema/fields.ts'
import { parseJson } from '../../schema/parse.ts'
import type { JsonObject } from '../../types/json.ts'

const MAX_LENGTH = 100_000

/**
 * Checks the settings that somebody gives to a plugin, and gives a copy that nobody else holds.
 *
 * @throws OPTION_INVALID unless it is a JSON object of at most 100,000 characters
 */
export const checkUserSettings = (settings: unknown): JsonObject => {
  const refuse = (rule: string, cause?: unknown): WalletError =>
    new WalletError('OPTION_INVALID', { option: 'settings', rule }, cause)
  let copy: unknown
  try {
    const text = JSON.stringify(settings)
    if (text.length > MAX_LENGTH) throw refuse('are too long')
    copy = parseJson(text, 'settings')
  } catch (error) {
    throw error instanceof WalletError && error.code === 'OPTION_INVALID'
      ? error
      : refuse('are no JSON', error)
  }
  if (!isRecord(copy)) throw refuse('are no JSON object')
  return copy as JsonObject
}
