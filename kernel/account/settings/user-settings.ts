import { WalletError } from '../../base/errors.ts'
import { copyJson, isRecord, type JsonObject } from '../../base/json.ts'

const MAX_LENGTH = 100_000

/**
 * Checks the settings that somebody gives to a plugin, and gives a copy that nobody else holds.
 *
 * @throws OPTION_INVALID unless it is a JSON object of at most 100,000 characters
 */
export const checkUserSettings = (settings: unknown): JsonObject => {
  try {
    const copy = copyJson(settings, 'settings', MAX_LENGTH)
    if (isRecord(copy)) return copy as JsonObject
  } catch (error) {
    throw refuse(error)
  }
  throw refuse()
}

const refuse = (cause?: unknown): WalletError =>
  new WalletError(
    'OPTION_INVALID',
    { option: 'settings', rule: `are no JSON object of at most ${MAX_LENGTH} characters` },
    cause
  )
