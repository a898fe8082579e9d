import { isWalletError } from '../../base/errors.ts'
import { tryJsonText } from '../../base/json.ts'
import { makeYielder } from '../../base/yielder.ts'
import { openPacked, openText } from '../../crypto/box.ts'
import { textOf } from '../../crypto/encoding.ts'
import type { Disk } from '../../io/disk.ts'
import { isBox } from '../../types/keys.ts'
import type { BlockCrypto } from './block.ts'
import type { BulkChange, BulkPrefixes, BulkRow } from './bulk.ts'

/** A store as versions before 0.3 keep it on a disk. */
export interface OldStore extends BlockCrypto {
  readonly disk: Disk
  readonly bulk: BulkPrefixes
  /** All paths of its folder. */
  readonly paths: readonly string[]
}

/** What an old store has. */
export interface OldContents {
  /** Its entries, then the rows of each table in their order. */
  readonly contents: readonly (readonly [key: string, change: string | BulkChange])[]
  /** Whether some of it is damaged or missing, so that it may lack something or show what was replaced. */
  readonly isDamaged: boolean
  /** The files that do not open as a whole. */
  readonly damagedPaths: readonly string[]
}

/** Whether a path is one of an old store: a chunk of entries, a segment of rows, or a part of an index. */
export const isOldPath = (path: string): boolean => CHUNK.test(path) || NUMBERED.test(path)

/**
 * Reads a store of the old layout, and changes nothing.
 *
 * Entries are in chunks, `<from>-<to>`, of which the widest of a range counts and a later one wins. Among them are the rows of
 * small writes, and a manifest for each table: which segments (`s<number>`) have its other rows, and which parts of an index
 * (`i<number>`) say where.
 *
 * @throws STORAGE_FAILED if something cannot be read at all; an unreadable disk is never taken for an empty one
 */
export const readOldStore = async (store: OldStore): Promise<OldContents> => {
  const reader = new OldReader(store)
  const contents = await reader.read()
  return { contents, isDamaged: reader.isDamaged, damagedPaths: [...reader.damagedPaths] }
}

interface OldRow extends Omit<BulkRow, 'key'> {
  readonly sequence: number
}

interface Place {
  readonly place: number
  readonly slot: number
}

class OldReader {
  isDamaged = false
  readonly damagedPaths = new Set<string>()
  readonly #store: OldStore
  readonly #pause: () => Promise<void> | undefined

  constructor(store: OldStore) {
    this.#store = store
    this.#pause = makeYielder(store.io.clock)
  }

