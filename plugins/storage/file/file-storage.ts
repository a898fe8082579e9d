import { resolve } from 'node:path'
import type { Disk, StoragePlugin } from '../../../kernel/plugin-api.ts'
import { keyvDisk } from '../keyv-disk.ts'
import { storageErrorOf } from '../storage-error.ts'
import { type LockOptions, lockFolder } from './file-lock.ts'
import { asKeyvStore, FileStore } from './file-store.ts'

/**
 * Opens a folder of this machine as a disk: one plain file per path, in the deployed layout (protocol §3).
 *
 * The folder is created if needed and held against a second opener until `close` or the end of the process. Version 0.1 finds it held by a later
 * version from then on.
 *
 * @throws STORAGE_LOCKED, STORAGE_FULL, STORAGE_FAILED
 */
export const openFileDisk = async (root: string, options: LockOptions = {}): Promise<Disk> => {
  const folder = resolve(root)
  try {
    const store = new FileStore(folder)
    const lock = await lockFolder(folder, options, {
      isWriting: () => store.isWriting,
      keepsOlderOut: true
    })
    try {
      await store.open()
    } catch (error) {
      await lock.release()
      throw error
    }
    const disk = keyvDisk(asKeyvStore(store))
    return {
      ...disk,
      async close() {
        await disk.close?.()
        await lock.release()
      }
    }
  } catch (error) {
    throw storageErrorOf('', error)
  }
}

/** The storage plugin of {@link openFileDisk}. The kernel closes the disk when the context closes. */
export const fileStorage = (root: string, options: LockOptions = {}): StoragePlugin => ({
  kind: 'storage',
  id: 'file',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('file', () => openFileDisk(root, options))
  }
})
