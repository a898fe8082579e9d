import { isSameJson, type Json, type JsonObject } from '../../base/json.ts'
import { type FieldEdit, objectAt } from '../../sync/json-file.ts'

/** The account's settings of its plugins. */
export const PLUGIN_SETTINGS_PATH = 'PluginSettings.json'

/** The settings that a currency or swap plugin has of its own (protocol §3.4 `PluginSettings.json`). */
export const userSettingsOf = (fields: JsonObject, pluginId: string): JsonObject =>
  objectAt(fields, ['userSettings', pluginId]) ?? {}

/**
 * The edits that make the settings what somebody wants them to be.
 *
 * Only what differs from what was shown: a field that a sync brings meanwhile was not meant.
 *
 * @param wanted - undefined takes the settings away, as if none had ever been set
 */
export const userSettingsEdits = (
  shown: JsonObject,
  pluginId: string,
  wanted: JsonObject | undefined
): FieldEdit[] => {
  if (wanted === undefined)
    return objectAt(shown, ['userSettings', pluginId]) === undefined
      ? []
      : [{ path: ['userSettings', pluginId], value: undefined }]
  const known = userSettingsOf(shown, pluginId)
  const fieldOf = (fields: JsonObject, name: string): Json | undefined =>
    Object.hasOwn(fields, name) ? fields[name] : undefined
  return [...new Set([...Object.keys(known), ...Object.keys(wanted)])]
    .filter(name => !isSameJson(fieldOf(known, name), fieldOf(wanted, name)))
    .map(name => ({ path: ['userSettings', pluginId, name], value: fieldOf(wanted, name) }))
}

/** Whether a swap plugin may be asked; true if nothing says otherwise. */
export const isSwapEnabled = (fields: JsonObject, pluginId: string): boolean =>
  objectAt(fields, ['swapSettings', pluginId])?.enabled !== false

/**
 * The edit that allows or forbids it, or with undefined leaves it to the default again; if that is new. What else the
 * deployed app keeps there stays.
 */
export const swapEnabledEdits = (
  shown: JsonObject,
  pluginId: string,
  value: boolean | undefined
): FieldEdit[] => {
  const isSet = objectAt(shown, ['swapSettings', pluginId])?.enabled !== undefined
  const isSame = value === undefined ? !isSet : isSwapEnabled(shown, pluginId) === value
  return isSame ? [] : [{ path: ['swapSettings', pluginId, 'enabled'], value }]
}

// No field of the deployed file: one per token, so that two devices may each switch one on (docs/adr/0026).
const ALWAYS = 'alwaysEnabledTokens'

/** The ids that a currency always has on, known or not; ascending. */
export const alwaysEnabledOf = (fields: JsonObject, pluginId: string): string[] =>
  Object.entries(objectAt(fields, [ALWAYS, pluginId]) ?? {})
    .filter(([, isOn]) => isOn === true)
    .map(([tokenId]) => tokenId)
    .sort()

/** The edits that make these tokens, of those that are known, the ones that are always on; as {@link userSettingsEdits}. */
export const alwaysEnabledEdits = (
  shown: JsonObject,
  pluginId: string,
  { wanted, known }: { readonly wanted: readonly string[]; readonly known: readonly string[] }
): FieldEdit[] => {
  const [before, after] = [new Set(alwaysEnabledOf(shown, pluginId)), new Set(wanted)]
  return known
    .filter(tokenId => before.has(tokenId) !== after.has(tokenId))
    .map(tokenId => ({ path: [ALWAYS, pluginId, tokenId], value: after.has(tokenId) ? true : undefined }))
}
