import { hex, utf8 } from '@scure/base'
import { WalletError } from '../../kernel/base/errors.ts'
import { isRecord, type Json, parseJsonText } from '../../kernel/base/json.ts'
import type { Disk } from '../../kernel/index.ts'
import type { CryptoPort } from '../../kernel/io/io.ts'
import type { Store, StoreChange } from '../../kernel/io/store.ts'

/** One saved step; what it means is the world's business. */
export type WorldJournalEntry = Json

/** Saved entries, oldest first, and the name that errors about them have. */
interface SavedEntries {
  readonly path: string
  readonly entries: readonly WorldJournalEntry[]
}

/** The journal on the disk. */
export interface SavedJournal {
  readonly files: readonly SavedEntries[]
  /** The number of the first entry, and the one after the last. */
  readonly first: number
  readonly next: number
  /** The bytes of all entries in the store. */
  readonly length: number
  /** Files of version 0.1, which go once the store has what they hold. */
  readonly oldPaths: readonly string[]
}

/** What a journal needs of its surroundings. */
export interface JournalPorts {
  readonly store: Store
  /** Where the files of version 0.1 are. */
  readonly disk: Disk
  readonly crypto: Pick<CryptoPort, 'sha256'>
}

/** When a journal is written again: it has more than so many bytes, and four times what the world needs. */
export interface JournalLimits {
  readonly minLength: number
}

const DEFAULT_LIMITS: JournalLimits = { minLength: 1_000_000 }

/**
 * Keeps the entries of a world durable, in a store on its disk: a key is the number of an entry. Changes of one moment share a
 * batch. When there are many entries, one batch puts those that make the whole world in their place.
 */
export class WorldJournal {
  readonly #disk: Disk
  readonly #store: Store
  readonly #limits: JournalLimits
  readonly #snapshot: () => Iterable<WorldJournalEntry>
  #first: number
  #next: number
  #length: number
  /** The bytes of entries that make the whole world, as of some time; undefined until it matters. */
  #baseLength: number | undefined
  #isRenewing: boolean
  #pending: (WorldJournalEntry | (() => WorldJournalEntry))[] = []
  #added = 0
  #durable = 0
  #running: Promise<void> | undefined
  #oldPaths: readonly string[]

  /** Continues where `saved` ends. `snapshot`: entries that make the whole world, as it is when they are taken. */
  constructor(
    { store, disk }: JournalPorts,
    saved: SavedJournal,
    {
      snapshot,
      limits = DEFAULT_LIMITS
    }: { snapshot: () => Iterable<WorldJournalEntry>; limits?: JournalLimits }
  ) {
    this.#disk = disk
    this.#store = store
    this.#limits = limits
    this.#snapshot = snapshot
    this.#first = saved.first
    this.#next = saved.next
    this.#length = saved.length
    this.#oldPaths = saved.oldPaths
    // A new world is written at once, and one of version 0.1 moves into the store.
    this.#isRenewing = saved.next === saved.first
  }

  /** Adds an entry; a function is called when it is written, so that it can stand for many changes. */
  add(entry: WorldJournalEntry | (() => WorldJournalEntry)): void {
    this.#pending.push(entry)
    this.#added += 1
  }