  async read(): Promise<OldContents['contents']> {
    const all = await this.#readEntries()
    const tables = new Map<string, Map<string, OldRow | undefined>>()
    const entries: [string, string][] = []
    const manifests = new Map<string, string>()
    for (const [key, text] of all) {
      const prefix = this.#store.bulk.tableOf(key)
      if (key.startsWith(LOSS_MARK)) this.isDamaged = true
      else if (key.startsWith(MANIFEST)) manifests.set(key.slice(MANIFEST.length), text)
      else if (prefix === undefined) entries.push([key, text])
      else {
        const rows = tables.get(prefix) ?? new Map<string, OldRow | undefined>()
        tables.set(prefix, rows.set(key.slice(prefix.length), parseRecentRow(text)))
      }
    }
    const contents: [string, string | BulkChange][] = entries
    for (const prefix of new Set([...manifests.keys(), ...tables.keys()])) {
      if (this.#store.bulk.tableOf(prefix) !== prefix) continue
      const rows = await this.#readTable(prefix, manifests.get(prefix))
      for (const [key, recent] of tables.get(prefix) ?? []) {
        const before = rows.get(key)
        rows.delete(key)
        if (recent === undefined) continue
        const sequence = before?.order === recent.order ? before.sequence : RECENT + recent.sequence
        rows.set(key, { ...recent, sequence })
      }
      const sorted = [...rows].sort(
        ([, left], [, right]) => right.order - left.order || left.sequence - right.sequence
      )
      for (const [key, { text, order, mark }] of sorted) contents.push([prefix + key, { text, order, mark }])
    }
    return contents
  }

  async #readEntries(): Promise<Map<string, string>> {
    const entries = new Map<string, string>()
    const chunks = this.#store.paths
      .flatMap(path => {
        const match = CHUNK.exec(path)
        return match === null ? [] : [{ path, from: Number(match[1]), to: Number(match[2]) }]
      })
      .sort((left, right) => left.from - right.from || right.to - left.to)
    let next = 1
    for (const [i, chunk] of chunks.entries()) {
      if (chunk.to < next) continue
      const { changes, isWhole } = await this.#readChunk(chunk)
      const inside = chunks.slice(i + 1).filter(({ from, to }) => from >= chunk.from && to <= chunk.to)
      // Then a merge had just been written.
      if (!isWhole && isCovered(chunk, inside)) continue
      if (!isWhole) this.damagedPaths.add(chunk.path)
      if (!isWhole || chunk.from > next) this.isDamaged = true
      const parts = isWhole ? [] : inside.sort((left, right) => left.to - right.to || right.from - left.from)
      for (const part of parts) apply(entries, (await this.#readChunk(part)).changes)
      // What could be saved of a merged chunk is as new as its newest part.
      apply(entries, changes)
      next = chunk.to + 1
    }
    return entries
  }

  /** Each line of a chunk is a box with `[from, to, index, count, [key, text, key, text, …]]`. */
  async #readChunk({
    path,
    from,
    to
  }: OldChunk): Promise<{ readonly changes: Changes; readonly isWhole: boolean }> {
    const lines = ((await this.#text(path)) ?? '').split('\n')
    const changes: Changes = []
    let isWhole = true
    for (const [at, line] of lines.entries()) {
      const payload = this.#openLine(line)
      const [first, last, index, count, flat] = Array.isArray(payload) ? (payload as unknown[]) : []
      const isIt = first === from && last === to && Array.isArray(flat)
      if (!isIt || index !== at || count !== lines.length) isWhole = false
      for (let i = 0; isIt && i + 1 < flat.length; i += 2) {
        const [key, text]: unknown[] = [flat[i], flat[i + 1]]
        if (typeof key === 'string' && (text === null || typeof text === 'string')) changes.push([key, text])
      }
      await this.#pause()
    }
    return { changes, isWhole }
  }

  #openLine(line: string): unknown {
    const { io, key } = this.#store
    const box = tryJsonText(line)
    if (!isBox(box)) return undefined
    try {
      return tryJsonText(key.use(secret => openText(io, secret, box)))
    } catch (error) {
      if (!key.isAlive) throw error
      return undefined
    }
  }

  /** The rows of a table that are in segments. */
  async #readTable(prefix: string, text: string | undefined): Promise<Map<string, OldRow>> {
    const manifest = parseManifest(text)
    const places = this.isDamaged ? undefined : await this.#readIndex(prefix, manifest.parts)
    const rows = new Map<string, OldRow>()
    // Without an index every row counts that is in a segment, the later one of a key.
    const segments = places === undefined ? this.#numbersOf('s') : manifest.segments
    for (const segment of segments) {
      const path = this.#pathOf('s', segment)
      const whole = path === undefined ? undefined : await this.#text(path)
      const ends = whole === undefined ? undefined : parseEnds(whole.slice(0, SEGMENT_HEAD))
      if (whole === undefined || ends === undefined) {
        this.#miss(path)
        continue
      }
      for (const [piece, end] of ends.entries()) {
        const sealed = whole.slice(ends[piece - 1] ?? SEGMENT_HEAD, end)
        await this.#readPiece({ prefix, segment, piece }, sealed, (slot, key, row) => {
          const slots = places?.get(segment * 16 + piece)
          const known = slots?.get(slot)
          if (places === undefined) rows.set(key, { ...row, sequence: rows.get(key)?.sequence ?? rows.size })
          else if (known !== undefined) rows.set(key, { ...row, sequence: known })
          slots?.delete(slot)
        })
        await this.#pause()
      }
    }
    // A row of the index that was found nowhere is lost.
    for (const [place, { size }] of places ?? [])
      if (size > 0) this.#miss(this.#pathOf('s', Math.floor(place / 16)))
    return rows
  }

  /** By place and slot, in which order the rows of an index came; undefined if it is damaged. */
  async #readIndex(
    prefix: string,
    parts: readonly number[]
  ): Promise<Map<number, Map<number, number>> | undefined> {
    const living = new Map<string, Place & { readonly order: number; readonly sequence: number }>()
    let sequence = 0
    for (const id of parts) {
      const path = this.#pathOf('i', id)
      const text = path === undefined ? undefined : await this.#text(path)
      const bytes = text === undefined ? undefined : await this.#open(text)
      const columns = bytes && readPart(bytes, prefix, id)
      if (columns === undefined) {
        this.#miss(path)
        return undefined
      }
      for (let i = 0; i < columns.count; i += 1) {
        const hash = `${columns.low[i]} ${columns.high[i]}`
        const [place = 0, slot = 0, order = 0] = [columns.place[i], columns.slot[i], columns.order[i]]
        const before = living.get(hash)
        const stays = before?.order === order
        sequence += 1
        if (place === 0) living.delete(hash)
        else living.set(hash, { place, slot, order, sequence: stays ? before.sequence : sequence })
      }
      await this.#pause()
    }
    const byPlace = new Map<number, Map<number, number>>()
    for (const { place, slot, sequence: number } of living.values()) {
      const slots = byPlace.get(place) ?? new Map<number, number>()
      byPlace.set(place, slots.set(slot, number))
    }
    return byPlace
  }

  async #readPiece(
    { prefix, segment, piece }: PieceName,
    sealed: string,
    take: (slot: number, key: string, row: Omit<OldRow, 'sequence'>) => void
  ): Promise<void> {
    const bytes = await this.#open(sealed)
    const isFramed = bytes !== undefined && bytes.length >= 24
    const buffer = isFramed ? (bytes.buffer as ArrayBuffer) : new ArrayBuffer(24)
    const [magic, segmentId, pieceId, count = 0, nameLength = 0] = new Uint32Array(buffer, 0, 6)
    const bodyStart = 24 + count * 20
    const isIt = magic === PIECE_MAGIC && segmentId === segment && pieceId === piece
    if (!isFramed || !isIt || bytes.length < bodyStart) {
      this.#miss(this.#pathOf('s', segment))
      return
    }
    const body = textOf(bytes.subarray(bodyStart))
    // Without an index, segments of other tables are looked into, too.
    if (body.slice(0, nameLength) !== prefix) return
    const order = new Float64Array(buffer, 24, count)
    const mark = new Int32Array(buffer, 24 + count * 8, count)
    const keyLength = new Uint32Array(buffer, 24 + count * 12, count)
    const textLength = new Uint32Array(buffer, 24 + count * 16, count)
    let at = nameLength
    for (let slot = 0; slot < count; slot += 1) {
      const middle = at + (keyLength[slot] ?? 0)
      const end = middle + (textLength[slot] ?? 0)
      const text = body.slice(middle, end)
      take(slot, body.slice(at, middle), { text, order: order[slot] ?? 0, mark: mark[slot] ?? 0 })
      at = end
    }
  }

  #miss(path: string | undefined): void {
    this.isDamaged = true
    if (path !== undefined) this.damagedPaths.add(path)
  }

  async #open(text: string): Promise<Uint8Array | undefined> {
    const { io, key } = this.#store
    try {
      return await key.use(secret => openPacked(io, secret, io.crypto.fromBase64(text)))
    } catch (error) {
      if (!key.isAlive) throw error
      return undefined
    }
  }

  /** The text of a file; undefined if it is damaged. */
  async #text(path: string): Promise<string | undefined> {
    try {
      return await this.#store.disk.getText(path)
    } catch (error) {
      if (!isWalletError(error, 'CORRUPT_FILE')) throw error
      return undefined
    }
  }

  #pathOf(kind: 'i' | 's', id: number): string | undefined {
    const name = `/${kind}${String(id).padStart(12, '0')}`
    return this.#store.paths.find(path => path.endsWith(name))
  }

  #numbersOf(kind: 'i' | 's'): number[] {
    const found = this.#store.paths.flatMap(path => {
      const match = NUMBERED.exec(path)
      return match?.[1] === kind ? [Number(match[2])] : []
    })
    return found.sort((left, right) => left - right)
  }
}

