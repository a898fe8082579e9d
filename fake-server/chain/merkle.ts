import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { sha256x2 } from '@scure/btc-signer/utils.js'

/** Hashes from the leaf's sibling up to the one below the root, in display order; `position` tells the sides. */
export interface MerkleBranch {
  readonly branch: readonly string[]
  readonly root: string
}

/** The merkle root of hashes in display order (Bitcoin: an odd last hash is paired with itself). */
export const merkleRootOf = (hashes: readonly string[]): string => merkleBranchOf(hashes, 0).root

/**
 * The proof that the hash at `position` belongs to the root.
 *
 * @throws RangeError if there is no hash at this position
 */
export const merkleBranchOf = (hashes: readonly string[], position: number): MerkleBranch => {
  if (!(position in hashes)) throw new RangeError('There is no hash at this position')
  const branch: string[] = []
  let level = hashes.map(bytesOf)
  let at = position
  while (level.length > 1) {
    branch.push(displayOf(level[at ^ 1] ?? (level[at] as Uint8Array)))
    level = parentsOf(level)
    at >>= 1
  }
  return { branch, root: displayOf(level[0] as Uint8Array) }
}

const parentsOf = (level: readonly Uint8Array[]): Uint8Array[] => {
  const parents: Uint8Array[] = []
  for (let i = 0; i < level.length; i += 2) {
    const left = level[i] as Uint8Array
    parents.push(sha256x2(left, level[i + 1] ?? left))
  }
  return parents
}

const bytesOf = (hash: string): Uint8Array => hexToBytes(hash).reverse()

const displayOf = (hash: Uint8Array): string => bytesToHex(hash.slice().reverse())
