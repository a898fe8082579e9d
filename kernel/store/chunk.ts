import { WalletError } from '../base/errors.ts'
import type { CryptoPort } from '../io/io.ts'
import type { StoreChange } from '../io/store.ts'
import { textOfKey } from './sorted-map.ts'

/** The batches that a chunk holds, both ends included; they are numbered from 1. */
export interface ChunkRange {
  readonly from: number
  readonly to: number
  /** How often it was written again without a neighbour; 0 if left out. */
  readonly version?: number
}

/** Which part of a large batch a chunk is: `part` of `parts`, from 0. */
export interface ChunkPart {
  readonly part: number
  readonly parts: number
}

/** Where the value of a key lies in the text of its chunk. */
export interface ValuePosition {
  /** In characters from the start of the text. */
  readonly start: number
  /** In bytes; -1 says that the key is deleted. */
  readonly length: number
  /** The first four bytes of the value's SHA-256. */
  readonly digest: number
}

/** The table of contents of a chunk. */
export interface ChunkIndex extends ChunkPart {
  readonly entries: readonly (readonly [key: string, position: ValuePosition])[]
}

/** A value to be written: its base64, length and digest. */
export interface EncodedValue extends Omit<ValuePosition, 'start'> {
  readonly text: string
}

/** What chunks are encoded with. */
export type ChunkCodec = Pick<CryptoPort, 'fromBase64' | 'sha256' | 'toBase64'>

/** The file name of a chunk: `000000000001-000000000008`, with `.1` behind it when it was written again. */
export const chunkName = ({ from, to, version = 0 }: ChunkRange): string =>
  `${padded(from)}-${padded(to)}${version === 0 ? '' : `.${version}`}`

/** The range in a chunk's file name, or undefined for any other name. */
export const parseChunkName = (name: string): ChunkRange | undefined => {
  const match = /^(\d{12})-(\d{12})(?:\.([1-9]\d{0,14}))?$/.exec(name)
  if (match === null) return undefined
  const from = Number(match[1])
  const to = Number(match[2])
  return from >= 1 && from <= to ? { from, to, version: Number(match[3] ?? 0) } : undefined
}

/** What a closed store says. */
export const closedError = (path: string): WalletError =>
  new WalletError('STORAGE_FAILED', { path, reason: 'the store is closed' })

/** The error for changes that no store takes; undefined if all are sound. */
export const refusalOf = (changes: readonly StoreChange[]): WalletError | undefined => {
  const isSound = ({ key, value }: StoreChange): boolean =>
    key.length > 0 && key.length <= MAX_KEY && (value?.length ?? 0) <= MAX_VALUE
  if (changes.every(isSound)) return undefined
  return new WalletError('STORAGE_FAILED', {
    path: '',
    reason: 'a key or a value is too long, or a key empty'
  })
}

/** Encodes a value, or a deletion for undefined. */
export const encodeValue = (codec: ChunkCodec, value: Uint8Array | undefined): EncodedValue =>
  value === undefined
    ? { text: '', length: -1, digest: 0 }
    : { text: codec.toBase64(value), length: value.length, digest: digestOf(codec, value) }

/** Decodes a value; undefined if its text is missing or damaged. */
export const decodeValue = (
  codec: ChunkCodec,
  { length, digest }: ValuePosition,
  text: string | undefined
): Uint8Array | undefined => {
  try {
    const value = text === undefined ? undefined : codec.fromBase64(text)
    return value?.length === length && digestOf(codec, value) === digest ? value : undefined
  } catch {
    return undefined
  }
}

/** How many letters of base64 a number of bytes takes; none for a deletion. */
export const textLength = (length: number): number => (length < 0 ? 0 : 4 * Math.ceil(length / 3))

/**
 * Writes the text of a chunk, which is ASCII: a head of {@link HEAD} letters, the index, the values and {@link END}.
 *
 * The head has the format, the part, the length of the index, and a digest of the index together with the range, so that a chunk
 * in another's place does not open.
 */
