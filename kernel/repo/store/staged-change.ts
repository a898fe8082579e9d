import type { IndexColumns } from './index-part.ts'
import type { FileNumbers, TableManifest } from './table-manifest.ts'

/** A change of what a table has on the disk, written but not yet committed by its manifest. */
export interface StagedChange {
  readonly prefix: string
  /** Undefined if the table is empty then. */
  readonly manifest: TableManifest | undefined
  readonly part: IndexColumns
  /** Whether the part is the whole index, or newer than the others. */
  readonly isWhole: boolean
  /** What the change wrote, to be removed if it is not committed. */
  readonly written: FileNumbers
  /** What no manifest names once it is. */
  readonly spare: FileNumbers
}
