import { checkPath } from '../base/disk-path.ts'
import { isWalletError, type ReportError, WalletError } from '../base/errors.ts'
import { tryJsonText } from '../base/json.ts'
import { quarantine } from '../base/quarantine.ts'
import { utf8Of } from '../crypto/encoding.ts'
import type { Disk } from '../io/disk.ts'
import type { Io } from '../io/io.ts'

export interface CredentialFilesOptions {
  readonly io: Pick<Io, 'crypto' | 'clock'>
  readonly disk: Disk
  /** Called for every damage, repaired or not. */
  readonly report: ReportError
  /**
   * Checks if a text that carries no checksum of ours, because a deployed client wrote it, is sound.
   * By default it must be a JSON object.
   */
  readonly isValid?: (path: string, text: string) => boolean
}

/** Files that must never be lost: each is kept twice, with its previous generation. */
export interface CredentialFiles {
  /**
   * The newest sound text, or undefined if the file never was. Damage is repaired, kept and reported.
   *
   * @throws CORRUPT_FILE if there is a file but no sound generation of it; it is kept in quarantine
   */
  getText(path: string): Promise<string | undefined>
  /** Resolves when both copies are durable. Writing the present text again writes nothing. */
  setText(path: string, text: string): Promise<void>
  /** Deletes the file with all its generations. */
  delete(path: string): Promise<void>
  /** All files below a folder, including those whose first copy is lost. */
  list(folder: string): Promise<string[]>
}

/**
 * Makes the keeper of credential files (decision 20).
 *
 * The text itself stands at its own path, as deployed clients read and write it. `backup/<path>` holds a second
 * copy and the previous generation, each with its length and SHA-256. The backup is written first: a crash
 * between the two leaves the old text or the new one, never neither. Which copy is right:
 * the file, if it is the newest generation of the backup or was written by a deployed client since; else the
 * backup's newest sound generation.
 */
export const openCredentialFiles = (options: CredentialFilesOptions): CredentialFiles => {
  const { disk } = options
  const queues = new Map<string, Promise<unknown>>()
  // Operations on one path never overlap: each reads what the one before it wrote.
  const inOrder = <T>(path: string, task: () => Promise<T>): Promise<T> => {
    const done = (queues.get(checkPath(path)) ?? Promise.resolve()).then(task, task)
    const settled = done.then(
      () => {},
      () => {}
    )
    queues.set(path, settled)
    settled.then(() => {
      if (queues.get(path) === settled) queues.delete(path)
    })
    return done
  }
  return {
    getText: path => inOrder(path, () => load(options, path)),
    setText: (path, text) => inOrder(path, () => save(options, path, text)),
    delete: path =>
      inOrder(path, async () => {
        await disk.delete(backupPath(path))
        await disk.delete(path)
      }),
    async list(folder) {
      const kept = await disk.list(folder)
      const backups = await disk.list(folder === '' ? BACKUP : backupPath(folder))
      const names = backups.map(path => path.slice(BACKUP.length + 1))
      return [...new Set([...kept.filter(path => !path.startsWith(`${BACKUP}/`)), ...names])].sort()
    }
  }
}

const BACKUP = 'backup'

/** One kept text with its length in UTF-8 bytes and its SHA-256 in hex. */
interface Generation {
  readonly text: string
  readonly length: number
  readonly sha256: string
}

interface Backup {
  readonly newest: Generation
  readonly previous?: Generation
}

const backupPath = (path: string): string => `${BACKUP}/${path}`

const load = async (options: CredentialFilesOptions, path: string): Promise<string | undefined> => {
  const file = await readFile(options, path)
  const backup = await readBackup(options, path)
  if (file.text !== undefined && isRight(options, { path, text: file.text, backup })) return file.text
  const kept = backup?.newest ?? backup?.previous
  if (file.text === undefined && kept === undefined) {
    if (file.damage !== undefined) throw file.damage
    return undefined
  }
  const damage = file.damage ?? (await describe(options, { path, text: file.text, backup }))
  if (kept === undefined) throw damage
  if (damage !== undefined) options.report(damage)
  // On a full disk the repair must wait; what is kept is right all the same.
  await options.disk.setText(path, kept.text).catch(options.report)
  return kept.text
}

