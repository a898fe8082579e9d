import { fakePluginOptions } from '../../fake-server/fake-plugin-options.ts'
import { FAKE_ADDRESSES } from '../../fake-server/fake-world.ts'
import {
  compact,
  createKernel,
  type Io,
  type Kernel,
  type KernelOptions,
  type LogLine,
  type LogThreshold,
  type Plugin
} from '../../kernel/index.ts'
import { LOCK_WAIT_MS, type OpenOptions, type OpenWorld, type WorldAddresses } from './open-world.ts'
import { FIRST_DEVICE, makePrivateFolder, type ProfilePaths } from './paths.ts'
import { type ProfileStore, profileStorage } from './profile-store.ts'
import { realSettings, shippedPlugins } from './real-world.ts'
import type { WorldSettings } from './settings.ts'

/** Options of {@link openProfileKernel}. */
export interface ProfileKernelOptions extends OpenOptions {
  /** Asked at each request: true refuses it. */
  isOffline(): boolean
  /** The name of this device, which other devices see when they approve it. */
  readonly device: string
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
  readonly logLevel: LogThreshold
  readonly onLog: (line: LogLine) => void
  /** Plugins besides the default ones. */
  readonly plugins?: readonly Plugin[]
  /** Where its accounts are, in place of what the profile says. */
  readonly store?: ProfileStore | undefined
  /** Those of the profile, which come last, and what their owner gives them. */
  readonly added?: Pick<KernelOptions, 'pluginOptions'> & { readonly plugins: readonly Plugin[] }
}

/** Opens the kernel of a profile on its data folder. @throws STORAGE_LOCKED, CORRUPT_FILE, API_KEY_MISSING */
export const openProfileKernel = async (
  paths: ProfilePaths,
  world: Pick<OpenWorld, 'addresses' | 'io' | 'real'>,
  {
    holder,
    isOffline,
    device,
    passwordSnrp,
    waitMs = LOCK_WAIT_MS,
    logLevel,
    onLog,
    plugins = [],
    store,
    added
  }: ProfileKernelOptions
): Promise<Kernel> => {
  makePrivateFolder(paths.data)
  const { real, addresses } = world
  const settings = real === undefined ? kernelSettings(addresses) : realSettings(paths, real)
  return createKernel({
    ...settings,
    pluginOptions: { ...added?.pluginOptions, ...settings.pluginOptions },
    io: withNetworkSwitch(world.io, isOffline),
    deviceDescription: device === FIRST_DEVICE ? 'Holdfast' : `Holdfast, ${device}`,
    ...compact({ passwordSnrp }),
    logLevel,
    plugins: [
      logObserver(onLog),
      ...plugins,
      profileStorage(paths, { given: store, waitMs, holder }),
      ...shippedPlugins(real),
      ...(added?.plugins ?? [])
    ]
  })
}

/** The options of each kernel in a fake world. */
export const kernelSettings = ({
  authServer,
  infoServers,
  syncServers,
  chainServers
}: WorldAddresses = FAKE_ADDRESSES): WorldSettings => ({
  authServer,
  infoServers,
  syncServers,
  // The fake server accepts every key.
  apiKey: 'holdfast-fake-world',
  appId: '',
  pluginOptions: fakePluginOptions(chainServers)
})

const logObserver = (onLog: (line: LogLine) => void): Plugin => ({
  kind: 'observer',
  id: 'command-line-log',
  apply({ hooks }) {
    hooks.logged.tap('command-line-log', onLog)
  }
})

const withNetworkSwitch = (io: Io, isOffline: () => boolean): Io => {
  const refused = (): Promise<never> => Promise.reject(new Error('offline, as asked'))
  const { fetch, connect, webSocket } = io
  return {
    ...io,
    fetch: (...args) => (isOffline() ? refused() : fetch(...args)),
    ...compact({
      connect:
        connect && ((...args: Parameters<typeof connect>) => (isOffline() ? refused() : connect(...args))),
      webSocket:
        webSocket &&
        ((...args: Parameters<typeof webSocket>) => (isOffline() ? refused() : webSocket(...args)))
    })
  }
}
