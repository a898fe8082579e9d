import type { Disk } from '../io/disk.ts'
import type { Clock } from '../io/io.ts'
import { isWalletError, WalletError } from './errors.ts'

/** A damaged text to put aside. `rule` says what is wrong with it, without quoting it. */
export interface DamagedFile {
  readonly path: string
  readonly text: string
  readonly rule: string
}

/**
 * Keeps a copy of a damaged text under `quarantine/` and describes it; the original stays where it is.
 *
 * A text that is kept already is not kept again, so that starting with a damaged file does not fill the disk.
 *
 * @throws STORAGE_FULL, STORAGE_FAILED if the copy cannot be made; then the original must not be replaced
 */
export const quarantine = async (
  disk: Disk,
  clock: Pick<Clock, 'now'>,
  { path, text, rule }: DamagedFile
): Promise<WalletError<'CORRUPT_FILE'>> => {
  const prefix = `quarantine/${path.replaceAll('/', '+').slice(-160)}.`
  const known = await findKept(disk, prefix, text)
  if (known !== undefined) return new WalletError('CORRUPT_FILE', { path, keptAs: known, rule })
  const name = `${prefix}${Math.floor(clock.now())}`
  let keptAs = name
  for (let count = 2; !(await isFree(disk, keptAs)); count += 1) {
    // A storage that has a text at every path would keep us here for ever.
    if (count > MAX_NAMES)
      throw new WalletError('STORAGE_FAILED', { path: name, reason: 'every name is taken' })
    keptAs = `${name}.${count}`
  }
  await disk.setText(keptAs, text)
  return new WalletError('CORRUPT_FILE', { path, keptAs, rule })
}

const MAX_NAMES = 1000

const findKept = async (disk: Disk, prefix: string, text: string): Promise<string | undefined> => {
  for (const path of await disk.list('quarantine')) {
    if (!path.startsWith(prefix)) continue
    const kept = await disk.getText(path).catch(() => undefined)
    if (kept === text) return path
  }
  return undefined
}

// What is in quarantine already is never overwritten.
const isFree = async (disk: Disk, path: string): Promise<boolean> => {
  try {
    return (await disk.getText(path)) === undefined
  } catch (error) {
    if (isWalletError(error, 'CORRUPT_FILE')) return false
    throw error
  }
}
