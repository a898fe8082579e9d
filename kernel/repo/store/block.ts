import { isWalletError, WalletError } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'
import { openPacked, type PackedPayload, sealPacked } from '../../crypto/box.ts'
import { textOf, utf8Of } from '../../crypto/encoding.ts'
import type { Io } from '../../io/io.ts'

/** What sealing and opening blocks needs. */
export interface BlockCrypto {
  readonly io: Pick<Io, 'clock' | 'crypto' | 'random'>
  readonly key: Secret<Uint8Array>
}

/**
 * The values of a block: its head says where its living rows stand and changes with them, its body has their texts and never changes,
 * and where some of its rows have a search text, a value with those lies beside the body and never changes either.
 */
export type BlockPart = (typeof BLOCK_PARTS)[number]

/** All of them. */
export const BLOCK_PARTS = ['head', 'body', 'search'] as const

/** Which block of which table. */
interface BlockName {
  /** The prefix of the table; '' for the entries. */
  readonly table: string
  /** From 1; of two blocks the later one has the higher number. */
  readonly block: number
}

/** Which value of it that has texts. */
interface BodyName extends BlockName {
  readonly part: 'body' | 'search'
}

/** What is made of the key of a store for one table: nobody without that key can say which table it is, or aim at a collision. */
export interface TableSecrets {
  /** The first bytes of all keys of the table. */
  readonly tag: Uint8Array
  /** The seed of the hashes of its rows' keys. */
  readonly seed: Uint32Array
}

/** Makes the secrets of a table. */
export const tableSecrets = ({ io, key }: BlockCrypto, table: string): TableSecrets => {
  const digest = key.use(secret => io.crypto.hmacSha256(secret, utf8Of(`table ${table}`)))
  return { tag: digest.slice(0, TAG), seed: new Uint32Array(digest.slice(TAG, TAG + 8).buffer) }
}

/** The key of a block's value in the store: the tag of the table, one byte for the part, and the number. */
export const blockKey = (tag: Uint8Array, part: BlockPart, block: number): Uint8Array => {
  const key = new Uint8Array(TAG + 5)
  key.set(tag)
  key[TAG] = BLOCK_PARTS.indexOf(part)
  new DataView(key.buffer).setUint32(TAG + 1, block)
  return key
}

/** The tag of a block's key, and its number; undefined for a key of something else. */
export const parseBlockKey = (
  key: Uint8Array
): { readonly tag: Uint8Array; readonly part: BlockPart; readonly block: number } | undefined => {
  const part = BLOCK_PARTS[key[TAG] ?? BLOCK_PARTS.length]
  if (key.length !== TAG + 5 || part === undefined) return undefined
  const block = new DataView(key.buffer, key.byteOffset).getUint32(TAG + 1)
  return { tag: key.slice(0, TAG), part, block }
}

/**
 * The living rows of a block as columns, without keys and texts.
 *
 * `low` and `high` are the hash of the key, `slot` says which text of the body is the row's.
 */
export interface HeadColumns {
  readonly order: Float64Array
  /** Grows with each new row of the table: of equal orders the lower one stands first. */
  readonly sequence: Uint32Array
  readonly low: Uint32Array
  readonly high: Uint32Array
  readonly mark: Int32Array
  readonly slot: Uint16Array
}

/** The head of a block. */
export interface Head {
  readonly table: string
  readonly block: number
  /** The number of its living rows. */
  readonly count: number
  /** How many rows its body has. */
  readonly total: number
  /** About how many bytes its body has. */
  readonly size: number
  /** It has a value with search texts. */
  readonly isSearchable: boolean
  readonly columns: HeadColumns
}

/** Columns for `count` rows, all zero. */
export const makeHeadColumns = (count: number): HeadColumns =>
  columnsOf(new ArrayBuffer(FRAME + count * ROW), FRAME, count)

/** Seals a head; only the first `count` rows of its columns count. */
export const sealHead = (
  crypto: BlockCrypto,
  { table, block, count, total, size, isSearchable, columns }: Head
): Uint8Array => {
  const name = utf8Of(table)
  const end = FRAME + count * ROW
  return seal(crypto, {
    room: end + name.length,
    write(bytes, start) {
      const buffer = bytes.buffer as ArrayBuffer
      const magic = isSearchable ? SEARCHABLE_HEAD_MAGIC : HEAD_MAGIC
      new Uint32Array(buffer, start, 6).set([magic, block, count, name.length, total, size])
      const copy = columnsOf(buffer, start + FRAME, count)
      for (const column of COLUMNS) copy[column].set(columns[column].subarray(0, count))
      bytes.set(name, start + end)
      return start + end + name.length
    }
  })
}

/** The inverse of {@link sealHead}; undefined for anything else. */
export const openHead = async (crypto: BlockCrypto, value: Uint8Array): Promise<Head | undefined> => {
  const bytes = await open(crypto, value)
  if (bytes === undefined || bytes.length < FRAME) return undefined
  const buffer = bytes.buffer as ArrayBuffer
  const [magic, block = 0, count = 0, nameLength = 0, total = 0, size = 0] = new Uint32Array(buffer, 0, 6)
  const end = FRAME + count * ROW
  const isSearchable = magic === SEARCHABLE_HEAD_MAGIC
  if ((magic !== HEAD_MAGIC && !isSearchable) || bytes.length !== end + nameLength) return undefined
  return {
    table: textOf(bytes.subarray(end)),
    ...{ block, count, total, size, isSearchable },
    columns: columnsOf(buffer, FRAME, count)
  }
}

