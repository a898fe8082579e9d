// A storage plugin: where an application keeps the files of its wallet. Texts are encrypted before they come here.
import { checkPath, type Disk, type StoragePlugin, WalletError } from 'holdfast/plugin'

/** A store of texts by name, such as a table of a database. A `Map` is one, too: gone with the process, so for tests. */
export interface TextStore {
  get(name: string): string | undefined | Promise<string | undefined>
  /** Replaces the whole text or nothing, and resolves when it is durable. */
  set(name: string, text: string): unknown
  delete(name: string): unknown
  keys(): Iterable<string> | Promise<Iterable<string>>
}

/** A disk on a store of texts. */
const diskOn = (store: TextStore): Disk => {
  let isOpen = true
  const checkOpen = (path: string): string => {
    if (!isOpen) throw new WalletError('STORAGE_FAILED', { path, reason: 'the disk is closed' })
    return path
  }
  // Refuses a path that leads out of the disk, such as ../secrets.
  const check = (path: string): string => checkPath(checkOpen(path))
  return {
    getText: async path => store.get(check(path)),
    async setText(path, text) {
      await store.set(check(path), text)
    },
    async delete(path) {
      await store.delete(check(path))
    },
    // All paths below a folder, however deep; '' is the whole disk.
    async list(folder) {
      const prefix = checkOpen(folder) === '' ? '' : `${check(folder)}/`
      return [...(await store.keys())].filter(path => path.startsWith(prefix)).sort()
    },
    async close() {
      isOpen = false
    }
  }
}

/** The plugin on a store. An application gives it to `createKernel`; a kernel has exactly one storage plugin. */
export const plugin = (store: TextStore = new Map()): StoragePlugin => ({
  kind: 'storage',
  // The name of this plugin in settings, logs and lists; it stays the same for ever.
  id: 'my-plugin',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('my-plugin', async () => diskOn(store))
  }
})
