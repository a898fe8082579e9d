import { isWalletError, type ReportError, WalletError } from '../../base/errors.ts'
import { quarantine } from '../../base/quarantine.ts'
import type { Disk } from '../../io/disk.ts'
import {
  type Change,
  type ChunkCrypto,
  type ChunkRange,
  chunkName,
  type DecodedChunk,
  decodeChunk,
  encodeChunk,
  parseChunkName
} from './chunk.ts'

/** A chunk as read from the disk, in the order of its writes. */
export interface LoadedChunk extends ChunkRange {
  readonly changes: readonly Change[]
  /** Its size on the disk, about. */
  readonly bytes: number
}

/** Where chunks are, and who hears of damage. */
export interface ChunkPlace extends ChunkCrypto {
  readonly disk: Disk
  readonly folder: string
  readonly report: ReportError
}

/** What loading is told besides: a change that goes into whatever replaces a damaged or missing chunk. */
interface LoadPlace extends ChunkPlace {
  readonly lossMark?: Change
}

/**
 * Reads all chunks of a folder, oldest first, and puts right what a crash or damage left behind.
 *
 * The widest chunk of a range wins, and those that it contains are leftovers of a merge and are deleted. A
 * damaged chunk is kept in quarantine and replaced by what could be saved of it and of the sound ones that it
 * contains, a missing one by an empty one; each is reported once, and the next opening is clean.
 *
 * @param paths - all paths of the folder
 * @throws STORAGE_FAILED if a chunk cannot be read at all; an unreadable disk is never taken for an empty one
 */
export const loadChunks = async (place: LoadPlace, paths: readonly string[]): Promise<LoadedChunk[]> => {
  const ranges = rangesOf(place, paths)
  const loaded: LoadedChunk[] = []
  const leftovers: ChunkRange[] = []
  let next = 1
  for (const range of ranges) {
    if (range.to < next) {
      leftovers.push(range)
      continue
    }
    const { chunk, isWhole } = await readChunk(place, range)
    if (!isWhole && isCovered(range, ranges)) {
      leftovers.push(range)
      continue
    }
    if (range.from > next) loaded.push(await fillGap(place, { from: next, to: range.from - 1 }))
    if (isWhole) loaded.push({ ...range, ...chunk })
    else {
      // A merged chunk is as new as its newest part, so what was saved of it goes over what its parts say.
      const inside = await readInside(place, range, ranges)
      const changes = [...inside, ...chunk.changes]
      loaded.push(await replace(place, { ...range, changes, bytes: chunk.bytes }))
    }
    next = range.to + 1
  }
  for (const range of leftovers) await place.disk.delete(pathOf(place, range)).catch(place.report)
  return loaded
}

const rangesOf = ({ folder }: ChunkPlace, paths: readonly string[]): ChunkRange[] => {
  const ranges: ChunkRange[] = []
  for (const path of paths) {
    const range = parseChunkName(path.slice(folder.length + 1))
    if (range !== undefined) ranges.push(range)
  }
  return ranges.sort((left, right) => left.from - right.from || right.to - left.to)
}

/** Whether narrower chunks hold everything that this one holds: then a merge had just been written. */
const isCovered = (range: ChunkRange, ranges: readonly ChunkRange[]): boolean => {
  let next = range.from
  for (const part of ranges) {
    const isInside = part.from >= range.from && part.to <= range.to && part !== range
    if (isInside && part.from <= next && part.to >= next) next = part.to + 1
  }
  return next > range.to
}

/** The changes of the narrower chunks within a damaged one, oldest first, a merged one after its own parts. */
const readInside = async (
  place: ChunkPlace,
  range: ChunkRange,
  ranges: readonly ChunkRange[]
): Promise<readonly Change[]> => {
  const parts = ranges
    .filter(part => part !== range && part.from >= range.from && part.to <= range.to)
    .sort((left, right) => left.to - right.to || right.from - left.from)
  const found: Change[] = []
  for (const part of parts) {
    const { chunk } = await readChunk(place, part)
    for (const change of chunk.changes) found.push(change)
  }
  return found
}

interface ReadChunk {
  readonly chunk: { readonly changes: readonly Change[]; readonly bytes: number }
  readonly isWhole: boolean
}

const readChunk = async (place: ChunkPlace, range: ChunkRange): Promise<ReadChunk> => {
  const path = pathOf(place, range)
  const nothing = { chunk: { changes: [], bytes: 0 }, isWhole: false }
  let text: string | undefined
  try {
    text = await place.disk.getText(path)
  } catch (error) {
    if (!isWalletError(error, 'CORRUPT_FILE')) throw error
    place.report(error)
    return nothing
  }
  if (text === undefined) {
    place.report(new WalletError('CORRUPT_FILE', { path, rule: 'it is missing' }))
    return nothing
  }
  const decoded: DecodedChunk = await decodeChunk(place, range, text)
  if (!decoded.isWhole) {
    const rule = 'it does not decrypt as a whole'
    place.report(await quarantine(place.disk, place.io.clock, { path, text, rule }))
  }
  return { chunk: { changes: decoded.changes, bytes: text.length }, isWhole: decoded.isWhole }
}

const fillGap = async (place: LoadPlace, range: ChunkRange): Promise<LoadedChunk> => {
  place.report(new WalletError('CORRUPT_FILE', { path: pathOf(place, range), rule: 'it is missing' }))
  return replace(place, { ...range, changes: [], bytes: 0 })
}

// On a full disk the store still opens; the repair is then made at the next opening.
const replace = async (place: LoadPlace, { changes, ...chunk }: LoadedChunk): Promise<LoadedChunk> => {
  const kept = place.lossMark === undefined ? changes : [...changes, place.lossMark]
  try {
    await place.disk.setText(pathOf(place, chunk), await encodeChunk(place, chunk, kept))
  } catch (error) {
    place.report(error)
  }
  return { ...chunk, changes: kept }
}

const pathOf = ({ folder }: ChunkPlace, range: ChunkRange): string => `${folder}/${chunkName(range)}`
