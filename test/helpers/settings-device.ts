import { DataStore } from '../../kernel/account/data-store.ts'
import { AccountSettings } from '../../kernel/account/settings.ts'
import type { WalletListing } from '../../kernel/account/wallet-list.ts'
import { Scheduler } from '../../kernel/base/scheduler.ts'
import { fileHashOf } from '../../kernel/keys/ids.ts'
import { makeKernelHooks } from '../../kernel/plugins/hooks.ts'
import { currencyHost, type Plugin, type SwapPlugin, swapHost } from '../../kernel/plugins/plugin.ts'
import { PluginCalls } from '../../kernel/plugins/plugin-calls.ts'
import { PluginSet } from '../../kernel/plugins/plugin-set.ts'
import { makeInBackground, type Services } from '../../kernel/plugins/services.ts'
import type { Token } from '../../kernel/types/currency.ts'
import type { CurrencyTools } from '../../kernel/types/engine.ts'
import { type FaultDisk, makeFaultDisk } from './fault-disk.ts'
import { type Device, dataKey, openDevice } from './repo-device.ts'
import type { SyncStore } from './sync-store.ts'

/** A currency that has nothing but tokens. */
export interface TokenCurrency {
  readonly pluginId: string
  /** What the plugin answers when it is asked for its tokens; absent: it cannot be asked. */
  readonly tokens?: () => unknown
  readonly getTokenId?: CurrencyTools['getTokenId']
}

/** What may differ between devices. */
export interface SettingsDeviceOptions {
  readonly files?: Map<string, string>
  readonly currencies?: readonly TokenCurrency[]
  readonly swaps?: readonly string[]
  /** The wallet types of which the account has a wallet. */
  readonly walletTypes?: readonly string[]
}

/** The repo of an account on one device, with what an account makes of its files. */
export interface SettingsDevice extends Device {
  readonly services: Services
  /** Where damaged files go. */
  readonly disk: FaultDisk
  readonly kept: Map<string, string>
  readonly settings: AccountSettings
  readonly dataStore: DataStore
  /** What was reported of settings and data, not of the repo. */
  readonly faults: unknown[]
}

/** Opens the settings of an account on a device of its own. */
export const openSettings = async (
  store: SyncStore,
  options: SettingsDeviceOptions = {}
): Promise<SettingsDevice> => {
  const device = await openDevice(store, options.files === undefined ? {} : { files: options.files })
  await device.sync()
  const { io, clock, repo } = device
  const faults: unknown[] = []
  const report = (_: string, error: unknown): void => void faults.push(error)
  const hooks = makeKernelHooks({ clock, onFault: ({ error }) => void faults.push(error) })
  const plugins = new PluginSet(hooks)
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const kept = new Map<string, string>()
  const disk = makeFaultDisk(kept)
  const parts = { hooks, io, disk, log, options: {}, onFault() {} }
  for (const currency of options.currencies ?? []) {
    const plugin = currencyPlugin(currency)
    plugins.add(plugin, () => plugin.kind === 'currency' && plugin.apply(currencyHost(plugin.id, parts)))
  }
  for (const id of options.swaps ?? []) {
    const plugin: SwapPlugin = {
      ...{ kind: 'swap', id, displayName: id },
      apply: ({ hooks: tapped }) => tapped.fetchQuotes.tapPromise(id, async () => {})
    }
    plugins.add(plugin, () => plugin.apply(swapHost(id, parts)))
  }
  plugins.lock()
  const services = {
    ...{ io, hooks, disk, plugins, report },
    calls: new PluginCalls({ clock, onFault: () => {} }),
    logOf: () => log,
    inBackground: makeInBackground(report)
  } as unknown as Services
  const { walletTypes = [] } = options
  const settings = await AccountSettings.open({
    ...{ services, repo },
    scheduler: new Scheduler(clock),
    book: { list: () => walletTypes.map(type => ({ type, deleted: false }) as WalletListing) }
  })
  const hashOf = (text: string): string => fileHashOf(io, dataKey, text)
  const dataStore = new DataStore({ services, repo, hashOf })
  return { ...device, services, disk, kept, settings, dataStore, faults }
}

const currencyPlugin = ({ pluginId, tokens, getTokenId }: TokenCurrency): Plugin => ({
  kind: 'currency',
  id: pluginId,
  info: {
    pluginId,
    displayName: pluginId,
    walletType: `wallet:${pluginId}`,
    currencyCode: pluginId.toUpperCase(),
    denominations: [{ name: pluginId, multiplier: '1' }]
  },
  apply({ hooks }) {
    const tools = getTokenId === undefined ? {} : { getTokenId }
    hooks.makeTools.tapPromise(pluginId, async () => tools as CurrencyTools)
    hooks.makeEngine.tapPromise(pluginId, async () => undefined as never)
    if (tokens !== undefined) hooks.builtinTokens.tapPromise(pluginId, async () => tokens() as never)
  }
})

/** A token with a contract address, or without one. */
export const tokenOf = (code: string, contractAddress?: string): Token => ({
  currencyCode: code,
  displayName: `The ${code}`,
  denominations: [{ name: code, multiplier: '1000' }],
  ...(contractAddress === undefined ? {} : { networkLocation: { contractAddress } })
})
