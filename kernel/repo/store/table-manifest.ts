import { tryJsonText } from '../../base/json.ts'

/** Which files hold one table: the files that no manifest names are left over from a crash. */
export interface TableManifest {
  /** The parts of its index, oldest first, and how many rows each has. */
  readonly parts: readonly NumberedFile[]
  /** Its segments, oldest first, and how many rows were written into each. */
  readonly segments: readonly NumberedFile[]
}

/** The number of a file, and of its rows. */
export type NumberedFile = readonly [id: number, rows: number]

/** Numbers of files of both kinds. */
export interface FileNumbers {
  readonly segments: readonly number[]
  readonly parts: readonly number[]
}

/** The key of a table's manifest among the entries in memory. */
export const manifestKey = (prefix: string): string => MANIFEST + prefix

/** What the keys of all manifests begin with. */
export const MANIFEST = 'm/'

/** Whether a key is that of a manifest, or of a mark beside them. */
export const isManifestKey = (key: string): boolean => key.startsWith(MANIFEST)

/**
 * What the keys of marks begin with that are there from a loss of entries until all tables are in order again: so long no manifest can be trusted.
 *
 * Each loss has a key of its own, as what is lost next may be older than the end of the last one.
 */
export const LOSS_MARK = 'm/ '

/** A manifest of files that no sound one names: their rows are to be counted. */
export const suspectManifest = (files: FileNumbers | undefined): TableManifest | undefined => {
  if (files === undefined || files.segments.length === 0) return undefined
  const { segments, parts } = files
  return { parts: parts.map(id => [id, 0]), segments: segments.map(id => [id, 0]) }
}

/** Reads what {@link JSON.stringify} made of a manifest; undefined for anything else. */
export const parseManifest = (text: string | undefined): TableManifest | undefined => {
  if (text === undefined) return undefined
  const { parts, segments } = (tryJsonText(text) ?? {}) as Partial<TableManifest>
  return isPairs(parts) && isPairs(segments) ? { parts, segments } : undefined
}

const isPairs = (value: unknown): value is NumberedFile[] => Array.isArray(value) && value.every(isPair)

const isPair = (value: unknown): value is [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger)