const save = async (options: CredentialFilesOptions, path: string, text: string): Promise<void> => {
  const { disk } = options
  const present = await load(options, path).catch((error: unknown) => {
    if (!isWalletError(error, 'CORRUPT_FILE')) throw error
    options.report(error)
    return undefined
  })
  const newest = generationOf(options, text)
  if (present === text) {
    const backup = await readBackup(options, path)
    if (backup?.newest.sha256 === newest.sha256) return
  }
  const backup: Backup =
    present === undefined ? { newest } : { newest, previous: generationOf(options, present) }
  await disk.setText(backupPath(path), JSON.stringify(backup))
  await disk.setText(path, text)
}

interface Candidate {
  readonly path: string
  readonly text: string | undefined
  readonly backup: Backup | undefined
}

const isRight = (options: CredentialFilesOptions, { path, text = '', backup }: Candidate): boolean => {
  const sum = sumOf(options, text).sha256
  if (backup?.newest.sha256 === sum) return true
  // The second write of a save did not arrive: the backup is newer.
  if (backup?.previous?.sha256 === sum) return false
  return isValid(options, path, text)
}

// A file that is merely older than its backup is no damage, and a lost one cannot be kept.
const describe = async (
  options: CredentialFilesOptions,
  { path, text, backup }: Candidate
): Promise<WalletError | undefined> => {
  if (text === undefined) return new WalletError('CORRUPT_FILE', { path, rule: 'it is missing' })
  if (backup?.previous?.sha256 === sumOf(options, text).sha256) return undefined
  return quarantine(options.disk, options.io.clock, { path, text, rule: 'its content is damaged' })
}

const readFile = async (
  { disk }: CredentialFilesOptions,
  path: string
): Promise<{ text?: string | undefined; damage?: WalletError }> => {
  try {
    return { text: await disk.getText(path) }
  } catch (error) {
    if (!isWalletError(error, 'CORRUPT_FILE')) throw error
    return { damage: error }
  }
}

const readBackup = async (options: CredentialFilesOptions, path: string): Promise<Backup | undefined> => {
  const { text, damage } = await readFile(options, backupPath(path))
  if (damage !== undefined) options.report(damage)
  if (text === undefined) return undefined
  const { newest, previous } = parseBackup(text)
  const sound = [newest, previous].filter(generation => isIntact(options, generation))
  const [first, second] = sound
  if (first === undefined) return undefined
  return second === undefined ? { newest: first } : { newest: first, previous: second }
}

const parseBackup = (text: string): { newest?: unknown; previous?: unknown } => {
  const value = tryJsonText(text)
  return typeof value === 'object' && value !== null ? value : {}
}

const isIntact = (options: CredentialFilesOptions, value: unknown): value is Generation => {
  if (typeof value !== 'object' || value === null) return false
  const { text, length, sha256 } = value as Partial<Generation>
  if (typeof text !== 'string') return false
  const sum = sumOf(options, text)
  return sum.length === length && sum.sha256 === sha256
}

const isValid = ({ isValid: isSound }: CredentialFilesOptions, path: string, text: string): boolean => {
  if (isSound !== undefined) return isSound(path, text)
  const value = tryJsonText(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const generationOf = (options: CredentialFilesOptions, text: string): Generation => ({
  text,
  ...sumOf(options, text)
})

const sumOf = (
  { io }: Pick<CredentialFilesOptions, 'io'>,
  text: string
): { length: number; sha256: string } => {
  const bytes = bytesOf(text)
  return { length: bytes.length, sha256: io.crypto.toHex(io.crypto.sha256(bytes)) }
}

// A damaged text may hold what UTF-8 has no bytes for; the sum of its JSON form is that of no sound text.
const bytesOf = (text: string): Uint8Array => {
  try {
    return utf8Of(text)
  } catch {
    return utf8Of(JSON.stringify(text))
  }
}
