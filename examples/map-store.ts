import { type SortedMap, type StoragePlugin, type Store, textOfKey, WalletError } from 'holdfast/plugin'

/** A store on a map in memory: gone with the process, so for tests and demonstrations only. */
export const mapStore = (values: SortedMap<Uint8Array>): Store => {
  let isOpen = true
  const checkOpen = (): void => {
    if (!isOpen) throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the store is closed' })
  }
  return {
    async getMany(keys) {
      checkOpen()
      return keys.map(key => values.get(textOfKey(key)))
    },
    async batch(changes) {
      checkOpen()
      for (const { key, value } of changes) {
        if (value === undefined) values.delete(textOfKey(key))
        else values.set(textOfKey(key), value)
      }
    },
    async keys(range) {
      checkOpen()
      return values.keys(range)
    },
    async close() {
      isOpen = false
    }
  }
}

/** The storage plugin of {@link mapStore}. */
export const mapStoreStorage = (values: SortedMap<Uint8Array>): StoragePlugin => ({
  kind: 'storage',
  id: 'map-store',
  apply({ hooks }) {
    hooks.openStore.tapPromise('map-store', async () => mapStore(values))
  }
})
