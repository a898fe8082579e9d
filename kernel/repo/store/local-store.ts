import { WalletError } from '../../base/errors.ts'
import { makeYielder } from '../../base/yielder.ts'
import { mergeCountOf } from '../../store/merge-policy.ts'
import type { EngineStore } from '../../types/engine.ts'
import { type Change, type ChunkRange, chunkName, encodeChunk } from './chunk.ts'
import { type ChunkPlace, type LoadedChunk, loadChunks } from './load-chunks.ts'

/**
 * Opens the encrypted store of one folder, and repairs it if it must (see {@link loadChunks}).
 *
 * @param paths - all paths of the folder, as the disk lists them
 * @param lossMark - is put into whatever replaces a damaged or missing chunk, so that no crash hides that something was lost
 * @throws STORAGE_FAILED
 */
export const openLocalStore = async (
  place: ChunkPlace,
  paths: readonly string[],
  lossMark?: Change
): Promise<LocalStore> => {
  const loaded = await loadChunks(lossMark === undefined ? place : { ...place, lossMark }, paths)
  const store = new LocalStore(place)
  await store.take(loaded)
  return store
}

interface Chunk extends ChunkRange {
  readonly bytes: number
  /** The keys that were written into it, deletions included; some of them may have newer texts elsewhere. */
  readonly keys: string[]
}

interface Entry {
  readonly text: string | null
  chunk: Chunk
}

interface ChunkMove {
  readonly part: Chunk
  readonly merged: Chunk
  /** Whether nothing older is left that a deletion must be remembered for. */
  readonly isOldest: boolean
}

type Changes = ReadonlyMap<string, string | null>

