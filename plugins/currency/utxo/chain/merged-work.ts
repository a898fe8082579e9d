import { hexOf, hexOfReversed, sha256Twice } from './transaction.ts'

/**
 * The work of another chain behind a header (AuxPoW): the miner put the block's name into the coinbase of a block of that chain.
 * Hashes as shown.
 */
export interface MergedWork {
  /** 80 bytes, whose hash is the work. */
  readonly parent: Uint8Array
  readonly coinbase: Uint8Array
  /** Of the first input of the coinbase. */
  readonly script: Uint8Array
  /** From the coinbase up to the Merkle root of the parent. */
  readonly branch: readonly Uint8Array[]
  readonly branchIndex: number
  /** From the block up to the root that stands in the coinbase: there may be other chains beside it. */
  readonly chainBranch: readonly Uint8Array[]
  readonly chainIndex: number
  /** Of the whole header, the first 80 bytes included. */
  readonly length: number
}

/** The version bit of a header that another chain's work stands behind. */
const HAS_MERGED_WORK = 0x100
const PLAIN = 80
/** Of the coinbase of another chain, which pays a pool. */
const MAX_PART = 100_000
const MAX_BRANCH = 30

/**
 * Reads the work behind a header of Dogecoin's kind; undefined if it has none but its own.
 *
 * The coinbase stands there without witnesses (`SERIALIZE_TRANSACTION_NO_WITNESS` of Dogecoin Core): one with the marker of
 * witnesses, which is a list of no inputs, is refused.
 *
 * @throws TypeError if it is cut off, too large, or its coinbase has no input
 */
export const readMergedWork = (bytes: Uint8Array): MergedWork | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if ((view.getUint32(0, true) & HAS_MERGED_WORK) === 0) return undefined
  let at = PLAIN
  const take = (length: number): Uint8Array => {
    if (length > MAX_PART || at + length > bytes.length) throw new TypeError(CUT_OFF)
    at += length
    return bytes.subarray(at - length, at)
  }
  const count = (): number => {
    const [first = 0] = take(1)
    if (first < 0xfd) return first
    const size = first === 0xfd ? 2 : 4
    if (first === 0xff) throw new TypeError(CUT_OFF)
    return take(size).reduceRight((sum, byte) => sum * 256 + byte, 0)
  }
  const hashes = (): readonly Uint8Array[] => {
    const length = count()
    if (length > MAX_BRANCH) throw new TypeError('The work of a block header has too long a branch')
    return Array.from({ length }, () => take(32))
  }
  const number = (): number => take(4).reduceRight((sum, byte) => sum * 256 + byte, 0)
  take(4)
  let script: Uint8Array | undefined
  for (let left = count(); left > 0; left--) {
    take(36)
    const read = take(count())
    script ??= read
    take(4)
  }
  if (script === undefined) throw new TypeError('The work of a block header has a coinbase without inputs')
  for (let left = count(); left > 0; left--) {
    take(8)
    take(count())
  }
  take(4)
  const coinbase = bytes.subarray(PLAIN, at)
  // The name of the parent, which follows from its header.
  take(32)
  const branch = hashes()
  const branchIndex = number()
  const chainBranch = hashes()
  const chainIndex = number()
  const parent = take(PLAIN)
  return { parent, coinbase, script, branch, branchIndex, chainBranch, chainIndex, length: at }
}

const CUT_OFF = 'The work of a block header is cut off'

/**
 * Checks that a block of another chain names this one, as `auxpow.cpp` of Dogecoin Core does it; how much work that block has is
 * for the caller to weigh.
 *
 * @param chainId - which both the version and the place in the coinbase's tree follow from: one block can stand behind no two blocks of one chain
 * @throws TypeError
 */
export const checkMergedWork = (header: Uint8Array, merged: MergedWork, chainId: number): void => {
  const { parent, coinbase, script, branch, branchIndex, chainBranch, chainIndex } = merged
  if (chainIdOf(header) !== chainId) throw refused('is of another chain')
  if (chainIdOf(parent) === chainId) throw refused('is of the same chain')
  if (branchIndex !== 0) throw refused('is in no coinbase')
  const root = rootOf(sha256Twice(coinbase), branch, 0)
  if (hexOfReversed(root) !== hexOfReversed(parent.subarray(36, 68)))
    throw refused('is not in the block that it names')
  const named = hexOfReversed(rootOf(sha256Twice(header.subarray(0, PLAIN)), chainBranch, chainIndex))
  const text = hexOf(script)
  const place = placeOf(text, named)
  if (place === undefined) throw refused('does not name the block')
  const rest = text.slice(place + named.length)
  if (rest.length < 16) throw refused('does not say where the block stands')
  if (numberOf(rest.slice(0, 8)) !== 2 ** chainBranch.length) throw refused('has another tree than it says')
  const nonce = numberOf(rest.slice(8, 16))
  if (chainIndex !== expectedIndex(nonce, chainId, chainBranch.length))
    throw refused('is at another place than it must be')
}

const refused = (rule: string): TypeError => new TypeError(`The work of a block header ${rule}`)

const chainIdOf = (header: Uint8Array): number => (header[2] ?? 0) + (header[3] ?? 0) * 256

/** Where the root ends up in the script, in hex letters: behind the mark, which stands there once, or near the beginning. */
const placeOf = (script: string, root: string): number | undefined => {
  const marks = placesOf(script, MARK)
  const found = placesOf(script, root)[0]
  if (found === undefined || marks.length > 1) return undefined
  if (marks.length === 0) return found <= 40 ? found : undefined
  return marks[0] === found - MARK.length ? found : undefined
}

const MARK = 'fabe6d6d'

const placesOf = (script: string, part: string): readonly number[] => {
  const places: number[] = []
  for (let at = script.indexOf(part); at >= 0; at = script.indexOf(part, at + 1))
    if (at % 2 === 0) places.push(at)
  return places
}

const rootOf = (leaf: Uint8Array, branch: readonly Uint8Array[], index: number): Uint8Array => {
  let node = leaf
  for (const [level, sibling] of branch.entries()) {
    const pair = new Uint8Array(64)
    const isRight = ((index >>> level) & 1) === 1
    pair.set(isRight ? sibling : node)
    pair.set(isRight ? node : sibling, 32)
    node = sha256Twice(pair)
  }
  return node
}

/** The place of a chain in a tree of so many levels, by the generator of `CAuxPow::getExpectedIndex`. */
const expectedIndex = (nonce: number, chainId: number, levels: number): number => {
  const next = (value: number): number => (Math.imul(value, 1103515245) + 12345) >>> 0
  return next((next(nonce) + chainId) >>> 0) % 2 ** levels
}

/** Four bytes of hex, the lowest first. */
const numberOf = (hex: string): number => {
  let sum = 0
  for (let at = 3; at >= 0; at--) sum = sum * 256 + Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16)
  return sum
}