export const encodeChunk = (
  codec: ChunkCodec,
  { from, to, part, parts }: ChunkRange & ChunkPart,
  values: ReadonlyMap<string, EncodedValue>
): { readonly text: string; readonly index: ChunkIndex } => {
  let size = 0
  for (const key of values.keys()) size += 2 + key.length + 8
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  const texts: string[] = []
  const lengths: [string, Omit<ValuePosition, 'start'>][] = []
  let at = 0
  for (const [key, { text, length, digest }] of values) {
    view.setUint16(at, key.length)
    for (let i = 0; i < key.length; i += 1) bytes[at + 2 + i] = key.charCodeAt(i)
    at += 2 + key.length
    view.setInt32(at, length)
    view.setUint32(at + 4, digest)
    at += 8
    texts.push(text)
    lengths.push([key, { length, digest }])
  }
  const index = codec.toBase64(bytes)
  const head = [FORMAT, part, parts, index.length, digestOfIndex(codec, { from, to, part, parts }, index)]
  return {
    text: head.join(' ').padEnd(HEAD) + index + texts.join('') + END,
    index: { part, parts, entries: positionsOf(HEAD + index.length, lengths) }
  }
}

/** The last letter of every chunk: a text without it was cut off. */
export const END = '.'

/** The length of what stands in front of the index. */
export const HEAD = 96

/** The part and the length of the index that the head of a chunk names; undefined if it is damaged. */
export const parseHead = (head: string): (ChunkPart & { readonly indexLength: number }) | undefined => {
  const match = head.length >= HEAD ? HEAD_PATTERN.exec(head.slice(0, HEAD)) : null
  if (match === null) return undefined
  const [part = 0, parts = 0, indexLength = 0] = match.slice(1, 4).map(Number)
  return part < parts ? { part, parts, indexLength } : undefined
}

/** Reads the table of contents from the head and the index of a chunk; undefined if one of them is damaged. */
export const decodeIndex = (codec: ChunkCodec, range: ChunkRange, text: string): ChunkIndex | undefined => {
  const head = parseHead(text)
  if (head === undefined) return undefined
  const { part, parts, indexLength } = head
  const index = text.slice(HEAD, HEAD + indexLength)
  const { from, to } = range
  if (HEAD_PATTERN.exec(text.slice(0, HEAD))?.[4] !== digestOfIndex(codec, { from, to, part, parts }, index))
    return undefined
  try {
    const lengths = [...readLengths(codec.fromBase64(index))]
    return { part, parts, entries: positionsOf(HEAD + indexLength, lengths) }
  } catch {
    return undefined
  }
}

/** One file of a folder, as far as it can be read: `cut` has its index and lacks its end, `damaged` has no index. */
export interface FoundChunk extends ChunkRange, ChunkPart {
  readonly state: 'cut' | 'damaged' | 'sound'
}

/** What the files of a folder amount to. */
export interface ChosenChunks<C extends FoundChunk> {
  /** Those that count, oldest first. */
  readonly chosen: readonly C[]
  /** Parts of a merge, and of a batch whose end never came. */
  readonly leftovers: readonly C[]
  /** Those that count for nothing because they cannot be read. */
  readonly damaged: readonly C[]
  /** Ranges of which nothing is left. */
  readonly gaps: readonly ChunkRange[]
}

/**
 * Tells which chunks count (pure): of those that lie in one another the widest, and of a batch without its last part none.
 *
 * A file that is cut off counts as far as it goes, unless the write of it may never have ended: as the newest one, and as one
 * that took the place of others which are still there.
 */
export const chooseChunks = <C extends FoundChunk>(files: readonly C[]): ChosenChunks<C> => {
  const last = newestOf(files)
  const isUnended = (file: C): boolean =>
    file.to === last || files.some(other => other !== file && isInside(other, file))
  const damaged = files.filter(file => file.state === 'damaged' || (file.state === 'cut' && isUnended(file)))
  const readable = files.filter(file => !damaged.includes(file))
  const newest = newestOf(readable)
  const chosen: C[] = []
  const leftovers: C[] = []
  const gaps: ChunkRange[] = []
  let next = 1
  for (const file of readable.sort(byPlace)) {
    const isTorn = file.from - file.part + file.parts - 1 > newest
    if (isTorn || file.to < next) leftovers.push(file)
    else {
      if (file.from > next) gaps.push({ from: next, to: file.from - 1 })
      chosen.push(file)
      next = file.to + 1
    }
  }
  return { chosen, leftovers, damaged, gaps }
}

