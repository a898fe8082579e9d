import { allowFlags } from '../base/arguments.ts'
import { frozenCopy } from '../base/copy-data.ts'
import { WalletError } from '../base/errors.ts'
import { isSameJson, type JsonObject } from '../base/json.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { Scheduler } from '../base/scheduler.ts'
import type { SwapPlugin } from '../plugins/plugin.ts'
import type { Services } from '../plugins/services.ts'
import type { Repo } from '../sync/repo.ts'
import type { PluginId } from '../types/ids.ts'
import { CurrencyConfig } from './currency-config.ts'
import {
  checkUserSettings,
  isSwapEnabled,
  SettingsFiles,
  swapEnabledEdits,
  userSettingsEdits,
  userSettingsOf
} from './settings-files.ts'
import type { WalletList } from './wallet-list.ts'

/** The place and the companions of an account's settings. */
export interface AccountSettingsOptions {
  readonly services: Services
  /** The account's own repo. */
  readonly repo: Repo
  readonly scheduler: Scheduler
  /** The wallets of the account. */
  readonly book: Pick<WalletList, 'list'>
}

/** The settings that an account keeps per plugin (specification §3). */
export class AccountSettings {
  readonly #files: SettingsFiles
  readonly #currencyConfigs: ReadonlyMap<string, CurrencyConfig>
  readonly #swapConfigs: ReadonlyMap<string, SwapConfig>

  private constructor({ services, scheduler, book }: AccountSettingsOptions, files: SettingsFiles) {
    const { currencies, swapPlugins } = services.plugins
    this.#files = files
    this.#currencyConfigs = new Map(
      currencies.map(info => [info.pluginId, new CurrencyConfig({ services, files, info, scheduler, book })])
    )
    this.#swapConfigs = new Map(swapPlugins.map(plugin => [plugin.id, new SwapConfig(files, plugin)]))
  }

  /** Reads the settings of an account; asks every currency for its tokens without waiting for the answers. */
  static async open(options: AccountSettingsOptions): Promise<AccountSettings> {
    return new AccountSettings(options, await SettingsFiles.open(options.services, options.repo))
  }

  /** @throws PLUGINS_MISSING unless it is a currency plugin that is there */
  currencyConfig(pluginId: PluginId): CurrencyConfig {
    return found(this.#currencyConfigs.get(pluginId), pluginId)
  }

  /** @throws PLUGINS_MISSING unless it is a swap plugin that is there */
  swapConfig(pluginId: PluginId): SwapConfig {
    return found(this.#swapConfigs.get(pluginId), pluginId)
  }

  /** Ends the edits that were begun; later ones fail. */
  close(): Promise<void> {
    return this.#files.close()
  }
}

const found = <T>(config: T | undefined, pluginId: PluginId): T => {
  if (config === undefined) throw new WalletError('PLUGINS_MISSING', { pluginIds: [pluginId] })
  return config
}

/** The settings of one swap plugin (specification §3 "Account settings per plugin"). */
export interface SwapConfigSnapshot {
  /** True if it is asked for quotes, which is the default; the user can forbid it. */
  readonly isEnabled: boolean
  /** The plugin's own settings. */
  readonly userSettings: JsonObject
  /** True while the plugin lacks something from the user, such as a key; it is not asked for quotes then. */
  readonly needsActivation: boolean
}

/**
 * The settings of one swap plugin in an account.
 *
 * @example
 * ```ts
 * const config = account.swapConfig('changenow')
 * if (config.getSnapshot().needsActivation) await config.changeUserSettings({ apiKey: 'a key of the user' })
 * ```
 */
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

  /** Allows or forbids quotes of the plugin; undefined restores the default. @throws OPTION_INVALID, LOGGED_OUT */
  async changeEnabled(isEnabled: boolean | undefined): Promise<void> {
    allowFlags({ isEnabled })
    await this.#files.editPluginSettings(shown => swapEnabledEdits(shown, this.#plugin.id, isEnabled))
  }

  /** Replaces the plugin's own settings, or removes them with undefined. @throws OPTION_INVALID, LOGGED_OUT */
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