interface OldChunk {
  readonly path: string
  readonly from: number
  readonly to: number
}

interface PieceName {
  readonly prefix: string
  readonly segment: number
  readonly piece: number
}

type Changes = (readonly [key: string, text: string | null])[]

const CHUNK = /\/(\d{12})-(\d{12})$/
const NUMBERED = /\/([si])(\d{12})$/
const MANIFEST = 'm/'
const LOSS_MARK = 'm/ '
const SEGMENT_HEAD = 96
/** "HFS1" and "HFI1", little-endian. */
const PIECE_MAGIC = 0x31534648
const PART_MAGIC = 0x31494648
/** Rows among the entries came after all those of segments. */
const RECENT = 2 ** 32

const apply = (entries: Map<string, string>, changes: Changes): void => {
  for (const [key, text] of changes) {
    if (text === null) entries.delete(key)
    else entries.set(key, text)
  }
}

/** Whether narrower chunks have everything that a damaged one has. */
const isCovered = (chunk: OldChunk, inside: readonly OldChunk[]): boolean => {
  let next = chunk.from
  for (const { from, to } of inside) if (from <= next && to >= next) next = to + 1
  return next > chunk.to
}

/** `<order> <mark> <sequence> <text>`; nothing for a row that was deleted. */
const parseRecentRow = (entry: string): OldRow | undefined => {
  const match = /^(\S+) (\S+) (\S+) (.*)$/s.exec(entry)
  if (match === null) return undefined
  const [order, mark, sequence] = match.slice(1, 4).map(Number)
  return { order: order ?? 0, mark: mark ?? 0, sequence: sequence ?? 0, text: match[4] ?? '' }
}

