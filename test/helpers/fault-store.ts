import { WalletError } from '../../kernel/base/errors.ts'
import type { KeyRange, Store } from '../../kernel/io/store.ts'
import { textOfKey } from '../../kernel/store/sorted-map.ts'
import { type StoreDisk, storeDisk } from '../../kernel/store/store-disk.ts'
import { type Fault, type FaultDisk, makeFaultDisk } from './fault-disk.ts'

/** The two kinds of media in memory. */
export type MemoryKind = 'disk' | 'store'

/** A disk of texts in memory, or the disk over a store of bytes, that fails at one given write or batch. */
export const makeFaultMedium = (kind: MemoryKind, contents: Map<string, string>, first?: Fault): FaultDisk =>
  kind === 'disk' ? makeFaultDisk(contents, first) : makeFaultStore(contents, first)

/**
 * Makes a store over `contents`, which have a letter for each byte of a key and of a value, and outlive it.
 *
 * A batch is made or not: `torn`, `empty` and `gone` are as `lost`.
 */
const makeFaultStore = (contents: Map<string, string>, first?: Fault): FaultDisk & StoreDisk => {
  let fault = first
  let writeCount = 0
  let hasFired = false
  let isDown = false

  const checkUp = (): void => {
    if (isDown) throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the power is off' })
  }
  const store: Store = {
    async getMany(keys) {
      checkUp()
      return keys.map(key => {
        const value = contents.get(textOfKey(key))
        return value === undefined ? undefined : bytesOfLetters(value)
      })
    },
    async batch(changes) {
      checkUp()
      writeCount += 1
      const kind = fault !== undefined && writeCount === fault.at ? fault.kind : undefined
      if (kind !== undefined) hasFired = true
      if (kind === 'full') throw new WalletError('STORAGE_FULL', { path: '' })
      if (kind === undefined || kind === 'late')
        for (const { key, value } of changes) {
          if (value === undefined) contents.delete(textOfKey(key))
          else contents.set(textOfKey(key), letters(value))
        }
      if (kind !== undefined) isDown = true
      checkUp()
    },
    async keys(range) {
      checkUp()
      return keysWithin([...contents.keys()], range).map(bytesOfLetters)
    },
    close: async () => {}
  }
  return {
    ...storeDisk(store),
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

/** The bytes of a text with a letter for each. */
export const bytesOfLetters = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'))

/** Bytes as a text with a letter for each. */
export const letters = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

const keysWithin = (
  keys: readonly string[],
  { after, before, reverse = false, limit }: KeyRange
): readonly string[] => {
  const [low, high] = [after, before].map(key => key && textOfKey(key))
  const found = keys.filter(key => (low === undefined || key > low) && (high === undefined || key < high))
  found.sort()
  return (reverse ? found.reverse() : found).slice(0, limit)
}
