/**
 * Durable text by path, the one thing that a storage plugin provides.
 *
 * Paths are relative, `/`-separated and checked by {@link checkPath}. A promise that resolves means durable:
 * the text survives a crash of the process and of the machine. A write replaces the whole text or nothing. The kernel waits
 * for a call for a minute, or five while others of its kind are answered; after an unanswered write it writes no more.
 *
 * @example
 * ```ts
 * import { checkPath, type Disk } from 'holdfast/plugin'
 *
 * const files = new Map<string, string>()
 * const disk: Disk = {
 *   getText: async path => files.get(checkPath(path)),
 *   setText: async (path, text) => void files.set(checkPath(path), text),
 *   delete: async path => void files.delete(checkPath(path)),
 *   list: async folder => [...files.keys()].filter(path => path.startsWith(folder === '' ? '' : `${folder}/`)).sort()
 * }
 * ```
 */
export interface Disk {
  /** The text, or undefined if there is none. @throws CORRUPT_FILE, STORAGE_FAILED */
  getText(path: string): Promise<string | undefined>
  /**
   * Reads the characters from `start` up to `end` of a text that is ASCII, without reading the rest; undefined if there is none.
   *
   * Absent on disks that can only read whole texts.
   */
  readonly getSlice?: (path: string, start: number, end: number) => Promise<string | undefined>
  /**
   * Replaces or makes one text.
   *
   * @throws STORAGE_FULL, STORAGE_FAILED; the old text is then unharmed. Where the new text may be there after all, since the disk
   *   did not confirm it, STORAGE_FAILED says `mayBeSaved`
   */
  setText(path: string, text: string): Promise<void>
  /** Deletes one path; no error if there is none. */
  delete(path: string): Promise<void>
  /** All paths below a folder, at any depth, in ascending order; '' lists everything. */
  list(folder: string): Promise<string[]>
  /**
   * Releases locks and handles after the writes that have begun, however late they end: one that landed while another process
   * writes would undo newer data. A closed disk refuses everything.
   */
  close?(): Promise<void>
}
