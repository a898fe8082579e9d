import { Secret } from '../../kernel/base/secret.ts'
import { sealText } from '../../kernel/crypto/box.ts'
import type { Disk } from '../../kernel/io/disk.ts'
import type { Io } from '../../kernel/io/io.ts'
import { repoIdOf } from '../../kernel/keys/ids.ts'
import { openRepo } from '../../kernel/sync/open-repo.ts'
import type { BelongsAt } from '../../kernel/sync/reply-guard.ts'
import type { Repo } from '../../kernel/sync/repo.ts'
import { type SyncResult, syncRepo } from '../../kernel/sync/sync-loop.ts'
import { SyncServers } from '../../kernel/sync/sync-servers.ts'
import type { Box } from '../../kernel/types/keys.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { makeFaultDisk } from './fault-disk.ts'
import { makeRepoIo } from './repo-io.ts'
import type { SyncStore } from './sync-store.ts'

/** The keys of the one repo that these tests share between devices. */
export const syncKey: Uint8Array = new Uint8Array(20).fill(0xa5)
/** The key of the shared repo's boxes. */
export const dataKey: Uint8Array = new Uint8Array(32).fill(0x5a)
export const repoId: string = repoIdOf(makeRepoIo(), syncKey)

/** A device with a copy of the repo. */
export interface Device {
  readonly io: Io
  readonly clock: FakeClock
  readonly files: Map<string, string>
  readonly repo: Repo
  readonly servers: SyncServers
  readonly reports: unknown[]
  sync(): Promise<SyncResult>
  /** The text of a file that holds JSON. */
  json(path: string): Promise<unknown>
  /** Opens the same disk again. */
  reopen(): Promise<Device>
}

/** What may differ between devices. */
export interface DeviceOptions {
  readonly files?: Map<string, string>
  readonly disk?: Disk
  readonly syncServers?: readonly string[]
  readonly infoServers?: readonly string[]
  readonly deployedPrefix?: string
  /** The time of day; that of a clock of its own if it is left out. */
  readonly now?: () => number
  /** Chance, where a test decides it. */
  readonly random?: Io['random']
  readonly belongsAt?: BelongsAt
}

/** Opens the shared repo on a device of its own. */
export const openDevice = async (
  store: Pick<SyncStore, 'fetch'>,
  options: DeviceOptions = {}
): Promise<Device> => {
  const { files = new Map(), syncServers = ['https://sync.example'], infoServers = [] } = options
  const clock = makeFakeClock()
  const { now = () => clock.now() } = options
  const parts = makeRepoIo({ clock: { ...clock, now }, fetch: store.fetch })
  const io = { ...parts, random: options.random ?? parts.random }
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const servers = new SyncServers({ io, syncServers, infoServers, report })
  const repo = await openRepo({
    io,
    disk: options.disk ?? makeFaultDisk(files),
    repoId,
    syncKey: new Secret(syncKey.slice()),
    dataKey: new Secret(dataKey.slice()),
    report,
    ...(options.deployedPrefix !== undefined && { deployedPrefix: options.deployedPrefix }),
    ...(options.belongsAt !== undefined && { belongsAt: options.belongsAt })
  })
  return {
    io,
    clock,
    files,
    repo,
    servers,
    reports,
    sync: () => syncRepo(repo, servers),
    json: async path => JSON.parse((await repo.getText(path)) ?? 'null') as unknown,
    async reopen() {
      await repo.close()
      return openDevice(store, { ...options, files })
    }
  }
}

/** A box of the shared repo, as another client would seal it. */
export const boxOf = (text: string): Box => sealText(makeRepoIo(), dataKey, text)
