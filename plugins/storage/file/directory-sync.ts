import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileCalls, withFile } from './file-calls.ts'

/**
 * Makes names durable: one fsync of a directory serves every rename that was done before it began.
 *
 * Callers that arrive while an fsync runs share the next one (group commit).
 */
export class DirectorySync {
  readonly #root: string
  readonly #running = new Map<string, Promise<void>>()
  readonly #next = new Map<string, Promise<void>>()
  readonly #made = new Map<string, Promise<void>>()

  constructor(root: string) {
    this.#root = root
  }

  /** Resolves when every name in the directory, as of now, is durable. */
  sync(directory: string): Promise<void> {
    const running = this.#running.get(directory)
    if (running === undefined) return this.#start(directory)
    const queued = this.#next.get(directory)
    if (queued !== undefined) return queued
    const next = running
      .catch(() => {})
      .then(() => {
        this.#next.delete(directory)
        return this.#start(directory)
      })
    this.#next.set(directory, next)
    return next
  }

  /** Creates a directory and its parents up to the root, private and durable. */
  make(directory: string): Promise<void> {
    const made = this.#made.get(directory)
    if (made !== undefined) return made
    const making = this.#make(directory)
    this.#made.set(directory, making)
    making.catch(() => this.#made.delete(directory))
    return making
  }

  /** Forgets which directories exist, after one was found missing. */
  forget(): void {
    this.#made.clear()
  }

  async #make(directory: string): Promise<void> {
    if (directory === this.#root) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      return
    }
    const parent = dirname(directory)
    await this.make(parent)
    try {
      await mkdir(directory, { mode: 0o700 })
    } catch (error) {
      // Whoever made it may have ended before its name was durable.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    await this.sync(parent)
  }

  #start(directory: string): Promise<void> {
    const running = syncDirectory(directory).finally(() => {
      if (this.#running.get(directory) === running) this.#running.delete(directory)
    })
    this.#running.set(directory, running)
    return running
  }
}

const syncDirectory = async (directory: string): Promise<void> => {
  // Windows has no handle of a directory; a rename there is journaled by the file system.
  if (process.platform === 'win32') return
  await withFile(directory, { flags: 'r' }, file => fileCalls.fsync(file))
}
