import { type Disk, Mutex, type StoragePlugin, WalletError } from 'holdfast/plugin'

/** Makes one path of a disk what it is on another. */
const copy = async (path: string, from: Disk, to: Disk): Promise<void> => {
  const text = await from.getText(path)
  if (text === undefined) await to.delete(path)
  else if ((await to.getText(path)) !== text) await to.setText(path, text)
}

/** Makes the second disk like the first: one that is new, or was away, is filled, and what was deleted meanwhile goes. */
const align = async (first: Disk, second: Disk): Promise<void> => {
  const [wanted, found] = [await first.list(''), await second.list('')]
  if (wanted.length === 0 && found.length > 0)
    throw new WalletError('STORAGE_FAILED', {
      path: '',
      reason: 'the first disk is empty, and the second is not'
    })
  for (const path of new Set([...wanted, ...found])) await copy(path, first, second)
}

/** A disk that writes to two others. A write is done once both have it; where one fails, both keep the old text. */
export const twoDisks = async (first: Disk, second: Disk): Promise<Disk> => {
  await align(first, second)
  // One change at a time, so that both disks see them in one order.
  const changes = new Mutex()
  const change = (path: string, make: (disk: Disk) => Promise<void>): Promise<void> =>
    changes.run(async () => {
      await make(second)
      await make(first).catch(async error => {
        await copy(path, first, second).catch(() => {})
        throw error
      })
    })
  return {
    getText: path => first.getText(path),
    list: folder => first.list(folder),
    setText: (path, text) => change(path, disk => disk.setText(path, text)),
    delete: path => change(path, disk => disk.delete(path)),
    async close() {
      await changes.settled()
      const outcomes = await Promise.allSettled([first.close?.(), second.close?.()])
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    }
  }
}

/**
 * A storage plugin that keeps everything on two disks, such as a folder of this machine and one of a stick: if one is lost, the
 * other one has all that was ever said to be saved. If the first is lost, name the other one first.
 *
 * @param open - opens both disks, the one to read from first
 */
export const twoDiskStorage = (open: () => Promise<readonly [Disk, Disk]>): StoragePlugin => ({
  kind: 'storage',
  id: 'two-disks',
  apply({ hooks }) {
    hooks.openDisk.tapPromise('two-disks', async () => twoDisks(...(await open())))
  }
})
