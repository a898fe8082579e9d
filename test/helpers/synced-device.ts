import { isWalletError } from '../../kernel/base/errors.ts'
import { isTombstonePath } from '../../kernel/sync/tombstones.ts'
import { type DeployedClient, makeDeployedClient } from './deployed-client.ts'
import { passWalletError } from './drawn-runs.ts'
import { type Edit, type EditHistory, WHOLE } from './edit-history.ts'
import type { Fault, FaultDisk } from './fault-disk.ts'
import { type MemoryKind, makeFaultMedium } from './fault-store.ts'
import { type Device, openDevice } from './repo-device.ts'
import { makeRepoIo } from './repo-io.ts'
import { deleteFile, editText } from './repo-texts.ts'
import type { SyncNetwork } from './sync-network.ts'
import type { RequestFate, Wire } from './sync-wire.ts'
import { changedFields, edited, type FileEdit, fieldsOf } from './synced-file.ts'

/** One device of a story: somebody edits files on it, its syncs go step by step, and its disk may fail. */
export interface SyncedDevice {
  readonly name: string
  readonly pendingCount: number
  readonly isSyncing: boolean
  edit(edit: FileEdit): Promise<void>
  remove(path: string): Promise<void>
  /** Begins a sync, unless one is under way. */
  beginSync(): Promise<void>
  /** Lets the request of the present sync go one step further. */
  move(fate: RequestFate): Promise<void>
  /** Plans a fault of the disk; if it ends the process, the device starts again, with more faults while it starts. */
  strike(fault: Fault, again?: readonly Fault[]): void
  /** Ends the process without warning and starts it again, with faults while it starts. */
  restart(faults?: readonly Fault[]): Promise<void>
  /** All files with their texts. */
  files(): Promise<Map<string, string>>
  /** Of which files it has said that an edit may be undone, and the texts that it keeps of each. */
  reported(): Promise<Reported>
}

/** What a device has told. */
export interface Reported {
  readonly paths: ReadonlySet<string>
  readonly kept: ReadonlyMap<string, readonly string[]>
}

/** What devices of one story share. */
export interface DeviceWorld {
  readonly network: SyncNetwork
  readonly history: EditHistory
  /** What ours keep their files on; a disk if it is left out. */
  readonly medium?: MemoryKind
}

/** Opens a device with our repo on a disk or store that may fail. */
export const openSyncedDevice = async (
  name: string,
  { network, history, medium = 'disk' }: DeviceWorld
): Promise<SyncedDevice> => {
  const device = new OurDevice(name, { network, history, medium })
  await device.restart()
  return device
}

class OurDevice implements SyncedDevice {
  readonly name: string
  readonly #network: SyncNetwork
  readonly #history: EditHistory
  readonly #files = new Map<string, string>()
  readonly #medium: MemoryKind
  readonly #reported = new Set<string>()
  #wire: Wire
  #disk: FaultDisk
  #opened: Device | undefined
  #syncing: Promise<void> | undefined
  #planned: { readonly fault: Fault; readonly again: readonly Fault[] } | undefined

  constructor(name: string, { network, history, medium }: Required<DeviceWorld>) {
    this.name = name
    this.#medium = medium
    this.#network = network
    this.#history = history
    this.#wire = network.wire(name)
    this.#disk = makeFaultMedium(this.#medium, this.#files)
  }

  get pendingCount(): number {
    return this.#device.repo.pendingCount
  }

  get isSyncing(): boolean {
    return this.#syncing !== undefined
  }

