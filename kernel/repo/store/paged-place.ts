import type { BulkPrefixes } from './bulk-prefixes.ts'
import type { ChunkPlace } from './load-chunks.ts'

/** Where a paged store is, and which of its keys are rows of tables. */
export interface PagedPlace extends ChunkPlace {
  readonly bulk: BulkPrefixes
  /** Hears that something is lost on this device: whoever can fetch it anew should, and makes durable that it will. */
  readonly damaged?: () => void | Promise<void>
  /** {@link LIMITS} by default. */
  readonly limits?: StoreLimits
}

/** When rows go to segments, in characters of their keys and texts. */
export interface StoreLimits {
  /** A write of so many goes there at once. */
  readonly large: number
  /** So many may gather among the entries. */
  readonly gathered: number
}

/** The limits of a store that is told no others. */
export const LIMITS: StoreLimits = { large: 256 * 1024, gathered: 1024 * 1024 }
