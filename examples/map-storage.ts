import { checkPath, type Disk, type StoragePlugin, WalletError } from 'holdfast/plugin'

/** A disk on a plain Map: gone with the process, so for tests and demonstrations only. */
export const mapDisk = (files: Map<string, string>): Disk => {
  let isOpen = true
  const checkOpen = (path: string): string => {
    if (!isOpen) throw new WalletError('STORAGE_FAILED', { path, reason: 'the disk is closed' })
    return path
  }
  const check = (path: string): string => checkPath(checkOpen(path))
  return {
    getText: async path => files.get(check(path)),
    async setText(path, text) {
      files.set(check(path), text)
    },
    async delete(path) {
      files.delete(check(path))
    },
    async list(folder) {
      const prefix = checkOpen(folder) === '' ? '' : `${check(folder)}/`
      return [...files.keys()].filter(path => path.startsWith(prefix)).sort()
    },
    async close() {
      isOpen = false
    }
  }
}

/** The storage plugin of {@link mapDisk}. */
export const mapStorage = (files: Map<string, string>): StoragePlugin => ({
  kind: 'storage',
  id: 'map',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('map', async () => mapDisk(files))
  }
})
