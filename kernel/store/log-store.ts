import { errorOf, isWalletError, type ReportError, WalletError } from '../base/errors.ts'
import { allSettledOrThrow, Mutex } from '../base/mutex.ts'
import { quarantine } from '../base/quarantine.ts'
import { makeYielder } from '../base/yielder.ts'
import type { Disk } from '../io/disk.ts'
import type { Clock } from '../io/io.ts'
import type { KeyRange, Store, StoreChange } from '../io/store.ts'
import {
  type ChosenChunks,
  type ChunkCodec,
  type ChunkIndex,
  type ChunkRange,
  chooseChunks,
  chunkName,
  closedError,
  decodeIndex,
  decodeValue,
  END,
  type EncodedValue,
  encodeChunk,
  encodeValue,
  endOf,
  type FoundChunk,
  groupsOf,
  HEAD,
  parseChunkName,
  parseHead,
  refusalOf,
  runsOf,
  sizeOf,
  textLength,
  type ValuePosition
} from './chunk.ts'
import { runToMerge } from './merge-policy.ts'
import { SortedMap, textOfKey } from './sorted-map.ts'

/** Options of {@link openLogStore}. */
export interface LogStoreOptions {
  readonly disk: Disk
  /** The folder of the disk that is the store's own. */
  readonly folder: string
  /** The paths below it, as the disk lists them, where they are known. */
  readonly paths?: readonly string[] | undefined
  readonly crypto: ChunkCodec
  readonly clock: Pick<Clock, 'monotonic' | 'now' | 'turn'>
  /** Is written as the newest chunk before anything takes the place of a missing one, so that no crash hides that something was lost. */
  readonly lossMark?: StoreChange | undefined
  /** Gets each damaged or missing chunk, and each damaged value, once. */
  readonly onLoss: ReportError
  /** Gets the failures of work that no call waits for: a merge or a clean-up, which is tried again later. */
  readonly report: ReportError
}

/**
 * Opens a {@link Store} over a disk: an append log of chunks in one folder. docs/store.md has a picture of its files.
 *
 * A batch is one new chunk, or several if it is large: then it counts once its last part is there, so a crash leaves all of
 * it or nothing. Later chunks win over earlier ones. In the background, small chunks are merged and those whose values are
 * mostly replaced are written again without them. In memory are the keys and the positions of the values, never the values.
 *
 * Opening changes nothing. What a crash has left behind, and damaged chunks, are put right before the first batch.
 *
 * @throws STORAGE_FAILED if the folder cannot be read; an unreadable disk is never taken for an empty one
 */
export const openLogStore = async (options: LogStoreOptions): Promise<Store> => {
  const store = new LogStore(options)
  await store.load(options.paths)
  return store
}

interface Chunk extends ChunkRange {
  /** The length of its text. */
  readonly size: number
  /** The keys that were written into it; some of them have newer values elsewhere. */
  keys: readonly string[]
  /** How many characters of it still count. */
  live: number
}

interface Entry {
  readonly chunk: Chunk
  readonly position: ValuePosition
}

const NONE: ReadonlySet<never> = new Set()

