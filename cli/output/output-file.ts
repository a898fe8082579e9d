import { randomBytes } from 'node:crypto'
import { type FileHandle, link, open, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { WalletError } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'

/** A file that is there whole, or not at all. Only its owner can read it. */
export interface OutputFile {
  write(text: string): Promise<void>
  /** Puts it in its place, durably. */
  commit(): Promise<void>
  /** Leaves nothing behind. After a commit it does nothing. */
  discard(): Promise<void>
}

/**
 * Begins a file beside its place.
 *
 * @param mayReplace - takes the place of a file that is there already, with its readers; else that is refused
 * @throws CliError USAGE if it cannot be made or is there already; STORAGE_FAILED when it is written
 */
export const openOutputFile = async (path: string, mayReplace: boolean): Promise<OutputFile> => {
  if (!mayReplace && (await isThere(path))) throw refused(path)
  const part = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`)
  const file = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw new CliError('USAGE', `The file ${path} cannot be made`, { cause: error })
  })
  return new PartFile(file, part, { path, mayReplace })
}

/** Writes a whole file. @throws as {@link openOutputFile} */
export const writeOutputFile = async (path: string, text: string, mayReplace = false): Promise<void> => {
  const file = await openOutputFile(path, mayReplace)
  try {
    await file.write(text)
    await file.commit()
  } finally {
    await file.discard()
  }
}

class PartFile implements OutputFile {
  readonly #file: FileHandle
  readonly #part: string
  readonly #target: { readonly path: string; readonly mayReplace: boolean }
  #isDone = false

  constructor(
    file: FileHandle,
    part: string,
    target: { readonly path: string; readonly mayReplace: boolean }
  ) {
    this.#file = file
    this.#part = part
    this.#target = target
  }

  write(text: string): Promise<void> {
    return this.#orFailed(this.#file.appendFile(text))
  }

  async commit(): Promise<void> {
    const { path, mayReplace } = this.#target
    await this.#orFailed(this.#file.sync())
    // A link fails where a file has come meanwhile; a rename would replace it.
    if (mayReplace || !(await this.#linked())) await this.#orFailed(rename(this.#part, path))
    else await unlink(this.#part)
    this.#isDone = true
    await this.#file.close()
  }

  async discard(): Promise<void> {
    if (this.#isDone) return
    this.#isDone = true
    await this.#file.close()
    await unlink(this.#part).catch(() => {})
  }

  #orFailed(work: Promise<void>): Promise<void> {
    return work.catch((error: unknown) => {
      const { path } = this.#target
      throw new WalletError('STORAGE_FAILED', { path, reason: 'it cannot be written' }, error)
    })
  }

  /** False on a disk that knows no links. */
  async #linked(): Promise<boolean> {
    const { path } = this.#target
    try {
      await link(this.#part, path)
      return true
    } catch (error) {
      if (await isThere(path)) throw refused(path, error)
      return false
    }
  }
}

const isThere = async (path: string): Promise<boolean> => {
  try {
    await stat(path)
    return true
  } catch {
    return false
  }
}

const refused = (path: string, cause?: unknown): CliError =>
  new CliError('USAGE', `The file ${path} is there already, and is not overwritten unasked`, {
    hint: 'Choose another name, or add --force where the command takes it.',
    ...(cause === undefined ? {} : { cause })
  })
