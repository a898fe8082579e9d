import { hex, utf8 } from '@scure/base'
import { WalletError } from '../../kernel/base/errors.ts'
import { isRecord, type Json, parseJsonText } from '../../kernel/base/json.ts'
import type { Disk } from '../../kernel/index.ts'
import type { CryptoPort } from '../../kernel/io/io.ts'

/** One saved step; what it means is the world's business. */
export type WorldJournalEntry = Json

/** The journal on the disk: the entries of each file, oldest first. */
export interface SavedJournal {
  /** 0 if there was nothing. */
  readonly generation: number
  readonly files: readonly { readonly path: string; readonly entries: readonly WorldJournalEntry[] }[]
  /** Obsolete files of other generations. */
  readonly leftovers: readonly string[]
}

/** The disk and the crypto of a journal. */
export interface JournalPorts {
  readonly disk: Disk
  readonly crypto: Pick<CryptoPort, 'sha256'>
}

/** The limits at which a journal is compacted. */
export interface JournalLimits {
  /** Files since the last time. */
  readonly files: number
  /** A new journal must be worth it: at least so many characters, and four times what the last one began with. */
  readonly minLength: number
}

const DEFAULT_LIMITS: JournalLimits = { files: 200, minLength: 1_000_000 }

/**
 * Keeps entries durable on any disk: each commit is one new file, several changes share one, and when there are
 * many files everything is written again as the next generation. Nothing is ever overwritten; `world.json` says
 * which generation counts, and changes only when that generation is complete.
 */
export class WorldJournal {
  readonly #ports: JournalPorts
  readonly #limits: JournalLimits
  readonly #snapshot: () => Iterable<WorldJournalEntry>
  #generation: number
  #newestGeneration: number
  #sequence: number
  #length: number
  #baseLength: number
  #pending: (WorldJournalEntry | (() => WorldJournalEntry))[] = []
  #added = 0
  #durable = 0
  #running: Promise<void> | undefined
  #old: string[]
  #clearing: Promise<void> = Promise.resolve()

  /** Goes on where `saved` ends. `snapshot`: entries that make the whole world, as it is when they are taken. */
  constructor(
    ports: JournalPorts,
    saved: SavedJournal,
    {
      snapshot,
      limits = DEFAULT_LIMITS
    }: { snapshot: () => Iterable<WorldJournalEntry>; limits?: JournalLimits }
  ) {
    this.#ports = ports
    this.#limits = limits
    this.#snapshot = snapshot
    this.#generation = saved.generation
    this.#newestGeneration = Math.max(saved.generation, ...saved.leftovers.map(generationOf))
    this.#sequence = saved.files.length
    this.#length = 0
    this.#baseLength = 0
    this.#old = [...saved.leftovers]
  }

