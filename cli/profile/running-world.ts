import { chainIds } from '../../fake-server/world-chain.ts'
import type { ChainServers } from '../../fake-server/world-chains.ts'
import { isAlive } from '../../plugins/storage/file/is-alive.ts'
import { isRecord, readState, removeState, writeState } from './state-file.ts'

const FILE = 'fake-world.json'
const PING_MS = 1000

/** Where the fake world of a profile listens, as `fake start` records it. */
export interface RunningWorld {
  readonly pid: number
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  readonly chainServers: ChainServers
  /** Where `fake chain` commands are sent, and what proves that they come from the owner. */
  readonly control: { readonly url: string; readonly token: string }
}

/** Remembers where the world listens; readable by its owner alone. */
export const recordRunningWorld = (stateFolder: string, world: RunningWorld): void =>
  writeState(stateFolder, FILE, world)

/** Forgets the record. */
export const forgetRunningWorld = (stateFolder: string): void => removeState(stateFolder, FILE)

/** The world that runs for this profile, if its process lives and answers. */
export const findRunningWorld = async (stateFolder: string): Promise<RunningWorld | undefined> => {
  const world = parseRecord(readState(stateFolder, FILE))
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

const parseRecord = (value: Readonly<Record<string, unknown>> | undefined): RunningWorld | undefined => {
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
