import { checkPath } from '../base/disk-path.ts'
import { isRecord, tryJsonText } from '../base/json.ts'
import type { Io } from '../io/io.ts'
import type { SealedStore } from '../repo/store/sealed-store.ts'
import type { AppliedReply } from './apply-reply.ts'
import { covers, fitted, type Lineage } from './lineage.ts'
import type { FileBoxes } from './merge-versions.ts'
import { type BoxText, boxText, PREFIX, parseBox } from './repo-record.ts'

/** The deletion of a file, and the edits of the file that the deleting device knew of. */
export interface Tombstone {
  readonly path: string
  /** When it was sent, in seconds since 1970. */
  readonly at: number
  readonly lineage: Lineage
}

/**
 * The tombstones of one repo: which deletions knew which edits.
 *
 * On the wire a deletion is null and says nothing. Beside it, in the same upload, goes a file of its own below
 * `Deletions/` that lists what each deletion of the upload knew. Such a file is never written again under its name, so that no
 * upload, however late, takes tombstones away; when there are sixteen, the next one takes the place of all. It has no edits
 * of its own in its box, as no other file has, so that a server cannot pass one for the other. Files of tombstones are kept
 * apart from the files of the repo: no list shows them.
 */
export class Tombstones {
  readonly #io: Pick<Io, 'crypto' | 'random'>
  readonly #store: Pick<SealedStore, 'entries'>
  readonly #boxes: FileBoxes
  /** By name; undefined until it is wanted. */
  #files: Map<string, readonly Tombstone[]> | undefined
  #lineages: Map<string, Lineage[]> | undefined

  constructor({ io, store, boxes }: TombstonesOptions) {
    this.#io = io
    this.#store = store
    this.#boxes = boxes
  }

