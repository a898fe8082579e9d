import { WalletError } from '../base/errors.ts'
import { copyJson, isRecord, isSameJson, type Json, type JsonObject } from '../base/json.ts'
import { Mutex } from '../base/mutex.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { Services } from '../plugins/services.ts'
import { parseLegacyToken, parseSavedToken, parseTokenId } from '../schema/account-files.ts'
import { editFields, type FieldEdit, JsonFile, objectAt } from '../sync/json-file.ts'
import type { Repo } from '../sync/repo.ts'
import type { Token, TokenMap } from '../types/currency.ts'
import type { PluginId, TokenId } from '../types/ids.ts'

/** The content of the files; {} for one that is missing or cannot be read. Unchanged content stays the same object. */
export interface SettingsState {
  readonly pluginSettings: JsonObject
  /** In the form of `CustomTokens.json`, also where the tokens still stand in the deployed app's old settings. */
  readonly customTokens: JsonObject
}

/**
 * The files in which an account keeps the settings of its plugins and its custom tokens.
 *
 * Nothing is written before it was read, and nothing without a change. Readings and edits never overlap.
 */
export class SettingsFiles implements Readable<SettingsState> {
  readonly report: (error: unknown) => void
  readonly #services: Services
  readonly #pluginSettings: JsonFile
  readonly #customTokens: JsonFile
  readonly #legacySettings: JsonFile
  readonly #state: Observable<SettingsState>
  readonly #mutex = new Mutex()
  readonly #unsubscribe: () => void
  /** The custom tokens of the deployed app's old settings, while there is no file of custom tokens. */
  #legacyTokens: readonly FieldEdit[] = []
  /** The settings of plugins as they will be once the pending edits are done. */
  #expected: JsonObject | undefined
  #isClosed = false

  /** Reads the files of an account's repo and follows them. Files that cannot be read are reported. */
  static async open(services: Services, repo: Repo): Promise<SettingsFiles> {
    const files = new SettingsFiles(services, repo)
    await files.#mutex.run(() => files.#read())
    return files
  }

  private constructor(services: Services, repo: Repo) {
    const { disk, io } = services
    const report = (error: unknown): void => services.report('account settings', error)
    const options = { repo, disk, clock: io.clock, report }
    this.report = report
    this.#services = services
    this.#pluginSettings = new JsonFile(options, PLUGIN_SETTINGS_PATH)
    this.#customTokens = new JsonFile(options, CUSTOM_TOKENS_PATH)
    this.#legacySettings = new JsonFile(options, LEGACY_SETTINGS_PATH)
    this.#state = new Observable<SettingsState>({ pluginSettings: {}, customTokens: {} }, undefined, report)
    const paths = [PLUGIN_SETTINGS_PATH, CUSTOM_TOKENS_PATH, LEGACY_SETTINGS_PATH]
    this.#unsubscribe = repo.onServerChange(changed => {
      if (!changed.some(path => paths.includes(path))) return
      services.inBackground(
        'account settings',
        this.#mutex.run(() => this.#read())
      )
    })
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): SettingsState => this.#state.getSnapshot()

  /**
   * Edits the settings of plugins; durable and shown when it resolves.
   *
   * @param makeEdits - is given what the caller can have seen: what is shown, and what earlier calls make of it
   * @throws LOGGED_OUT, STORAGE_FULL, STORAGE_FAILED
   */
  async editPluginSettings(makeEdits: (shown: JsonObject) => readonly FieldEdit[]): Promise<void> {
    const shown = this.#expected ?? this.getSnapshot().pluginSettings
    const edits = makeEdits(shown)
    const { fields } = editFields(shown, edits)
    this.#expected = fields
    try {
      await this.#edit(() => this.#pluginSettings.edit(() => edits))
    } finally {
      if (this.#expected === fields) this.#expected = undefined
    }
  }

  /**
   * Edits the custom tokens; durable and shown when it resolves. The first edit takes over the tokens of old settings.
   *
   * @param makeEdits - is given the tokens, those of old settings included; what it throws is thrown
   * @throws LOGGED_OUT, STORAGE_FULL, STORAGE_FAILED
   */
  editCustomTokens(makeEdits: (fields: JsonObject) => readonly FieldEdit[]): Promise<void> {
    return this.#edit(async () => {
      await this.#read()
      await this.#customTokens.edit(fields => {
        if (fields !== undefined) return makeEdits(fields)
        const old = editFields({}, this.#legacyTokens).fields
        const edits = makeEdits(old)
        return editFields(old, edits).fields === old ? [] : [...this.#legacyTokens, ...edits]
      })
    })
  }

  /** Stops following the files; edits that were begun end, later ones fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe()
    await this.#mutex.run(async () => {})
  }

  #edit(edit: () => Promise<void>): Promise<void> {
    if (this.#isClosed) return Promise.reject(new WalletError('LOGGED_OUT', {}))
    return this.#mutex.run(async () => {
      await edit()
      await this.#read()
    })
  }

  async #read(): Promise<void> {
    const pluginSettings = (await this.#pluginSettings.read()) ?? {}
    const found = await this.#customTokens.read()
    this.#legacyTokens = found === undefined ? await this.#readLegacy() : []
    const customTokens = found ?? editFields({}, this.#legacyTokens).fields
    const known = this.getSnapshot()
    const kept = (old: JsonObject, next: JsonObject): JsonObject => (isSameJson(old, next) ? old : next)
    const next = {
      pluginSettings: kept(known.pluginSettings, pluginSettings),
      customTokens: kept(known.customTokens, customTokens)
    }
    const isSame = next.pluginSettings === known.pluginSettings && next.customTokens === known.customTokens
    if (!isSame) this.#state.set(next)
  }

  async #readLegacy(): Promise<FieldEdit[]> {
    const pluginIdOf = (walletType: string): PluginId | undefined =>
      this.#services.plugins.findByWalletType(walletType)?.pluginId
    return customTokensOfLegacy(await this.#legacySettings.read(), pluginIdOf, this.report)
  }
}

/** The account's settings of its plugins. */
const PLUGIN_SETTINGS_PATH = 'PluginSettings.json'

