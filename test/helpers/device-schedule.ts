import { FakeDb } from '../../fake-server/accounts/fake-db.ts'
import { makeRandom } from '../../fake-server/base/faults.ts'
import { FakeServer } from '../../fake-server/routes/fake-server.ts'
import { Secret } from '../../kernel/base/secret.ts'
import type { FetchOptions, FetchReply, Io } from '../../kernel/io/io.ts'
import { openRepo } from '../../kernel/sync/open-repo.ts'
import type { Repo } from '../../kernel/sync/repo.ts'
import { SyncLoop, syncRepo } from '../../kernel/sync/sync-loop.ts'
import { SyncServers } from '../../kernel/sync/sync-servers.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { EditLedger, type FieldValues, fieldValuesOf, withValue } from './edit-ledger.ts'
import type { FaultDisk } from './fault-disk.ts'
import { type MemoryKind, makeFaultMedium } from './fault-store.ts'
import { dataKey, repoId, syncKey } from './repo-device.ts'
import { makeRepoIo } from './repo-io.ts'
import { deleteFile, editText } from './repo-texts.ts'

/** A kind of schedule: how the devices of one account go about their files. */
export interface ScheduleKind {
  readonly name: string
  readonly devices: 2 | 3
  /** Each device edits files of its own, or all edit the same. */
  readonly files: 'own' | 'shared'
  /** How syncs begin: one after another, all at once, or as the loop of the kernel lets them. */
  readonly syncs: 'in turn' | 'at once' | 'loop'
  /** What else happens, each now and then. */
  readonly also?: readonly ('put back' | 'remove' | 'delete' | 'lost reply' | 'kill' | 'offline')[]
}

/** Every kind of schedule, for two devices and for three. */
export const SCHEDULE_KINDS: readonly ScheduleKind[] = ([2, 3] as const).flatMap(devices => {
  const shared = { devices, files: 'shared', syncs: 'at once' } as const
  const kinds: ScheduleKind[] = [
    { ...shared, name: 'own files, all at once', files: 'own' },
    { ...shared, name: 'own files, by the loop', files: 'own', syncs: 'loop' },
    { ...shared, name: 'shared files, one sync at a time', syncs: 'in turn' },
    { ...shared, name: 'shared files, all at once' },
    { ...shared, name: 'shared files, by the loop', syncs: 'loop' },
    { ...shared, name: 'shared files, values put back', also: ['put back'] },
    { ...shared, name: 'shared files, fields removed', also: ['remove'] },
    { ...shared, name: 'shared files, replies lost', also: ['lost reply'] },
    { ...shared, name: 'shared files, devices killed', also: ['kill'] },
    { ...shared, name: 'shared files, devices offline', also: ['offline'] },
    {
      ...shared,
      name: 'shared files, everything',
      also: ['put back', 'remove', 'lost reply', 'kill', 'offline']
    },
    {
      ...shared,
      name: 'shared files, everything, by the loop',
      syncs: 'loop',
      also: ['put back', 'remove', 'lost reply']
    },
    { ...shared, name: 'shared files, files deleted', also: ['delete'] },
    {
      ...shared,
      name: 'shared files, files deleted, by the loop',
      syncs: 'loop',
      also: ['delete', 'lost reply']
    },
    {
      ...shared,
      name: 'shared files, files deleted and everything else',
      also: ['delete', 'remove', 'lost reply', 'kill', 'offline']
    }
  ]
  return kinds.map(kind => ({ ...kind, name: `${devices} devices, ${kind.name}` }))
})

/** What schedules of a kind came to. */
export interface ScheduleResult {
  readonly edits: number
  /** Fields that were edited. */
  readonly fields: number
  /** Fields whose last value is gone. */
  readonly lost: readonly string[]
}

/** Plays one schedule, lets every device sync until all are equal, and says what is gone. */
export const runSchedule = async (
  kind: ScheduleKind,
  seed: number,
  medium: MemoryKind = 'disk'
): Promise<ScheduleResult> => {
  const stage = new Stage(kind, seed, medium)
  await stage.open()
  if (kind.syncs === 'loop') await stage.playLoop()
  else for (let round = 0; round < ROUNDS; round += 1) await stage.playRound()
  return stage.end()
}

const ROUNDS = 3
const SECOND = 1000

interface StagedDevice {
  readonly name: string
  readonly files: Map<string, string>
  readonly servers: SyncServers
  disk: FaultDisk
  repo: Repo
  loop: SyncLoop | undefined
  /** Counts the lives of the process: who asks for a dead one gets no answer. */
  life: number
}

