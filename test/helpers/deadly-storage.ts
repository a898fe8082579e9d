import type { Disk, StoragePlugin, Store } from '../../kernel/index.ts'
import { storeDisk } from '../../kernel/store/store-disk.ts'
import { kindOf, type Medium, openMedium, storageOn, storeUnder } from './media.ts'

/** Which operation of a disk, or batch of a store, kills the process, and when. */
export interface Death {
  /** From 1; 0 to live. */
  readonly killAt: number
  /** Before the operation begins, while it goes on, or when it is durable and has not been acknowledged. */
  readonly moment: 'after' | 'before' | 'during'
}

/** A storage plugin that kills its own process, and when it begins and ends to do so. */
export interface DeadlyStorage {
  readonly plugin: StoragePlugin
  /** Operations before it is armed harm nobody. */
  isArmed: boolean
}

/** Makes the plugin over a medium: a write, deletion or batch of it ends the process without warning. */
export const deadlyStorage = (medium: Medium, { killAt, moment }: Death): DeadlyStorage => {
  let count = 0
  const die = (): void => void process.kill(process.pid, 'SIGKILL')
  const deadly = async (operation: () => Promise<void>): Promise<void> => {
    if (!storage.isArmed) return operation()
    count += 1
    if (count !== killAt) return operation()
    if (moment === 'before') die()
    if (moment === 'during') setImmediate(die)
    await operation()
    die()
  }
  const open = async (): Promise<Disk> => {
    const disk = await openMedium(medium)
    const store = storeUnder(disk)
    if (store !== undefined) return storeDisk(deadlyStore(store, deadly))
    return {
      ...disk,
      setText: (path, text) => deadly(() => disk.setText(path, text)),
      delete: path => deadly(() => disk.delete(path))
    }
  }
  const storage: DeadlyStorage = { isArmed: false, plugin: storageOn(kindOf(medium), open) }
  return storage
}

const deadlyStore = (store: Store, deadly: (operation: () => Promise<void>) => Promise<void>): Store => ({
  getMany: keys => store.getMany(keys),
  batch: changes => deadly(() => store.batch(changes)),
  keys: range => store.keys(range),
  close: () => store.close()
})
