/**
 * Durable text by path, the one thing a storage plugin provides.
 *
 * Paths are relative, `/`-separated and checked by {@link checkPath}. A promise that resolves means durable:
 * the text survives a crash of the process and of the machine. A write replaces the whole text or nothing. The kernel waits
 * for a call for a minute, or five where others of its kind are answered meanwhile; after a write that was not answered it
 * writes no more.
 */
export interface Disk {
  /** The text, or undefined if there is none. @throws CORRUPT_FILE, STORAGE_FAILED */
  getText(path: string): Promise<string | undefined>
  /**
   * The characters from `start` up to `end` of a text that is ASCII, without reading the rest; undefined if there is none.
   *
   * Left out by disks that can only read all of a text.
   */
  readonly getSlice?: (path: string, start: number, end: number) => Promise<string | undefined>
  /** @throws STORAGE_FULL, STORAGE_FAILED; the old text is then unharmed */
  setText(path: string, text: string): Promise<void>
  /** Deletes one path; no error if there is none. */
  delete(path: string): Promise<void>
  /** All paths below a folder, at any depth, in ascending order; '' lists everything. */
  list(folder: string): Promise<string[]>
  /**
   * Lets go of locks and handles, after the writes that were begun, however late they are: one that lands when others write
   * already would undo what is newer. A closed disk refuses everything.
   */
  close?(): Promise<void>
}
