import test from 'ava'
import { compact } from '../../../kernel/base/compact.ts'
import { errorOf, WalletError } from '../../../kernel/base/errors.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import type { Store, StoreChange } from '../../../kernel/io/store.ts'
import { openLogStore } from '../../../kernel/store/log-store.ts'
import { drawSeed, makeSeededRandom, runCount, type SeededRandom } from '../../helpers/drawn-runs.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { makeShakyDisk, type ShakyDisk } from '../../helpers/shaky-disk.ts'

const { crypto, clock } = makeRepoIo()
const folder = 'store'

/** Long ones that differ in the last byte, names of objects, bytes that are no text, and one that begins another. */
const KEYS: readonly string[] = [
  ...['__proto__', 'constructor', '\u0000', '\u00ff', '\u00ff\u00ff', 'a', 'ab', 'b'],
  ...['1', '2'].map(end => `${'k'.repeat(1099)}${end}`),
  ...Array.from({ length: 12 }, (_, i) => `row ${i}`)
]
const keyOf = (name: string): Uint8Array => Uint8Array.from(name, letter => letter.charCodeAt(0))
const nameOf = (key: Uint8Array): string => String.fromCharCode(...key)

type Content = ReadonlyMap<string, string>
type Change = readonly [name: string, value: string | undefined]

interface Batch {
  readonly changes: readonly Change[]
  state: 'pending' | 'saved' | 'failed'
}

const applied = (content: Content, batches: readonly Batch[]): Content => {
  const next = new Map(content)
  for (const { changes } of batches) {
    for (const [name, value] of changes) {
      if (value === undefined) next.delete(name)
      else next.set(name, value)
    }
  }
  return next
}

const textOf = (content: Content): string => JSON.stringify([...content].sort())

/** Short texts stand for long values, so that what is compared and printed stays short. */
const bytesOf = (text: string): Uint8Array => {
  const [count = '', size = '0'] = text.split('*')
  const value = new Uint8Array(Number(size)).fill((Number(count) * 31) & 255)
  value.set(keyOf(count).subarray(0, value.length))
  return value
}

const isValue = (value: Uint8Array, text: string): boolean => {
  return Number(text.split('*')[1]) === value.length && Buffer.compare(value, bytesOf(text)) === 0
}

/** One run: a store on one disk through many processes, most of which end in the middle of something. */
class History {
  readonly #random: SeededRandom
  readonly #label: string
  readonly #files = new Map<string, string>()
  /** Every value that a key ever had. */
  readonly #ever = new Map<string, Set<string>>()
  #content: Content = new Map()
  /** Damage is reported at each start until the first batch has put it right. */
  #isHurt = false
  /** Keys whose values are damaged. */
  #damaged = new Set<string>()
  /** What the process of now was given, in order. */
  #batches: Batch[] = []
  #count = 0
  readonly counts: { [kind: string]: number } = {}

  constructor(seed: number) {
    this.#random = makeSeededRandom(seed)
    this.#label = `HISTORY ${seed}`
  }

  async run(): Promise<void> {
    for (let process = 0; process < 8; process += 1) {
      const isHurt = this.#random.oneIn(6) && this.#damage()
      await this.#runProcess(isHurt)
    }
  }

