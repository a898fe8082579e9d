import { WalletError } from '../../base/errors.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import type { Services } from '../../plugins/services.ts'
import type { Repo } from '../../sync/repo.ts'
import { CurrencyConfig } from './currency-config.ts'
import { SettingsFiles } from './settings-files.ts'
import { SwapConfig } from './swap-config.ts'

/** What the settings of an account need of it. */
export interface SettingsPlace {
  readonly services: Services
  readonly repo: Repo
  readonly scheduler: Scheduler
  /** Whether the account has a wallet of a type. */
  hasWallet(walletType: string): boolean
}

/** The settings that an account keeps per plugin (specification §3). */
export interface AccountSettings {
  /** @throws PLUGINS_MISSING unless it is a currency plugin that is there */
  currencyConfig(pluginId: string): CurrencyConfig
  /** @throws PLUGINS_MISSING unless it is a swap plugin that is there */
  swapConfig(pluginId: string): SwapConfig
  /** Ends the edits that were begun; later ones fail. */
  close(): Promise<void>
}

/** Reads the settings of an account; every currency is asked for its tokens, and nobody waits for the answers. */
export const openAccountSettings = async (place: SettingsPlace): Promise<AccountSettings> => {
  const { services, repo, ...rest } = place
  const files = await SettingsFiles.open(services, repo)
  const { currencies, swapPlugins } = services.plugins
  const currencyConfigs = new Map(
    currencies.map(info => [info.pluginId, new CurrencyConfig({ services, files, info, ...rest })])
  )
  const swapConfigs = new Map(swapPlugins.map(plugin => [plugin.id, new SwapConfig(files, plugin)]))
  return {
    currencyConfig: pluginId => found(currencyConfigs.get(pluginId), pluginId),
    swapConfig: pluginId => found(swapConfigs.get(pluginId), pluginId),
    close: () => files.close()
  }
}

const found = <T>(config: T | undefined, pluginId: string): T => {
  if (config === undefined) throw new WalletError('PLUGINS_MISSING', { pluginIds: [pluginId] })
  return config
}
