import { WalletError } from '../../kernel/base/errors.ts'
import type { Disk } from '../../kernel/io/disk.ts'

/**
 * What happens to one write.
 *
 * `lost`, `torn`, `empty`, `gone` and `late` end the process there: the write is not made, partly made, made as an empty
 * text, takes the old text away and does not bring the new one, or is made but never answered; nothing works
 * after it. `full` is STORAGE_FULL once; then it goes on.
 */
export type FaultKind = 'lost' | 'torn' | 'empty' | 'late' | 'full' | 'gone'

/** What the loops over all faults try; `gone` is what only the rename of a careless disk does. */
export const FAULT_KINDS: readonly FaultKind[] = ['lost', 'torn', 'empty', 'late', 'full']

/** The fault and the write that it hits; the first write is number 1. Deletions are writes too. */
export interface Fault {
  readonly at: number
  readonly kind: FaultKind
  /** The share of a torn text that is there, from 0 to 1; half if left out. */
  readonly share?: number
}

/** A disk in memory whose files outlive it, that fails at one given write. */
export interface FaultDisk extends Disk {
  /** How many writes were tried. */
  readonly writeCount: number
  /** Whether the fault has struck; a suite must check this, or it may test nothing. */
  readonly hasFired: boolean
  /** Whether the process has ended there. */
  readonly isDown: boolean
  /** Plans a fault in the place of the last one; `at` counts the writes from now on. */
  strike(fault: Fault): void
  /** Ends the process between two writes. */
  cutPower(): void
}

/** Makes the disk over `files`, which a test opens again with a fresh disk after the crash. */
export const makeFaultDisk = (files: Map<string, string>, first?: Fault): FaultDisk => {
  let fault = first
  let writeCount = 0
  let hasFired = false
  let isDown = false

  const checkUp = (): void => {
    if (isDown) throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the power is off' })
  }
  const write = (path: string, text: string | undefined): void => {
    checkUp()
    writeCount += 1
    const kind = fault !== undefined && writeCount === fault.at ? fault.kind : undefined
    if (kind !== undefined) hasFired = true
    if (kind === 'full') throw new WalletError('STORAGE_FULL', { path })
    if (kind === 'torn' && text !== undefined)
      files.set(path, text.slice(0, text.length * (fault?.share ?? 0.5)))
    else if (kind === 'empty' && text !== undefined) files.set(path, '')
    else if (kind === 'gone') files.delete(path)
    else if (kind !== 'lost') text === undefined ? files.delete(path) : files.set(path, text)
    if (kind !== undefined) isDown = true
    checkUp()
  }

  return {
    async getText(path) {
      checkUp()
      return files.get(path)
    },
    async setText(path, text) {
      write(path, text)
    },
    async delete(path) {
      write(path, undefined)
    },
    async list(folder) {
      checkUp()
      return [...files.keys()].filter(path => folder === '' || path.startsWith(`${folder}/`)).sort()
    },
    get writeCount() {
      return writeCount
    },
    get hasFired() {
      return hasFired
    },
    get isDown() {
      return isDown
    },
    strike(next) {
      fault = { ...next, at: writeCount + next.at }
      hasFired = false
    },
    cutPower() {
      isDown = true
    }
  }
}