  /**
   * Resolves when everything added before the call is durable.
   *
   * @throws STORAGE_FULL, STORAGE_FAILED; nothing is lost, the next call tries again
   */
  async saved(): Promise<void> {
    const target = this.#added
    while (this.#durable < target) {
      this.#running ??= this.#write().finally(() => {
        this.#running = undefined
      })
      await this.#running
    }
    if (this.#oldPaths.length > 0 && !this.#isRenewing) await this.#removeOld()
  }

  /** Saves, and closes the store. */
  async close(): Promise<void> {
    await this.saved()
    await this.#store.close()
  }

  async #write(): Promise<void> {
    const count = this.#added
    const entries = this.#pending.map(entry => (typeof entry === 'function' ? entry() : entry))
    this.#pending = []
    const isWhole = this.#isRenewing || this.#isCrowded()
    try {
      await this.#save(isWhole ? [...this.#snapshot()] : entries, isWhole)
      this.#durable = count
    } catch (error) {
      this.#pending = [...entries, ...this.#pending]
      throw error
    }
  }

  #isCrowded(): boolean {
    if (this.#length <= this.#limits.minLength) return false
    this.#baseLength ??= bytesOf([...this.#snapshot()]).reduce(addLength, 0)
    return this.#length > 4 * this.#baseLength
  }

  async #save(entries: readonly WorldJournalEntry[], isWhole: boolean): Promise<void> {
    const values = bytesOf(entries)
    const changes: StoreChange[] = values.map((value, i) => ({ key: keyOf(this.#next + i), value }))
    if (isWhole) {
      for (let at = this.#first; at < this.#next; at += 1) changes.push({ key: keyOf(at), value: undefined })
    }
    await this.#store.batch(changes)
    const length = values.reduce(addLength, 0)
    if (isWhole) {
      this.#first = this.#next
      this.#baseLength = length
    }
    this.#length = isWhole ? length : this.#length + length
    this.#next += values.length
    this.#isRenewing = false
  }

  /** Deletes the files of version 0.1. While the store has entries, what is left of them counts for nothing. */
  async #removeOld(): Promise<void> {
    for (const path of this.#oldPaths) await this.#disk.delete(path)
    this.#oldPaths = []
  }
}

/**
 * Opens the journal of a world and reads all of it. Changes nothing.
 *
 * @throws CORRUPT_FILE naming the file that is damaged or missing
 */
export const readJournal = async (ports: JournalPorts): Promise<SavedJournal> => {
  const { store, disk } = ports
  const files: SavedEntries[] = []
  let [first, next, length] = [1, 1, 0]
  for (let after = keyOf(0); ; ) {
    const keys = await store.keys({ after, before: LAST, limit: PAGE })
    const values = await store.getMany(keys)
    const last = keys.at(-1)
    if (last === undefined) break
    after = last
    if (files.length === 0) first = numberOf(keys[0] as Uint8Array)
    next = numberOf(last) + 1
    length = values.reduce(addLength, length)
    const path = `world, entries up to ${next - 1}`
    const entryOf = (value: Uint8Array | undefined): Json => {
      if (value === undefined) throw corrupt(path, 'one is missing or damaged')
      return parseLine(utf8.encode(value), path) as Json
    }
    files.push({ path, entries: values.map(entryOf) })
  }
  const oldPaths = await disk.list(OLD_FOLDER)
  if ((await disk.getText(MANIFEST)) !== undefined) oldPaths.push(MANIFEST)
  return { first, next, length, oldPaths, files: files.length > 0 ? files : await readOldJournal(ports) }
}

const PAGE = 1000

const bytesOf = (entries: readonly WorldJournalEntry[]): Uint8Array[] =>
  entries.map(entry => utf8.decode(JSON.stringify(entry)))

const addLength = (sum: number, value: Uint8Array | undefined): number => sum + (value?.length ?? 0)

/** `e/` and the number in six bytes, the highest first. */
const keyOf = (number: number): Uint8Array => hex.decode(`652f${number.toString(16).padStart(12, '0')}`)

const numberOf = (key: Uint8Array): number => Number.parseInt(hex.encode(key.subarray(2)), 16)

const LAST = keyOf(2 ** 48 - 1)

/**
 * Reads what version 0.1 has saved of a world, a file for each commit, and checks every file of it. Changes nothing.
 *
 * @throws CORRUPT_FILE naming the file that is damaged or missing
 */
const readOldJournal = async ({ disk, crypto }: JournalPorts): Promise<readonly SavedEntries[]> => {
  const manifest = await disk.getText(MANIFEST)
  const paths = (await disk.list(OLD_FOLDER)).filter(path => NAME.test(path)).sort()
  if (manifest === undefined) {
    if (paths.length > 0) throw corrupt(MANIFEST, 'it is missing')
    return []
  }
  const generation = parseManifest(manifest)
  const own = generation === 0 ? [] : paths.filter(path => generationOf(path) === generation)
  const files: SavedEntries[] = []
  for (const sequence of own.keys()) {
    const path = pathOf(generation, sequence)
    const text = await disk.getText(path)
    if (text === undefined) throw corrupt(path, 'it is missing')
    files.push({ path, entries: parseLog(text, { path, generation, sequence, crypto }) })
  }
  if (files.length === 0 && generation > 0) throw corrupt(pathOf(generation, 0), 'it is missing')
  return files
}

const OLD_FOLDER = 'log'
const MANIFEST = 'world.json'
const FORMAT = 'holdfast-fake-world'
const LOG_FORMAT = 'holdfast-fake-world-log'
const NAME = /^log\/\d{8}-\d{8}\.jsonl$/

const pathOf = (generation: number, sequence: number): string =>
  `${OLD_FOLDER}/${pad(generation)}-${pad(sequence)}.jsonl`

const pad = (count: number): string => String(count).padStart(8, '0')

const generationOf = (path: string): number =>
  Number(path.slice(OLD_FOLDER.length + 1, OLD_FOLDER.length + 9))

const corrupt = (path: string, rule: string, cause?: unknown): WalletError =>
  new WalletError('CORRUPT_FILE', { path, rule }, cause)

const digestOf = (text: string, crypto: Pick<CryptoPort, 'sha256'>): string =>
  hex.encode(crypto.sha256(utf8.decode(text)))

const parseManifest = (text: string): number => {
  const value = parseLine(text, MANIFEST)
  const generation = isRecord(value) && value.format === FORMAT && value.version === 1 ? value.generation : -1
  if (typeof generation !== 'number' || !Number.isSafeInteger(generation) || generation < 0) {
    throw corrupt(MANIFEST, 'it is no list of a fake world')
  }
  return generation
}

interface ExpectedLog {
  readonly path: string
  readonly generation: number
  readonly sequence: number
  readonly crypto: Pick<CryptoPort, 'sha256'>
}

const parseLog = (text: string, { path, generation, sequence, crypto }: ExpectedLog): WorldJournalEntry[] => {
  const end = text.indexOf('\n')
  if (end < 0) throw corrupt(path, 'it has no first line')
  const head = parseLine(text.slice(0, end), path)
  const body = text.slice(end + 1)
  if (!isRecord(head) || head.format !== LOG_FORMAT) throw corrupt(path, 'it is no log of a fake world')
  if (head.generation !== generation || head.sequence !== sequence) throw corrupt(path, 'it is another file')
  if (head.sha256 !== digestOf(body, crypto)) throw corrupt(path, 'it has another checksum')
  return body === '' ? [] : body.split('\n').map(line => parseLine(line, path) as WorldJournalEntry)
}

const parseLine = (text: string, path: string): unknown => {
  try {
    return parseJsonText(text)
  } catch (error) {
    throw corrupt(path, 'it is no JSON', error)
  }
}
