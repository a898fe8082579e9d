import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, parseJson } from '../base/json.ts'
import { Mutex } from '../base/mutex.ts'
import { makeYielder } from '../base/yielder.ts'
import { isWellFormed } from '../crypto/encoding.ts'
import type { Services } from '../plugins/services.ts'
import type { Repo } from '../sync/repo.ts'
import type { FileHash } from '../types/ids.ts'

/** The repo that holds a data store. */
export interface DataStoreOptions {
  readonly services: Services
  readonly repo: Repo
  /** The base58 name that hides a text from the server. @throws LOGGED_OUT */
  hashOf(text: string): FileHash
}

const FOLDER = 'Plugins'
const NAME_FILE = 'Name.json'
const MAX_NAME = 4096
const DELETE_AT_ONCE = 500

/**
 * The application's own synced texts: items by id, in stores by id (protocol §3.4 `Plugins/`).
 *
 * The server sees neither ids nor texts. Ids are any text of up to 4096 characters.
 */
export class DataStore {
  readonly #options: DataStoreOptions
  readonly #mutex = new Mutex()
  /** The id behind each path that was seen, which never changes: a second listing opens nothing again. */
  readonly #itemIds = new Map<string, string>()
  readonly #pause: () => Promise<void> | undefined
  #isClosed = false

  constructor(options: DataStoreOptions) {
    this.#options = options
    this.#pause = makeYielder(options.services.io.clock)
  }

  /**
   * Lists the ids of all stores. One whose folder does not carry its name is reported and left out. @throws LOGGED_OUT
   */
  async listStoreIds(): Promise<string[]> {
    this.#check()
    const { repo, services } = this.#options
    const pause = makeYielder(services.io.clock)
    const storeIds: string[] = []
    for (const path of await repo.list(FOLDER)) {
      const [, folder = '', file] = path.split('/')
      if (file === NAME_FILE) {
        const storeId = await this.#orReport(() => this.#nameIn(folder))
        if (storeId !== undefined) storeIds.push(storeId)
      }
      await pause()
    }
    return storeIds.sort()
  }

  /**
   * Lists the ids of all items of a store; none for an unknown store. An item that cannot be read is reported.
   *
   * @throws FOLDER_NAME, LOGGED_OUT
   */
  async listItemIds(storeId: string): Promise<string[]> {
    const folder = this.#folderOf(storeId)
    await this.#isNamed(folder)
    const { repo, services } = this.#options
    const pause = makeYielder(services.io.clock)
    const itemIds: string[] = []
    for (const path of await repo.list(folder)) {
      if (path === `${folder}/${NAME_FILE}`) continue
      const itemId = this.#itemIds.get(path) ?? (await this.#orReport(() => this.#idIn(path)))
      if (itemId !== undefined) itemIds.push(itemId)
      await pause()
    }
    return itemIds.sort()
  }

  /** Returns the text of an item. @throws ITEM_NOT_FOUND, FOLDER_NAME, CORRUPT_FILE, LOGGED_OUT */
  async getItem(storeId: string, itemId: string): Promise<string> {
    const folder = this.#folderOf(storeId)
    const path = this.#pathOf(folder, itemId)
    await this.#isNamed(folder)
    const item = await this.#itemIn(path)
    if (item === undefined) throw new WalletError('ITEM_NOT_FOUND', { itemId })
    return item.data
  }

