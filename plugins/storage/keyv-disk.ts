import { Keyv, type KeyvStoreAdapter } from 'keyv'
import { checkPath, compact, type Disk, WalletError } from '../../kernel/plugin-api.ts'
import { storageErrorOf } from './storage-error.ts'

/** A Keyv store that can also list its keys below a folder by itself, which is faster than iterating. */
export interface ListingStore {
  /** All keys that begin with `prefix`, in any order. */
  list(prefix: string): Promise<string[]>
  /** A part of an ASCII text without the rest, for stores that can read so; undefined if there is no such key. */
  slice?(key: string, start: number, end: number): Promise<string | undefined>
}

/** Any store that Keyv can hold: an adapter, or a plain Map. */
export type AnyStore = KeyvStoreAdapter | (KeyvStoreAdapter & ListingStore) | Map<string, string>

/**
 * Makes a disk of any Keyv store. The store is then ours alone.
 *
 * Texts are stored raw under their path, without Keyv's envelope, namespace or time to live, so a file store
 * keeps exactly our text. Keyv's own failures are not swallowed: they become STORAGE_FULL or STORAGE_FAILED.
 *
 * @see ecosystem 4.4 for the traps that these options avoid
 */
export const keyvDisk = (store: AnyStore): Disk => {
  const keyv = openKeyv(store)
  const writes = new Set<Promise<unknown>>()
  let isOpen = true
  const guard = async <T>(path: string, task: () => Promise<T>): Promise<T> => {
    if (!isOpen) throw new WalletError('STORAGE_FAILED', { path, reason: 'the disk is closed' })
    return attempt(path, task)
  }
  const write = async <T>(path: string, task: () => Promise<T>): Promise<T> => {
    const written = guard(path, task)
    writes.add(written)
    try {
      return await written
    } finally {
      writes.delete(written)
    }
  }
  const slicing = 'slice' in store && typeof store.slice === 'function' ? store : undefined
  return {
    ...compact({
      getSlice:
        slicing &&
        (async (path: string, start: number, end: number) =>
          guard(checkPath(path), async () => slicing.slice?.(path, start, end)))
    }),
    async getText(path) {
      const text = await guard(checkPath(path), () => keyv.get<unknown>(path))
      if (text === undefined || text === null) return undefined
      if (typeof text !== 'string') throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no text' })
      return text
    },
    async setText(path, text) {
      checkPath(path)
      const isSaved = await write(path, () => keyv.set(path, text))
      if (isSaved === false) throw new WalletError('STORAGE_FAILED', { path, reason: 'the store said no' })
    },
    async delete(path) {
      await write(checkPath(path), () => keyv.delete(path))
    },
    async list(folder) {
      const prefix = folder === '' ? '' : `${checkPath(folder)}/`
      const keys = await guard(folder, () => keysOf(keyv, store, prefix))
      return keys.sort()
    },
    async close() {
      isOpen = false
      await Promise.allSettled(writes)
      await attempt('', () => keyv.disconnect())
    }
  }
}

const openKeyv = (store: AnyStore): Keyv =>
  new Keyv({
    store,
    // Keyv would otherwise prefix every key with its own name, and tell the store a namespace.
    namespace: undefined as never,
    useKeyPrefix: false,
    throwOnErrors: true,
    serialize: ({ value }) => value as string,
    deserialize: text => ({ value: text as never })
  })

const keysOf = async (keyv: Keyv, store: AnyStore, prefix: string): Promise<string[]> => {
  if ('list' in store && typeof store.list === 'function') return store.list(prefix)
  const keys: string[] = []
  const keep = (key: unknown): void => {
    if (typeof key === 'string' && key.startsWith(prefix)) keys.push(key)
  }
  if (store instanceof Map) {
    for (const key of store.keys()) keep(key)
    return keys
  }
  const entries = keyv.iterator?.(undefined) ?? store.iterator?.()
  if (entries === undefined) {
    throw new WalletError('STORAGE_FAILED', { path: prefix, reason: 'the store cannot list its keys' })
  }
  for await (const [key] of entries) keep(key)
  return keys
}

const attempt = async <T>(path: string, task: () => Promise<T>): Promise<T> => {
  try {
    return await task()
  } catch (error) {
    throw storageErrorOf(path, error)
  }
}
