import { WalletError } from '../errors/wallet-error.ts'
import type { Clock } from '../io/io.ts'
import type { Disk } from './disk.ts'

/** What a disk with a deadline needs. */
export interface DiskDeadline {
  readonly clock: Clock
  /** Called once, when a write was not answered and the disk takes no more. */
  onClosed(error: WalletError<'STORAGE_TIMEOUT'>): void
}

/**
 * A disk that is not waited for without an end. A call ends with STORAGE_TIMEOUT after 60 to 90 seconds in which no call of
 * its kind was answered; while others of its kind are, as on a slow disk with a long queue, it has 5 minutes.
 *
 * Whether a write that was not answered is made is unknown, and it may still be made late. So that it never lands on
 * something newer, the disk then refuses every further write; reads go on. Only `close` lets go of the files, after the
 * late write has ended: until then nobody else can open them.
 *
 * One timer serves all calls and stands only while there are some. It counts ticks in place of time, and the next one is set
 * after the event loop has run, so that a machine that slept or was busy does not take its own absence for a silence.
 */
export const diskWithDeadline = (disk: Disk, { clock, onClosed }: DiskDeadline): Disk => {
  const pending = new Set<Call>()
  const hasAnswered = { read: false, write: false }
  let lateWrites = 0
  let isClosed = false
  let cancel: (() => void) | undefined

  const tick = (): void => {
    for (const call of pending) {
      call.ticks += 1
      if (call.ticks >= (hasAnswered[kindOf(call)] ? MAX_TICKS : SILENT_TICKS)) giveUp(call)
    }
    hasAnswered.read = false
    hasAnswered.write = false
    void clock.turn().then(() => {
      cancel = undefined
      setTimer()
    })
  }
  const setTimer = (): void => {
    if (pending.size > 0) cancel ??= clock.after(TICK_MS, tick)
  }
  const giveUp = (call: Call): void => {
    const { path, what } = call
    pending.delete(call)
    const error = new WalletError('STORAGE_TIMEOUT', { path, what })
    if (what !== 'read') {
      lateWrites += 1
      if (!isClosed) onClosed(error)
      isClosed = true
    }
    call.reject(error)
  }
  const waitFor = <T>(what: Call['what'], path: string, run: () => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const call: Call = { what, path, ticks: 0, reject }
      const end = (): void => {
        if (pending.delete(call)) hasAnswered[kindOf(call)] = true
        else if (what !== 'read') lateWrites -= 1
      }
      pending.add(call)
      setTimer()
      run().then(
        answer => {
          end()
          resolve(answer)
        },
        (error: unknown) => {
          end()
          reject(error)
        }
      )
    })
  const write = (path: string, run: () => Promise<void>): Promise<void> =>
    isClosed
      ? Promise.reject(new WalletError('STORAGE_TIMEOUT', { path, what: 'later write' }))
      : waitFor('write', path, run)

  const { getSlice } = disk
  return Object.freeze({
    getText: (path: string) => waitFor('read', path, () => disk.getText(path)),
    ...(getSlice && {
      getSlice: (path: string, start: number, end: number) =>
        waitFor('read', path, () => getSlice(path, start, end))
    }),
    setText: (path: string, text: string) => write(path, () => disk.setText(path, text)),
    delete: (path: string) => write(path, () => disk.delete(path)),
    list: (folder: string) => waitFor('read', folder, () => disk.list(folder)),
    async close() {
      const isStuck = lateWrites > 0
      const closed = waitFor('close', '', async () => disk.close?.())
      if (!isStuck) return closed.finally(() => cancel?.())
      closed.catch(() => {})
      throw new WalletError('STORAGE_TIMEOUT', { path: '', what: 'close' })
    }
  })
}

interface Call {
  readonly what: 'read' | 'write' | 'close'
  readonly path: string
  ticks: number
  reject(error: WalletError): void
}

/** A disk that is closed ends its writes first. */
const kindOf = ({ what }: Call): 'read' | 'write' => (what === 'read' ? 'read' : 'write')

const TICK_MS = 30_000
/** A call that begins just before a tick has waited for two whole ones. */
const SILENT_TICKS = 3
const MAX_TICKS = 10
