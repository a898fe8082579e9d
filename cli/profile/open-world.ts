import { join } from 'node:path'
import { chainIds } from '../../fake-server/chain/open-chain.ts'
import { FAKE_ADDRESSES, type FakeWorld, openPersistentWorld } from '../../fake-server/fake-world.ts'
import { fetchThroughWorld, makeWorldClock } from '../../fake-server/world/io.ts'
import type { ChainServers } from '../../fake-server/world/world-chains.ts'
import { compact, type Io, isWalletError } from '../../kernel/index.ts'
import { isAlive } from '../../plugins/storage/file/file-lock.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { profileCertificates } from './certificates.ts'
import { makePrivateFolder, type ProfilePaths } from './paths.ts'
import { namedHosts, noControl, onlyNamedHosts } from './real-world.ts'
import { nodeLoginOf, proxyOf, type RealProfile, readProfile } from './settings.ts'
import { isRecord, readState, removeState, writeState } from './state-files.ts'
import { type ControlAddress, localControl, remoteControl, type WorldControl } from './world-control.ts'

/** The time that a second process waits for the lock of a folder, in milliseconds. */
export const LOCK_WAIT_MS = 5000

/** The name of an agent in messages to waiting processes. */
export const AGENT_HOLDER = 'holdfast agent'

/** Returns true if something could not be opened since the agent of the profile has it. */
export const isHeldByAgent = (error: unknown): boolean =>
  isWalletError(error, 'STORAGE_LOCKED') && error.details.holder.startsWith(AGENT_HOLDER)

/** Options of opening the storage of a profile. */
export interface OpenOptions {
  /** The name that waiting processes show: `holdfast send`. */
  readonly holder: string
  readonly io: Io
  readonly waitMs?: number
  /** The hosts of the plugins that were added, which a real profile may ask, too. */
  readonly addedHosts?: readonly string[]
}

/** The addresses that a kernel is configured with. */
export interface WorldAddresses {
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  /** The Electrum servers of each chain, by plugin id. */
  readonly chainServers: ChainServers
}

/** The network of a profile: a fake world in this process, the one that `fake start` runs, or real servers. */
export interface OpenWorld {
  readonly io: Io
  /** The settings of a profile on a real network; then there is no fake world, and no addresses. */
  readonly real?: RealProfile
  readonly addresses?: WorldAddresses
  readonly control: WorldControl
  /** True if other processes can use it at the same time. */
  readonly isShared: boolean
  /** The world itself, if it is in this process. */
  readonly local?: FakeWorld
  /** The process that serves it, if that is another one. */
  readonly servedBy?: number
  close(): Promise<void>
}

/**
 * Opens the world of a profile; a fake one that another process serves is used instead.
 *
 * @throws STORAGE_LOCKED after {@link LOCK_WAIT_MS}, CORRUPT_FILE; CliError PROFILE_INVALID for damaged settings
 */
export const openWorld = async (paths: ProfilePaths, opener: OpenOptions): Promise<OpenWorld> => {
  const { waitMs = LOCK_WAIT_MS } = opener
  const real = readProfile(paths)
  if (real !== undefined) return realWorld(paths, real, opener)
  const deadline = performance.now() + waitMs
  for (;;) {
    const running = await findRunningWorld(paths.state)
    if (running !== undefined) return remoteWorld(running, opener.io)
    const left = deadline - performance.now()
    try {
      // In short waits, because `fake start` may begin to serve the world meanwhile.
      return localWorld(
        await openLocalWorld(paths, { ...opener, waitMs: Math.min(PORTION_MS, left) }),
        opener.io
      )
    } catch (error) {
      if (!isWalletError(error, 'STORAGE_LOCKED') || left <= PORTION_MS) throw error
    }
  }
}

/**
 * The network of a real profile: requests go to the servers that it names, and to no other host. What asks for another one, a
 * plugin or the kernel, gets a NETWORK error that says so, and no name is looked up.
 */
const realWorld = async (
  paths: ProfilePaths,
  real: RealProfile,
  { io, addedHosts }: OpenOptions
): Promise<OpenWorld> => {
  const { makeNodeIo } = await import('../../platform/node/index.ts')
  const certificates = profileCertificates(paths, real.pinsCertificates === true)
  const { fetch, connect, webSocket, isProxied } = makeNodeIo({
    ...compact({ proxy: proxyOf(real), certificates }),
    loginOf: nodeLoginOf(paths, real)
  })
  const networked = { ...io, fetch, ...compact({ connect, webSocket, isProxied }) }
  return {
    io: onlyNamedHosts(networked, paths.name, namedHosts(real, addedHosts)),
    real,
    control: noControl(paths.name, real.network),
    // Other devices reach the same servers.
    isShared: true,
    close: async () => {}
  }
}