  /** Writes an item, and its store if there is none; durable when it resolves. @throws FOLDER_NAME, STORAGE_FULL, … */
  async setItem(storeId: string, itemId: string, data: string): Promise<void> {
    const folder = this.#folderOf(storeId)
    const path = this.#pathOf(folder, itemId)
    if (typeof data !== 'string')
      throw new WalletError('OPTION_INVALID', { option: 'data', rule: 'is no text' })
    // Only what is decided goes in order: many items at once share one write of the disk.
    const { written } = await this.#mutex.run(async () => {
      await this.#pause()
      const texts = new Map([[path, JSON.stringify({ key: itemId, data })]])
      if (!(await this.#isNamed(folder)))
        texts.set(`${folder}/${NAME_FILE}`, JSON.stringify({ name: storeId }))
      return { written: this.#options.repo.write({ texts }) }
    })
    await written
    this.#itemIds.set(path, itemId)
  }

  /** Deletes an item; the store stays, even without items. No error if there is none. @throws FOLDER_NAME, STORAGE_FULL, … */
  async deleteItem(storeId: string, itemId: string): Promise<void> {
    const folder = this.#folderOf(storeId)
    const path = this.#pathOf(folder, itemId)
    await this.#isNamed(folder)
    const { deleted } = await this.#mutex.run(async () => ({
      deleted: this.#options.repo.write({ texts: new Map([[path, null]]) })
    }))
    await deleted
    this.#itemIds.delete(path)
  }

  /** Deletes a store with all its items. No error if there is none. @throws STORAGE_FULL, … */
  async deleteStore(storeId: string): Promise<void> {
    const folder = this.#folderOf(storeId)
    const { repo, services } = this.#options
    await this.#mutex.run(async () => {
      const nameFile = `${folder}/${NAME_FILE}`
      const items = (await repo.list(folder)).filter(path => path !== nameFile)
      // The name goes last: a store that is half deleted is still listed.
      for (let at = 0; at < items.length; at += DELETE_AT_ONCE) {
        await Promise.all(
          items.slice(at, at + DELETE_AT_ONCE).map(path => repo.write({ texts: new Map([[path, null]]) }))
        )
        await services.io.clock.turn()
      }
      await repo.write({ texts: new Map([[nameFile, null]]) })
      for (const path of items) this.#itemIds.delete(path)
    })
  }

  /** Ends what was begun; later calls fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#itemIds.clear()
    await this.#mutex.run(async () => {})
  }

  #folderOf(storeId: string): string {
    this.#check()
    return `${FOLDER}/${this.#options.hashOf(checkName(storeId, 'store id'))}`
  }

  #pathOf(folder: string, itemId: string): string {
    return `${folder}/${this.#options.hashOf(checkName(itemId, 'item id'))}.json`
  }

  /** Returns true if a store has its name file; one that cannot be read counts as missing. @throws FOLDER_NAME */
  async #isNamed(path: string): Promise<boolean> {
    const name = await this.#nameIn(path.slice(FOLDER.length + 1)).catch(error => {
      if (isWalletError(error, 'FOLDER_NAME')) throw error
      return undefined
    })
    return name !== undefined
  }

  /** The name that a folder has inside. @throws FOLDER_NAME, CORRUPT_FILE */
  async #nameIn(folder: string): Promise<string | undefined> {
    const path = `${FOLDER}/${folder}/${NAME_FILE}`
    const value = await this.#read(path)
    if (value === undefined) return undefined
    if (typeof value.name !== 'string') throw corrupt(path, 'it names no store')
    if (this.#options.hashOf(value.name) !== folder) throw new WalletError('FOLDER_NAME', {})
    return value.name
  }

  async #idIn(path: string): Promise<string | undefined> {
    return (await this.#itemIn(path))?.key
  }

  async #itemIn(path: string): Promise<{ readonly key: string; readonly data: string } | undefined> {
    const value = await this.#read(path)
    if (value === undefined) return undefined
    const { key, data } = value
    if (typeof key !== 'string' || typeof data !== 'string') throw corrupt(path, 'it is no item')
    if (!path.endsWith(`/${this.#options.hashOf(key)}.json`)) throw corrupt(path, 'it is another item')
    this.#itemIds.set(path, key)
    return { key, data }
  }

  async #read(path: string): Promise<Record<string, unknown> | undefined> {
    const text = await this.#options.repo.getText(path)
    if (text === undefined) return undefined
    const value = parseJson(text, 'data store')
    if (!isRecord(value)) throw corrupt(path, 'it is no object')
    return value
  }

  async #orReport<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read()
    } catch (error) {
      this.#options.services.report('data store', error)
      return undefined
    }
  }

  #check(): void {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
  }
}

const checkName = (name: string, option: string): string => {
  const refuse = (rule: string): WalletError => new WalletError('OPTION_INVALID', { option, rule })
  if (typeof name !== 'string') throw refuse('is no text')
  if (name.length > MAX_NAME) throw refuse(`is longer than ${MAX_NAME} characters`)
  if (!isWellFormed(name)) throw refuse('has half a character in it')
  return name
}

const corrupt = (path: string, rule: string): WalletError => new WalletError('CORRUPT_FILE', { path, rule })
