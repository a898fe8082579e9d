import { WalletError } from '../../kernel/base/errors.ts'
import type { Disk } from '../../kernel/io/disk.ts'

/** Which calls of a disk fail. */
export type ShakyCall = 'get' | 'set' | 'delete'

/** A call that fails: the `at`-th of its kind from now on. With `arrives` it does what it was asked for and fails all the same. */
export interface ShakyFault {
  readonly call: ShakyCall
  readonly at: number
  readonly arrives: boolean
}

/** A disk in memory whose calls take turns of their own, so that they overtake each other, and of which some fail. */
export interface ShakyDisk extends Disk {
  fail(fault: ShakyFault): void
  /** How many calls have failed. */
  readonly failureCount: number
  /** Ends the process: what is on its way does not arrive, and nothing works any more. */
  cutPower(): void
}

/** Makes the disk over `files`; the same `seed` gives the same delays. */
export const makeShakyDisk = (files: Map<string, string>, seed: number): ShakyDisk => {
  let state = seed | 1
  let faults: { readonly call: ShakyCall; left: number; readonly arrives: boolean }[] = []
  let failureCount = 0
  let isDown = false

  const pause = async (): Promise<void> => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    const choice = (state >>> 16) % 8
    for (let i = 0; i < choice % 4; i += 1) await (choice < 4 ? Promise.resolve() : nextTurn())
  }
  const checkUp = (): void => {
    if (isDown) throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the power is off' })
  }
  const strikes = (call: ShakyCall): ShakyFault | undefined => {
    for (const fault of faults) if (fault.call === call) fault.left -= 1
    const found = faults.find(({ left }) => left <= 0)
    if (found === undefined) return undefined
    faults = faults.filter(fault => fault !== found)
    failureCount += 1
    return { call, at: 0, arrives: found.arrives }
  }
  const run = async <T>(call: ShakyCall, runAction: () => T): Promise<T> => {
    await pause()
    checkUp()
    const fault = strikes(call)
    if (fault === undefined || fault.arrives) {
      const result = runAction()
      await pause()
      checkUp()
      if (fault === undefined) return result
    }
    throw new WalletError('STORAGE_FAILED', { path: '', reason: 'a call has failed' })
  }

  return {
    getText: path => run('get', () => files.get(path)),
    setText: (path, text) => run('set', () => void files.set(path, text)),
    delete: path => run('delete', () => void files.delete(path)),
    list: async folder => {
      checkUp()
      return [...files.keys()].filter(path => path.startsWith(`${folder}/`)).sort()
    },
    fail: ({ call, at, arrives }) => void faults.push({ call, left: at, arrives }),
    get failureCount() {
      return failureCount
    },
    cutPower() {
      isDown = true
    }
  }
}

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
