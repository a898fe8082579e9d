import * as fs from 'node:fs'
import { chmod, mkdir, rename, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { KeyvStoreAdapter } from 'keyv'
import { WalletError } from '../../../kernel/plugin-api.ts'
import type { ListingStore } from '../keyv-disk.ts'
import { LOCK_NAME } from './file-lock.ts'

/** The number of files that are open at one time; the others wait in order. */
const MAX_OPEN = 64
/** No key can end in this: `~` is outside the path grammar. */
const DRAFT = '.~tmp'
const QUARANTINE = 'quarantine'

/**
 * A Keyv store with one plain file per key below a root folder.
 *
 * A write goes to a draft beside the file, is fsynced, renamed over it and made durable by an fsync of the
 * folder, which concurrent writes share. Writes to one key happen in order; writes to many overlap. Folders
 * are 0700, files 0600. The caller holds the lock of the root.
 */
export class FileStore implements ListingStore {
  // Keyv looks for the kind of an iterable store in both.
  readonly opts = { dialect: 'file', url: '' }
  namespace?: string | undefined
  readonly #root: string
  readonly #directories: DirectorySync
  readonly #writing = new Map<string, Promise<unknown>>()
  readonly #waiting: (() => void)[] = []
  #openCount = 0
  #draftCount = 0
  #isClosed = false

  constructor(root: string) {
    this.#root = root
    this.#directories = new DirectorySync(root)
  }

  on(): this {
    return this
  }

  /** Removes the drafts that a crash left behind and makes the root private. */
  async open(): Promise<void> {
    await this.#directories.make(this.#root)
    await chmod(this.#root, 0o700)
    for (const name of await walk(this.#root, '', name => name.endsWith(DRAFT))) {
      await rm(join(this.#root, name), { force: true })
    }
  }

  async get<Value>(key: string): Promise<Value | undefined> {
    this.#checkOpen(key)
    const bytes = await this.#limited(() => this.#readBytes(key))
    const text = bytes === undefined ? undefined : textIn(bytes)
    const isSound = bytes === undefined || text !== undefined
    // What is damaged is looked at again in its turn: a write may be replacing it just now.
    return (isSound ? text : await this.#inOrder(key, () => this.#readOrQuarantine(key))) as Value | undefined
  }

  async set(key: string, value: string): Promise<boolean> {
    this.#checkOpen(key)
    return this.#inOrder(key, () => this.#write(key, value))
  }

  async delete(key: string): Promise<boolean> {
    this.#checkOpen(key)
    return this.#inOrder(key, () => this.#remove(key))
  }

  async clear(): Promise<void> {
    for (const key of await this.list('')) await this.delete(key)
  }

  async list(prefix: string): Promise<string[]> {
    this.#checkOpen(prefix)
    const names = await walk(this.#root, prefix.slice(0, -1), name => !name.endsWith(DRAFT))
    return names.filter(name => name !== LOCK_NAME && name.startsWith(prefix))
  }

  async slice(key: string, start: number, end: number): Promise<string | undefined> {
    this.#checkOpen(key)
    return this.#limited(() => readSlice(this.#pathOf(key), start, end))
  }

  async *iterator(): AsyncGenerator<[string, undefined], void> {
    for (const key of await this.list('')) yield [key, undefined]
  }

  /** True while a write or a deletion has not ended. */
  get isWriting(): boolean {
    return this.#writing.size > 0
  }

  /** Waits for the writes that were begun, then refuses everything. */
  async disconnect(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#writing.values())
  }

  #checkOpen(key: string): void {
    if (this.#isClosed) throw new WalletError('STORAGE_FAILED', { path: key, reason: 'the disk is closed' })
  }

  #inOrder<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#writing.get(key)
    const run = (): Promise<T> => this.#limited(task)
    const done = before === undefined ? run() : before.then(run, run)
    this.#writing.set(key, done)
    const forget = (): void => {
      if (this.#writing.get(key) === done) this.#writing.delete(key)
    }
    done.then(forget, forget)
    return done
  }

  async #limited<T>(task: () => Promise<T>): Promise<T> {
    if (this.#openCount >= MAX_OPEN) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else this.#openCount += 1
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#openCount -= 1
      else next()
    }
  }

  async #readBytes(key: string): Promise<Uint8Array | undefined> {
    try {
      return await fileCalls.readAll(this.#pathOf(key))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async #readOrQuarantine(key: string): Promise<string> {
    const bytes = await this.#readBytes(key)
    const text = bytes === undefined ? undefined : textIn(bytes)
    if (text !== undefined) return text
    const rule = 'it is no UTF-8 text'
    // Another reader has put it aside meanwhile.
    if (bytes === undefined) throw new WalletError('CORRUPT_FILE', { path: key, rule })
    throw await this.#quarantine(key, rule)
  }

  async #write(key: string, text: string): Promise<boolean> {
    const path = this.#pathOf(key)
    const directory = dirname(path)
    await this.#directories.make(directory)
    this.#draftCount += 1
    const draft = `${path}.${this.#draftCount}${DRAFT}`
    try {
      await writeDurably(draft, text)
      await rename(draft, path)
    } catch (error) {
      await unlink(draft).catch(() => {})
      if (isMissing(error)) this.#directories.forget()
      throw error
    }
    await this.#directories.sync(directory).catch((error: unknown) => {
      const { code = 'the folder was not saved' } = error as NodeJS.ErrnoException
      throw new WalletError('STORAGE_FAILED', { path: key, reason: code, mayBeSaved: true }, error)
    })
    return true
  }

  async #remove(key: string): Promise<boolean> {
    const path = this.#pathOf(key)
    try {
      await unlink(path)
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
    await this.#directories.sync(dirname(path))
    return true
  }

  async #quarantine(key: string, rule: string): Promise<WalletError> {
    // What is in quarantine already stays where it is.
    if (key.startsWith(`${QUARANTINE}/`)) return new WalletError('CORRUPT_FILE', { path: key, rule })
    const name = key.replaceAll('/', '+').slice(-160)
    const keptAs = `${QUARANTINE}/${name}.${Date.now()}`
    const target = join(this.#root, keptAs)
    await this.#directories.make(dirname(target))
    await rename(this.#pathOf(key), target)
    await this.#directories.sync(dirname(target))
    await this.#directories.sync(dirname(this.#pathOf(key)))
    return new WalletError('CORRUPT_FILE', { path: key, keptAs, rule })
  }

  #pathOf(key: string): string {
    if (key === LOCK_NAME) throw new WalletError('PATH_REFUSED', { rule: 'is that of the lock' })
    return join(this.#root, ...key.split('/'))
  }
}

/** The store as Keyv's type wants it. */
export const asKeyvStore = (store: FileStore): KeyvStoreAdapter & ListingStore =>
  store as unknown as KeyvStoreAdapter & ListingStore

/** Undefined if it is no UTF-8. */
const textIn = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const writeDurably = (path: string, text: string): Promise<void> =>
  withFile(path, { flags: 'wx', mode: 0o600 }, async file => {
    await fileCalls.write(file, text)
    await fileCalls.fsync(file)
  })

const readSlice = async (path: string, start: number, end: number): Promise<string | undefined> => {
  try {
    return await withFile(path, { flags: 'r' }, file => fileCalls.read(file, start, end - start))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const walk = async (root: string, folder: string, keep: (name: string) => boolean): Promise<string[]> => {
  const names: string[] = []
  const visit = async (path: string): Promise<void> => {
    const entries = await fileCalls.list(join(root, path)).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    for (const entry of entries) {
      const name = path === '' ? entry.name : `${path}/${entry.name}`
      if (entry.isDirectory()) await visit(name)
      else if (entry.isFile() && keep(name)) names.push(name)
    }
  }
  await visit(folder)
  return names
}

const isMissing = (error: unknown): boolean => {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Makes names durable: one fsync of a directory serves every rename that was done before it began.
 *
 * Callers that arrive while an fsync runs share the next one (group commit).
 */
class DirectorySync {
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

/** The calls of the system by the number of an open file. */
export interface FileCalls {
  open(path: string, flags: string, mode?: number): Promise<number>
  close(file: number): Promise<void>
  fsync(file: number): Promise<void>
  /** Writes all of a text. */
  write(file: number, text: string): Promise<void>
  /** The content of a folder, in any order. */
  list(path: string): Promise<fs.Dirent[]>
  /** All bytes of a file. */
  readAll(path: string): Promise<Uint8Array>
  /** Reads up to `length` bytes from `start` on, as letters of one byte each. */
  read(file: number, start: number, length: number): Promise<string>
}

/** Those of Node with a callback. Its promises and file handles cost twice as much, and a store makes thousands of calls. */
export const fileCalls: FileCalls = {
  open: promisify(fs.open),
  close: promisify(fs.close),
  fsync: promisify(fs.fsync),
  list: path =>
    new Promise((resolve, reject) => {
      fs.readdir(path, { withFileTypes: true }, (error, entries) => {
        if (error === null) resolve(entries)
        else reject(error)
      })
    }),
  readAll: promisify<string, Uint8Array>(fs.readFile),
  async write(file, text) {
    const bytes = Buffer.from(text, 'utf8')
    for (let at = 0; at < bytes.length; ) at += await writeSome(file, bytes, at)
  },
  read: (file, start, length) =>
    new Promise((resolve, reject) => {
      fs.read(file, Buffer.allocUnsafe(length), 0, length, start, (error, count, bytes) => {
        if (error === null) resolve(bytes.toString('latin1', 0, count))
        else reject(error)
      })
    })
}

const writeSome = (file: number, bytes: Buffer, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    fs.write(file, bytes, at, bytes.length - at, null, (error, count) => {
      if (error === null) resolve(count)
      else reject(error)
    })
  })

/** Opens a file, runs a task with its number, and closes it. */
const withFile = async <T>(
  path: string,
  { flags, mode }: { readonly flags: string; readonly mode?: number },
  task: (file: number) => Promise<T>
): Promise<T> => {
  const file = await fileCalls.open(path, flags, mode)
  try {
    return await task(file)
  } finally {
    await fileCalls.close(file)
  }
}
