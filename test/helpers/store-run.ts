import fc from 'fast-check'
import { isWalletError } from '../../kernel/base/errors.ts'
import { Secret } from '../../kernel/base/secret.ts'
import type { Disk } from '../../kernel/io/disk.ts'
import {
  type BulkChange,
  type BulkRow,
  type BulkTable,
  parseBulkPrefixes
} from '../../kernel/repo/store/bulk.ts'
import { openSealedStore, type SealedStore } from '../../kernel/repo/store/sealed-store.ts'
import { openFolderStore } from '../../kernel/store/store-disk.ts'
import { makeRepoIo } from './repo-io.ts'
import { type ShakyDisk, type ShakyFault, shakyDiskOver } from './shaky-disk.ts'
import { ABSENT, type Span, StoreOracle, spelt } from './store-oracle.ts'
import { memoryPlace, type StoryPlace } from './story-place.ts'

/** Reads that go on beside everything else. */
type ReadKind = 'page' | 'scan' | 'ordered' | 'getMany' | 'keysWhere' | 'count'

/** One step of a story. `keys`: numbers of keys with a rank for their order, undefined for a deletion. */
export type StoreStep =
  | {
      readonly kind: 'write'
      readonly keys: readonly (readonly [number, number | null])[]
      readonly waits: boolean
    }
  | { readonly kind: 'read'; readonly how: ReadKind; readonly slow: boolean }
  | { readonly kind: 'fault'; readonly fault: ShakyFault }
  | { readonly kind: 'turns'; readonly count: number }
  | { readonly kind: 'check' | 'crash' | 'reopen' }

const change = fc.tuple(fc.nat({ max: 59 }), fc.option(fc.nat({ max: 4 }), { freq: 4 }))
const write = (minLength: number, maxLength: number): fc.Arbitrary<StoreStep> =>
  fc.record({
    kind: fc.constant('write' as const),
    keys: fc.array(change, { minLength, maxLength }),
    waits: fc.boolean()
  })
const fault = fc.record({
  call: fc.constantFrom('set' as const, 'set' as const, 'get' as const, 'delete' as const),
  at: fc.integer({ min: 1, max: 4 }),
  arrives: fc.boolean()
})

/** Stories for {@link runStoreStory}. */
export const storeStories: fc.Arbitrary<StoreStep[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: write(1, 3) },
    { weight: 4, arbitrary: write(12, 30) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('read' as const),
        how: fc.constantFrom<ReadKind[]>('page', 'scan', 'ordered', 'getMany', 'keysWhere', 'count'),
        slow: fc.boolean()
      })
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('fault' as const), fault }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('turns' as const), count: fc.nat({ max: 12 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('check' as const, 'crash' as const, 'reopen' as const)
      })
    }
  ),
  { maxLength: 45, size: 'max' }
)

/** Runs a story against a store on a shaky place and throws at the first answer that a plain list of the writes would not give. */
export const runStoreStory = async (
  steps: readonly StoreStep[],
  seed: number,
  place: StoryPlace = memoryPlace()
): Promise<void> => {
  const run = new StoreRun(seed, place)
  await run.open()
  for (const step of steps) await run.step(step)
  await run.step({ kind: 'check' })
  await run.step({ kind: 'reopen' })
  await run.finish()
}

const folder = 'repos/r/log'
const key = new Secret(new Uint8Array(32).fill(7))
const bulk = parseBulkPrefixes(['t/', 'u/+/'])
const TABLES = ['t/', 'u/a/']
const KEYS = Array.from({ length: 60 }, (_, i) => (i < 40 ? `t/k${i}` : i < 50 ? `u/a/k${i}` : `e/k${i}`))
const ROWS = KEYS.filter(name => name.startsWith('t/'))
const ENTRIES = KEYS.filter(name => name.startsWith('e/'))

class StoreRun {
  readonly #place: StoryPlace
  readonly #oracle = new StoreOracle()
  readonly #io: ReturnType<typeof makeRepoIo>
  #seed: number
  #stamp = 0
  #raw: Disk | undefined
  #opened: ShakyDisk | undefined
  #store: SealedStore | undefined
  #busy: Promise<void>[] = []
  #reports: unknown[] = []
  #isClosing = false

