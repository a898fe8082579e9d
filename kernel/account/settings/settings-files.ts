import { WalletError } from '../../base/errors.ts'
import { isSameJson, type JsonObject } from '../../base/json.ts'
import { Mutex } from '../../base/mutex.ts'
import { Observable, type Readable } from '../../base/observable.ts'
import type { Services } from '../../plugins/services.ts'
import { editFields, type FieldEdit, JsonFile } from '../../sync/json-file.ts'
import type { Repo } from '../../sync/repo.ts'
import { CUSTOM_TOKENS_PATH, customTokensOfLegacy, LEGACY_SETTINGS_PATH } from './custom-tokens.ts'
import { PLUGIN_SETTINGS_PATH } from './plugin-settings.ts'

/** What the files hold; {} for one that is missing or cannot be read. What says the same is the same object as before. */
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
  /** What the deployed app's old settings come to, while there is no file of custom tokens. */
  #legacyTokens: readonly FieldEdit[] = []
  /** What the settings of plugins will be once the edits that are on their way are done. */
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
    const fileAt = (path: string): JsonFile => new JsonFile({ repo, path, disk, clock: io.clock, report })
    this.report = report
    this.#services = services
    this.#pluginSettings = fileAt(PLUGIN_SETTINGS_PATH)
    this.#customTokens = fileAt(CUSTOM_TOKENS_PATH)
    this.#legacySettings = fileAt(LEGACY_SETTINGS_PATH)
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
    const pluginIdOf = (walletType: string): string | undefined =>
      this.#services.plugins.findByWalletType(walletType)?.pluginId
    return customTokensOfLegacy(await this.#legacySettings.read(), pluginIdOf, this.report)
  }
}