/** The key and the text of one row. */
export type KeyedText = readonly [key: string, text: string]

/** The texts of an opened body. */
export interface Body {
  readonly count: number
  /** The row of a slot. @throws RangeError beyond the last one */
  row(slot: number): KeyedText
}

/** Seals the keys and texts of a block's body, or of its search texts. @throws STORAGE_FAILED if one of them has half a character */
export const sealBody = (
  crypto: BlockCrypto,
  { table, block, part }: BodyName,
  rows: readonly KeyedText[]
): Uint8Array => {
  const parts = [table]
  for (const [key, text] of rows) parts.push(key, text)
  const body = parts.join('')
  const head = FRAME + rows.length * 8
  const write = (bytes: Uint8Array, start: number): number => {
    const buffer = bytes.buffer as ArrayBuffer
    new Uint32Array(buffer, start, 6).set([MAGICS[part], block, rows.length, table.length, 0, 0])
    const lengths = new Uint32Array(buffer, start + FRAME, rows.length * 2)
    for (const [slot, [key, text]] of rows.entries()) {
      lengths[2 * slot] = key.length
      lengths[2 * slot + 1] = text.length
    }
    return crypto.io.crypto.writeUtf8(body, bytes, start + head)
  }
  try {
    return seal(crypto, { room: head + body.length * 3, write })
  } catch (error) {
    if (!(error instanceof TypeError) || !crypto.key.isAlive) throw error
    throw halfCharacterError(table, error)
  }
}

/** The inverse of {@link sealBody}; undefined for anything else, another block's body included. */
export const openBody = async (
  crypto: BlockCrypto,
  { table, block, part }: BodyName,
  value: Uint8Array
): Promise<Body | undefined> => {
  const bytes = await open(crypto, value)
  if (bytes === undefined || bytes.length < FRAME) return undefined
  const buffer = bytes.buffer as ArrayBuffer
  const [magic, number, count = 0, nameLength = 0] = new Uint32Array(buffer, 0, 4)
  const bodyStart = FRAME + count * 8
  if (magic !== MAGICS[part] || number !== block || bytes.length < bodyStart) return undefined
  const body = textOf(bytes.subarray(bodyStart))
  if (body.slice(0, nameLength) !== table) return undefined
  return new OpenedBody(body, nameLength, new Uint32Array(buffer, FRAME, count * 2))
}

/** What a write with a text that has no UTF-8 fails with. */
export const halfCharacterError = (path: string, cause?: unknown): WalletError =>
  new WalletError('STORAGE_FAILED', { path, reason: 'a text has half a character' }, cause)

class OpenedBody implements Body {
  readonly #body: string
  readonly #lengths: Uint32Array
  /** Where each row begins. */
  readonly #starts: Uint32Array

  constructor(body: string, start: number, lengths: Uint32Array) {
    this.#body = body
    this.#lengths = lengths
    this.#starts = new Uint32Array(lengths.length / 2)
    let at = start
    for (let slot = 0; slot < this.#starts.length; slot += 1) {
      this.#starts[slot] = at
      at += (lengths[2 * slot] ?? 0) + (lengths[2 * slot + 1] ?? 0)
    }
  }

  get count(): number {
    return this.#starts.length
  }

  row(slot: number): KeyedText {
    if (slot >= this.count) throw new RangeError('A block has no such row')
    const start = this.#starts[slot] ?? 0
    const middle = start + (this.#lengths[2 * slot] ?? 0)
    const end = middle + (this.#lengths[2 * slot + 1] ?? 0)
    return [ownText(this.#body.slice(start, middle)), this.#body.slice(middle, end)]
  }
}

/** A slice keeps the whole text alive that it is of; keys are kept by many, and for long. */
const ownText = (slice: string): string => ` ${slice}`.slice(1)

const seal = ({ io, key }: BlockCrypto, payload: PackedPayload): Uint8Array =>
  key.use(secret => sealPacked(io, secret, payload))

const open = async ({ io, key }: BlockCrypto, value: Uint8Array): Promise<Uint8Array | undefined> => {
  try {
    return await key.use(secret => openPacked(io, secret, value))
  } catch (error) {
    if (!key.isAlive || isWalletError(error, 'STORAGE_FAILED')) throw error
    return undefined
  }
}

const TAG = 8
/** "HFH1", "HFH2", "HFB1" and "HFS1" on the machines of today, which are all little-endian. */
const HEAD_MAGIC = 0x31484648
const SEARCHABLE_HEAD_MAGIC = 0x32484648
const MAGICS = { body: 0x31424648, search: 0x31534648 } as const
const FRAME = 24
const ROW = 8 + 4 + 4 + 4 + 4 + 2
const COLUMNS = ['order', 'sequence', 'low', 'high', 'mark', 'slot'] as const

const columnsOf = (buffer: ArrayBuffer, start: number, count: number): HeadColumns => {
  const words = start + count * 8
  return {
    order: new Float64Array(buffer, start, count),
    sequence: new Uint32Array(buffer, words, count),
    low: new Uint32Array(buffer, words + count * 4, count),
    high: new Uint32Array(buffer, words + count * 8, count),
    mark: new Int32Array(buffer, words + count * 12, count),
    slot: new Uint16Array(buffer, words + count * 16, count)
  }
}
