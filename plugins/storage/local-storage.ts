import { checkPath, type Disk, type StoragePlugin, WalletError } from '../../kernel/plugin-api.ts'
import { holdPageLock, locksOfPage, type WebLocks } from './page-lock.ts'
import { storageErrorOf } from './storage-error.ts'

/** The part of the Web Storage standard that a disk needs; `localStorage` has it. */
export interface WebStorage {
  readonly length: number
  key(index: number): string | null
  getItem(key: string): string | null
  setItem(key: string, text: string): void
  removeItem(key: string): void
}

/** Replacements of the page's own objects. */
export interface LocalStorageOptions {
  readonly storage?: WebStorage
  /**
   * Keeps a second page from the same data; a browser without locks cannot. By default the page's own locks, which say
   * nothing about a `storage` that is not the page's own.
   */
  readonly locks?: WebLocks
}

/**
 * Opens the local storage of a web page as a disk, in the deployed layout: keys `airbitz/<path>`, texts as they are
 * (protocol §3).
 *
 * @throws STORAGE_LOCKED if another page has it open; STORAGE_FAILED if the page has no storage
 */
export const openLocalDisk = async (options: LocalStorageOptions = {}): Promise<Disk> => {
  const storage = options.storage ?? storageOfPage()
  const locks = options.locks ?? (isOfPage(storage) ? locksOfPage() : undefined)
  const release = await holdPageLock(locks, `${PREFIX}lock`)
  let isOpen = true
  const attempt = <T>(path: string, task: () => T): T => {
    if (!isOpen) throw new WalletError('STORAGE_FAILED', { path, reason: 'it is closed' })
    try {
      return task()
    } catch (error) {
      throw storageErrorOf(path, error)
    }
  }
  return {
    getText: async path => attempt(path, () => storage.getItem(keyOf(path)) ?? undefined),
    setText: async (path, text) => attempt(path, () => storage.setItem(keyOf(path), text)),
    delete: async path => attempt(path, () => storage.removeItem(keyOf(path))),
    list: async folder => attempt(folder, () => pathsBelow(storage, folder)),
    close: async () => {
      isOpen = false
      release()
    }
  }
}

/** The storage plugin of {@link openLocalDisk}. */
export const localStorageDisk = (options: LocalStorageOptions = {}): StoragePlugin => ({
  kind: 'storage',
  id: 'local-storage',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('local-storage', () => openLocalDisk(options))
  }
})

const PREFIX = 'airbitz/'

const page = globalThis as {
  readonly localStorage?: WebStorage
  readonly Storage?: abstract new (...args: never[]) => WebStorage
}

/** Node has locks without having pages, so that a storage made by hand must not wait for another one there. */
const isOfPage = (storage: WebStorage): boolean =>
  page.Storage !== undefined && storage instanceof page.Storage

/** A page whose user forbids storage throws when it looks. */
const storageOfPage = (): WebStorage => {
  try {
    if (page.localStorage !== undefined) return page.localStorage
  } catch (error) {
    throw storageErrorOf('', error)
  }
  throw new WalletError('STORAGE_FAILED', { path: '', reason: 'this page has no storage' })
}

const keyOf = (path: string): string => PREFIX + checkPath(path)

const pathsBelow = (storage: WebStorage, folder: string): string[] => {
  const prefix = folder === '' ? PREFIX : `${keyOf(folder)}/`
  const paths: string[] = []
  for (let index = 0; index < storage.length; index += 1) {
    const key = storage.key(index)
    if (key?.startsWith(prefix)) paths.push(key.slice(PREFIX.length))
  }
  return paths.sort()
}
