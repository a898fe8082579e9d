import { openBox, openText, sealText } from '../crypto/box.ts'
import { WalletError } from '../errors/wallet-error.ts'
import type { Io } from '../io/io.ts'
import type { Secret } from '../state/secret.ts'
import type { Box } from '../types/keys.ts'
import type { FileBoxes } from './apply-reply.ts'

/** The boxes of one repo: opening, sealing and checking with its data key. */
export interface RepoBoxes extends FileBoxes {
  /** The text of a file's box. @throws CORRUPT_FILE if it does not open */
  read(path: string, box: Box): string
  /** Tells whether a box opens, as text or not. */
  canOpen(box: Box): boolean
}

/** Makes the boxes of a repo; the key is never kept in the clear. */
export const makeRepoBoxes = (io: Pick<Io, 'crypto' | 'random'>, dataKey: Secret<Uint8Array>): RepoBoxes => ({
  open(box) {
    try {
      return dataKey.use(key => openText(io, key, box))
    } catch {
      return undefined
    }
  },
  seal: text => dataKey.use(key => sealText(io, key, text)),
  read(path, box) {
    try {
      return dataKey.use(key => openText(io, key, box))
    } catch (error) {
      throw new WalletError('CORRUPT_FILE', { path, rule: 'its box does not open' }, error)
    }
  },
  canOpen(box) {
    try {
      dataKey.use(key => openBox(io, key, box)).fill(0)
      return true
    } catch {
      return false
    }
  }
})
