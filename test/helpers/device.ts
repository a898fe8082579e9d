import { FAKE_ADDRESSES, type FakeWorld } from '../../fake-server/fake-world.ts'
import { createKernel, type Kernel, type KernelOptions, type Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { quickCrypto } from './quick-crypto.ts'

/** Scrypt that costs next to nothing, for tests that are not about scrypt. */
export const CHEAP_SNRP: NonNullable<KernelOptions['passwordSnrp']> = { cost: { n: 16, r: 1, p: 1 } }

/** What a test may say of its device. */
export interface DeviceOptions extends Partial<Omit<KernelOptions, 'plugins'>> {
  /** Besides bitcoin and the storage. */
  readonly plugins?: readonly Plugin[]
  readonly storage?: Plugin
  /** In place of bitcoin. */
  readonly coin?: Plugin
}

/** One device in a fake world: a kernel with the real Bitcoin plugin on the world's chain. */
export const openDevice = (world: FakeWorld, options: DeviceOptions = {}): Promise<Kernel> => {
  const { plugins = [], storage = memoryStorage(), coin = bitcoin, ...rest } = options
  const { authServer, infoServers, syncServers, electrumServers } = FAKE_ADDRESSES
  return createKernel({
    io: world.ioFor({ ...makeNodeIo(), crypto: quickCrypto }),
    apiKey: '',
    authServer,
    infoServers,
    syncServers,
    passwordSnrp: CHEAP_SNRP,
    pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } },
    plugins: [storage, coin, ...plugins],
    ...rest
  })
}

/** Waits until `isTrue`, looking every 10 ms. @throws after `limitMs`, which is long even for a busy machine */
export const waitFor = async (isTrue: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<void> => {
  const end = Date.now() + limitMs
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`Timed out after ${limitMs} ms, waiting for ${isTrue}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