/** Of those that begin together the widest first, and of one range what was written last. */
const byPlace = (left: ChunkRange, right: ChunkRange): number =>
  left.from - right.from || right.to - left.to || (right.version ?? 0) - (left.version ?? 0)

const newestOf = (files: readonly ChunkRange[]): number =>
  files.reduce((newest, { to }) => Math.max(newest, to), 0)

const isInside = (inner: ChunkRange, outer: ChunkRange): boolean =>
  inner.from >= outer.from && inner.to <= outer.to

/** What an entry takes up in a chunk, in characters. */
export const sizeOf = (key: string, { length }: Pick<ValuePosition, 'length'>): number =>
  textLength(length) + textLength(key.length + 10)

/** The keys of each part of a batch. */
export const groupsOf = (
  values: ReadonlyMap<string, Uint8Array | undefined>
): readonly (readonly string[])[] => {
  let group: string[] = []
  const groups = [group]
  let size = 0
  for (const [key, value] of values) {
    const added = sizeOf(key, { length: value?.length ?? -1 })
    if (size > 0 && size + added > PART_SIZE) {
      group = []
      groups.push(group)
      size = 0
    }
    group.push(key)
    size += added
  }
  return groups
}

/** A larger batch has several chunks of about so many characters. */
const PART_SIZE = 1_000_000
/** The limits of {@link Store}, in bytes. */
const MAX_KEY = 1100
const MAX_VALUE = 64 * 1024 * 1024

const FORMAT = 'HOLDFAST-LOG-1'
const HEAD_PATTERN = new RegExp(`^${FORMAT} (\\d{1,9}) (\\d{1,9}) (\\d{1,9}) ([0-9a-f]{32}) *$`)

const padded = (count: number): string => String(count).padStart(12, '0')

const digestOf = (codec: ChunkCodec, value: Uint8Array): number => {
  const [a = 0, b = 0, c = 0, d = 0] = codec.sha256(value)
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
}

const digestOfIndex = (
  codec: ChunkCodec,
  { from, to, part, parts }: ChunkRange & ChunkPart,
  index: string
): string => {
  const text = `${from} ${to} ${part} ${parts} ${index}`
  const digest = codec.sha256(Uint8Array.from(text, letter => letter.charCodeAt(0)))
  return [...digest.subarray(0, 16)].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

const positionsOf = (
  start: number,
  lengths: readonly (readonly [string, Omit<ValuePosition, 'start'>])[]
): readonly (readonly [string, ValuePosition])[] => {
  let at = start
  return lengths.map(([key, { length, digest }]) => {
    const position = { start: at, length, digest }
    at += textLength(length)
    return [key, position]
  })
}

function* readLengths(bytes: Uint8Array): Generator<[string, Omit<ValuePosition, 'start'>]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length; ) {
    const length = view.getUint16(at)
    const key = textOfKey(bytes.subarray(at + 2, at + 2 + length))
    at += 2 + length
    yield [key, { length: view.getInt32(at), digest: view.getUint32(at + 4) }]
    at += 8
  }
}

/** Values that lie so near to each other are read at once, as long as there is not too much of it. */
const MAX_SKIPPED = 32_768
const MAX_RUN = 4_000_000

/** Where the text of a value ends. */
export const endOf = ({ start, length }: ValuePosition): number => start + textLength(length)

/** An entry with the place of its value. */
interface PlacedItem {
  readonly entry: { readonly chunk: ChunkRange; readonly position: ValuePosition }
}

/** Values that are read with one slice: neighbours in one chunk. */
export const runsOf = <Item extends PlacedItem>(items: readonly Item[]): Item[][] => {
  const runs: Item[][] = []
  const ordered = [...items].sort(
    ({ entry: left }, { entry: right }) =>
      left.chunk.from - right.chunk.from || left.position.start - right.position.start
  )
  for (const item of ordered) {
    const { chunk, position } = item.entry
    const [first, last] = [runs.at(-1)?.[0]?.entry, runs.at(-1)?.at(-1)?.entry]
    const isNear =
      first?.chunk === chunk &&
      last !== undefined &&
      position.start - endOf(last.position) <= MAX_SKIPPED &&
      endOf(position) - first.position.start <= MAX_RUN
    if (isNear) runs.at(-1)?.push(item)
    else runs.push([item])
  }
  return runs
}
