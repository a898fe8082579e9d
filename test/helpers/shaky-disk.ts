import { compact } from '../../kernel/base/compact.ts'
import { WalletError } from '../../kernel/base/errors.ts'
import type { Disk } from '../../kernel/io/disk.ts'
import type { Store } from '../../kernel/io/store.ts'
import { storeDisk } from '../../kernel/store/store-disk.ts'
import { storeUnder } from './media.ts'

/** Which calls of a disk fail. Of a store, `get` is a read of values, `set` a batch and `delete` a page of keys. */
export type ShakyCall = 'get' | 'set' | 'delete'

/**
 * A call that fails: the `at`-th of its kind from now on. With `arrives` it does what it was asked for and fails all the same; with
 * `isFull` it does nothing for want of room. Of a store, every other batch that is not made fails as one that may have been made.
 */
export interface ShakyFault {
  readonly call: ShakyCall
  readonly at: number
  readonly arrives: boolean
  readonly isFull?: boolean
}

/** A disk, or the disk over a store, whose calls take turns of their own, so that they overtake each other, and of which some fail. */
export interface ShakyDisk extends Disk {
  fail(fault: ShakyFault): void
  /** Takes back the faults that have not come yet. */
  calm(): void
  /** How many calls have failed. */
  readonly failureCount: number
  /** Ends the process: what is on its way in memory does not arrive, and nothing works any more. Resolves when nothing is on its way. */
  cutPower(): Promise<void>
}

/** Makes the disk over `files`; the same `seed` gives the same delays. */
export const makeShakyDisk = (files: Map<string, string>, seed: number): ShakyDisk => {
  const shaking = makeShaking(seed)
  const { call, checkUp } = shaking
  return shakyOf(shaking, {
    getText: path => call('get', () => files.get(path)),
    setText: (path, text) => call('set', () => void files.set(path, text)),
    delete: path => call('delete', () => void files.delete(path)),
    list: async folder => {
      checkUp()
      return [...files.keys()].filter(path => path.startsWith(`${folder}/`)).sort()
    }
  })
}

/** Makes the disk over another one. Without a seed, no call waits. */
export const shakyDiskOver = (disk: Disk, seed?: number): ShakyDisk => {
  const shaking = makeShaking(seed)
  const { call, checkUp } = shaking
  const store = storeUnder(disk)
  if (store !== undefined) return shakyOf(shaking, storeDisk(shakyStore(store, call)))
  const { getSlice } = disk
  return shakyOf(shaking, {
    ...compact({
      getSlice:
        getSlice &&
        ((path: string, start: number, end: number) => call('get', () => getSlice(path, start, end)))
    }),
    getText: path => call('get', () => disk.getText(path)),
    setText: (path, text) => call('set', () => disk.setText(path, text)),
    delete: path => call('delete', () => disk.delete(path)),
    list: async folder => {
      checkUp()
      return disk.list(folder)
    },
    close: async () => disk.close?.()
  })
}

const shakyOf = (shaking: Shaking, disk: Disk): ShakyDisk => ({
  ...disk,
  fail: shaking.fail,
  calm: shaking.calm,
  get failureCount() {
    return shaking.failureCount
  },
  cutPower: shaking.cutPower
})

const shakyStore = (store: Store, call: Shaking['call']): Store => ({
  getMany: keys => call('get', () => store.getMany(keys)),
  batch: changes =>
    call(
      'set',
      () => store.batch(changes),
      ({ arrives, at }) => arrives || at % 2 === 0
    ),
  keys: range => call('delete', () => store.keys(range)),
  close: () => store.close()
})

interface Shaking extends Pick<ShakyDisk, 'calm' | 'cutPower' | 'fail' | 'failureCount'> {
  checkUp(): void
  /** @param mayBeSaved - whether a failure says that the change may be there */
  call<T>(
    kind: ShakyCall,
    action: () => T | Promise<T>,
    mayBeSaved?: (fault: ShakyFault) => boolean
  ): Promise<T>
}

const makeShaking = (seed: number | undefined): Shaking => {
  let state = (seed ?? 0) | 1
  let faults: { readonly fault: ShakyFault; left: number }[] = []
  let failureCount = 0
  let isDown = false
  const inFlight = new Set<Promise<unknown>>()

  const pause = async (): Promise<void> => {
    if (seed === undefined) return
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    const choice = (state >>> 16) % 8
    for (let i = 0; i < choice % 4; i += 1) await (choice < 4 ? Promise.resolve() : nextTurn())
  }
  const checkUp = (): void => {
    if (isDown) throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the power is off' })
  }
  const faultOf = (kind: ShakyCall): ShakyFault | undefined => {
    for (const planned of faults) if (planned.fault.call === kind) planned.left -= 1
    const found = faults.find(({ fault, left }) => fault.call === kind && left <= 0)
    if (found === undefined) return undefined
    faults = faults.filter(planned => planned !== found)
    failureCount += 1
    return found.fault
  }
  const finished = async <T>(done: Promise<T>): Promise<T> => {
    inFlight.add(done)
    try {
      return await done
    } finally {
      inFlight.delete(done)
    }
  }
  return {
    checkUp,
    async call(kind, action, mayBeSaved = () => false) {
      await pause()
      checkUp()
      const fault = faultOf(kind)
      if (fault?.isFull === true) throw new WalletError('STORAGE_FULL', { path: '' })
      if (fault === undefined || fault.arrives) {
        const done = action()
        const result = done instanceof Promise ? await finished(done) : done
        await pause()
        checkUp()
        if (fault === undefined) return result
      }
      const unclear = mayBeSaved(fault) ? { mayBeSaved: true as const } : {}
      throw new WalletError('STORAGE_FAILED', { path: '', reason: 'a call has failed', ...unclear })
    },
    fail: fault => void faults.push({ fault, left: fault.at }),
    calm() {
      faults = []
    },
    get failureCount() {
      return failureCount
    },
    async cutPower() {
      isDown = true
      await Promise.allSettled(inFlight)
    }
  }
}

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
