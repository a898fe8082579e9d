import type { Json, JsonObject } from '../../base/json.ts'
import { parseLegacyToken, parseSavedToken, parseTokenId } from '../../schema/account-files.ts'
import { type FieldEdit, objectAt } from '../../sync/json-file.ts'
import type { Token, TokenMap } from '../../types/currency.ts'
import { tokenMapOf } from './token-map.ts'

/** The account's own tokens, and the deployed app's settings, which are read only if that file is missing. */
export const CUSTOM_TOKENS_PATH = 'CustomTokens.json'
export const LEGACY_SETTINGS_PATH = 'Settings.json'

/**
 * Reads the custom tokens of one currency (protocol §3.4 `CustomTokens.json`).
 *
 * A token that cannot be read is reported and left out; the file keeps it.
 */
export const customTokensOf = (
  fields: JsonObject,
  pluginId: string,
  report: (error: unknown) => void
): TokenMap => {
  const tokens = new Map<string, Token>()
  for (const [tokenId, value] of Object.entries(objectAt(fields, ['customTokens', pluginId]) ?? {})) {
    try {
      tokens.set(parseTokenId(tokenId), parseSavedToken(value))
    } catch (error) {
      report(error)
    }
  }
  return tokenMapOf(tokens)
}

/**
 * Makes the content of a custom token file from the deployed app's old settings (protocol §3.4 `Settings.json`).
 *
 * Hidden tokens and those of currencies without a plugin are left out.
 */
export const customTokensOfLegacy = (
  settings: JsonObject | undefined,
  pluginIdOf: (walletType: string) => string | undefined,
  report: (error: unknown) => void
): FieldEdit[] => {
  const { customTokens } = settings ?? {}
  if (!Array.isArray(customTokens)) return []
  return customTokens.flatMap((value: Json) => {
    try {
      const legacy = parseLegacyToken(value)
      const pluginId = legacy === undefined ? undefined : pluginIdOf(legacy.walletType)
      return legacy === undefined || pluginId === undefined
        ? []
        : customTokenEdits(pluginId, legacy.tokenId, legacy.token)
    } catch (error) {
      report(error)
      return []
    }
  })
}

/** The edits that write a token; fields of it that this version does not know stay. */
export const customTokenEdits = (pluginId: string, tokenId: string, token: Token): FieldEdit[] => {
  const { currencyCode, displayName, denominations, networkLocation } = token
  const fields = {
    currencyCode,
    displayName,
    denominations: denominations as unknown as Json,
    networkLocation
  }
  return Object.entries(fields).map(([name, value]) => ({
    path: ['customTokens', pluginId, tokenId, name],
    value
  }))
}

/** The edit that removes a token. */
export const customTokenRemoval = (pluginId: string, tokenId: string): FieldEdit => ({
  path: ['customTokens', pluginId, tokenId],
  value: undefined
})