/** The settings that a currency or swap plugin has of its own (protocol §3.4 `PluginSettings.json`). */
export const userSettingsOf = (fields: JsonObject, pluginId: PluginId): JsonObject =>
  objectAt(fields, ['userSettings', pluginId]) ?? {}

/**
 * Returns the edits that turn the shown settings into the wanted ones.
 *
 * Only what differs from what was shown: a field that a sync brings meanwhile was not meant.
 *
 * @param wanted - undefined takes the settings away, as if none had ever been set
 */
export const userSettingsEdits = (
  shown: JsonObject,
  pluginId: PluginId,
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

/** Returns true if a swap plugin may be asked for quotes, which is the default. */
export const isSwapEnabled = (fields: JsonObject, pluginId: PluginId): boolean =>
  objectAt(fields, ['swapSettings', pluginId])?.enabled !== false

/**
 * The edit that allows or forbids it, or with undefined leaves it to the default again; if that is new. What else the
 * deployed app keeps there stays.
 */
export const swapEnabledEdits = (
  shown: JsonObject,
  pluginId: PluginId,
  value: boolean | undefined
): FieldEdit[] => {
  const isSet = objectAt(shown, ['swapSettings', pluginId])?.enabled !== undefined
  const isSame = value === undefined ? !isSet : isSwapEnabled(shown, pluginId) === value
  return isSame ? [] : [{ path: ['swapSettings', pluginId, 'enabled'], value }]
}

// No field of the deployed file: one per token, so that two devices may each switch one on (docs/adr/0026).
const ALWAYS = 'alwaysEnabledTokens'

/** The ids that a currency always has on, known or not; ascending. */
export const alwaysEnabledOf = (fields: JsonObject, pluginId: PluginId): string[] =>
  Object.entries(objectAt(fields, [ALWAYS, pluginId]) ?? {})
    .filter(([, isOn]) => isOn === true)
    .map(([tokenId]) => tokenId)
    .sort()

/** The edits that make these tokens, of those that are known, the ones that are always on; as {@link userSettingsEdits}. */
export const alwaysEnabledEdits = (
  shown: JsonObject,
  pluginId: PluginId,
  { wanted, known }: { readonly wanted: readonly string[]; readonly known: readonly string[] }
): FieldEdit[] => {
  const [before, after] = [new Set(alwaysEnabledOf(shown, pluginId)), new Set(wanted)]
  return known
    .filter(tokenId => before.has(tokenId) !== after.has(tokenId))
    .map(tokenId => ({ path: [ALWAYS, pluginId, tokenId], value: after.has(tokenId) ? true : undefined }))
}

/** The account's own tokens, and the deployed app's settings, which are read only if that file is missing. */
const CUSTOM_TOKENS_PATH = 'CustomTokens.json'
const LEGACY_SETTINGS_PATH = 'Settings.json'

/**
 * Reads the custom tokens of one currency (protocol §3.4 `CustomTokens.json`).
 *
 * A token that cannot be read is reported and left out; the file keeps it.
 */
export const customTokensOf = (
  fields: JsonObject,
  pluginId: PluginId,
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
const customTokensOfLegacy = (
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
export const customTokenEdits = (pluginId: PluginId, tokenId: TokenId, token: Token): FieldEdit[] => {
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
export const customTokenRemoval = (pluginId: PluginId, tokenId: TokenId): FieldEdit => ({
  path: ['customTokens', pluginId, tokenId],
  value: undefined
})

const MAX_LENGTH = 100_000

/**
 * Checks settings for a plugin, and returns a private copy of them.
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

/** Makes a token map without a prototype: token ids are text from outside. Later entries win. */
export const tokenMapOf = (tokens: Iterable<readonly [tokenId: TokenId, token: Token]>): TokenMap => {
  const map: Record<string, Token> = Object.create(null)
  for (const [tokenId, token] of tokens) map[tokenId] = token
  return Object.freeze(map)
}

/** No tokens. */
export const NO_TOKENS: TokenMap = tokenMapOf([])
