import type { Disk, StoragePlugin } from '../../kernel/plugin-api.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { type Moment, momentNow } from '../measure.ts'

/** A folder as storage that tells when the last of its writes was durable. */
export interface NotedDisk {
  readonly plugin: StoragePlugin
  /** Waits until `isReported` is true and the disk is still; resolves to the moment when the last write was durable. */
  untilDurable(isReported: () => boolean): Promise<Moment>
}

/** Makes a storage plugin over a folder whose writes are followed. */
export const makeNotedDisk = (folder: string): NotedDisk => {
  let inFlight = 0
  let beganCount = 0
  let last = momentNow()
  const noted = async (write: Promise<void>): Promise<void> => {
    inFlight++
    beganCount++
    try {
      await write
    } finally {
      inFlight--
      last = momentNow()
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
  const untilDurable = (isReported: () => boolean): Promise<Moment> =>
    new Promise(resolve => {
      let seenCount = -1
      let stillLooks = 0
      const timer = setInterval(() => {
        const isStill = inFlight === 0 && beganCount === seenCount && isReported()
        seenCount = beganCount
        stillLooks = isStill ? stillLooks + 1 : 0
        if (stillLooks < ENOUGH_LOOKS) return
        clearInterval(timer)
        resolve(last)
      }, LOOK_MS)
    })
  return { plugin, untilDurable }
}

const LOOK_MS = 5
/** A store seals what it has told of before it begins to write it; how long this waits is not part of what is measured. */
const ENOUGH_LOOKS = 40
