import { utf8 } from '@scure/base'
import { compact } from '../base/compact.ts'
import { copyList } from '../base/copy-data.ts'
import { checkPath } from '../base/disk-path.ts'
import { safely, WalletError } from '../base/errors.ts'
import type { Disk } from '../io/disk.ts'
import type { KeyRange, Store, StoreChange } from '../io/store.ts'
import { closedError } from './chunk.ts'
import { type LogStoreOptions, openLogStore } from './log-store.ts'
import { textOfKey } from './sorted-map.ts'

/** A disk that is a table of a store. */
export interface StoreDisk extends Disk {
  readonly store: Store
}

/**
 * The store of a folder: the values of its disk's store whose keys begin with the folder, or a log in the folder where the disk has
 * none (see {@link openLogStore}). Its end closes nothing but that log.
 *
 * @throws STORAGE_FAILED, PATH_REFUSED
 */
export const openFolderStore = async (
  disk: Disk,
  { folder, ...options }: Omit<LogStoreOptions, 'disk'>
): Promise<Store> => {
  checkPath(folder)
  return isStoreDisk(disk) ? partOf(disk.store, folder) : openLogStore({ ...options, folder, disk })
}

const isStoreDisk = (disk: Disk): disk is StoreDisk => 'store' in disk

/** All keys between two, a page at a time. Pages are no snapshot: a batch between two of them may show. */
export async function* keyPages(
  store: Pick<Store, 'keys'>,
  { after, before }: Pick<KeyRange, 'after' | 'before'> = {}
): AsyncGenerator<readonly Uint8Array[]> {
  for (let last = after; ; ) {
    const keys = await store.keys({ ...compact({ after: last, before }), limit: PAGE })
    yield keys
    last = keys.at(-1)
    if (last === undefined || keys.length < PAGE) return
  }
}

const partOf = (store: Store, folder: string): Store => {
  const root = asciiOf(`${folder}/`)
  const end = asciiOf(folder + AFTER_SLASH)
  const below = (key: Uint8Array): Uint8Array => {
    const whole = new Uint8Array(root.length + key.length)
    whole.set(root)
    whole.set(key, root.length)
    return whole
  }
  let isClosed = false
  const checkOpen = (): void => {
    if (isClosed) throw closedError(folder)
  }
  return {
    async getMany(keys) {
      checkOpen()
      return keys.length === 0 ? [] : store.getMany(keys.map(below))
    },
    async batch(changes) {
      checkOpen()
      await store.batch(changes.map(({ key, value }) => ({ key: below(key), value })))
    },
    async keys({ after, before, ...range }) {
      checkOpen()
      const bounds = {
        after: after === undefined ? root : below(after),
        before: before === undefined ? end : below(before)
      }
      const found = await store.keys({ ...bounds, ...range })
      return found.map(key => key.slice(root.length))
    },
    async close() {
      isClosed = true
    }
  }
}

/**
 * Makes a disk of a store: a table from path to text, whose keys begin with `f/`.
 *
 * @example
 * ```ts
 * import { type Store, storeDisk } from 'holdfast/plugin'
 *
 * declare const store: Store
 * const disk = storeDisk(store)
 * await disk.setText('settings.json', '{}')
 * ```
 */
export const storeDisk = (store: Store): StoreDisk => ({
  store,
  async getText(path) {
    const [value] = await store.getMany([keyOf(path)])
    return value === undefined ? undefined : textOf(path, value)
  },
  setText: async (path, text) => store.batch([fileChange(path, text)]),
  delete: async path => store.batch([{ key: keyOf(path), value: undefined }]),
  async list(folder) {
    const prefix = folder === '' ? TABLE : `${TABLE}${checkPath(folder)}/`
    const before = asciiOf(prefix.replace(/\/$/, AFTER_SLASH))
    const paths: string[] = []
    for await (const keys of keyPages(store, { after: asciiOf(prefix), before }))
      for (const key of keys) paths.push(String.fromCharCode(...key).slice(TABLE.length))
    return paths
  },
  close: () => store.close()
})

