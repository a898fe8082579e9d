import { checkPath, type Disk, type StoragePlugin } from '../../kernel/plugin-api.ts'

/**
 * A disk in memory, for tests, demonstrations and pages that must leave no trace. A Map, since Keyv loads only in Node.
 *
 * @param files - the content to begin with; kept and changed, so that a test can look inside
 */
export const memoryDisk = (files: Map<string, string> = new Map()): Disk => ({
  getText: async path => files.get(checkPath(path)),
  setText: async (path, text) => {
    files.set(checkPath(path), text)
  },
  delete: async path => {
    files.delete(checkPath(path))
  },
  list: async folder => {
    const prefix = folder === '' ? '' : `${checkPath(folder)}/`
    return [...files.keys()].filter(path => path.startsWith(prefix)).sort()
  }
})

/** The storage plugin of {@link memoryDisk}; everything is gone when the process ends. */
export const memoryStorage = (files?: Map<string, string>): StoragePlugin => ({
  kind: 'storage',
  id: 'memory',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('memory', async () => memoryDisk(files))
  }
})
