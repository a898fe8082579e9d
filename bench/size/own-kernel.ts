import { readFile } from 'node:fs/promises'
import { FAKE_ADDRESSES, type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { createKernel, type Io, type Kernel, type ObserverPlugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import type { DeviceServers } from '../bench-device.ts'
import type { FixtureUser } from './fixture.ts'
import { makeNotedDisk, type NotedDisk } from './noted-disk.ts'
import { makeNotedNetwork, type NotedNetwork } from './noted-network.ts'
import { makeOwnCoin, type OwnCoin } from './own-coin.ts'

/** Where our device lives, and with whom. */
export interface OwnPlace {
  readonly user: FixtureUser
  readonly folder: string
  readonly world: OwnWorld
  /** How many transactions the chain has of the first wallet when its engine starts. */
  readonly chainCount: number
}

/** Servers in another process, the file of a saved world to open in this one, or a world that is open and stays so. */
export type OwnWorld =
  | { readonly servers: DeviceServers }
  | { readonly saved: string }
  | { readonly opened: FakeWorld }

/** Our kernel with its folder, its network and its currency, all of them followed. */
export interface OwnKernel {
  readonly kernel: Kernel
  readonly network: NotedNetwork
  readonly disk: NotedDisk
  readonly coin: OwnCoin
  /** Changes that no server has acknowledged, over all repos. */
  readonly pendingCount: number
  close(): Promise<void>
}

/** Opens our kernel on a real folder. */
export const openOwnKernel = async ({ user, folder, world, chainCount }: OwnPlace): Promise<OwnKernel> => {
  const { io, servers, closeWorld } = await reach(world)
  const network = makeNotedNetwork(io, 'servers' in world)
  const disk = makeNotedDisk(folder)
  const coin = makeOwnCoin({ walletId: user.walletIds[0] ?? '', count: chainCount })
  const pending = new Map<string, number>()
  const observer: ObserverPlugin = {
    kind: 'observer',
    id: 'bench-observer',
    apply: ({ hooks }) =>
      hooks.repoChanged.tap('bench-observer', ({ repoId, pendingCount }) => {
        pending.set(repoId, pendingCount)
      })
  }
  const { authServer, infoServers, syncServers } = servers
  const kernel = await createKernel({
    io: network.io,
    apiKey: 'bench',
    authServer,
    infoServers,
    syncServers,
    logLevel: 'silent',
    plugins: [disk.plugin, coin.plugin, observer],
    onError(source, error) {
      if (network.isOnline) console.error(`${source}: ${error}`)
    }
  })
  return {
    kernel,
    network,
    disk,
    coin,
    get pendingCount() {
      return [...pending.values()].reduce((sum, count) => sum + count, 0)
    },
    async close() {
      await kernel.close()
      await closeWorld()
    }
  }
}

interface Reached {
  readonly io: Io
  readonly servers: Omit<DeviceServers, 'electrumServers'>
  closeWorld(): Promise<void>
}

const reach = async (world: OwnWorld): Promise<Reached> => {
  // A repo of 50,000 files comes in one reply of some 40 MB, more than the default lets in.
  const io = makeNodeIo({ maxReplyBytes: 1 << 27 })
  const closeWorld = async (): Promise<void> => {}
  if ('servers' in world) return { io, servers: world.servers, closeWorld }
  if ('opened' in world) return { io: world.opened.ioFor(io), servers: FAKE_ADDRESSES, closeWorld }
  const opened = makeFakeWorld({ io, saved: JSON.parse(await readFile(world.saved, 'utf8')) })
  return { io: opened.ioFor(io), servers: FAKE_ADDRESSES, closeWorld: () => opened.close() }
}