const parseManifest = (
  text: string | undefined
): { readonly parts: readonly number[]; readonly segments: readonly number[] } => {
  const { parts, segments } = (tryJsonText(text ?? '') ?? {}) as { parts?: unknown; segments?: unknown }
  const numbersIn = (pairs: unknown): number[] =>
    Array.isArray(pairs) ? pairs.flatMap(pair => (Array.isArray(pair) ? [Number(pair[0])] : [])) : []
  return { parts: numbersIn(parts), segments: numbersIn(segments) }
}

/** Where the pieces of a segment end: up to twelve numbers of eight digits. */
const parseEnds = (head: string): readonly number[] | undefined => {
  const ends = [...head.matchAll(/.{8}/gs)].map(([digits]) => digits.trim()).filter(digits => digits !== '')
  return ends.length > 0 && ends.every(digits => /^\d+$/.test(digits)) ? ends.map(Number) : undefined
}

const readPart = (
  bytes: Uint8Array,
  table: string,
  id: number
):
  | {
      readonly count: number
      readonly order: Float64Array
      readonly low: Uint32Array
      readonly high: Uint32Array
      readonly place: Uint32Array
      readonly slot: Uint16Array
    }
  | undefined => {
  if (bytes.length < 16) return undefined
  const buffer = bytes.buffer as ArrayBuffer
  const [magic, number, count = 0, nameLength = 0] = new Uint32Array(buffer, 0, 4)
  const end = 16 + count * 26
  const isIt = magic === PART_MAGIC && number === id && bytes.length === end + nameLength
  if (!isIt || textOf(bytes.subarray(end)) !== table) return undefined
  const words = 16 + count * 8
  return {
    count,
    order: new Float64Array(buffer, 16, count),
    low: new Uint32Array(buffer, words, count),
    high: new Uint32Array(buffer, words + count * 4, count),
    place: new Uint32Array(buffer, words + count * 12, count),
    slot: new Uint16Array(buffer, words + count * 16, count)
  }
}