  async edit(edit: FileEdit): Promise<void> {
    const { path } = edit
    const text = await this.#read(path)
    const changes = changedFields(text, edit)
    if (changes.length === 0) return
    const edits = changes.map(([field, value]) => this.#history.begin(this.name, { path, field, value }))
    await this.#write(edits, ({ repo }) => editText(repo, path, present => edited(present, edit)))
  }

  async remove(path: string): Promise<void> {
    if ((await this.#read(path)) === undefined) return
    const edit = this.#history.begin(this.name, { path, field: WHOLE, value: undefined })
    await this.#write([edit], ({ repo }) => deleteFile(repo, path))
  }

  async beginSync(): Promise<void> {
    if (this.isSyncing) return
    const wire = this.#wire
    const run: Promise<void> = this.#device.sync().then(
      () => wire.succeed(),
      () => wire.refuse()
    )
    this.#syncing = run
    run.then(() => {
      if (this.#syncing === run) this.#syncing = undefined
    })
    await this.#settle()
  }

  async move(fate: RequestFate): Promise<void> {
    await this.#wire.move(fate)
    await this.#settle()
  }

  strike(fault: Fault, again: readonly Fault[] = []): void {
    this.#planned = { fault, again }
    this.#disk.strike(fault)
  }

  async restart(faults: readonly Fault[] = []): Promise<void> {
    for (const fault of faults) {
      await this.#open(fault).catch(passWalletError)
      if (this.#disk.hasFired) this.#network.note(`disk ${fault.kind} at opening`)
    }
    await this.#open()
  }

  async files(): Promise<Map<string, string>> {
    const { repo } = this.#device
    const files = new Map<string, string>()
    for (const path of await repo.list('')) files.set(path, (await repo.getText(path)) ?? '')
    return files
  }

  async reported(): Promise<Reported> {
    const { repo } = this.#device
    this.#receive()
    const kept = new Map<string, string[]>()
    for (const { path, keptId } of repo.keptFiles())
      kept.set(path, [...(kept.get(path) ?? []), repo.keptText(keptId) ?? ''])
    return { paths: this.#reported, kept }
  }

  #receive(): void {
    for (const report of this.#opened?.reports ?? [])
      if (isWalletError(report, 'SYNC_CONFLICT')) this.#reported.add(report.details.path)
  }

  get #device(): Device {
    if (this.#opened === undefined) throw new Error(`${this.name} is off`)
    return this.#opened
  }

  async #open(fault?: Fault): Promise<void> {
    this.#receive()
    this.#wire.hangUp()
    this.#disk.cutPower()
    this.#syncing = undefined
    this.#wire = this.#network.wire(this.name)
    this.#disk = makeFaultMedium(this.#medium, this.#files, fault)
    const syncServers = ['https://sync-one.example', 'https://sync-two.example']
    this.#opened = await openDevice(
      { fetch: this.#wire.fetch },
      {
        ...{ disk: this.#disk, syncServers },
        now: () => this.#network.now
      }
    )
  }

  /** The text of a file, which somebody looks at. */
  async #read(path: string): Promise<string | undefined> {
    await this.#settle()
    const text = await this.#device.repo.getText(path)
    this.#history.showValues(this.name, path, fieldsOf(path, text).values())
    return text
  }

  async #write(edits: readonly Edit[], task: (device: Device) => Promise<void>): Promise<void> {
    this.#network.now += 1000
    const isSafe = await task(this.#device).then(
      () => true,
      (error: unknown) => {
        if (this.#disk.hasFired || this.#disk.isDown) return false
        throw error
      }
    )
    for (const edit of edits) edit.isAcknowledged = isSafe
    await this.#settle()
  }

  /** Waits until nothing moves but what waits for the network; a device that lost its power starts again. */
  async #settle(): Promise<void> {
    await settled(() => this.isSyncing && !this.#wire.isWaiting)
    const planned = this.#planned
    if (planned !== undefined && this.#disk.hasFired) {
      this.#network.note(`disk ${planned.fault.kind}`)
      this.#planned = undefined
    }
    if (this.#disk.isDown) await this.restart(planned?.again)
  }
}

/** A device with a deployed client, whose disk never fails: what it loses by itself is not our matter. */
export const makeDeployedDevice = (
  name: string,
  network: SyncNetwork,
  history: EditHistory
): SyncedDevice => {
  const wire = network.wire(name, true)
  const client: DeployedClient = makeDeployedClient(makeRepoIo({ fetch: wire.fetch }))
  let isSyncing = false
  const settle = (): Promise<void> => settled(() => isSyncing && !wire.isWaiting)
  return {
    name,
    get pendingCount() {
      return client.pendingCount
    },
    get isSyncing() {
      return isSyncing
    },
    async edit(edit) {
      // It forgets what is written while it sends.
      if (isSyncing) return
      const fields = changedFields(client.text(edit.path), edit)
      if (fields.length === 0) return
      for (const [field, value] of fields) {
        history.begin(name, { path: edit.path, field, value }).isAcknowledged = true
      }
      client.setText(edit.path, edited(client.text(edit.path), edit))
    },
    // It does not tell anybody of a deletion.
    remove: async () => {},
    async beginSync() {
      if (isSyncing) return
      isSyncing = true
      client.sync().then(
        () => {
          wire.succeed()
          isSyncing = false
        },
        () => {
          wire.refuse()
          isSyncing = false
        }
      )
      await settle()
    },
    async move(fate) {
      await wire.move(fate)
      await settle()
    },
    strike: () => {},
    async restart() {
      wire.hangUp()
      isSyncing = false
    },
    reported: async () => ({ paths: new Set(), kept: new Map() }),
    // It keeps the files of tombstones too, and never looks into them.
    async files() {
      const paths = client.paths().filter(path => !isTombstonePath(path))
      return new Map(paths.map(path => [path, client.text(path) ?? '']))
    }
  }
}

const settled = async (isMoving: () => boolean): Promise<void> => {
  for (let turn = 0; turn < 1000; turn += 1) {
    await new Promise(resolve => setImmediate(resolve))
    if (!isMoving()) return
  }
  throw new Error('The device does not come to rest')
}
