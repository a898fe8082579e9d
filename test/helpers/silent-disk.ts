import type { Disk, StoragePlugin } from '../../kernel/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'

/** A disk in memory that stops answering when a test wants it to. */
export interface SilentDisk extends Disk {
  /** Calls of a kind are not answered from now on, or after some more; what a write was to do is not done yet. */
  silence(kind: 'read' | 'write', after?: number): void
  /** Answers again, but not what waits already. */
  answer(): void
  /** Does late what was asked for meanwhile, answers it, and answers everything from now on. */
  comeBack(): void
  /** How many calls wait for an answer. */
  readonly unanswered: number
  /** Whether it was closed; it closes after its last write, as a folder does that is locked until then. */
  readonly isClosed: boolean
}

/** Makes the disk over `files`, which another disk can open later. */
export const makeSilentDisk = (files: Map<string, string>): SilentDisk => {
  const disk = memoryDisk(files)
  let silent: 'read' | 'write' | undefined
  let left = 0
  const waiting: (() => void)[] = []
  let isClosed = false
  const answer = async <T>(kind: 'read' | 'write', run: () => Promise<T>): Promise<T> => {
    if (silent === kind) left -= 1
    if (silent === kind && left < 0) await new Promise<void>(resolve => waiting.push(resolve))
    return run()
  }
  return {
    getText: path => answer('read', () => disk.getText(path)),
    setText: (path, text) => answer('write', () => disk.setText(path, text)),
    delete: path => answer('write', () => disk.delete(path)),
    list: folder => answer('read', () => disk.list(folder)),
    close: () =>
      answer('write', async () => {
        isClosed = true
      }),
    silence(kind, after = 0) {
      silent = kind
      left = after
    },
    answer() {
      silent = undefined
    },
    comeBack() {
      silent = undefined
      for (const resolve of waiting.splice(0)) resolve()
    },
    get unanswered() {
      return waiting.length
    },
    get isClosed() {
      return isClosed
    }
  }
}

/** The storage plugin of a disk. */
export const storageOf = (disk: Disk): StoragePlugin => ({
  kind: 'storage',
  id: 'silent',
  apply: ({ hooks }) => hooks.openDisk.tapPromise('silent', async () => disk)
})