  async #runProcess(isHurt: boolean): Promise<void> {
    const random = this.#random
    const disk = makeShakyDisk(this.#files, random.below(1e9))
    const losses: string[] = []
    const reports: string[] = []
    const before = new Map(this.#files)
    // The power goes at one write, which is made or not.
    const crashAt = random.oneIn(4) ? Number.POSITIVE_INFINITY : 1 + random.below(random.pick([4, 12, 30]))
    const store = await openLogStore({
      disk: crashing(disk, { at: crashAt, isMade: random.oneIn(2), canSlice: random.oneIn(2) }),
      ...{ folder, crypto, clock },
      onLoss: error => losses.push(errorOf(error).message),
      report: error => reports.push(errorOf(error).message)
    })
    this.#must(same(before, this.#files), 'opening changes nothing')
    await this.#checkStart(store, { isHurt, losses })
    this.#batches = []
    const lossCount = losses.length
    const readers: Promise<void>[] = []
    for (let step = random.below(25); step > 0; step -= 1) {
      if (random.oneIn(6))
        disk.fail({
          call: random.pick(['set', 'set', 'set', 'delete']),
          at: 1 + random.below(4),
          arrives: random.oneIn(2)
        })
      const written = Array.from({ length: random.oneIn(4) ? 3 : 1 }, () => this.#write(store))
      if (random.oneIn(2)) readers.push(this.#read(store))
      if (!random.oneIn(5)) await Promise.all(written)
      if (random.oneIn(5)) await Promise.all(readers)
    }
    const isCalm =
      random.oneIn(2) &&
      (await store.batch([]).then(
        () => true,
        () => false
      ))
    if (!isCalm && random.oneIn(2)) disk.cutPower()
    await Promise.all([store.close(), ...readers])
    this.#must(
      losses.length === lossCount || this.#damaged.size > 0,
      `nothing was lost while it ran: ${losses}`
    )
    this.#must(
      this.#batches.every(({ state }) => state !== 'pending'),
      'a closed store has ended its batches'
    )
    for (const call of [() => store.batch([]), () => store.getMany([]), () => store.keys({ limit: 1 })])
      this.#must(
        await call().then(
          () => false,
          () => true
        ),
        'a closed store refuses everything'
      )
    if (this.#batches.some(({ state }) => state === 'saved')) this.#isHurt = false
    if (crashAt === Number.POSITIVE_INFINITY && disk.failureCount === 0 && isCalm) this.#checkSize(reports)
  }

  #write(store: Store): Promise<void> {
    const random = this.#random
    const changes: Change[] = []
    const draw = (sizes: readonly number[]): void => {
      const name = random.pick(KEYS)
      this.#count += 1
      const size = random.pick(sizes)
      const value = random.oneIn(4) ? undefined : `${size === 0 ? 0 : this.#count}*${size}`
      changes.push([name, value])
      if (value !== undefined) this.#everOf(name).add(value)
    }
    if (random.oneIn(12)) for (let i = random.below(9); i >= 0; i -= 1) draw([400_000, 700_000])
    else for (let i = random.below(4); i >= 0; i -= 1) draw([0, 8, 31, 300, 300, 30_000])
    const batch: Batch = { changes, state: 'pending' }
    this.#batches.push(batch)
    const stored: StoreChange[] = changes.map(([name, value]) => ({
      key: keyOf(name),
      value: value === undefined ? undefined : bytesOf(value)
    }))
    const end = (state: Batch['state']) => () => {
      batch.state = state
    }
    return store.batch(stored).then(end('saved'), end('failed'))
  }

  /** Reads while batches and merges run: a value is that of before or of a batch that had not ended. */
  async #read(store: Store): Promise<void> {
    const names = KEYS.filter(() => this.#random.oneIn(3))
    const states = this.#batches.map(({ state }) => state)
    const saved = this.#batches.filter((_, i) => states[i] === 'saved')
    const content = applied(this.#content, saved)
    const failed = (error: unknown): undefined =>
      this.#must(error instanceof WalletError, `a read failed with ${error}`)
    const page = await store.keys({ limit: 100 }).catch(failed)
    const values = await store.getMany(names.map(keyOf)).catch(failed)
    const later = this.#batches.filter(({ state }, i) => states[i] !== 'saved' && state !== 'failed')
    for (const [i, name] of names.entries()) {
      const allowed = [
        content.get(name),
        ...later.flatMap(({ changes }) => changes.flatMap(([key, value]) => (key === name ? [value] : [])))
      ]
      const value = values?.[i]
      if (values !== undefined)
        this.#must(
          allowed.some(text =>
            text === undefined ? value === undefined : value !== undefined && isValue(value, text)
          ),
          `${name.slice(-9)} is none of ${allowed}: ${value?.length}`
        )
      if (page !== undefined && !this.#damaged.has(name))
        this.#must(
          allowed.some(text => (text !== undefined) === page.some(key => nameOf(key) === name)),
          `${name.slice(-9)} is rightly listed or not, of ${allowed}`
        )
    }
  }

