import type { Disk } from '../io/disk.ts'
import type { Clock } from '../io/io.ts'
import type { KeyRange, Store, StoreChange } from '../io/store.ts'
import { compact } from './compact.ts'
import { WalletError } from './errors.ts'

/** The options of a disk with a deadline. */
export interface DiskDeadline {
  readonly clock: Clock
  /** Called once, when a write was not answered and the disk takes no more. */
  onClosed(error: WalletError<'STORAGE_TIMEOUT'>): void
}

/**
 * A disk that is not waited for without an end. A call ends with STORAGE_TIMEOUT after 60 to 90 seconds in which no call of
 * its kind was answered; while others of its kind are, as on a slow disk with a long queue, it has 5 minutes.
 *
 * A write that was not answered may still be made late. So that it never overwrites something newer, the disk then refuses
 * every further write; reads go on. A disk that is closed meanwhile is closed only when the late write has ended, and
 * releases its files then: until then no other process can open them.
 */
export const diskWithDeadline = (disk: Disk, options: DiskDeadline): Disk => {
  const { read, write, close } = deadlinesOf(disk, options)
  const { getSlice } = disk
  return Object.freeze({
    getText: (path: string) => read(path, () => disk.getText(path)),
    ...compact({
      getSlice:
        getSlice &&
        ((path: string, start: number, end: number) => read(path, () => getSlice(path, start, end)))
    }),
    setText: (path: string, text: string) => write(path, () => disk.setText(path, text)),
    delete: (path: string) => write(path, () => disk.delete(path)),
    list: (folder: string) => read(folder, () => disk.list(folder)),
    close
  })
}

/** A store that is not waited for without an end, as {@link diskWithDeadline}. */
export const storeWithDeadline = (store: Store, options: DiskDeadline): Store => {
  const { read, write, close } = deadlinesOf(store, options)
  return Object.freeze({
    getMany: (keys: readonly Uint8Array[]) => read('', () => store.getMany(keys)),
    batch: (changes: readonly StoreChange[]) => write('', () => store.batch(changes)),
    keys: (range: KeyRange) => read('', () => store.keys(range)),
    close
  })
}

interface Deadlines {
  read<T>(path: string, run: () => Promise<T>): Promise<T>
  write(path: string, run: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

const deadlinesOf = (medium: { close?(): Promise<void> }, { clock, onClosed }: DiskDeadline): Deadlines => {
  const calls = new DiskCalls(clock)
  let isClosed = false
  calls.onLateWrite = error => {
    if (!isClosed) onClosed(error)
    isClosed = true
  }
  const close = (): Promise<void> => calls.wait('close', '', async () => medium.close?.())
  return {
    read: (path, run) => calls.wait('read', path, run),
    async write(path, run) {
      if (isClosed) throw new WalletError('STORAGE_TIMEOUT', { path, what: 'later write' })
      return calls.wait('write', path, run)
    },
    async close() {
      if (calls.lateWrites === 0) return close().finally(() => calls.stop())
      calls.onLanded = () => {
        calls.onLanded = () => {}
        close().catch(() => {})
      }
      throw new WalletError('STORAGE_TIMEOUT', { path: '', what: 'close' })
    }
  }
}

interface Call {
  readonly what: 'read' | 'write' | 'close'
  readonly path: string
  ticks: number
  reject(error: WalletError): void
}

/**
 * The calls of a disk that wait for an answer.
 *
 * One timer serves all, and none is set while nothing waits. It counts ticks in place of time, and the next one is set after
 * the event loop has run, so that a machine that slept or was busy does not take its own absence for a silence.
 */
class DiskCalls {
  /** Writes that were given up and have not ended. */
  lateWrites = 0
  onLateWrite: (error: WalletError<'STORAGE_TIMEOUT'>) => void = () => {}
  /** Called when the last late write has ended. */
  onLanded: () => void = () => {}
  readonly #clock: Clock
  readonly #pending = new Set<Call>()
  readonly #hasAnswered = { read: false, write: false }
  #cancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws STORAGE_TIMEOUT, or what the call throws */
  wait<T>(what: Call['what'], path: string, run: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const call: Call = { what, path, ticks: 0, reject }
      this.#pending.add(call)
      this.#setTimer()
      run().then(
        answer => {
          this.#end(call)
          resolve(answer)
        },
        (error: unknown) => {
          this.#end(call)
          reject(error)
        }
      )
    })
  }

  stop(): void {
    this.#cancel?.()
  }

  #end(call: Call): void {
    if (this.#pending.delete(call)) this.#hasAnswered[kindOf(call)] = true
    else if (call.what !== 'read') {
      this.lateWrites -= 1
      if (this.lateWrites === 0) this.onLanded()
    }
  }

  #setTimer(): void {
    if (this.#pending.size > 0) this.#cancel ??= this.#clock.after(TICK_MS, () => this.#tick())
  }

  #tick(): void {
    for (const call of this.#pending) {
      call.ticks += 1
      if (call.ticks >= (this.#hasAnswered[kindOf(call)] ? MAX_TICKS : SILENT_TICKS)) this.#giveUp(call)
    }
    this.#hasAnswered.read = false
    this.#hasAnswered.write = false
    void this.#clock.turn().then(() => {
      this.#cancel = undefined
      this.#setTimer()
    })
  }

  #giveUp(call: Call): void {
    const { path, what } = call
    this.#pending.delete(call)
    const error = new WalletError('STORAGE_TIMEOUT', { path, what })
    if (what !== 'read') {
      this.lateWrites += 1
      this.onLateWrite(error)
    }
    call.reject(error)
  }
}

/** A disk that is closed ends its writes first. */
const kindOf = ({ what }: Call): 'read' | 'write' => (what === 'read' ? 'read' : 'write')

const TICK_MS = 30_000
/** A call that begins just before a tick has waited for two whole ones. */
const SILENT_TICKS = 3
const MAX_TICKS = 10
