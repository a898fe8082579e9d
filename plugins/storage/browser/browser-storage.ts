/// <reference lib="dom" />
import { type IDBPDatabase, openDB } from 'idb'
import { checkPath, type Disk, type StoragePlugin, WalletError } from '../../../kernel/plugin-api.ts'
import { holdPageLock, locksOfPage } from '../page-lock.ts'
import { storageErrorOf } from '../storage-error.ts'

/** Which database of the page is opened. */
export interface BrowserStorageOptions {
  /** The name of the database; each name is a store of its own. Default `holdfast`. */
  readonly name?: string
  /**
   * Opens the disk that an empty database takes its texts from, such as `openLocalDisk` for what the deployed client left
   * in the local storage. It is closed afterwards and left as it is.
   */
  readonly importFrom?: () => Promise<Disk>
}

/**
 * Opens an IndexedDB database of a web page as a disk: a text by path, one transaction for each write.
 *
 * A write resolves when the browser has given the text to the system's disk. The browser may still clear an origin that it
 * deems unimportant: an application asks for `navigator.storage.persist()`.
 *
 * @throws STORAGE_LOCKED if another page, or this one, has the database open; STORAGE_FULL; STORAGE_FAILED if the page has
 *   no storage
 */
export const openBrowserDisk = async (options: BrowserStorageOptions = {}): Promise<Disk> => {
  const { name = 'holdfast', importFrom } = options
  const release = await holdPageLock(locksOfPage(), `holdfast/${name}`)
  try {
    const database = await openDatabase(name)
    try {
      if (importFrom !== undefined) await takeOver(database, importFrom)
      return diskOf(database, release)
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    release()
    throw storageErrorOf('', error)
  }
}

/** The storage plugin of {@link openBrowserDisk}. */
export const browserStorage = (options: BrowserStorageOptions = {}): StoragePlugin => ({
  kind: 'storage',
  id: 'browser',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('browser', () => openBrowserDisk(options))
  }
})

const FILES = 'files'

const openDatabase = async (name: string): Promise<IDBPDatabase> => {
  if (globalThis.indexedDB === undefined)
    throw new WalletError('STORAGE_FAILED', { path: '', reason: 'this page has no storage' })
  return openDB(name, 1, { upgrade: database => void database.createObjectStore(FILES) })
}

const diskOf = (database: IDBPDatabase, release: () => void): Disk => {
  const writes = new Set<Promise<void>>()
  let ended: string | undefined
  // As when the user clears the data of the site: another page may begin a new database, and writes of this one are lost.
  database.addEventListener('close', () => {
    ended = 'the browser has closed it'
    release()
  })
  const attempt = async <T>(path: string, task: () => Promise<T>): Promise<T> => {
    if (ended !== undefined) throw new WalletError('STORAGE_FAILED', { path, reason: ended })
    try {
      return await task()
    } catch (error) {
      throw storageErrorOf(path, error)
    }
  }
  const change = (path: string, changes: Changes): Promise<void> =>
    attempt(path, async () => {
      const write = inOneTransaction(database, changes)
      writes.add(write)
      await write.finally(() => writes.delete(write))
    })
  return {
    getText: path => attempt(path, () => database.get(FILES, checkPath(path))),
    setText: (path, text) => change(path, store => [store.put(text, checkPath(path))]),
    delete: path => change(path, store => [store.delete(checkPath(path))]),
    list: folder =>
      attempt(folder, async () => (await database.getAllKeys(FILES, below(folder))) as string[]),
    async close() {
      ended ??= 'it is closed'
      await Promise.allSettled(writes)
      database.close()
      release()
    }
  }
}

/** The work of a transaction on the files. */
type Changes = (store: Files) => readonly Promise<unknown>[]

interface Files {
  put(text: string, path: string): Promise<unknown>
  delete(path: string): Promise<unknown>
}

/** All changes or none. `strict`: it is done when the system's disk has it, not when the system's memory has. */
const inOneTransaction = async (database: IDBPDatabase, changes: Changes): Promise<void> => {
  const transaction = database.transaction(FILES, 'readwrite', { durability: 'strict' })
  let requests: readonly Promise<unknown>[]
  try {
    requests = changes(transaction.store)
  } catch (error) {
    transaction.done.catch(() => {})
    transaction.abort()
    throw error
  }
  // A request that fails ends the transaction, whose reason says more.
  void Promise.allSettled(requests)
  await transaction.done
}

/** All keys below a folder: the order of keys is that of their letters. */
const below = (folder: string): IDBKeyRange | undefined => {
  if (folder === '') return undefined
  const prefix = `${checkPath(folder)}/`
  return IDBKeyRange.bound(prefix, `${prefix}\uffff`)
}

const takeOver = async (database: IDBPDatabase, importFrom: () => Promise<Disk>): Promise<void> => {
  if ((await database.count(FILES)) > 0) return
  const source = await importFrom()
  try {
    const texts = await Promise.all(
      (await source.list('')).map(async path => [path, await source.getText(path)] as const)
    )
    await inOneTransaction(database, files =>
      texts.flatMap(([path, text]) => (text === undefined ? [] : [files.put(text, path)]))
    )
  } finally {
    await source.close?.()
  }
}
