import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module'
import type { PlaceOf } from '../../cells/protocol.ts'
import { tryJsonText } from '../../kernel/index.ts'
import { isRecord } from '../profile/state-files.ts'

/**
 * Finds the lines of an author's files in the stacks of a bundle.
 *
 * The map is no part of what is pinned: whoever changes it changes what a message says, and nothing that runs. It is read when
 * the first error needs it, and one that is missing, damaged or longer than {@link MAX_MAP} gives no place.
 *
 * @param readMap - reads the source map of the bundle
 */
export const sourcePlaces = (readMap: () => string | undefined): PlaceOf => {
  let map: SourceMap | undefined
  let isRead = false
  return stack => {
    if (!isRead) map = mapIn(readMap())
    isRead = true
    if (map === undefined) return undefined
    for (const [, line, column] of stack.slice(0, MAX_STACK).matchAll(FRAME)) {
      const place = placeAt(map, Number(line), Number(column))
      if (place !== undefined) return place
    }
    return undefined
  }
}

const MAX_STACK = 10_000
const FRAME = /\.js:(\d{1,7}):(\d{1,7})\)?$/gm

/** The longest source map that is read, in bytes; the longest bundle has 3 MB. */
export const MAX_MAP = 16_000_000

const mapIn = (text: string | undefined): SourceMap | undefined => {
  const payload = text === undefined || text.length > MAX_MAP ? undefined : tryJsonText(text)
  if (!isRecord(payload)) return undefined
  try {
    return new SourceMap(payload as unknown as SourceMapPayload)
  } catch {
    return undefined
  }
}

const placeAt = (map: SourceMap, line: number, column: number): string | undefined => {
  const entry: Partial<SourceMapping> = map.findEntry(line - 1, column - 1)
  const { originalSource: source, originalLine, originalColumn } = entry
  if (typeof source !== 'string' || !FILE.test(source) || source.startsWith(OWN_SOURCES)) return undefined
  return `${source}:${Number(originalLine) + 1}:${Number(originalColumn) + 1}`
}

/** Where the map of a bundle names what `holdfast` exports. */
export const OWN_SOURCES = 'holdfast/'

/** A name that prints as it is. */
const FILE = /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u