/**
 * The change that writes a text into the table of {@link storeDisk}: its key is `f/` and the path, its value the text in UTF-8.
 *
 * @throws PATH_REFUSED; STORAGE_FAILED for a text with half a character
 *
 * @example
 * ```ts
 * import { fileChange, type Store } from 'holdfast/plugin'
 *
 * declare const store: Store
 * await store.batch([fileChange('a.json', '1'), fileChange('b.json', '2')]) // both or none
 * ```
 */
export const fileChange = (path: string, text: string): StoreChange & { readonly value: Uint8Array } => ({
  key: keyOf(path),
  value: bytesOf(path, text)
})

/**
 * A store of a storage plugin, each method read once: its answers are checked, and whatever it throws becomes an error that is
 * safe to look at.
 *
 * @throws TypeError if it is no store
 */
export const checkedStore = (given: Store): Store => {
  const { getMany, batch, keys, close } = given
  for (const method of [getMany, batch, keys, close])
    if (typeof method !== 'function') throw new TypeError('The storage gave no store')
  return Object.freeze({
    getMany: (wanted: Parameters<Store['getMany']>[0]) =>
      safely(async () => {
        const values = copyList(await getMany.call(given, wanted), wanted.length)
        const isSound = values?.every(isValue) === true
        if (!isSound || values?.length !== wanted.length) throw oddAnswer('with no list of values')
        return values as (Uint8Array | undefined)[]
      }),
    batch: (changes: Parameters<Store['batch']>[0]) =>
      safely(async () => void (await batch.call(given, changes))),
    keys: (range: KeyRange) =>
      safely(async () => {
        const found = copyList(await keys.call(given, range), range.limit)
        if (found?.every(isKey) !== true || !isInOrder(found as Uint8Array[], range))
          throw oddAnswer('with no page of keys')
        return found as Uint8Array[]
      }),
    close: () => safely(async () => void (await close.call(given)))
  })
}

/** The limits of {@link Store}, in bytes. */
const MAX_KEY = 1100
const MAX_VALUE = 64 * 1024 * 1024

const isKey = (key: unknown): boolean => key instanceof Uint8Array && key.length > 0 && key.length <= MAX_KEY

const isValue = (value: unknown): boolean =>
  value === undefined || (value instanceof Uint8Array && value.length <= MAX_VALUE)

/** Each key of a page is beyond the one before and within the bounds: a reader of pages would not come to an end otherwise. */
const isInOrder = (keys: readonly Uint8Array[], { after, before, reverse = false }: KeyRange): boolean => {
  const bounds = [after, before].map(key => key && textOfKey(key))
  const [first, last] = reverse ? bounds.reverse() : bounds
  const texts = [first, ...keys.map(textOfKey), last].filter(text => text !== undefined)
  return texts.every((text, at) => {
    const next = texts[at + 1]
    return next === undefined || (reverse ? next < text : next > text) || keys.length === 0
  })
}

const TABLE = 'f/'
/** The letter after `/`: all paths below a folder are less than the folder's name with it. */
const AFTER_SLASH = '0'
const PAGE = 1000

const keyOf = (path: string): Uint8Array => asciiOf(TABLE + checkPath(path))

const asciiOf = (text: string): Uint8Array => Uint8Array.from(text, letter => letter.charCodeAt(0))

const bytesOf = (path: string, text: string): Uint8Array => {
  try {
    return utf8.decode(text)
  } catch (error) {
    throw new WalletError('STORAGE_FAILED', { path, reason: 'a text has half a character' }, error)
  }
}

const textOf = (path: string, value: Uint8Array): string => {
  try {
    return utf8.encode(value)
  } catch (error) {
    throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no text' }, error)
  }
}

const oddAnswer = (what: string): WalletError =>
  new WalletError('STORAGE_FAILED', { path: '', reason: `it answered ${what}` })