  /** Takes an entry in; a function is asked when it is written, so that it can stand for many changes. */
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
  }

  /** Saves, and ends all work on the disk. */
  async close(): Promise<void> {
    await this.saved()
    await this.#clearing
  }

  async #write(): Promise<void> {
    const count = this.#added
    const entries = this.#pending.map(entry => (typeof entry === 'function' ? entry() : entry))
    this.#pending = []
    try {
      const lines = entries.map(entry => JSON.stringify(entry))
      if (!this.#isCrowded() || !(await this.#renew())) {
        this.#length += await this.#append(this.#generation, this.#sequence, lines)
        this.#sequence += 1
      }
      this.#durable = count
    } catch (error) {
      this.#pending = [...entries, ...this.#pending]
      throw error
    }
  }

  #isCrowded(): boolean {
    const { files, minLength } = this.#limits
    if (this.#generation === 0 || this.#sequence >= files) return true
    return this.#length > Math.max(minLength, 4 * this.#baseLength)
  }

  /** Writes everything as a new generation. False if that failed where appending may still work. */
  async #renew(): Promise<boolean> {
    this.#newestGeneration += 1
    const generation = this.#newestGeneration
    const old = this.#generation
    const oldCount = this.#sequence
    const portions = portionsOf(this.#snapshot())
    const written: string[] = []
    let length = 0
    try {
      // From here on a missing manifest means damage, never a world that was just begun.
      if (old === 0) await this.#ports.disk.setText(MANIFEST, manifestOf(0))
      for (const [sequence, lines] of portions.entries()) {
        written.push(pathOf(generation, sequence))
        length += await this.#append(generation, sequence, lines)
      }
      await this.#ports.disk.setText(MANIFEST, manifestOf(generation))
    } catch (error) {
      this.#old.push(...written)
      if (old === 0) throw error
      return false
    }
    this.#generation = generation
    this.#sequence = portions.length
    this.#length = 0
    this.#baseLength = length
    for (let sequence = 0; sequence < oldCount; sequence += 1) this.#old.push(pathOf(old, sequence))
    // Nobody waits for this: what is left behind is ignored, and deleted another time.
    this.#clearing = this.#clearing.then(() => this.#clear())
    return true
  }

  async #append(generation: number, sequence: number, lines: readonly string[]): Promise<number> {
    const body = lines.join('\n')
    const head = { format: LOG_FORMAT, generation, sequence, sha256: digestOf(body, this.#ports.crypto) }
    await this.#ports.disk.setText(pathOf(generation, sequence), `${JSON.stringify(head)}\n${body}`)
    return body.length
  }

  /** Deletes obsolete files; a failed deletion is tried again with the next generation. */
  async #clear(): Promise<void> {
    for (const path of this.#old.splice(0)) {
      try {
        await this.#ports.disk.delete(path)
      } catch {
        this.#old.push(path)
      }
    }
  }
}

/**
 * Reads a journal and checks every file of it. Changes nothing.
 *
 * @throws CORRUPT_FILE naming the file that is damaged or missing
 */
export const readJournal = async ({ disk, crypto }: JournalPorts): Promise<SavedJournal> => {
  const manifest = await disk.getText(MANIFEST)
  const paths = (await disk.list(FOLDER)).filter(path => NAME.test(path)).sort()
  if (manifest === undefined) {
    if (paths.length > 0) throw corrupt(MANIFEST, 'it is missing')
    return { generation: 0, files: [], leftovers: [] }
  }
  const generation = parseManifest(manifest)
  const own = generation === 0 ? [] : paths.filter(path => generationOf(path) === generation)
  const files: { path: string; entries: readonly WorldJournalEntry[] }[] = []
  for (const sequence of own.keys()) {
    const path = pathOf(generation, sequence)
    const text = await disk.getText(path)
    if (text === undefined) throw corrupt(path, 'it is missing')
    files.push({ path, entries: parseLog(text, { path, generation, sequence, crypto }) })
  }
  if (files.length === 0 && generation > 0) throw corrupt(pathOf(generation, 0), 'it is missing')
  return { generation, files, leftovers: paths.filter(path => generationOf(path) !== generation) }
}

const FOLDER = 'log'
const MANIFEST = 'world.json'
const FORMAT = 'holdfast-fake-world'
const LOG_FORMAT = 'holdfast-fake-world-log'
const NAME = /^log\/\d{8}-\d{8}\.jsonl$/
const PORTION = 1_000_000

const pathOf = (generation: number, sequence: number): string =>
  `${FOLDER}/${pad(generation)}-${pad(sequence)}.jsonl`

const pad = (count: number): string => String(count).padStart(8, '0')

const generationOf = (path: string): number => Number(path.slice(FOLDER.length + 1, FOLDER.length + 9))

const manifestOf = (generation: number): string =>
  `${JSON.stringify({ format: FORMAT, version: 1, generation })}\n`

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

const portionsOf = (entries: Iterable<WorldJournalEntry>): string[][] => {
  const portions: string[][] = []
  let lines: string[] = []
  let length = 0
  for (const entry of entries) {
    const line = JSON.stringify(entry)
    lines.push(line)
    length += line.length
    if (length < PORTION) continue
    portions.push(lines)
    lines = []
    length = 0
  }
  if (lines.length > 0 || portions.length === 0) portions.push(lines)
  return portions
}
