/// <reference lib="dom" />
import { type IDBPDatabase, type IDBPTransaction, openDB } from 'idb'
import {
  type Disk,
  fileChange,
  type KeyRange,
  type StoragePlugin,
  type Store,
  type StoreChange,
  WalletError
} from '../../../kernel/plugin-api.ts'
import { holdPageLock, locksOfPage } from '../page-lock.ts'
import { storageErrorOf } from '../storage-error.ts'

/** Which database of the page is opened. */
export interface BrowserStorageOptions {
  /** The name of the database; each name is a store of its own. Default `holdfast`. */
  readonly name?: string
  /**
   * Opens the disk that an empty database takes its files from, such as `openLocalDisk` for what the deployed client left
   * in the local storage. It is closed afterwards and left as it is.
   */
  readonly importFrom?: () => Promise<Disk>
}

/**
 * Opens an IndexedDB database of a web page as a store: one transaction for each batch.
 *
 * A batch resolves when the browser has given it to the system's disk. The browser may still clear an origin that it
 * deems unimportant: an application asks for `navigator.storage.persist()`. A database of version 0.1, which had texts by path, is
 * converted in one transaction.
 *
 * @throws STORAGE_LOCKED if another page, or this one, has the database open; STORAGE_FULL; STORAGE_FAILED if the page has
 *   no storage
 */
export const openBrowserStore = async (options: BrowserStorageOptions = {}): Promise<Store> => {
  const { name = 'holdfast', importFrom } = options
  const release = await holdPageLock(locksOfPage(), `holdfast/${name}`)
  try {
    const database = await openDatabase(name)
    try {
      if (importFrom !== undefined) await takeOver(database, importFrom)
      return storeOf(database, release)
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    release()
    throw storageErrorOf('', error)
  }
}

/** The storage plugin of {@link openBrowserStore}. */
export const browserStorage = (options: BrowserStorageOptions = {}): StoragePlugin => ({
  kind: 'storage',
  id: 'browser',
  apply({ hooks }) {
    hooks.openStore.tapPromise('browser', () => openBrowserStore(options))
  }
})

const VALUES = 'values'
/** The texts by path of version 0.1. */
const FILES = 'files'

const openDatabase = async (name: string): Promise<IDBPDatabase> => {
  if (globalThis.indexedDB === undefined)
    throw new WalletError('STORAGE_FAILED', { path: '', reason: 'this page has no storage' })
  let failure: unknown
  const opening = openDB(name, 2, {
    async upgrade(database, oldVersion, _newVersion, transaction) {
      database.createObjectStore(VALUES)
      if (oldVersion < 1) return
      try {
        await convertFiles(transaction)
        database.deleteObjectStore(FILES)
      } catch (error) {
        // Else the browser would keep the half of it that was made.
        failure = error
        transaction.done.catch(() => {})
        abortQuietly(transaction)
      }
    }
  })
  return opening.catch((error: unknown) => {
    throw failure ?? error
  })
}

type Upgrade = IDBPTransaction<unknown, string[], 'versionchange'>

const convertFiles = async (transaction: Upgrade): Promise<void> => {
  const values = transaction.objectStore(VALUES)
  const files = transaction.objectStore(FILES)
  for (let cursor = await files.openCursor(); cursor !== null; cursor = await cursor.continue()) {
    const { key, value } = convertedFile(String(cursor.key), String(cursor.value))
    await values.put(value, idOf(key))
  }
}

const abortQuietly = (transaction: Upgrade): void => {
  try {
    transaction.abort()
  } catch {
    // A request that failed has ended it.
  }
}

/** A text of version 0.1. Half a character, which such a database could keep, becomes a replacement character. */
const convertedFile = (path: string, text: string): StoreChange =>
  fileChange(path, new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text)))

const storeOf = (database: IDBPDatabase, release: () => void): Store => {
  const writes = new Set<Promise<void>>()
  let ended: string | undefined
  // As when the user clears the data of the site: another page may begin a new database, and writes of this one are lost.
  database.addEventListener('close', () => {
    ended = 'the browser has closed it'
    release()
  })
  const attempt = async <T>(task: () => Promise<T>): Promise<T> => {
    if (ended !== undefined) throw new WalletError('STORAGE_FAILED', { path: '', reason: ended })
    try {
      return await task()
    } catch (error) {
      throw storageErrorOf('', error)
    }
  }
  return {
    getMany: keys =>
      attempt(async () => {
        const { store } = database.transaction(VALUES)
        return Promise.all(keys.map(key => store.get(idOf(key)) as Promise<Uint8Array | undefined>))
      }),
    batch: changes =>
      attempt(async () => {
        const write = inOneTransaction(database, changes)
        writes.add(write)
        await write.finally(() => writes.delete(write))
      }),
    keys: range => attempt(() => keysOf(database, range)),
    async close() {
      ended ??= 'it is closed'
      await Promise.allSettled(writes)
      database.close()
      release()
    }
  }
}

const keysOf = async (database: IDBPDatabase, range: KeyRange): Promise<Uint8Array[]> => {
  const { after, before, reverse = false, limit } = range
  const bounds = boundsOf(after, before)
  if (bounds === 'empty') return []
  if (!reverse) return (await database.getAllKeys(VALUES, bounds, limit)).map(bytesOf)
  const found: Uint8Array[] = []
  const { store } = database.transaction(VALUES)
  let cursor = await store.openKeyCursor(bounds, 'prev')
  while (cursor !== null && found.length < limit) {
    found.push(bytesOf(cursor.key))
    cursor = await cursor.continue()
  }
  return found
}

/** Undefined for all keys. */
const boundsOf = (
  after: Uint8Array | undefined,
  before: Uint8Array | undefined
): IDBKeyRange | undefined | 'empty' => {
  if (after !== undefined && before !== undefined)
    return indexedDB.cmp(after, before) < 0 ? IDBKeyRange.bound(after, before, true, true) : 'empty'
  if (after !== undefined) return IDBKeyRange.lowerBound(after, true)
  return before === undefined ? undefined : IDBKeyRange.upperBound(before, true)
}

/** The types of browsers know only bytes that are not shared. */
const idOf = (key: Uint8Array): IDBValidKey => key as Uint8Array<ArrayBuffer>

const bytesOf = (key: IDBValidKey): Uint8Array => new Uint8Array(key as ArrayBuffer)

/** All changes or none. `strict`: it is done when the system's disk has it, not when the system's memory has. */
const inOneTransaction = async (database: IDBPDatabase, changes: readonly StoreChange[]): Promise<void> => {
  const transaction = database.transaction(VALUES, 'readwrite', { durability: 'strict' })
  const requests: Promise<unknown>[] = []
  try {
    // A view would take the whole buffer along that it is of.
    for (const { key, value } of changes)
      requests.push(
        value === undefined
          ? transaction.store.delete(idOf(key))
          : transaction.store.put(value.slice(), idOf(key))
      )
  } catch (error) {
    transaction.done.catch(() => {})
    transaction.abort()
    throw error
  }
  // A request that fails ends the transaction, whose reason says more.
  void Promise.allSettled(requests)
  await transaction.done
}

const takeOver = async (database: IDBPDatabase, importFrom: () => Promise<Disk>): Promise<void> => {
  if ((await database.count(VALUES)) > 0) return
  const source = await importFrom()
  try {
    const texts = await Promise.all(
      (await source.list('')).map(async path => [path, await source.getText(path)] as const)
    )
    await inOneTransaction(
      database,
      texts.flatMap(([path, text]) => (text === undefined ? [] : [convertedFile(path, text)]))
    )
  } finally {
    await source.close?.()
  }
}