/** Opens the world of a profile in this process. @throws STORAGE_LOCKED, CORRUPT_FILE */
export const openLocalWorld = async (
  paths: ProfilePaths,
  { holder, io, waitMs = LOCK_WAIT_MS }: OpenOptions
): Promise<ClosableWorld> => {
  makePrivateFolder(paths.data)
  const disk = await openFileDisk(join(paths.data, 'fake-world'), { waitMs: Math.max(0, waitMs), holder })
  try {
    const world = await openPersistentWorld({ disk, io })
    return {
      world,
      async close() {
        try {
          await world.close()
        } finally {
          await disk.close?.()
        }
      }
    }
  } catch (error) {
    await disk.close?.()
    throw error
  }
}

/** A world with the disk that holds it. */
export interface ClosableWorld {
  readonly world: FakeWorld
  /** Saves and lets go of the disk. */
  close(): Promise<void>
}

const PORTION_MS = 500

const localWorld = ({ world, close }: ClosableWorld, io: Io): OpenWorld => ({
  io: withOwnServers(world, io),
  addresses: FAKE_ADDRESSES,
  control: localControl(world),
  isShared: false,
  local: world,
  close
})

/** Lets plugins reach servers on this computer by number, as through a world that another process serves. */
export const withOwnServers = (world: FakeWorld, io: Io): Io => {
  const own = world.ioFor(io)
  return {
    ...own,
    fetch: (url, options) =>
      OWN_SERVER.test(url) && world.network.current.isOnline
        ? io.fetch(url, options)
        : own.fetch(url, options)
  }
}

const OWN_SERVER = /^http:\/\/127\.0\.0\.1(?::\d{1,5})?\//

/** Uses the clock of the world, since one-time codes depend on it, and its rate and swap providers. */
const remoteWorld = async (running: RunningWorld, io: Io): Promise<OpenWorld> => {
  const control = remoteControl(running.control)
  const offset = (await control.now()) - io.clock.now()
  const clock = makeWorldClock(io.clock, { offset })
  return {
    io: { ...io, clock, fetch: fetchThroughWorld(io.fetch, new URL(running.authServer).origin) },
    addresses: running,
    control: {
      ...control,
      async skip(milliseconds) {
        const time = await control.skip(milliseconds)
        clock.skip(milliseconds)
        return time
      }
    },
    isShared: true,
    servedBy: running.pid,
    close: async () => {}
  }
}

const FILE = 'fake-world.json'
const PING_MS = 1000

/** The addresses of a running fake world, as `fake start` records them. */
export interface RunningWorld {
  readonly pid: number
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  readonly chainServers: ChainServers
  /** The address of its control server. */
  readonly control: ControlAddress
}

/** Records the addresses of the world; only its owner can read them. */
export const recordRunningWorld = (stateFolder: string, world: RunningWorld): void =>
  writeState(stateFolder, FILE, world)

/** Removes the record. */
export const forgetRunningWorld = (stateFolder: string): void => removeState(stateFolder, FILE)

/** Returns the running world of this profile, if its process is alive and replies. */
export const findRunningWorld = async (stateFolder: string): Promise<RunningWorld | undefined> => {
  const world = parseRunningWorld(readState(stateFolder, FILE))
  if (world === undefined || !isAlive(world.pid)) return undefined
  try {
    const reply = await fetch(`${world.control.url}/ping`, {
      headers: { authorization: `Bearer ${world.control.token}` },
      signal: AbortSignal.timeout(PING_MS)
    })
    await reply.arrayBuffer()
    return reply.ok ? world : undefined
  } catch {
    return undefined
  }
}

const parseRunningWorld = (
  value: Readonly<Record<string, unknown>> | undefined
): RunningWorld | undefined => {
  if (value === undefined) return undefined
  const { pid, authServer, infoServers, syncServers, chainServers, control } = value
  const isSound =
    Number.isSafeInteger(pid) &&
    typeof authServer === 'string' &&
    [infoServers, syncServers].every(isTexts) &&
    isRecord(chainServers) &&
    chainIds.every(id => isTexts(chainServers[id])) &&
    isRecord(control) &&
    typeof control.url === 'string' &&
    /^http:\/\/127\.0\.0\.1:\d+$/.test(control.url) &&
    typeof control.token === 'string'
  return isSound ? (value as unknown as RunningWorld) : undefined
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(item => typeof item === 'string')
