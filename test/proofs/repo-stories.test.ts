import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../kernel/base/errors.ts'
import { drawSeed, passWalletError, runCount, WITHIN_TIME } from '../helpers/drawn-runs.ts'
import type { MemoryKind } from '../helpers/fault-store.ts'
import { type Device, openDevice } from '../helpers/repo-device.ts'
import { editText } from '../helpers/repo-texts.ts'
import { type ShakyDisk, shakyDiskOver } from '../helpers/shaky-disk.ts'
import { memoryPlace, type StoryPlace } from '../helpers/story-place.ts'
import { makeSyncStore, type SyncStore } from '../helpers/sync-store.ts'

const FILES = ['s.json', 'transaction/1-a.json', 'transaction/2-b.json', 'Transactions/x.json']

type Step =
  | { readonly kind: 'edit'; readonly file: number; readonly isLong: boolean; readonly waits: boolean }
  | { readonly kind: 'remove'; readonly file: number; readonly waits: boolean }
  | { readonly kind: 'sync'; readonly waits: boolean }
  | {
      readonly kind: 'fault'
      readonly call: 'get' | 'set' | 'delete'
      readonly at: number
      readonly arrives: boolean
    }
  | { readonly kind: 'turnCount'; readonly count: number }
  | { readonly kind: 'lost answer' | 'forget' | 'crash' | 'reopen' | 'other device' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      file: fc.nat({ max: FILES.length - 1 }),
      isLong: fc.nat({ max: 9 }).map(seededRandom => seededRandom === 0),
      waits: fc.boolean()
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      file: fc.nat({ max: FILES.length - 1 }),
      waits: fc.boolean()
    })
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('sync' as const), waits: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      call: fc.constantFrom('get' as const, 'set' as const, 'delete' as const),
      at: fc.integer({ min: 1, max: 4 }),
      arrives: fc.boolean()
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('turnCount' as const), count: fc.nat({ max: 15 }) })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['lost answer', 'forget', 'crash', 'reopen', 'other device', 'other device'] as const)
      )
    })
  }
)

/** Two devices of which one is at work at a time, so that no upload races with another's. */
class RepoRun {
  readonly #store: SyncStore = makeSyncStore()
  readonly #places: readonly StoryPlace[]
  readonly #disks: ShakyDisk[] = []
  readonly #devices: Device[] = []
  readonly acknowledged: ReadonlySet<string>[] = FILES.map(() => new Set<string>())
  /** The fields that somebody has seen and deleted with their file. */
  readonly deleted: ReadonlySet<string>[] = FILES.map(() => new Set<string>())
  #busy: Promise<unknown>[] = []
  #at = 0
  #count = 0
  #seed: number

  constructor(seed: number, kind: MemoryKind) {
    this.#seed = seed
    this.#places = [memoryPlace(kind), memoryPlace(kind)]
  }

  async open(number: number): Promise<void> {
    this.#seed += 1
    const disk = shakyDiskOver(await (this.#places[number] as StoryPlace).open(), this.#seed)
    this.#disks[number] = disk
    this.#devices[number] = await openDevice(this.#store, { disk })
  }

  async step(step: Step): Promise<void> {
    if (step.kind === 'edit') return this.#begin(this.#edit(step.file, step.isLong), step.waits)
    if (step.kind === 'remove') return this.#begin(this.#remove(step.file), step.waits)
    if (step.kind === 'sync') return this.#begin(this.#here.sync(), step.waits)
    if (step.kind === 'fault') this.#disks[this.#at]?.fail(step)
    else if (step.kind === 'turnCount') await this.#turnCount(step.count)
    else if (step.kind === 'forget') await this.#begin(this.#here.repo.forgetServer(), false)
    else if (step.kind === 'lost answer') this.#store.beforeAnswer = () => Promise.reject(new Error('gone'))
    else {
      if (step.kind === 'crash') this.#disks[this.#at]?.cutPower()
      if (step.kind === 'reopen') await this.#here.repo.close().catch(passWalletError)
      await this.#quiet()
      if (step.kind === 'other device') this.#at = 1 - this.#at
      else await this.open(this.#at)
    }
  }

  /** Lets both devices sync until nothing is left, and gives the names of the fields in each file of each. */
  async end(): Promise<string[][][]> {
    await this.#quiet()
    for (const number of [0, 1]) {
      await this.#devices[number]?.repo.close().catch(passWalletError)
      await this.open(number)
    }
    for (const number of [0, 1, 0, 1, 0]) await this.#devices[number]?.sync()
    const names = async (device: Device): Promise<string[][]> => {
      const files = await Promise.all(FILES.map(path => device.json(path)))
      return files.map(file => Object.keys(file ?? {}).sort())
    }
    return Promise.all(this.#devices.map(names))
  }

  get pendingCount(): number {
    return this.#devices.reduce((sum, { repo }) => sum + repo.pendingCount, 0)
  }

  get reports(): unknown[] {
    return this.#devices.flatMap(({ reports }) => reports)
  }

  get #here(): Device {
    return this.#devices[this.#at] as Device
  }

  async #edit(file: number, isLong: boolean): Promise<void> {
    this.#count += 1
    const field = `f${this.#count}`
    const value = isLong ? 'x'.repeat(300_000) : 1
    await editText(this.#here.repo, FILES[file] ?? '', text =>
      JSON.stringify({ ...(JSON.parse(text ?? '{}') as object), [field]: value })
    )
    this.acknowledged[file] = new Set(this.acknowledged[file]).add(field)
  }

  async #remove(file: number): Promise<void> {
    const path = FILES[file] ?? ''
    await editText(this.#here.repo, path, text => {
      const seen = Object.keys(JSON.parse(text ?? '{}') as object)
      this.deleted[file] = new Set([...(this.deleted[file] ?? []), ...seen])
      return null
    })
  }

  async #begin(task: Promise<unknown>, waits: boolean): Promise<void> {
    const ended = task.catch(passWalletError)
    this.#busy.push(ended)
    if (waits) await ended
  }

  async #quiet(): Promise<void> {
    for (const task of this.#busy.splice(0)) await task
    this.#store.beforeAnswer = undefined
  }

  async #turnCount(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await new Promise(resolve => setImmediate(resolve))
  }
}

test('any order of edits, deletions, syncs, failures and crashes loses no acknowledged field, and two devices agree, on disks and in stores of bytes', async t => {
  const story = async (steps: readonly Step[], seed: number, kind: MemoryKind): Promise<void> => {
    const run = new RepoRun(seed, kind)
    for (const number of [0, 1]) await run.open(number)
    for (const one of steps) await run.step(one)
    const [left = [], right = []] = await run.end()
    t.deepEqual(left, right)
    for (const [file, fields] of run.acknowledged.entries())
      for (const field of fields)
        if (run.deleted[file]?.has(field) !== true)
          t.true(left[file]?.includes(field), `${field} of ${FILES[file]}`)
    t.is(run.pendingCount, 0)
    t.true(run.reports.every(report => isWalletError(report, 'STORAGE_FAILED')))
  }
  const numRuns = runCount(3000)
  const steps = fc.array(step, { minLength: 3, maxLength: 30, size: 'max' })
  const kinds = fc.constantFrom<MemoryKind[]>('disk', 'store')
  await fc.assert(fc.asyncProperty(steps, fc.nat({ max: 1e6 }), kinds, story), {
    ...WITHIN_TIME,
    numRuns,
    seed: drawSeed(t)
  })
})
