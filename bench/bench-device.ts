import { FAKE_ADDRESSES, type FakeWorld } from '../fake-server/fake-world.ts'
import { createKernel, type Io, type Kernel, type Plugin } from '../kernel/index.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import { bitcoin, litecoin } from '../plugins/currency/utxo/plugin.ts'
import { memoryStorage } from '../plugins/storage/memory.ts'

/** The cost of a password where the work measured is not scrypt. */
export const CHEAP_COST: ScryptFigures = { n: 16, r: 1, p: 1 }

/** RFC 7914's parameters. */
export interface ScryptFigures {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** The servers a device lives with. */
export interface DeviceServers {
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  /** Bitcoin's. */
  readonly electrumServers: readonly string[]
  /** If there are any, the device knows Litecoin, too. */
  readonly litecoinServers?: readonly string[]
}

/** What may differ between devices. */
export interface DeviceOptions {
  readonly io: Io
  readonly servers?: DeviceServers
  readonly storage?: Plugin
  readonly cost?: ScryptFigures
}

/** Opens a kernel with the real plugins of Bitcoin, and of Litecoin where there are servers of it, on regtest chains. */
export const openDevice = ({
  io,
  servers = FAKE_ADDRESSES,
  storage,
  cost
}: DeviceOptions): Promise<Kernel> => {
  const { authServer, infoServers, syncServers, electrumServers, litecoinServers = [] } = servers
  return createKernel({
    io,
    apiKey: '',
    authServer,
    infoServers,
    syncServers,
    logLevel: 'silent',
    passwordSnrp: { cost: cost ?? CHEAP_COST },
    pluginOptions: {
      bitcoin: { network: 'regtest', servers: [...electrumServers] },
      litecoin: { network: 'regtest', servers: [...litecoinServers] }
    },
    plugins: [storage ?? memoryStorage(), bitcoin, ...(litecoinServers.length > 0 ? [litecoin] : [])]
  })
}

/** What may differ between devices of a fake world. */
export interface WorldDeviceOptions extends Omit<DeviceOptions, 'io' | 'servers'> {
  /** Whose crypto and randomness it uses; Node's if left out. */
  readonly base?: Io
  readonly isOnline?: () => boolean
}

/** {@link openDevice} in a fake world of this process. */
export const openWorldDevice = (
  world: FakeWorld,
  { base = makeNodeIo(), isOnline, ...options }: WorldDeviceOptions = {}
): Promise<Kernel> =>
  openDevice({ ...options, io: world.ioFor(base, isOnline === undefined ? {} : { isOnline }) })
