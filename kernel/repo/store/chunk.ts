import { tryJsonText } from '../../base/json.ts'
import type { Secret } from '../../base/secret.ts'
import { makeYielder } from '../../base/yielder.ts'
import { openText, sealText } from '../../crypto/box.ts'
import type { Io } from '../../io/io.ts'
import { isBox } from '../../types/keys.ts'

/** The writes that a chunk holds, both ends included; writes are numbered from 1. */
export interface ChunkRange {
  readonly from: number
  readonly to: number
}

/** One change of a store: a key and its text, or null for a deletion. */
export type Change = readonly [key: string, text: string | null]

/** What could be read of a chunk. A chunk that is not whole keeps the changes of its sound boxes. */
export interface DecodedChunk {
  readonly changes: readonly Change[]
  readonly isWhole: boolean
}

/** What sealing and opening chunks needs. */
export interface ChunkCrypto {
  readonly io: Pick<Io, 'crypto' | 'clock' | 'random'>
  readonly key: Secret<Uint8Array>
}

/** The file name of a chunk: `000000000001-000000000008`. */
export const chunkName = ({ from, to }: ChunkRange): string => `${padded(from)}-${padded(to)}`

/** The range that a chunk's file name tells, or undefined for any other name. */
export const parseChunkName = (name: string): ChunkRange | undefined => {
  const match = /^(\d{12})-(\d{12})$/.exec(name)
  if (match === null) return undefined
  const from = Number(match[1])
  const to = Number(match[2])
  return from >= 1 && from <= to ? { from, to } : undefined
}

/**
 * Seals changes into the text of a chunk.
 *
 * The text is one box in JSON per line, each with about 128 KB, so that no large chunk stalls the thread. The
 * payload of a box is `[from, to, index, count, [key, text, key, text, …]]`: a box that is lost, doubled or
 * taken from another chunk does not pass.
 */
export const encodeChunk = async (
  { io, key }: ChunkCrypto,
  range: ChunkRange,
  changes: readonly Change[]
): Promise<string> => {
  const slices = slicesOf(changes)
  const breathe = makeYielder(io.clock)
  const lines: string[] = []
  for (const [index, slice] of slices.entries()) {
    const payload = JSON.stringify([range.from, range.to, index, slices.length, slice])
    lines.push(JSON.stringify(key.use(bytes => sealText(io, bytes, payload))))
    await breathe()
  }
  return lines.join('\n')
}

/** Opens the text of a chunk; never throws for damage. */
export const decodeChunk = async (
  crypto: ChunkCrypto,
  range: ChunkRange,
  text: string
): Promise<DecodedChunk> => {
  const breathe = makeYielder(crypto.io.clock)
  const lines = text.split('\n')
  const changes: Change[] = []
  let isWhole = true
  for (const [index, line] of lines.entries()) {
    const slice = openSlice(crypto, line, { ...range, index, count: lines.length })
    if (slice === undefined) isWhole = false
    else for (const change of slice.changes) changes.push(change)
    if (slice?.isWhole === false) isWhole = false
    await breathe()
  }
  return { changes, isWhole }
}

const SLICE_LENGTH = 128 * 1024

interface Place extends ChunkRange {
  readonly index: number
  readonly count: number
}

const padded = (count: number): string => String(count).padStart(12, '0')

const slicesOf = (changes: readonly Change[]): (string | null)[][] => {
  let slice: (string | null)[] = []
  const slices = [slice]
  let length = 0
  for (const [key, text] of changes) {
    const size = key.length + (text?.length ?? 0)
    if (length > 0 && length + size > SLICE_LENGTH) {
      slice = []
      slices.push(slice)
      length = 0
    }
    slice.push(key, text)
    length += size
  }
  return slices
}

const openSlice = (crypto: ChunkCrypto, line: string, place: Place): DecodedChunk | undefined => {
  try {
    const box = tryJsonText(line)
    if (!isBox(box)) return undefined
    return readSlice(tryJsonText(crypto.key.use(bytes => openText(crypto.io, bytes, box))), place)
  } catch (error) {
    if (!crypto.key.isAlive) throw error
    return undefined
  }
}

const readSlice = (payload: unknown, place: Place): DecodedChunk | undefined => {
  if (!Array.isArray(payload)) return undefined
  const [from, to, index, count, flat] = payload as unknown[]
  if (from !== place.from || to !== place.to || !Array.isArray(flat)) return undefined
  const changes: Change[] = []
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const key: unknown = flat[i]
    const text: unknown = flat[i + 1]
    if (typeof key === 'string' && (text === null || typeof text === 'string')) changes.push([key, text])
  }
  return { changes, isWhole: index === place.index && count === place.count }
}