  constructor(seed: number, place: StoryPlace) {
    this.#seed = seed
    this.#place = place
    const io = makeRepoIo()
    let now = 0
    const monotonic = (): number => {
      now += 3
      return now
    }
    this.#io = {
      ...io,
      clock: { ...io.clock, monotonic, turn: () => new Promise(resolve => setImmediate(resolve)) }
    }
  }

  async open(): Promise<void> {
    this.#seed += 1
    this.#raw = await this.#place.open()
    this.#opened = shakyDiskOver(this.#raw, this.#seed)
    const report = (error: unknown): void => void this.#reports.push(error)
    const { clock, crypto } = this.#io
    const store = await openFolderStore(this.#disk, { folder, crypto, clock, report, onLoss: report })
    this.#store = await openSealedStore({
      io: this.#io,
      store,
      name: folder,
      key,
      bulk,
      report,
      blockLength: 600
    })
  }

  async step(step: StoreStep): Promise<void> {
    if (step.kind === 'write') await this.#write(step)
    else if (step.kind === 'read') this.#begin(this.#read(step.how, step.slow))
    else if (step.kind === 'fault') this.#disk.fail(step.fault)
    else if (step.kind === 'turns') for (let i = 0; i < step.count; i += 1) await this.#io.clock.turn()
    else if (step.kind === 'check') await this.#check()
    else if (step.kind === 'crash') await this.#crash()
    else await this.#reopen()
  }

  async finish(): Promise<void> {
    await this.#there.close()
    await this.#raw?.close?.()
    for (const report of this.#reports) this.#judge(report)
  }

  get #there(): SealedStore {
    if (this.#store === undefined) throw new Error('The store is not open')
    return this.#store
  }

  get #disk(): ShakyDisk {
    if (this.#opened === undefined) throw new Error('The place is not open')
    return this.#opened
  }

  #begin(task: Promise<void>): void {
    task.catch(() => {})
    this.#busy.push(task)
  }

  async #write({ keys, waits }: Extract<StoreStep, { kind: 'write' }>): Promise<void> {
    const changes = new Map<string, string | BulkChange | null>()
    for (const [number, rank] of keys) {
      const name = KEYS[number] ?? ''
      this.#stamp += 1
      const text = `${this.#stamp} ${'x'.repeat(50)}`
      const row = { text, order: (rank ?? 0) * 100 + number, mark: this.#stamp }
      changes.set(name, rank === null ? null : name.startsWith('e/') ? text : row)
    }
    const done = this.#oracle.write(changes, this.#there.write(changes))
    this.#begin(done)
    if (waits) await done
  }

  async #read(how: ReadKind, slow: boolean): Promise<void> {
    const table = this.#there.table('t/')
    const disk = this.#disk
    try {
      await this.#readOf(table, how, slow)
    } catch (error) {
      if (disk.failureCount === 0 && disk === this.#disk && !this.#isClosing) throw error
      this.#judge(error)
    }
  }

  /** @throws if an answer could not have been true at any moment of the read */
  async #readOf(table: BulkTable, how: ReadKind, slow: boolean): Promise<void> {
    const since = this.#oracle.now
    const entries = ENTRIES.map(name => this.#there.get(name) ?? ABSENT)
    const sinceEntries = { since, until: this.#oracle.now }
    const found = await this.#answer(table, how, slow)
    const span = { since, until: this.#oracle.now }
    await this.#io.clock.turn()
    for (const [i, name] of ENTRIES.entries())
      this.#compare(name, entries[i] ?? ABSENT, { ...sinceEntries, how: 'get' })
    if (typeof found === 'number') return this.#compareCount(found, span)
    for (const name of ROWS) this.#compare(name, found.get(name) ?? ABSENT, { ...span, how })
  }

  /** What a table says of each row, in the spelling that it has; or how many there are. */
  async #answer(table: BulkTable, how: ReadKind, slow: boolean): Promise<Map<string, string> | number> {
    if (how === 'count') return table.count()
    if (how === 'getMany') {
      const texts = await table.getMany(ROWS.map(name => name.slice(2)))
      return new Map(ROWS.map((name, i) => [name, texts[i] ?? ABSENT]))
    }
    if (how === 'keysWhere')
      return new Map((await table.keysWhere(() => true)).map(name => [`t/${name}`, '']))
    const rows: BulkRow[] = []
    if (how === 'page') rows.push(...(await table.page(0, 100)))
    else {
      for await (const batch of table.scan({ ordered: how === 'ordered' })) {
        rows.push(...batch)
        if (slow) for (let i = 0; i < 5; i += 1) await this.#io.clock.turn()
      }
    }
    const there = new Map(rows.map(row => [`t/${row.key}`, spelt(`t/${row.key}`, row)]))
    equal(there.size, rows.length, `how many rows ${how} tells`)
    return there
  }

  #compareCount(count: number, span: Span): void {
    const allowed = ROWS.map(name => this.#oracle.allowed(name, span))
    const least = allowed.filter(texts => !texts.has(ABSENT)).length
    const most = allowed.filter(texts => texts.size > 1 || !texts.has(ABSENT)).length
    equal(count >= least && count <= most, true, `count ${count} from ${least} to ${most}`)
  }

  #compare(name: string, text: string, { how, ...span }: Span & { readonly how: string }): void {
    const parts: Partial<Record<string, number>> = { getMany: 3, keysWhere: Number.POSITIVE_INFINITY }
    const shown = (spelling: string): string =>
      spelling === ABSENT
        ? ABSENT
        : spelling
            .split(' ')
            .slice(parts[how] ?? 0)
            .join(' ')
    const allowed = [...this.#oracle.allowed(name, span)].map(shown)
    equal(allowed.includes(text), true, `${how} of ${name}: ${text} is one of ${allowed.join(' | ')}`)
  }

  async #quiet(): Promise<void> {
    for (const task of this.#busy.splice(0)) await task
    await this.#there.settled()
  }

  /** Everything that can be asked, while nothing is on its way. */
  async #check(): Promise<void> {
    await this.#quiet()
    for (;;) {
      const { failureCount } = this.#disk
      try {
        if (this.#oracle.isUnclear) {
          // A batch whose answer was lost is looked for with the next write.
          await this.#there.write(new Map())
          this.#oracle.settle(spellingsOf(await this.#contents()))
        }
        await this.#checkAll()
        return
      } catch (error) {
        if (this.#disk.failureCount === failureCount) throw error
      }
    }
  }

  async #checkAll(): Promise<void> {
    const present = this.#oracle.present()
    for (const name of KEYS)
      if (name.startsWith('e/')) equal(this.#there.get(name), present.get(name), `get ${name}`)
    equal(
      [...this.#there.entries('')].sort().join('\n'),
      [...present]
        .filter(([name]) => name.startsWith('e/'))
        .sort()
        .join('\n'),
      'entries'
    )
    for (const prefix of TABLES) {
      const rows = this.#oracle.rows(prefix)
      const table = this.#there.table(prefix)
      equal(await table.count(), rows.length, `count of ${prefix}`)
      equal(JSON.stringify(await table.page(0, 99)), JSON.stringify(rows), `page of ${prefix}`)
      equal(JSON.stringify(await table.page(2, 5)), JSON.stringify(rows.slice(2, 7)), `page of ${prefix}`)
      equal(JSON.stringify(await allOf(table, true)), JSON.stringify(rows), `ordered scan of ${prefix}`)
      const byKey = (left: BulkRow, right: BulkRow): number => (left.key < right.key ? -1 : 1)
      equal(
        JSON.stringify((await allOf(table, false)).sort(byKey)),
        JSON.stringify([...rows].sort(byKey)),
        `scan of ${prefix}`
      )
      const odd = await table.keysWhere((mark, order) => mark % 2 === 1 && order > 150)
      const wanted = rows.filter(({ mark, order }) => mark % 2 === 1 && order > 150).map(row => row.key)
      equal(odd.sort().join(), wanted.sort().join(), `keysWhere of ${prefix}`)
      const names = KEYS.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length))
      const texts = await table.getMany(names)
      for (const [i, name] of names.entries()) {
        const offset = rows.findIndex(row => row.key === name)
        equal(texts[i], rows[offset]?.text, `getMany of ${prefix}${name}`)
        equal(await table.has(name), offset >= 0, `has of ${prefix}${name}`)
        equal(await table.offsetOf(name), offset < 0 ? undefined : offset, `offsetOf of ${prefix}${name}`)
      }
      for (const order of [50, 105, 230, 310.5])
        equal(
          await table.offsetAt(order),
          rows.filter(row => row.order > order).length,
          `offsetAt of ${prefix}`
        )
    }
  }

  async #contents(): Promise<Map<string, string | BulkChange>> {
    const contents = new Map<string, string | BulkChange>(this.#there.entries(''))
    for (const prefix of TABLES)
      for (const { key: name, text, order, mark } of await this.#there.table(prefix).page(0, 99))
        contents.set(prefix + name, { text, order, mark })
    return contents
  }

  async #crash(): Promise<void> {
    await this.#disk.cutPower()
    await Promise.allSettled(this.#busy.splice(0))
    if (this.#raw !== undefined) await this.#place.crash(this.#raw)
    await this.open()
    const changes = await this.#contents()
    const there = spellingsOf(changes)
    for (const name of KEYS) {
      const allowed = this.#oracle.afterCrash(name)
      const text = there.get(name) ?? ABSENT
      equal(allowed.has(text), true, `after a crash ${name}: ${text} is none of ${[...allowed].join(' | ')}`)
    }
    equal(this.#oracle.torn(there).join('; '), '', 'torn writes')
    this.#oracle.begin(changes)
  }

  async #reopen(): Promise<void> {
    const busy = this.#busy.splice(0)
    this.#isClosing = true
    await this.#there.close()
    for (const task of busy) await task
    this.#isClosing = false
    const failed = this.#disk.failureCount
    await this.#raw?.close?.()
    await this.open()
    // A write that failed may have arrived all the same; what is there then is checked as after a crash.
    if (failed > 0) await this.#crash()
    else await this.#check()
  }

  #judge(error: unknown): void {
    if (!isWalletError(error, 'STORAGE_FAILED')) throw error
  }
}

const spellingsOf = (contents: ReadonlyMap<string, string | BulkChange>): Map<string, string> =>
  new Map([...contents].map(([name, change]) => [name, spelt(name, change)]))

const allOf = async (table: BulkTable, ordered: boolean): Promise<BulkRow[]> => {
  const rows: BulkRow[] = []
  for await (const batch of table.scan({ ordered })) rows.push(...batch)
  return rows
}

const equal = (found: unknown, expected: unknown, what: string): void => {
  if (found !== expected) throw new Error(`${what}: ${String(found)} instead of ${String(expected)}`)
}