interface Batch {
  readonly changes: Map<string, string | null>
  readonly late: (() => Changes)[]
  readonly done: Promise<void>
  /** Hear of a failure in the same moment as every reader. */
  readonly listeners: (() => void)[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * The one local store (decision 16): a durable, encrypted map of texts in one folder of a disk.
 *
 * Everything is in memory, so reads are synchronous; they see a change as soon as `write` is called, and no
 * longer if it fails. A write is one new chunk file; writes that arrive while one is on its way share the
 * next. Old chunks are merged in the background, so that their number stays logarithmic. Nothing on the disk
 * can be read without the key, key names included.
 */
export class LocalStore implements EngineStore {
  readonly #place: ChunkPlace
  readonly #entries = new Map<string, Entry>()
  #chunks: Chunk[] = []
  #queued: Batch | undefined
  #flying: Batch | undefined
  #merging: Promise<void> | undefined
  /** The chunk of a write that failed and may have arrived all the same; the next one takes its place. */
  #failed: ChunkRange | undefined
  #isUntidy = false
  #isClosed = false

  constructor(place: ChunkPlace) {
    this.#place = place
  }

  /** Takes over what the loader read. Called once, by {@link openLocalStore}. */
  async take(loaded: readonly LoadedChunk[]): Promise<void> {
    const breathe = makeYielder(this.#place.io.clock)
    for (const { from, to, bytes, changes } of loaded) {
      const chunk: Chunk = { from, to, bytes, keys: changes.map(([key]) => key) }
      for (const [key, text] of changes) {
        this.#entries.set(key, { text, chunk })
        await breathe()
      }
      this.#chunks = this.#chunks.concat(chunk)
    }
  }

  get(key: string): string | undefined {
    const queued = this.#queued?.changes.get(key)
    if (queued !== undefined) return queued ?? undefined
    const flying = this.#flying?.changes.get(key)
    if (flying !== undefined) return flying ?? undefined
    return this.#entries.get(key)?.text ?? undefined
  }

  *entries(prefix: string): Generator<[key: string, text: string]> {
    const seen = new Set<string>()
    for (const batch of [this.#queued, this.#flying]) {
      if (batch === undefined) continue
      for (const [key, text] of batch.changes) {
        if (!key.startsWith(prefix) || seen.has(key)) continue
        seen.add(key)
        if (text !== null) yield [key, text]
      }
    }
    for (const [key, { text }] of this.#entries) {
      if (text !== null && key.startsWith(prefix) && !seen.has(key)) yield [key, text]
    }
  }

  /** The entries that are on the disk, without those of writes that may still fail. */
  *durableEntries(prefix: string): Generator<[key: string, text: string]> {
    for (const [key, { text }] of this.#entries)
      if (text !== null && key.startsWith(prefix)) yield [key, text]
  }

  /**
   * Writes all or nothing; null deletes. Resolves when durable.
   *
   * Without changes it ends when everything written before has, and fails if any of that does. A crash then leaves nothing of a
   * write that failed earlier, though it had arrived all the same.
   *
   * @param changes - or what tells them when their chunk begins: by then every write before has ended, well or not, but those
   *   that share the chunk
   * @param hasFailed - is called when it fails, before anybody can read that
   * @throws STORAGE_FULL, STORAGE_FAILED; the store then is as before and can be written again
   */
  write(changes: Changes | (() => Changes), hasFailed?: () => void): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError(this.#place.folder))
    if (typeof changes !== 'function' && changes.size === 0) return this.#written()
    return this.#enqueue(changes, hasFailed)
  }

  #enqueue(changes: Changes | (() => Changes), hasFailed?: () => void): Promise<void> {
    if (this.#queued === undefined) {
      this.#queued = makeBatch()
      // The writes of one turn share a chunk.
      Promise.resolve().then(() => this.#flush())
    }
    const { changes: all, late, done, listeners } = this.#queued
    if (typeof changes === 'function') late.push(changes)
    else for (const [key, text] of changes) all.set(key, text)
    if (hasFailed !== undefined) listeners.push(hasFailed)
    return done
  }

  /** Makes sure that a crash leaves nothing of a write that failed, though it had arrived all the same. @throws STORAGE_FAILED */
  async forgetFailed(): Promise<void> {
    if (this.#failed !== undefined) await this.#enqueue(new Map())
  }

  /** Writes everything as one chunk, in the background, if less than half of what the chunks hold still counts. */
  tidySoon(): void {
    let bytes = 0
    for (const chunk of this.#chunks) bytes += chunk.bytes
    let length = 0
    for (const [key, { text }] of this.#entries) length += text === null ? 0 : key.length + text.length
    if (bytes < SMALL || bytes < 2 * SEALED_LENGTH * length) return
    this.#isUntidy = true
    this.#startMerge()
  }

  /** How many chunk files there are now. */
  get chunkCount(): number {
    return this.#chunks.length
  }

  /** Resolves when every write has ended, well or not, and no merge is at work. */
  async settled(): Promise<void> {
    while (this.#queued !== undefined || this.#flying !== undefined || this.#merging !== undefined) {
      await Promise.allSettled([this.#queued?.done, this.#flying?.done, this.#merging])
    }
  }

  /** Finishes what was begun, then refuses writes. What was read stays readable. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.settled()
    const bytes = this.#chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)
    // A small store opens with one read the next time.
    if (this.#chunks.length > 2 && bytes < SMALL)
      await this.#mergeParts([...this.#chunks]).catch(this.#place.report)
  }

  async #written(): Promise<void> {
    const flying = this.#flying?.done
    // It ends after the one that flies.
    await this.#queued?.done
    await flying
    await this.forgetFailed()
  }

  async #flush(): Promise<void> {
    if (this.#flying !== undefined || this.#queued === undefined) return
    const batch = this.#queued
    this.#queued = undefined
    this.#flying = batch
    for (const changes of batch.late) for (const [key, text] of changes()) batch.changes.set(key, text)
    try {
      await (batch.changes.size > 0 ? this.#append(batch.changes) : this.#removeFailed())
      this.#flying = undefined
      batch.resolve()
      this.#startMerge()
    } catch (error) {
      this.#flying = undefined
      for (const hasFailed of batch.listeners) hasFailed()
      batch.reject(error)
    }
    this.#flush()
  }

  async #append(changes: ReadonlyMap<string, string | null>): Promise<void> {
    const number = (this.#chunks.at(-1)?.to ?? 0) + 1
    const range = { from: number, to: number }
    const bytes = await this.#save(range, [...changes]).catch((error: unknown) => {
      this.#failed = range
      throw error
    })
    this.#failed = undefined
    const chunk: Chunk = { ...range, bytes, keys: [...changes.keys()] }
    for (const [key, text] of changes) this.#entries.set(key, { text, chunk })
    this.#chunks = this.#chunks.concat(chunk)
  }

  async #removeFailed(): Promise<void> {
    if (this.#failed !== undefined) await this.#place.disk.delete(this.#pathOf(this.#failed))
    this.#failed = undefined
  }

  async #save(range: ChunkRange, changes: readonly Change[]): Promise<number> {
    const text = await encodeChunk(this.#place, range, changes)
    await this.#place.disk.setText(this.#pathOf(range), text)
    return text.length
  }

  #startMerge(): void {
    if (this.#merging !== undefined) return
    this.#merging = this.#mergeAll()
      .catch(this.#place.report)
      .finally(() => {
        this.#merging = undefined
      })
  }

  async #mergeAll(): Promise<void> {
    for (;;) {
      const count = this.#isUntidy
        ? this.#chunks.length
        : mergeCountOf(this.#chunks.map(chunk => chunk.bytes))
      this.#isUntidy = false
      if (count === 0) return
      await this.#mergeParts(this.#chunks.slice(-count))
    }
  }

  /** The merged chunk is durable before its parts go; writes may append newer chunks meanwhile. */
  async #mergeParts(parts: readonly Chunk[]): Promise<void> {
    const [first, last] = [parts.at(0), parts.at(-1)]
    if (first === undefined || last === undefined) return
    const range = { from: first.from, to: last.to }
    // A deletion must be remembered only while an older chunk may hold what it deletes.
    const isOldest = first === this.#chunks[0]
    const bytes = await this.#save(range, await this.#collect(parts, isOldest))
    const merged: Chunk = { ...range, bytes, keys: [] }
    for (const part of parts) {
      for (const key of part.keys) this.#move(key, { part, merged, isOldest })
    }
    this.#chunks.splice(this.#chunks.indexOf(first), parts.length, merged)
    // At once, so that they share what makes them durable; whichever stays behind is none of the newest.
    await Promise.all(parts.map(part => this.#place.disk.delete(this.#pathOf(part))))
  }

  async #collect(parts: readonly Chunk[], isOldest: boolean): Promise<Change[]> {
    const breathe = makeYielder(this.#place.io.clock)
    const changes: Change[] = []
    for (const part of parts) {
      for (const key of part.keys) {
        const entry = this.#entries.get(key)
        if (entry?.chunk !== part) continue
        if (entry.text !== null || !isOldest) changes.push([key, entry.text])
        await breathe()
      }
    }
    return changes
  }

  #move(key: string, { part, merged, isOldest }: ChunkMove): void {
    const entry = this.#entries.get(key)
    if (entry?.chunk !== part) return
    if (entry.text === null && isOldest) {
      this.#entries.delete(key)
      return
    }
    entry.chunk = merged
    merged.keys.push(key)
  }

  #pathOf(range: ChunkRange): string {
    return `${this.#place.folder}/${chunkName(range)}`
  }
}

/** In bytes; so much is written again without a second thought. */
const SMALL = 128 * 1024
/** How many characters one character takes up in a chunk, about: it is sealed, and then base64. */
const SEALED_LENGTH = 1.4

const makeBatch = (): Batch => {
  let resolve: () => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const done = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // Every writer hears of a failure through the promise it got; this only keeps it from being unhandled twice.
  done.catch(() => {})
  return { changes: new Map(), late: [], done, listeners: [], resolve, reject }
}

/** What a closed store says to a write. */
export const closedError = (folder: string): WalletError =>
  new WalletError('STORAGE_FAILED', { path: folder, reason: 'the store is closed' })
