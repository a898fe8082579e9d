import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import type { FakeUser } from '../../fake-server/users/fake-user.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import type { Device } from './device.ts'
import { type OwnDevice, openOwnDevice } from './own-device.ts'
import { openPeer, type Peer } from './peer.ts'
import type { PeerVersion } from './peer-package.ts'

/** What a test may say of a device that it opens. */
export interface DeviceChoice {
  /** A folder that another device used; a new one when left out. */
  readonly folder?: string
  /** That of the app that uses the core; none for the account itself. */
  readonly appId?: string
}

/** Servers and a chain on real ports, and devices of both kinds that live there. */
export interface InteropWorld {
  readonly fake: FakeWorld
  /** A copy of a device's folder, as a user would move it to another machine. */
  copyOf(folder: string): Promise<string>
  /** A new folder of a device with these texts by path. */
  folderOf(files: Iterable<readonly [path: string, text: string]>): Promise<string>
  openHoldfast(choice?: DeviceChoice): Promise<OwnDevice>
  openPeer(choice?: DeviceChoice): Promise<Peer>
  /** A device of the published core in a test world of its own with these users. */
  openPeerAlone(users: readonly FakeUser[]): Promise<Peer>
  /** Runs while no server answers. */
  offline<T>(run: () => Promise<T>): Promise<T>
  /** Ends all devices, and tells what failed on ours outside of any call; their folders stay. */
  stopDevices(): Promise<readonly string[]>
  /** Ends everything and removes the folders. */
  close(): Promise<void>
}

/** Starts the servers. `packageFolder` is where that version of the published core is. */
export const openInteropWorld = async (
  version: PeerVersion,
  packageFolder: string
): Promise<InteropWorld> => {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-interop-run-'))
  const fake = makeFakeWorld({ io: makeNodeIo() })
  const served = await serveFakeWorld(fake)
  const server = served.authServer.replace(/\/api$/, '')
  const peerPlace = { version, packageFolder, deviceDescription: `Peer ${version}`, server }
  const devices: Device[] = []
  let count = 0
  const newFolder = (): string => {
    count += 1
    return join(root, `device-${count}`)
  }
  const keep = <T extends Device>(device: T): T => {
    devices.push(device)
    return device
  }
  const stopDevices = async (): Promise<readonly string[]> => {
    const stopped = devices.splice(0)
    await Promise.all(stopped.map(device => device.stop()))
    return stopped.flatMap(({ failures }) => failures)
  }
  return {
    fake,
    stopDevices,
    async copyOf(folder) {
      const copy = newFolder()
      await cp(folder, copy, { recursive: true })
      return copy
    },
    async folderOf(files) {
      const folder = newFolder()
      for (const [path, text] of files) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      }
      return folder
    },
    async openHoldfast({ folder = newFolder(), appId = '' } = {}) {
      return keep(await openOwnDevice(served, { folder, appId, deviceDescription: 'Holdfast' }))
    },
    async openPeer({ folder = newFolder(), appId = '' } = {}) {
      return keep(await openPeer({ ...peerPlace, folder, appId }))
    },
    async openPeerAlone(users) {
      return keep(await openPeer({ ...peerPlace, folder: newFolder(), appId: '', users }))
    },
    async offline(run) {
      fake.server.isOnline = false
      try {
        return await run()
      } finally {
        fake.server.isOnline = true
      }
    },
    async close() {
      await stopDevices()
      await served.close()
      await fake.close()
      await rm(root, { recursive: true, force: true })
    }
  }
}
