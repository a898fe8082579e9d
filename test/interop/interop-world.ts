import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { type ServedWorld, serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import { createKernel, type Kernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { CHEAP_SNRP } from '../helpers/device.ts'
import { openPeer, type Peer } from './peer.ts'

/** One of our devices, and what failed on it outside of any call. */
export interface Holdfast extends Kernel {
  readonly failures: readonly string[]
}

/** Servers and a chain on real ports, and devices of both kinds that live there. */
export interface InteropWorld {
  readonly fake: FakeWorld
  /** A folder that does not exist yet. */
  newFolder(): string
  /** A copy of a device's folder, as a user would move it to another machine. */
  copyOf(folder: string): Promise<string>
  /** `appId`: that of the app that uses the core; none for the account itself. */
  openHoldfast(folder: string, appId?: string): Promise<Holdfast>
  openPeer(folder: string, appId?: string): Promise<Peer>
  /** Ends everything and removes the folders. */
  close(): Promise<void>
}

/** Starts the servers. `packageFolder` is where the published core is. */
export const openInteropWorld = async (packageFolder: string): Promise<InteropWorld> => {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-interop-run-'))
  const fake = makeFakeWorld({ io: makeNodeIo() })
  const served = await serveFakeWorld(fake)
  const stops: (() => Promise<void>)[] = []
  let count = 0
  const newFolder = (): string => {
    count += 1
    return join(root, `device-${count}`)
  }
  return {
    fake,
    newFolder,
    async copyOf(folder) {
      const copy = newFolder()
      await cp(folder, copy, { recursive: true })
      return copy
    },
    async openHoldfast(folder, appId = '') {
      const kernel = await openKernel(served, folder, appId)
      stops.push(() => kernel.close())
      return kernel
    },
    async openPeer(folder, appId = '') {
      const { authServer, infoServers, syncServers } = served
      const peer = await openPeer({ packageFolder, folder, appId, authServer, infoServers, syncServers })
      stops.push(() => peer.stop())
      return peer
    },
    async close() {
      await Promise.allSettled(stops.map(stop => stop()))
      await served.close()
      await fake.close()
      await rm(root, { recursive: true, force: true })
    }
  }
}

const openKernel = async (served: ServedWorld, folder: string, appId: string): Promise<Holdfast> => {
  const { authServer, infoServers, syncServers, electrumServers } = served
  const failures: string[] = []
  const kernel = await createKernel({
    io: makeNodeIo(),
    apiKey: 'interop',
    appId,
    authServer,
    infoServers,
    syncServers,
    passwordSnrp: CHEAP_SNRP,
    deviceDescription: 'Holdfast',
    pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } },
    plugins: [fileStorage(folder), bitcoin],
    onError: (source, error) => failures.push(`${source}: ${error}`)
  })
  return Object.freeze({ ...kernel, failures })
}
