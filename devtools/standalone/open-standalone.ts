/// <reference lib="dom" />

import type { FakeWorldControl } from '../../app/actions/world-control.ts'
import { makeChainControl, makeFakeWorldControl } from '../../fake-server/chain-control.ts'
import { fakePluginOptions } from '../../fake-server/fake-plugin-options.ts'
import { FAKE_ADDRESSES, openStoredWorld } from '../../fake-server/fake-world.ts'
import {
  compact,
  createKernel,
  type Io,
  type Kernel,
  type KernelOptions,
  type ObserverPlugin,
  type Plugin,
  type Readable
} from '../../kernel/index.ts'
import { defaultPlugins } from '../../plugins/default-plugins.ts'
import { browserStorage, openBrowserStore } from '../../plugins/storage/browser/browser-storage.ts'
import { makeDevtools } from '../core/devtools.ts'

/** Options of {@link openStandalone}. */
export interface StandaloneOptions {
  /** The page's own. */
  readonly io: Io
  /** Begins the names of the two databases: `<name>-world` and `<name>-device`. */
  readonly name: string
  /** The cost of guessing a new password; the kernel's default if left out. */
  readonly passwordSnrp?: KernelOptions['passwordSnrp']
  /** Plugins besides those that ship. */
  readonly plugins?: readonly Plugin[]
  /** Options of these, by their ids. */
  readonly pluginOptions?: KernelOptions['pluginOptions']
}

/** A wallet and the world that it lives in, both in one page. */
export interface Standalone {
  /** With devtools among its plugins. */
  readonly kernel: Kernel
  readonly world: FakeWorldControl
  /** Ends everything; what was done is kept. */
  close(): Promise<void>
}

/**
 * Opens a fake world and a kernel in it, with every plugin that ships and those that are given. Both keep themselves in IndexedDB. Nothing leaves
 * the page.
 *
 * @throws STORAGE_LOCKED if another tab has them open; what a world or a kernel throws at its start
 */
export const openStandalone = async (options: StandaloneOptions): Promise<Standalone> => {
  const opened: (() => Promise<void> | void | undefined)[] = []
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).reverse()) await end()
  }
  try {
    const store = await openBrowserStore({ name: `${options.name}-world` })
    opened.push(() => store.close())
    const world = await openStoredWorld({ store, io: options.io })
    opened.push(() => world.close())
    const io = world.ioFor(options.io)
    const kernel = await startKernel({ ...options, io }, makeDevtools({ clock: io.clock }).plugin)
    opened.push(() => kernel.close())
    return { kernel, world: makeFakeWorldControl(makeChainControl(world)), close }
  } catch (error) {
    await close()
    throw error
  }
}

const startKernel = (
  { io, name, passwordSnrp, plugins = [], pluginOptions }: StandaloneOptions,
  observer: ObserverPlugin
): Promise<Kernel> => {
  const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
  return createKernel({
    io,
    // The fake server lets every key in.
    apiKey: 'holdfast-fake-world',
    ...{ authServer, infoServers, syncServers },
    ...compact({ passwordSnrp }),
    pluginOptions: { ...fakePluginOptions(), ...pluginOptions },
    plugins: [observer, browserStorage({ name: `${name}-device` }), ...defaultPlugins, ...plugins]
  })
}

/**
 * Asks the browser not to clear what this page keeps, as soon as the device has a user: some browsers ask the person in turn, and
 * nobody says yes to a page that has nothing to lose yet. After a no, all goes on, and the browser may clear it when room is short.
 *
 * @param users - the kernel's context
 * @param storage - none in a page that came over plain HTTP
 */
export const persistStorage = (
  users: Readable<readonly unknown[]>,
  storage: Partial<Pick<StorageManager, 'persist'>> | undefined
): void => {
  const query = (): void => {
    if (users.getSnapshot().length === 0) return
    stop()
    // A browser that fails here has said no.
    storage?.persist?.().catch(() => {})
  }
  const stop = users.subscribe(query)
  query()
}
