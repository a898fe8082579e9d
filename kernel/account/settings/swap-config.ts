import { frozenCopy } from '../../base/copy-data.ts'
import { isSameJson, type JsonObject } from '../../base/json.ts'
import { Observable, type Readable } from '../../base/observable.ts'
import type { SwapPlugin } from '../../plugins/plugin.ts'
import { isSwapEnabled, swapEnabledEdits, userSettingsEdits, userSettingsOf } from './plugin-settings.ts'
import type { SettingsFiles } from './settings-files.ts'
import { checkUserSettings } from './user-settings.ts'

/** The settings of one swap plugin (specification §3 "Account settings per plugin"). */
export interface SwapConfigSnapshot {
  /** Whether it is asked for quotes; true unless the user forbade it. */
  readonly isEnabled: boolean
  /** The plugin's own settings. */
  readonly userSettings: JsonObject
  /** The plugin wants something of the user first, such as a key; until then it is not asked for quotes. */
  readonly needsActivation: boolean
}

/** What an account knows of one swap plugin. */
export class SwapConfig implements Readable<SwapConfigSnapshot> {
  readonly #files: SettingsFiles
  readonly #plugin: SwapPlugin
  readonly #state: Observable<SwapConfigSnapshot>

  constructor(files: SettingsFiles, plugin: SwapPlugin) {
    this.#files = files
    this.#plugin = plugin
    this.#state = new Observable<SwapConfigSnapshot>(this.#read(), undefined, files.report)
    files.subscribe(() => {
      const next = this.#read()
      if (!isSameJson(next, this.getSnapshot())) this.#state.set(next)
    })
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): SwapConfigSnapshot => this.#state.getSnapshot()

  /** Allows or forbids to ask the plugin for quotes, or with undefined leaves it to the default. @throws LOGGED_OUT */
  async changeEnabled(isEnabled: boolean | undefined): Promise<void> {
    await this.#files.editPluginSettings(shown => swapEnabledEdits(shown, this.#plugin.id, isEnabled))
  }

  /** Replaces the plugin's own settings, or with undefined takes them away. @throws OPTION_INVALID, LOGGED_OUT */
  async changeUserSettings(settings: JsonObject | undefined): Promise<void> {
    const checked = settings === undefined ? undefined : checkUserSettings(settings)
    await this.#files.editPluginSettings(shown => userSettingsEdits(shown, this.#plugin.id, checked))
  }

  #read(): SwapConfigSnapshot {
    const { pluginSettings } = this.#files.getSnapshot()
    const { id } = this.#plugin
    const userSettings = frozenCopy(userSettingsOf(pluginSettings, id))
    return {
      isEnabled: isSwapEnabled(pluginSettings, id),
      userSettings,
      needsActivation: this.#needsActivation(userSettings)
    }
  }

  /** A plugin that cannot even judge its settings is not asked with them. */
  #needsActivation(userSettings: JsonObject): boolean {
    try {
      return this.#plugin.checkSettings?.(userSettings)?.needsActivation === true
    } catch (error) {
      this.#files.report(error)
      return true
    }
  }
}
