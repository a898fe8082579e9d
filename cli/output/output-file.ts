import { randomBytes } from 'node:crypto'
import { type FileHandle, link, open, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { compact, WalletError } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'

/** A file that is written completely or not at all. Only its owner can read it. */
export interface OutputFile {
  write(text: string): Promise<void>
  /** Moves it to its path, durably. */
  commit(): Promise<void>
  /** Removes the unfinished file; without effect after a commit. */
  discard(): Promise<void>
}

/**
 * Begins a file beside its path.
 *
 * @param mayReplace - replaces an existing file and its permissions; else that is refused
 * @throws CliError USAGE if it cannot be made or exists already; STORAGE_FAILED when it is written
 */
export const openOutputFile = async (path: string, mayReplace: boolean): Promise<OutputFile> => {
  if (!mayReplace && (await isThere(path))) throw refused(path)
  const part = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`)
  const file = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw new CliError('USAGE', `The file ${path} cannot be created`, { cause: error })
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
    // A link fails if the file has appeared meanwhile; a rename would replace it.
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
      throw new WalletError('STORAGE_FAILED', { path, reason: 'it is not writable' }, error)
    })
  }

  /** Returns false on a disk without hard links. */
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
  new CliError('USAGE', `The file ${path} exists already; it was not overwritten`, {
    hint: 'Choose another name, or add --force if the command has it.',
    ...compact({ cause })
  })