interface Batch {
  readonly changes: readonly StoreChange[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

class LogStore implements Store {
  readonly #options: Omit<LogStoreOptions, 'paths'>
  readonly #entries = new SortedMap<Entry>()
  #chunks: Chunk[] = []
  #queued: Batch[] = []
  #writing: Promise<void> | undefined
  readonly #merges = new Mutex()
  #isMerging = false
  /** What is done before the first batch, each step once. */
  #repair: (() => Promise<void>)[] = []
  /** Numbers that a failed batch may have written; they are taken again once none is left. */
  #failed: readonly ChunkRange[] = []
  #lost: ReadonlySet<string> = NONE
  /** The text of the chunk that was read last as a whole; the memory is given back when the engine collects it. */
  #cached: { readonly path: string; readonly whole: WeakRef<{ readonly text: string }> } | undefined
  #isClosed = false

  constructor({ disk, folder, crypto, clock, lossMark, onLoss, report }: LogStoreOptions) {
    // Hundreds are open at once: an object that others have spread takes 400 bytes more.
    this.#options = { disk, folder, crypto, clock, lossMark, onLoss, report }
  }

  /** Reads the index of every chunk. Called once, before anything else. */
  async load(known: readonly string[] | undefined): Promise<void> {
    const { disk, folder, clock } = this.#options
    const paths = known ?? (await disk.list(folder))
    const names = paths.map(path => path.slice(folder.length + 1))
    const pause = makeYielder(clock)
    const files: LoadedChunk[] = []
    for (const range of names.flatMap(name => parseChunkName(name) ?? [])) {
      files.push(await this.#readIndex(range))
      await pause()
    }
    const choice = chooseChunks(files)
    for (const { from, to, version = 0, size, entries } of choice.chosen)
      this.#adopt({ from, to, version, size, keys: [], live: 0 }, entries)
    const { damaged, gaps } = choice
    const newest = this.#chunks.at(-1)?.to ?? 0
    for (const file of damaged)
      if (file.to > newest || gaps.some(gap => gap.from <= file.to && gap.to >= file.from))
        this.#lose(this.#pathOf(file), 'it cannot be read')
    for (const gap of gaps)
      if (!damaged.some(({ from, to }) => from <= gap.from && to >= gap.to))
        this.#lose(this.#pathOf(gap), 'it is missing')
    this.#repair = this.#stepsOf(choice)
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    this.#checkOpen()
    const pause = makeYielder(this.#options.clock)
    const values: (Uint8Array | undefined)[] = []
    const texts = await this.#readTexts(keys.map(textOfKey))
    for (const read of texts) {
      values.push(await this.#decode(read))
      await pause()
    }
    return values
  }

  batch(changes: readonly StoreChange[]): Promise<void> {
    const refusal = this.#isClosed ? closedError(this.#options.folder) : refusalOf(changes)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      this.#queued.push({ changes, resolve, reject })
      // Batches that come while one is written share the next chunk.
      this.#writing ??= this.#writeAll()
    })
  }

  async keys(range: KeyRange): Promise<Uint8Array[]> {
    this.#checkOpen()
    return this.#entries.keys(range, ({ position }) => position.length >= 0)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#writing !== undefined) await this.#writing
    await this.#merges.settled()
    // A small store opens with one read the next time.
    const parts = [...this.#chunks]
    const isSmall = parts.reduce((sum, { size }) => sum + size, 0) < FIRST_READ
    if (parts.length > 2 && isSmall && this.#repair.length === 0)
      await this.#merge(parts).catch((thrown: unknown) => this.#options.report(errorOf(thrown)))
    this.#cached = undefined
  }

  async #writeAll(): Promise<void> {
    // The batches of one turn share a chunk, too.
    await Promise.resolve()
    while (this.#queued.length > 0) {
      const batches = this.#queued
      this.#queued = []
      try {
        await this.#prepare()
        await this.#append(batches.flatMap(({ changes }) => changes))
        for (const { resolve } of batches) resolve()
      } catch (error) {
        for (const { reject } of batches) reject(error)
      }
    }
    this.#writing = undefined
    this.#mergeSoon()
  }

  /** Removes what a crash or a failed batch has left: it would otherwise mix with what takes its numbers. */
  async #prepare(): Promise<void> {
    for (let step = this.#repair[0]; step !== undefined; step = this.#repair[0]) {
      await step()
      this.#repair.shift()
    }
    // From the end, so that a crash leaves a batch without its last part, which counts for nothing.
    for (const range of [...this.#failed].reverse()) await this.#options.disk.delete(this.#pathOf(range))
    this.#failed = []
  }

  async #append(changes: readonly StoreChange[]): Promise<void> {
    const { clock, crypto, disk } = this.#options
    const pause = makeYielder(clock)
    const values = new Map<string, Uint8Array | undefined>()
    for (const { key, value } of changes) values.set(textOfKey(key), value)
    if (values.size === 0) return
    const groups = groupsOf(values)
    const first = (this.#chunks.at(-1)?.to ?? 0) + 1
    const written: { readonly chunk: Chunk; readonly index: ChunkIndex }[] = []
    let writing: Promise<void> = Promise.resolve()
    try {
      for (const [part, keys] of groups.entries()) {
        const encoded = new Map<string, EncodedValue>()
        for (const key of keys) {
          encoded.set(key, encodeValue(crypto, values.get(key)))
          await pause()
        }
        const range = { from: first + part, to: first + part }
        const { text, index } = encodeChunk(crypto, { ...range, part, parts: groups.length }, encoded)
        // The next part is encoded while this one is written; the last one is written when all others are durable.
        await writing
        written.push({ chunk: { ...range, size: text.length, keys: [], live: 0 }, index })
        writing = disk.setText(this.#pathOf(range), text)
        writing.catch(() => {})
      }
      await writing
    } catch (error) {
      await writing.catch(() => {})
      this.#failed = groups.map((_, part) => ({ from: first + part, to: first + part }))
      throw error
    }
    for (const { chunk, index } of written) this.#adopt(chunk, index.entries)
  }

  /** Adds a chunk whose values take the place of those that are there: it is newer than all chunks, or has no values. */
  #adopt(chunk: Chunk, entries: ChunkIndex['entries']): void {
    chunk.keys = entries.map(([key]) => key)
    for (const [key, position] of entries) {
      const before = this.#entries.get(key)
      if (before !== undefined) before.chunk.live -= sizeOf(key, before.position)
      this.#entries.set(key, { chunk, position })
      chunk.live += sizeOf(key, position)
    }
    this.#chunks.push(chunk)
  }

  #mergeSoon(): void {
    // Before the repair, a merged chunk could take the name of a file that is still to be deleted.
    if (this.#isMerging || this.#isClosed || this.#repair.length > 0) return
    this.#isMerging = true
    const run = async (): Promise<void> => {
      for (let parts = runToMerge(this.#chunks); parts.length > 0; parts = runToMerge(this.#chunks))
        await this.#merge(parts)
    }
    void this.#merges
      .run(run)
      .catch((thrown: unknown) => this.#options.report(errorOf(thrown)))
      .finally(() => {
        this.#isMerging = false
      })
  }

  /** Writes what still counts of neighbours as one chunk, and deletes them once it is durable. */
  async #merge(parts: readonly Chunk[]): Promise<void> {
    const { crypto, disk, clock } = this.#options
    const [first, last] = [parts[0] as Chunk, parts.at(-1) as Chunk]
    // A deletion must be kept only while an older chunk may have what it deletes.
    const isOldest = first === this.#chunks[0]
    const pause = makeYielder(clock)
    const values = new Map<string, EncodedValue>()
    for (const part of parts) {
      this.#cached = undefined
      const text = (await this.#slice(part, 0, part.size)) ?? ''
      for (const key of part.keys) {
        const entry = this.#entries.get(key)
        if (entry?.chunk !== part) continue
        const { start, length, digest } = entry.position
        if (length < 0 && isOldest) continue
        const size = textLength(length)
        // What is gone keeps its room, and is found damaged when it is read. Other letters than ASCII would move all that follows.
        const kept = text
          .slice(start, start + size)
          .replace(/[^ -~]/g, 'A')
          .padEnd(size, 'A')
        values.set(key, { text: kept, length, digest })
        await pause()
      }
    }
    // Never over a file that is read: were it not known how that write ended, it would not be known what the file has.
    const version = parts.length === 1 ? (first.version ?? 0) + 1 : 0
    const range = { from: first.from, to: last.to, version }
    const { text, index } = encodeChunk(crypto, { ...range, part: 0, parts: 1 }, values)
    await disk.setText(this.#pathOf(range), text)
    const keys = index.entries.map(([key]) => key)
    const merged: Chunk = { ...range, size: text.length, keys, live: 0 }
    const isPart = new Set<Chunk>(parts)
    for (const [key, position] of index.entries) {
      const chunk = this.#entries.get(key)?.chunk
      // Batches may have replaced values meanwhile.
      if (chunk === undefined || !isPart.has(chunk)) continue
      this.#entries.set(key, { chunk: merged, position })
      merged.live += sizeOf(key, position)
    }
    if (isOldest) this.#forgetDeleted(parts)
    this.#chunks.splice(this.#chunks.indexOf(first), parts.length, merged)
    this.#cached = undefined
    await allSettledOrThrow(parts.map(part => disk.delete(this.#pathOf(part))))
  }

  /** What is left in merged parts are deletions. */
  #forgetDeleted(parts: readonly Chunk[]): void {
    for (const part of parts)
      for (const key of part.keys) if (this.#entries.get(key)?.chunk === part) this.#entries.delete(key)
  }

  /** Decodes what was read, or reads it again: a merge may have moved it since its position was looked up. */
  async #decode({ key, entry, text }: ReadText): Promise<Uint8Array | undefined> {
    if (entry === undefined) return undefined
    const { crypto } = this.#options
    const value = decodeValue(crypto, entry.position, text)
    if (value !== undefined) return value
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      await this.#merges.settled()
      // What is cached may be a file that was there before, under a name that was used again.
      this.#cached = undefined
      const [again] = await this.#readTexts([key])
      if (again?.entry === undefined) return undefined
      const found = decodeValue(crypto, again.entry.position, again.text)
      if (found !== undefined) return found
      if (again.entry === this.#entries.get(key)) break
    }
    this.#lose(this.#pathOf(entry.chunk), 'a value is damaged or missing')
    return undefined
  }

  /** The base64 of values, in the order of the keys. */
  async #readTexts(keys: readonly string[]): Promise<ReadText[]> {
    const found: ReadText[] = keys.map(key => {
      const entry = this.#entries.get(key)
      return { key, entry: entry !== undefined && entry.position.length >= 0 ? entry : undefined }
    })
    const wanted = found.filter(({ entry }) => entry !== undefined) as (ReadText & { entry: Entry })[]
    for (const run of runsOf(wanted)) {
      const [first, last] = [run[0]?.entry as Entry, run.at(-1)?.entry as Entry]
      const start = first.position.start
      const text = await this.#slice(first.chunk, start, endOf(last.position))
      for (const item of run) {
        const { position } = item.entry
        item.text = text?.slice(position.start - start, endOf(position) - start)
      }
    }
    return found
  }

  async #slice(chunk: ChunkRange, start: number, end: number): Promise<string | undefined> {
    const { disk } = this.#options
    const path = this.#pathOf(chunk)
    try {
      const cached = this.#cached?.path === path ? this.#cached.whole.deref()?.text : undefined
      if (cached !== undefined) return cached.slice(start, end)
      if (disk.getSlice !== undefined) return await disk.getSlice(path, start, end)
      const text = await disk.getText(path)
      if (text !== undefined) this.#keep(path, text)
      return text?.slice(start, end)
    } catch (error) {
      if (isWalletError(error, 'CORRUPT_FILE')) return undefined
      throw error
    }
  }

  #keep(path: string, text: string): void {
    this.#cached = { path, whole: new WeakRef({ text }) }
  }

  async #readIndex(range: ChunkRange): Promise<LoadedChunk> {
    const { crypto } = this.#options
    const first = (await this.#slice(range, 0, FIRST_READ)) ?? ''
    const indexEnd = HEAD + (parseHead(first)?.indexLength ?? 0)
    const text = indexEnd <= first.length ? first : ((await this.#slice(range, 0, indexEnd)) ?? '')
    const index = decodeIndex(crypto, range, text)
    if (index === undefined) return { ...range, part: 0, parts: 1, entries: [], size: 0, state: 'damaged' }
    const last = index.entries.at(-1)?.[1]
    const end = last === undefined ? indexEnd : endOf(last)
    const size = end + END.length
    // A small chunk was read as a whole.
    const isRead = size <= text.length
    if (isRead) this.#keep(this.#pathOf(range), text)
    const ending = isRead ? text.slice(end, size) : await this.#slice(range, end, size)
    return { ...range, ...index, size, state: ending === END ? 'sound' : 'cut' }
  }

  /** The steps that put right what was found: one that fails is tried again, and those before it are not. */
  #stepsOf({ leftovers, damaged, gaps }: ChosenChunks<LoadedChunk>): (() => Promise<void>)[] {
    const { disk, lossMark } = this.#options
    const newest = this.#chunks.at(-1)?.to ?? 0
    const filled = new Set(gaps.map(chunkName))
    const isLoss = gaps.length + damaged.length > 0
    const marks = lossMark === undefined || !isLoss ? [] : [lossMark]
    const markRange = { from: newest + 1, to: newest + 1 }
    if (marks.length > 0) filled.add(chunkName(markRange))
    return [
      ...damaged.map(range => () => this.#quarantine(this.#pathOf(range))),
      // Newer than all there is, and durable before anything hides that a chunk is missing.
      ...marks.map(mark => () => this.#fill(markRange, [mark])),
      ...gaps.map(range => () => this.#fill(range, [])),
      // In any order: what is left of a batch without its last part never counts, and a merged chunk counts as long as it is there.
      ...[...leftovers, ...damaged]
        .filter(range => !filled.has(chunkName(range)))
        .map(range => () => disk.delete(this.#pathOf(range)))
    ]
  }

  async #quarantine(path: string): Promise<void> {
    const { disk, clock } = this.#options
    const text = await disk.getText(path).catch((error: unknown) => {
      if (isWalletError(error, 'CORRUPT_FILE')) return undefined
      throw error
    })
    if (text !== undefined) await quarantine(disk, clock, { path, text, rule: 'it cannot be read' })
  }

  /** Writes a chunk where there is none. */
  async #fill({ from, to }: ChunkRange, changes: readonly StoreChange[]): Promise<void> {
    const { crypto, disk } = this.#options
    const values = new Map(changes.map(({ key, value }) => [textOfKey(key), encodeValue(crypto, value)]))
    const { text, index } = encodeChunk(crypto, { from, to, part: 0, parts: 1 }, values)
    await disk.setText(this.#pathOf({ from, to }), text)
    this.#adopt({ from, to, size: text.length, keys: [], live: 0 }, index.entries)
    this.#chunks.sort((left, right) => left.from - right.from)
  }

  #lose(path: string, rule: string): void {
    if (this.#lost.has(path)) return
    this.#lost = new Set([...this.#lost, path])
    this.#options.onLoss(new WalletError('CORRUPT_FILE', { path, rule }))
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedError(this.#options.folder)
  }

  #pathOf(range: ChunkRange): string {
    return `${this.#options.folder}/${chunkName(range)}`
  }
}

interface LoadedChunk extends FoundChunk {
  readonly entries: ChunkIndex['entries']
  readonly size: number
}

interface ReadText {
  readonly key: string
  readonly entry: Entry | undefined
  text?: string | undefined
}

const MAX_TRIES = 5
/** So many characters of a chunk are read at first; mostly its index ends in them. */
const FIRST_READ = 16_384
