import type { DifficultyRule, LinkRules } from '../params/coin.ts'

/** The part of a header that the targets of later blocks follow from. Time in Unix seconds. */
export interface BlockDifficulty {
  readonly time: number
  /** The target in its compact form. */
  readonly bits: number
}

/** Finds a block below the one that is judged; undefined if it is not known. */
export type BlocksBelow = (height: number) => BlockDifficulty | undefined

/**
 * Returns the compact target that the block at a height must have; undefined if that follows from blocks that are not known.
 *
 * @param time - that the block itself claims, which matters on test networks
 */
export const requiredBits = (
  rules: LinkRules,
  below: BlocksBelow,
  { height, time }: { readonly height: number; readonly time: number }
): number | undefined => {
  const { difficulty, easiestBits, spacing, hasLateBlocks = false } = rules
  const parent = below(height - 1)
  if (difficulty.kind === 'fixed') return easiestBits
  if (parent === undefined) return undefined
  if (difficulty.kind === 'digishield') return digishieldBits(rules, { height, parent, below })
  const isLate = hasLateBlocks && time > parent.time + 2 * spacing
  if (difficulty.kind === 'asert')
    return isLate ? easiestBits : asertBits(difficulty, rules, { height, parent })
  if (height % PERIOD === 0) return periodBits(difficulty, rules, { height, parent, below })
  if (isLate) return easiestBits
  if (!hasLateBlocks) return parent.bits
  // Late blocks do not count: the target is that of the last block that is none.
  let at = height - 1
  for (let block: BlockDifficulty | undefined = parent; block !== undefined; block = below(--at)) {
    if (block.bits !== easiestBits || at % PERIOD === 0) return block.bits
  }
  return undefined
}

/**
 * True if a block can have a target although the blocks that it follows from are not all known: the first of a period is at most four times as
 * easy or as hard as the block before, and one of Dogecoin between three quarters and three halves.
 */
export const canFollow = ({ difficulty }: LinkRules, before: number, bits: number): boolean => {
  const [from, to] = [targetOf(before), targetOf(bits)]
  if (difficulty.kind === 'digishield')
    return to <= (from * 3n) / 2n && to >= targetOf(compactOf((from * 3n) / 4n))
  if (difficulty.kind !== 'period' || difficulty.isBip94 === true) return true
  return to <= from * 4n && to >= targetOf(compactOf(from / 4n))
}

/** Blocks between two changes of the difficulty, on the chains that change it by periods. */
const PERIOD = 2016

/** How many blocks below a block its target can follow from. */
export const lookBackOf = ({ difficulty }: LinkRules): number =>
  difficulty.kind === 'period' ? PERIOD + 1 : difficulty.kind === 'digishield' ? 2 : 1

interface Place {
  readonly height: number
  readonly parent: BlockDifficulty
}

const periodBits = (
  { isFromBefore = false, isBip94 = false }: DifficultyRule & { readonly kind: 'period' },
  { spacing, easiestBits }: LinkRules,
  { height, parent, below }: Place & { readonly below: BlocksBelow }
): number | undefined => {
  const opening = below(height - PERIOD)
  const from = isFromBefore && height > PERIOD ? below(height - PERIOD - 1) : opening
  if (from === undefined || opening === undefined) return undefined
  const aim = PERIOD * spacing
  const span = Math.min(aim * 4, Math.max(Math.floor(aim / 4), parent.time - from.time))
  const before = targetOf(isBip94 ? opening.bits : parent.bits)
  const easiest = targetOf(easiestBits)
  // Litecoin loses the last bit of a target that would not fit into 256 bits on the way.
  const spare = isFromBefore && before >> 235n > 0n ? 1n : 0n
  const next = (((before >> spare) * BigInt(span)) / BigInt(aim)) << spare
  return compactOf(next > easiest ? easiest : next)
}

// DigiShield, as `dogecoin.cpp` of Dogecoin Core has it: an eighth of the deviation counts.
const digishieldBits = (
  { spacing, easiestBits }: LinkRules,
  { height, parent, below }: Place & { readonly below: BlocksBelow }
): number | undefined => {
  const before = below(height - 2)
  if (before === undefined) return undefined
  const deviation = Math.trunc((parent.time - before.time - spacing) / 8)
  const span = Math.min(
    spacing + Math.floor(spacing / 2),
    Math.max(spacing - Math.floor(spacing / 4), spacing + deviation)
  )
  const next = (targetOf(parent.bits) * BigInt(span)) / BigInt(spacing)
  const easiest = targetOf(easiestBits)
  return compactOf(next > easiest ? easiest : next)
}

const asertBits = (
  { bits, height: anchor, parentTime, halfLife }: DifficultyRule & { readonly kind: 'asert' },
  { spacing, easiestBits }: LinkRules,
  { height, parent }: Place
): number => {
  const ahead = BigInt(parent.time - parentTime - spacing * (height - anchor))
  // BigInt division rounds toward zero, as that of C does; the shift rounds down.
  const exponent = (ahead * 65536n) / BigInt(halfLife)
  const shifts = (exponent >> 16n) - 16n
  const part = BigInt.asUintN(16, exponent)
  const curve = 195766423245049n * part + 971821376n * part * part + 5127n * part * part * part
  const scaled = targetOf(bits) * (65536n + ((curve + (1n << 47n)) >> 48n))
  const easiest = targetOf(easiestBits)
  if (shifts > 256n) return easiestBits
  const next = shifts <= 0n ? scaled >> -shifts : scaled << shifts
  if (next > easiest) return easiestBits
  return compactOf(next === 0n ? 1n : next)
}

/** Expands a compact target; zero if it is negative or has more than 256 bits, so that no hash meets it. */
export const targetOf = (bits: number): bigint => {
  const exponent = bits >>> 24
  const mantissa = BigInt(bits & 0x7fffff)
  if ((bits & 0x800000) !== 0) return 0n
  const target =
    exponent <= 3 ? mantissa >> BigInt(8 * (3 - exponent)) : mantissa << BigInt(8 * (exponent - 3))
  return target >> 256n > 0n ? 0n : target
}

/** Writes a target in its compact form, which keeps its first 15 to 23 bits. */
export const compactOf = (target: bigint): number => {
  let size = Math.ceil(target.toString(16).length / 2)
  let mantissa = Number(size <= 3 ? target << BigInt(8 * (3 - size)) : target >> BigInt(8 * (size - 3)))
  if ((mantissa & 0x800000) !== 0) {
    mantissa >>= 8
    size += 1
  }
  return size * 0x1000000 + mantissa
}

/** The number of hashes that a block of a compact target took on average. */
export const workOfBits = (bits: number): bigint => {
  const target = targetOf(bits)
  return target === 0n ? 0n : (1n << 256n) / (target + 1n)
}
