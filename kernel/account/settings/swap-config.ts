import { Observable, type Readable } from '../../state/observable.ts'
import { isSameJson, type JsonObject } from '../../types/json.ts'
import { isSwapEnabled, swapEnabledEdits, userSettingsEdits, userSettingsOf } from './plugin-settings.ts'
import type { SettingsFiles } from './settings-files.ts'
import { checkUserSettings } from './user-settings.ts'

/** The settings of one swap plugin (specification §3 "Account settings per plugin"). */
export interface SwapConfigSnapshot {
  /** Whether it is asked for quotes; true unless the user forbade it. */
  readonly isEnabled: boolean
  /** The plugin's own settings. */
  readonly userSettings: JsonObject
}

/** What an account knows of one swap plugin. */
export class SwapConfig implements Readable<SwapConfigSnapshot> {
  readonly #files: SettingsFiles
  readonly #pluginId: string
  readonly #state: Observable<SwapConfigSnapshot>

  constructor(files: SettingsFiles, pluginId: string) {
    this.#files = files
    this.#pluginId = pluginId
    this.#state = new Observable<SwapConfigSnapshot>(this.#read(), undefined, files.report)
    files.subscribe(() => {
      const next = this.#read()
      if (!isSameJson(next, this.getSnapshot())) this.#state.set(next)
    })
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): SwapConfigSnapshot => this.#state.getSnapshot()

  /** Allows or forbids to ask the plugin for quotes. @throws LOGGED_OUT */
  async changeEnabled(isEnabled: boolean): Promise<void> {
    await this.#files.editPluginSettings(shown => swapEnabledEdits(shown, this.#pluginId, isEnabled))
  }

  /** Replaces the plugin's own settings. @throws OPTION_INVALID, LOGGED_OUT */
  async changeUserSettings(settings: JsonObject): Promise<void> {
    const checked = checkUserSettings(settings)
    await this.#files.editPluginSettings(shown => userSettingsEdits(shown, this.#pluginId, checked))
  }

  #read(): SwapConfigSnapshot {
    const { pluginSettings } = this.#files.getSnapshot()
    return {
      isEnabled: isSwapEnabled(pluginSettings, this.#pluginId),
      userSettings: Object.freeze(userSettingsOf(pluginSettings, this.#pluginId))
    }
  }
}
