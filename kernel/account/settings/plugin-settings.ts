import { type FieldEdit, objectAt } from '../../repo/json-file.ts'
import type { JsonObject } from '../../types/json.ts'

/** The account's settings of its plugins. */
export const PLUGIN_SETTINGS_PATH = 'PluginSettings.json'

/** The settings that a currency or swap plugin has of its own (protocol §3.4 `PluginSettings.json`). */
export const userSettingsOf = (fields: JsonObject, pluginId: string): JsonObject =>
  objectAt(fields, ['userSettings', pluginId]) ?? {}

/** The edit that replaces them. */
export const userSettingsEdit = (pluginId: string, value: JsonObject): FieldEdit => ({
  path: ['userSettings', pluginId],
  value
})

/** Whether a swap plugin may be asked; true if nothing says otherwise. */
export const isSwapEnabled = (fields: JsonObject, pluginId: string): boolean =>
  objectAt(fields, ['swapSettings', pluginId])?.enabled !== false

/** The edit that allows or forbids it; what else the deployed app keeps there stays. */
export const swapEnabledEdit = (pluginId: string, value: boolean): FieldEdit => ({
  path: ['swapSettings', pluginId, 'enabled'],
  value
})

// No field of the deployed file: one per token, so that two devices may each switch one on (docs/adr/0026).
const ALWAYS = 'alwaysEnabledTokens'

/** The ids that a currency always has on, known or not; ascending. */
export const alwaysEnabledOf = (fields: JsonObject, pluginId: string): string[] =>
  Object.entries(objectAt(fields, [ALWAYS, pluginId]) ?? {})
    .filter(([, isOn]) => isOn === true)
    .map(([tokenId]) => tokenId)
    .sort()

/** The edits that switch tokens on or off for all wallets of a currency. */
export const alwaysEnabledEdits = (pluginId: string, tokens: ReadonlyMap<string, boolean>): FieldEdit[] =>
  [...tokens].map(([tokenId, isOn]) => ({
    path: [ALWAYS, pluginId, tokenId],
    value: isOn ? true : undefined
  }))
