import type { Disk, StoragePlugin } from '../../kernel/plugin-api.ts'
import { keyvDisk } from './keyv-disk.ts'

/**
 * A disk in memory, for tests, demonstrations and pages that must leave no trace.
 *
 * @param files - the content to begin with; kept and changed, so that a test can look inside
 */
export const memoryDisk = (files: Map<string, string> = new Map()): Disk => keyvDisk(files)

/** The storage plugin of {@link memoryDisk}; everything is gone when the process ends. */
export const memoryStorage = (files?: Map<string, string>): StoragePlugin => ({
  kind: 'storage',
  id: 'memory',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('memory', async () => memoryDisk(files))
  }
})