  /** After a start there is what was acknowledged, and of what was not all of one write or nothing. */
  async #checkStart(
    store: Store,
    { isHurt, losses }: { readonly isHurt: boolean; readonly losses: readonly string[] }
  ): Promise<void> {
    const found = await this.#contentOf(store)
    const base = applied(
      this.#content,
      this.#batches.filter(({ state }) => state === 'saved')
    )
    const last = this.#batches.findLastIndex(({ state }) => state === 'saved')
    const open = this.#batches.slice(last + 1)
    const possible = [textOf(base)]
    for (let from = 0; from < open.length; from += 1)
      for (let to = from + 1; to <= open.length; to += 1)
        possible.push(textOf(applied(base, open.slice(from, to))))
    const isKnown = possible.includes(textOf(found))
    if (isHurt) {
      if (!isKnown) this.counts.hurt = (this.counts.hurt ?? 0) + 1
    } else {
      this.#must(isKnown, `found ${textOf(found)} and not ${possible[0]}`)
      this.#must(losses.length === 0 || this.#damaged.size > 0 || this.#isHurt, `nothing is lost: ${losses}`)
    }
    this.#content = found
    this.#isHurt ||= isHurt
  }

  async #contentOf(store: Store): Promise<Content> {
    const content = new Map<string, string>()
    this.#damaged = new Set()
    for (let after: Uint8Array | undefined; ; ) {
      const keys = await store.keys({ limit: 7, ...compact({ after }) })
      const values = await store.getMany(keys)
      for (const [i, key] of keys.entries()) {
        const value = values[i]
        if (value === undefined) {
          this.#damaged.add(nameOf(key))
          continue
        }
        const text = [...this.#everOf(nameOf(key))].findLast(one => isValue(value, one))
        this.#must(text !== undefined, 'a value is one that the key had')
        content.set(nameOf(key), text ?? '')
      }
      after = keys.at(-1)
      if (after === undefined) return content
    }
  }

  #checkSize(reports: readonly string[]): void {
    const sizes = [...this.#files].flatMap(([path, text]) => (path.startsWith(folder) ? [text.length] : []))
    const size = sizes.reduce((sum, one) => sum + one, 0)
    const base = applied(
      this.#content,
      this.#batches.filter(({ state }) => state === 'saved')
    )
    const counted = [...base].reduce((sum, [, text]) => sum + (4 / 3) * Number(text.split('*')[1]) + 2000, 0)
    this.counts.sized = (this.counts.sized ?? 0) + 1
    this.#must(size < 2 * counted + 1_500_000, `${size} letters for ${counted}`)
    this.#must(sizes.length < 30 + size / 100_000, `${sizes.length} files for ${size} letters`)
    this.#must(reports.length === 0, `no merge failed: ${reports}`)
  }

  /** Damages one file of the store: a letter of it changes, or it is gone. False if there is none. */
  #damage(): boolean {
    const path = this.#random.pick([...this.#files.keys(), 'none'])
    const text = this.#files.get(path)
    if (text === undefined || !path.startsWith(folder)) return false
    const at = this.#random.below(text.length)
    const letter = this.#random.pick(['A', '/', ' ', '\u00e9'])
    if (this.#random.oneIn(4)) this.#files.delete(path)
    else this.#files.set(path, text.slice(0, at) + letter + text.slice(at + 1))
    return true
  }

  #everOf(name: string): Set<string> {
    const ever = this.#ever.get(name) ?? new Set()
    this.#ever.set(name, ever)
    return ever
  }

  #must(holds: boolean, what: string): undefined {
    if (!holds) throw new Error(`${this.#label}: ${what}`)
  }
}

const same = (left: Content, right: Content): boolean =>
  left.size === right.size && [...left].every(([path, text]) => right.get(path) === text)

/** The disk, whose power goes at its `at`-th write. */
const crashing = (
  disk: ShakyDisk,
  { at, isMade, canSlice }: { readonly at: number; readonly isMade: boolean; readonly canSlice: boolean }
): Disk => {
  let count = 0
  const write = async (run: () => Promise<void>): Promise<void> => {
    count += 1
    if (count !== at) return run()
    if (isMade) await run().catch(() => {})
    disk.cutPower()
    throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the power is off' })
  }
  return {
    getText: path => disk.getText(path),
    setText: (path, text) => write(() => disk.setText(path, text)),
    delete: path => write(() => disk.delete(path)),
    list: path => disk.list(path),
    ...compact({
      getSlice: canSlice
        ? async (path: string, start: number, end: number) => (await disk.getText(path))?.slice(start, end)
        : undefined
    })
  }
}

test('any history of crashes, failures and reads leaves what was acknowledged, and of each batch all or nothing', async t => {
  const seed = drawSeed(t)
  const counts: { [kind: string]: number } = {}
  for (let run = 0; run < runCount(100); run += 1) {
    const history = new History((seed + run) >>> 0)
    await history.run()
    for (const [kind, n] of Object.entries(history.counts)) counts[kind] = (counts[kind] ?? 0) + n
  }
  t.log(counts)
  t.pass()
})
