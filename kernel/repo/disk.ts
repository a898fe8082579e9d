import { WalletError } from '../errors/wallet-error.ts'

/**
 * Durable text by path, the one thing a storage plugin provides.
 *
 * Paths are relative, `/`-separated and checked by {@link checkPath}. A promise that resolves means durable:
 * the text survives a crash of the process and of the machine. A write replaces the whole text or nothing.
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
  /** Lets go of locks and handles, after the writes that were begun. A closed disk refuses everything. */
  close?(): Promise<void>
}

/** What all but the rarest paths are seen to be at once. */
const PLAIN =
  /^(?:[A-Za-z0-9_+=,@-][A-Za-z0-9._+=,@-]{0,199}\/){0,15}[A-Za-z0-9_+=,@-][A-Za-z0-9._+=,@-]{0,199}$/
const SEGMENT = /^[A-Za-z0-9._+=,@-]{1,200}$/

/**
 * Checks a path against the grammar that keeps every path inside its root.
 *
 * Up to 16 segments of letters, digits and `._+=,@-`; no empty segment, `.` or `..`; 1024 characters.
 *
 * @throws PATH_REFUSED
 */
export const checkPath = (path: string): string => {
  if (path.length <= 1024 && PLAIN.test(path)) return path
  if (path.length > 1024) throw new WalletError('PATH_REFUSED', { rule: 'is longer than 1024 characters' })
  const segments = path.split('/')
  if (segments.length > 16) throw new WalletError('PATH_REFUSED', { rule: 'is deeper than 16 folders' })
  for (const segment of segments) {
    if (segment === '.' || segment === '..' || !SEGMENT.test(segment)) {
      throw new WalletError('PATH_REFUSED', { rule: 'has a segment that is not allowed' })
    }
  }
  return path
}

/** The part of a disk below one folder; nothing outside it can be reached. */
export const subDisk = (disk: Disk, folder: string): Disk => {
  const root = `${checkPath(folder)}/`
  const { getSlice } = disk
  return {
    getText: path => disk.getText(root + checkPath(path)),
    ...(getSlice && { getSlice: (path, start, end) => getSlice(root + checkPath(path), start, end) }),
    setText: (path, text) => disk.setText(root + checkPath(path), text),
    delete: path => disk.delete(root + checkPath(path)),
    async list(inner) {
      const paths = await disk.list(inner === '' ? folder : root + checkPath(inner))
      return paths.map(path => path.slice(root.length))
    }
  }
}
