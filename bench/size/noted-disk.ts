import type { Disk, StoragePlugin } from '../../kernel/plugin-api.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { type Moment, momentNow } from '../measure.ts'

/** A folder as storage that tells when the last of its writes was durable. */
export interface NotedDisk {
  readonly plugin: StoragePlugin
  /** Waits until `isTold` is true and no write is on its way; resolves to the moment when the last one was durable. */
  untilDurable(isTold: () => boolean): Promise<Moment>
}

/** Makes a storage plugin over a folder whose writes are followed. */
export const makeNotedDisk = (folder: string): NotedDisk => {
  let inFlight = 0
  let last = momentNow()
  let onEnd = (): void => {}
  const noted = async (write: Promise<void>): Promise<void> => {
    inFlight++
    try {
      await write
    } finally {
      inFlight--
      last = momentNow()
      onEnd()
    }
  }
  const plugin: StoragePlugin = {
    kind: 'storage',
    id: 'noted-file',
    apply({ hooks }) {
      hooks.openDisk.tapPromise('noted-file', async (): Promise<Disk> => {
        const disk = await openFileDisk(folder)
        return {
          ...disk,
          setText: (path, text) => noted(disk.setText(path, text)),
          delete: path => noted(disk.delete(path))
        }
      })
    }
  }
  const untilDurable = (isTold: () => boolean): Promise<Moment> =>
    new Promise(resolve => {
      const look = (): void => {
        if (inFlight > 0 || !isTold()) return
        clearInterval(timer)
        onEnd = () => {}
        resolve(last)
      }
      const timer = setInterval(look, LOOK_MS)
      // Not at once: a store that has more to write begins with it in the same turn.
      onEnd = () => void setImmediate(look)
    })
  return { plugin, untilDurable }
}

const LOOK_MS = 5