class Stage {
  readonly #kind: ScheduleKind
  readonly #medium: MemoryKind
  readonly #seededRandom: () => number
  /** For what the devices draw themselves. */
  readonly #dice: () => number
  readonly #clock: FakeClock = makeFakeClock()
  readonly #server: FakeServer
  readonly #ledger = new EditLedger()
  readonly #devices: StagedDevice[] = []
  readonly #putBack = new Map<string, string>()
  #values = 0
  #isHonest = false
  readonly #random = (count: number): Uint8Array =>
    Uint8Array.from({ length: count }, () => Math.floor(this.#dice() * 256))

  constructor(kind: ScheduleKind, seed: number, medium: MemoryKind) {
    this.#kind = kind
    this.#medium = medium
    this.#seededRandom = makeRandom(seed)
    this.#dice = makeRandom(seed + 1_000_003)
    const { crypto } = makeNodeIo()
    const db = new FakeDb(crypto)
    db.createRepos([Buffer.from(syncKey).toString('hex')])
    this.#server = new FakeServer({ crypto, clock: this.#clock }, db)
  }

  /** Opens the devices on files that all of them have. */
  async open(): Promise<void> {
    for (let index = 0; index < this.#kind.devices; index += 1) {
      const name = 'ABC'[index] ?? ''
      const files = new Map<string, string>()
      const io = this.#ioOf(index)
      const servers = new SyncServers({
        io,
        syncServers: ['https://sync.example'],
        infoServers: [],
        report: () => {}
      })
      const disk = makeFaultMedium(this.#medium, files)
      this.#devices.push({
        ...{ name, files, disk, servers, loop: undefined, life: 0 },
        repo: await this.#openRepo(io, disk)
      })
    }
    this.#isHonest = true
    const [first] = this.#devices
    for (const path of this.#paths()) {
      for (const field of ['x', 'y', 'n.a', 'n.b'])
        if (first !== undefined) await this.#edit(first, path, field)
    }
    await this.#settle()
    this.#isHonest = false
  }

  /** Everybody edits, then everybody syncs. */
  async playRound(): Promise<void> {
    for (const device of this.#devices) await this.#runAction(device)
    const isAtOnce = this.#kind.syncs === 'at once'
    const running: Promise<void>[] = []
    for (const device of this.#devices) {
      if (this.#may('offline', 0.2)) continue
      const sync = this.#sync(device)
      running.push(sync)
      if (!isAtOnce) await this.#until(sync)
    }
    if (this.#may('kill', 0.3)) {
      await this.#clock.advance(this.#upTo(40 * SECOND))
      await this.#restart(this.#any(this.#devices))
    }
    await this.#until(Promise.all(running))
  }

  /** Everybody edits whenever they like while the loop syncs. */
  async playLoop(): Promise<void> {
    const io = { clock: this.#clock, random: this.#random }
    for (const device of this.#devices) {
      device.loop = new SyncLoop({ io, servers: device.servers, report: () => {} })
      device.loop.add(device.repo)
    }
    for (let edits = 0; edits < 8 * this.#devices.length; edits += 1) {
      await this.#clock.advance(this.#upTo(10 * SECOND))
      await this.#runAction(this.#any(this.#devices))
    }
    for (const { loop } of this.#devices) loop?.close()
    await this.#clock.advance(120 * SECOND)
  }

  /** Lets the network be honest until all devices are equal. @throws Error if they never are */
  async end(): Promise<ScheduleResult> {
    this.#isHonest = true
    await this.#settle()
    const [first] = this.#devices
    const files = new Map<string, FieldValues>()
    for (const path of (await first?.repo.list('')) ?? [])
      files.set(path, fieldValuesOf(await first?.repo.getText(path)))
    return { edits: this.#ledger.count, ...this.#ledger.lost(files) }
  }

  async #settle(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      for (const device of this.#devices) await this.#until(this.#sync(device))
      const seen = await Promise.all(this.#devices.map(({ repo }) => contentOf(repo)))
      const isQuiet = this.#devices.every(({ repo }) => repo.pendingCount === 0)
      if (round > 0 && isQuiet && new Set(seen).size === 1) return
    }
    throw new Error('The devices never become equal')
  }

  async #sync(device: StagedDevice): Promise<void> {
    await syncRepo(device.repo, device.servers).then(
      () => {},
      () => {}
    )
  }

  async #runAction(device: StagedDevice): Promise<void> {
    const edits = 1 + Math.floor(this.#seededRandom() * 2)
    for (let i = 0; i < edits; i += 1) {
      const path = this.#any(this.#paths(device))
      if (this.#may('delete', 0.1) && (await this.#remove(device, path))) continue
      if (this.#may('put back', 0.4) && (await this.#restore(device, path))) continue
      const isNew = this.#seededRandom() < 0.2
      await this.#edit(device, path, isNew ? `ids/${this.#nextValue(device)}` : this.#any(FIELDS))
    }
  }

  async #edit({ name, repo }: StagedDevice, path: string, field: string): Promise<void> {
    if (this.#putBack.has(`${path} ${field}`)) return
    const id = field.startsWith('ids/') ? field.slice(4) : `${name}${++this.#values}`
    await editText(repo, path, text => {
      const seen = fieldValuesOf(text).get(field)
      const value = seen !== undefined && this.#may('remove', 0.2) ? undefined : id
      this.#ledger.edit(path, field, { seen, ...(value !== undefined && { value }) })
      return withValue(text, field, value)
    })
  }

  /** Gives a field the value that it had before its present one; nobody edits it again, so that it is known who wins. */
  async #restore({ repo }: StagedDevice, path: string): Promise<boolean> {
    const field = this.#any(FIELDS)
    const seen = fieldValuesOf(await repo.getText(path)).get(field)
    const older = this.#ledger.valueBefore(path, field, seen)
    if (seen === undefined || older === undefined || this.#putBack.has(`${path} ${field}`)) return false
    this.#putBack.set(`${path} ${field}`, older)
    await editText(repo, path, text => {
      this.#ledger.edit(path, field, { seen, value: older })
      return withValue(text, field, older)
    })
    return true
  }

  async #remove({ repo }: StagedDevice, path: string): Promise<boolean> {
    const text = await repo.getText(path)
    if (text === undefined) return false
    this.#ledger.remove(path, fieldValuesOf(text))
    await deleteFile(repo, path)
    return true
  }

  async #restart(device: StagedDevice): Promise<void> {
    device.life += 1
    const index = this.#devices.indexOf(device)
    // What is on the disk at that moment is all that is left: the old process writes no more.
    device.disk.cutPower()
    device.disk = makeFaultMedium(this.#medium, device.files)
    device.repo = await this.#openRepo(this.#ioOf(index), device.disk)
  }

  #openRepo(io: Io, disk: FaultDisk): Promise<Repo> {
    return openRepo({
      ...{ io, disk, repoId, report: () => {} },
      syncKey: new Secret(syncKey.slice()),
      dataKey: new Secret(dataKey.slice())
    })
  }

  #ioOf(index: number): Io {
    const io = makeRepoIo({ clock: this.#clock, fetch: (url, options) => this.#fetch(index, url, options) })
    return { ...io, random: this.#random }
  }

  /** Brings a request to the server and the reply back, each after some time and both within the deadline. */
  async #fetch(index: number, url: string, options: FetchOptions = {}): Promise<FetchReply> {
    const device = this.#devices[index]
    const life = device?.life
    await this.#wait(this.#isHonest ? 1 : this.#upTo(14 * SECOND))
    if (device?.life !== life) return new Promise(() => {})
    const { method = 'GET', headers = {}, body = '' } = options
    const {
      status,
      body: text,
      headers: replied
    } = await this.#server.handle({
      ...{ method, headers, body },
      path: new URL(url).pathname
    })
    if (this.#may('lost reply', 0.2)) throw new Error('The line broke')
    await this.#wait(this.#isHonest ? 1 : this.#upTo(14 * SECOND))
    return { status, headers: replied, text }
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise(resolve => void this.#clock.after(milliseconds, resolve))
  }

  /** Lets time pass until something is over. */
  async #until(done: Promise<unknown>): Promise<void> {
    let isDone = false
    done.then(() => {
      isDone = true
    })
    for (let mutex = 0; mutex < 400; mutex += 1) {
      await this.#clock.advance(this.#isHonest ? 5 : SECOND)
      if (isDone) return
    }
    throw new Error('A sync never ends')
  }

  #paths(device?: StagedDevice): string[] {
    if (this.#kind.files === 'shared') return ['s.json', 't.json']
    const names = device === undefined ? ['A', 'B', 'C'].slice(0, this.#kind.devices) : [device.name]
    return names.flatMap(name => [`${name}1.json`, `${name}2.json`])
  }

  #may(what: NonNullable<ScheduleKind['also']>[number], share: number): boolean {
    return !this.#isHonest && this.#kind.also?.includes(what) === true && this.#seededRandom() < share
  }

  #any<T>(items: readonly T[]): T {
    return items[Math.floor(this.#seededRandom() * items.length)] as T
  }

  #upTo(most: number): number {
    return Math.floor(this.#seededRandom() * most)
  }

  #nextValue({ name }: StagedDevice): string {
    this.#values += 1
    return `${name}${this.#values}`
  }
}

const FIELDS = ['x', 'y', 'z', 'n.a', 'n.b', 'n.c']
const MAX_ROUNDS = 12

const contentOf = async (repo: Repo): Promise<string> => {
  const paths = await repo.list('')
  return JSON.stringify(await Promise.all(paths.map(async path => [path, await repo.getText(path)])))
}