  /** For each known deletion of a file, the edits that it knew of. */
  of(path: string): readonly Lineage[] {
    if (this.#known.size === 0) return NONE
    this.#lineages ??= lineagesIn(this.#known.values())
    return this.#lineages.get(path) ?? NONE
  }

  /** Takes in those of a reply, before its files are. */
  ingest({ changes, tombstones = new Map() }: AppliedReply): IngestedTombstones {
    const writes = new Map<string, string | null>()
    for (const [path, box] of tombstones) this.#ingestFile(path, box, writes)
    const named = new Set<string>()
    let tried = 0
    for (const [path, box] of changes) {
      if (!isTombstonePath(path)) continue
      if (box !== null) tried += 1
      if (tried > MAX_KNOWN_FILES) break
      this.#ingestFile(path, box, writes)
      // What went up from here only repeats what is known.
      if (box === null || tombstones.has(path)) continue
      for (const tombstone of this.#known.get(path.slice(FOLDER.length)) ?? []) named.add(tombstone.path)
    }
    if (writes.size > 0) this.#lineages = undefined
    return { writes, named }
  }

  /** Reads the store again, after what was taken in could not be written. */
  reset(): void {
    this.#files = undefined
    this.#lineages = undefined
  }

  /**
   * Returns the files to upload beside deletions: one that records the edits they knew, and null for each one it replaces.
   *
   * A deletion that is sent again is recorded again: a device that sent the file again does not know of the deletion, and
   * the server may have lost the record.
   */
  seal(deletions: readonly Tombstone[], now: number): Map<string, BoxText | null> {
    const files = new Map<string, BoxText | null>()
    if (deletions.length === 0) return files
    const isFull = this.#known.size >= MAX_FILES
    const older = isFull ? [...this.#known.values()].flat() : []
    if (isFull) for (const name of this.#known.keys()) files.set(FOLDER + name, null)
    const name = `${this.#io.crypto.toHex(this.#io.random(NAME_BYTES))}.json`
    const kept = newestOf([...deletions, ...older], Math.floor(now / 1000) - KEEP_SECONDS)
    return files.set(FOLDER + name, this.#boxes.seal(textOf(kept), NO_EDITS))
  }

  get #known(): Map<string, readonly Tombstone[]> {
    if (this.#files !== undefined) return this.#files
    this.#files = new Map()
    for (const [key, box] of this.#store.entries(PREFIX.tombstone)) {
      const found = this.#open(box)
      if (found !== undefined) this.#files.set(key.slice(PREFIX.tombstone.length), found)
    }
    return this.#files
  }

  #ingestFile(path: string, box: BoxText | null, writes: Map<string, string | null>): void {
    const name = path.slice(FOLDER.length)
    const known = this.#known
    if (box === null) {
      if (known.delete(name)) writes.set(PREFIX.tombstone + name, null)
      return
    }
    if (known.has(name) || known.size >= MAX_KNOWN_FILES) return
    const found = this.#open(box)
    if (found === undefined) return
    // `name` and `box` may be slices of a whole reply, which would stay in memory with them.
    const key = PREFIX.tombstone + name
    known.set(key.slice(PREFIX.tombstone.length), found)
    writes.set(key, copyOf(box))
  }

  /** Undefined for a box that is none of tombstones. */
  #open(box: BoxText): Tombstone[] | undefined {
    if (box.length > MAX_BOX) return undefined
    const version = this.#boxes.open(box)
    if (version === undefined || version.isForeign || version.lineage.size > 0) return undefined
    return tombstonesIn(version.text)
  }
}

/** The tombstones of a reply, as they are stored. */
export interface IngestedTombstones {
  /** The writes of the store that keep it. */
  readonly writes: ReadonlyMap<string, string | null>
  /** The deleted files of which the reply has tombstones, known ones included. */
  readonly named: ReadonlySet<string>
}

export interface TombstonesOptions {
  readonly io: Pick<Io, 'crypto' | 'random'>
  readonly store: Pick<SealedStore, 'entries'>
  readonly boxes: FileBoxes
}

/** Returns true for the path of a file of tombstones. */
export const isTombstonePath = (path: string): boolean => path.startsWith(FOLDER)

/** The key under which a store keeps a file of tombstones. */
export const tombstoneKey = (path: string): string => PREFIX.tombstone + path.slice(FOLDER.length)

/** The paths and boxes of the files of tombstones that a store keeps. */
export function* tombstoneFiles(
  store: Pick<SealedStore, 'entries'>
): Generator<{ readonly path: string; readonly box: BoxText }> {
  for (const [key, box] of store.entries(PREFIX.tombstone))
    yield { path: FOLDER + key.slice(PREFIX.tombstone.length), box }
}

/** No deployed client has a folder of that name. */
const FOLDER = 'Deletions/'
const NAME_BYTES = 8
/** So many files become one. */
const MAX_FILES = 16
/** Beyond that, a server makes them up, also in one reply: each is opened without a pause. */
const MAX_KNOWN_FILES = 200
/** The most that one file lists, the newest. */
const MAX_TOMBSTONES = 1000
const KEEP_SECONDS = 90 * 24 * 3600
/** In characters, of which an ordinary tombstone takes about 120. */
const MAX_LENGTH = 400_000
const MAX_BOX = 2 * MAX_LENGTH
/** The entries of what one tombstone knew, {@link fitted}. */
const MAX_EDITS = 64
const ROOM = 50
const EDIT_ROOM = 30

const NONE: readonly Lineage[] = []
const NO_EDITS = { lineage: new Map<string, number>(), stamps: new Map() }

const lineagesIn = (files: Iterable<readonly Tombstone[]>): Map<string, Lineage[]> => {
  const lineages = new Map<string, Lineage[]>()
  for (const file of files)
    for (const { path, lineage } of file) {
      const known = lineages.get(path)
      if (known === undefined) lineages.set(path, [lineage])
      else known.push(lineage)
    }
  return lineages
}

/** Those that are not too old and say more than a newer one of the same file. */
const newestOf = (tombstones: readonly Tombstone[], since: number): Tombstone[] => {
  const kept: Tombstone[] = []
  const lineages = new Map<string, Lineage[]>()
  let length = 0
  for (const tombstone of [...tombstones].sort((left, right) => right.at - left.at)) {
    const { path, at, lineage } = tombstone
    const known = lineages.get(path) ?? []
    if (known.some(other => covers(other, lineage))) continue
    length += path.length + ROOM + EDIT_ROOM * Math.min(lineage.size, MAX_EDITS)
    if (kept.length === MAX_TOMBSTONES || length > MAX_LENGTH || at < since) break
    kept.push(tombstone)
    lineages.set(path, [...known, lineage])
  }
  return kept
}

const textOf = (tombstones: readonly Tombstone[]): string =>
  JSON.stringify({
    deletions: tombstones.map(({ path, at, lineage }) => ({
      path,
      at,
      edits: [...fitted(lineage, MAX_EDITS)]
    }))
  })

const copyOf = (box: BoxText): BoxText => {
  const parsed = parseBox(box)
  return parsed === undefined ? box : boxText(parsed)
}

/** Undefined if the text is none of {@link textOf}. */
const tombstonesIn = (text: string): Tombstone[] | undefined => {
  const value = tryJsonText(text)
  const { deletions: list }: { deletions?: unknown } = isRecord(value) ? value : {}
  if (!Array.isArray(list) || list.length > MAX_TOMBSTONES) return undefined
  const tombstones = (list as unknown[]).map(parseTombstone)
  return tombstones.some(item => item === undefined)
    ? undefined
    : tombstones.filter(item => item !== undefined)
}

const parseTombstone = (value: unknown): Tombstone | undefined => {
  if (!isRecord(value)) return undefined
  const { path, at, edits } = value
  if (typeof path !== 'string' || typeof at !== 'number' || !Number.isFinite(at)) return undefined
  if (!Array.isArray(edits) || edits.length > MAX_EDITS || !(edits as unknown[]).every(isEdit))
    return undefined
  try {
    return { path: checkPath(path), at, lineage: new Map(edits as [string, number][]) }
  } catch {
    return undefined
  }
}

const isEdit = (value: unknown): value is [string, number] =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === 'string' &&
  /^[0-9a-f]{12}$/.test(value[0]) &&
  Number.isSafeInteger(value[1])
