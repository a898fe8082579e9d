import {
  type ChainRefusalReason,
  type Clock,
  type CryptoPort,
  compact,
  makeYielder
} from '../../../../kernel/plugin-api.ts'
import type { NetworkRow } from '../params/coin.ts'
import { type BlockDifficulty, canFollow, requiredBits, workOfBits } from './difficulty.ts'
import { type BlockHeader, checkWork, parseHeader } from './header.ts'

/**
 * A chain of headers that is not believed: `forged` breaks a rule or lacks a checkpoint, `weaker` has less work than the one that
 * is known, `stale` ends too long ago, and `clock` does not fit the clock of this device.
 */
export class ChainRefusal extends Error {
  readonly reason: ChainRefusalReason

  constructor(reason: ChainRefusalReason, message: string) {
    super(message)
    this.name = 'ChainRefusal'
    this.reason = reason
  }
}

/** What a header chain begins with: a checkpoint of the code, a header that two servers gave, or the word of one. */
export type ChainOrigin = 'checkpoint' | 'agreed' | 'claimed'

/**
 * The headers of a network from one that is believed up to the newest, each linked to the one before, with the target that the
 * rules of the network demand and the work for it. Of two chains the one with more work is kept.
 *
 * An entry takes 40 bytes; the oldest ones are dropped beyond {@link MAX_LINKED}.
 */
export class HeaderChain {
  readonly #io: ChainIo
  readonly #network: NetworkRow
  #base: number
  #origin: ChainOrigin
  #count = 0
  #bytes = new Uint8Array(ENTRY * 256)

  constructor(
    io: ChainIo,
    network: NetworkRow,
    { base, origin }: { readonly base: number; readonly origin: ChainOrigin }
  ) {
    this.#io = io
    this.#network = network
    this.#base = base
    this.#origin = origin
  }

  /** The height of the oldest header. */
  get base(): number {
    return this.#base
  }

  /** The height of the newest header; one less than `base` while there is none. */
  get tip(): number {
    return this.#base + this.#count - 1
  }

  get origin(): ChainOrigin {
    return this.#origin
  }

  /** Notes that a second server has the block that the chain begins with. */
  agree(): void {
    if (this.#origin === 'claimed') this.#origin = 'agreed'
  }

  /** The name of a block; undefined outside the chain. */
  hashAt(height: number): string | undefined {
    const at = this.#placeOf(height)
    return at === undefined ? undefined : this.#io.crypto.toHex(this.#bytes.subarray(at, at + HASH))
  }

  /** Time and target of a block; undefined outside the chain. */
  blockAt(height: number): BlockDifficulty | undefined {
    const at = this.#placeOf(height)
    if (at === undefined) return undefined
    const view = new DataView(this.#bytes.buffer, at + HASH, ENTRY - HASH)
    return { time: view.getUint32(0), bits: view.getUint32(4) }
  }

  /** The entries from a height up to another, to be kept. */
  entries(from: number, to: number): Uint8Array {
    const first = Math.max(from, this.#base) - this.#base
    return this.#bytes.slice(
      first * ENTRY,
      Math.max(first, Math.min(to - this.#base + 1, this.#count)) * ENTRY
    )
  }

  /** Appends entries that were kept and are linked already. @throws TypeError if they are no whole ones */
  restore(entries: Uint8Array): void {
    if (entries.length % ENTRY !== 0) throw new TypeError('Stored headers are damaged')
    this.#grow(entries.length / ENTRY)
    this.#bytes.set(entries, this.#count * ENTRY)
    this.#count += entries.length / ENTRY
  }

  /**
   * Takes headers in that follow each other from a height on. Those that are known already are skipped; others replace what is
   * known above them, if they have at least as much work.
   *
   * Of a network with a checkpoint, headers up to it are linked to it and not weighed: it names them.
   *
   * @throws ChainRefusal
   */
  async take(start: number, headers: readonly Uint8Array[]): Promise<void> {
    const yielder = makeYielder(this.#io.clock)
    const branch: (BlockDifficulty & { readonly hash: string })[] = []
    let fork = start - 1
    const blockAt = (height: number): BlockDifficulty | undefined =>
      height > fork ? branch[height - fork - 1] : this.blockAt(height)
    for (const [at, bytes] of headers.entries()) {
      await yielder()
      const height = start + at
      const header = this.#parse(bytes, height)
      if (branch.length === 0 && header.hash === this.hashAt(height)) {
        fork = height
        continue
      }
      const parent = branch.at(-1)?.hash ?? this.hashAt(height - 1)
      if (parent === undefined ? this.#count > 0 || at > 0 : header.previous !== parent)
        throw new ChainRefusal('forged', `Block ${height} does not follow the one before it`)
      if (!this.#isGiven(height)) await this.#check(height, { bytes, header, blockAt })
      // Only a checkpoint stands for work that is not shown.
      else if (this.#origin !== 'checkpoint') await this.#checkWork(height, bytes, header)
      this.#checkPoint(height, header.hash)
      branch.push({ hash: header.hash, time: header.time, bits: header.bits })
    }
    if (branch.length === 0) return
    this.#checkAnchored(fork, start + headers.length - 1)
    this.#weigh(fork, branch)
    this.#count = fork - this.#base + 1
    this.#append(branch)
    this.#trim()
  }

  #parse(bytes: Uint8Array, height: number): BlockHeader {
    try {
      return parseHeader(bytes, compact({ headerForm: this.#network.headerForm }))
    } catch {
      throw new ChainRefusal('forged', `Block ${height} has a header that is damaged`)
    }
  }

  /** True of headers that the checkpoint, or the word for the first one, stands for. */
  #isGiven(height: number): boolean {
    if (this.#origin !== 'checkpoint') return height === this.#base
    return height <= (this.#network.checkpoint?.height ?? 0)
  }

  // What is not weighed, because the checkpoint names it, must reach the checkpoint, and nothing may go around it.
  #checkAnchored(fork: number, end: number): void {
    const checkpoint = this.#network.checkpoint?.height ?? 0
    if (this.#origin !== 'checkpoint' || fork >= checkpoint || this.#base > checkpoint) return
    if (this.#count > 0 || end < checkpoint)
      throw new ChainRefusal('forged', `Another chain from block ${fork + 1} on leaves out the checkpoint`)
  }

  #checkPoint(height: number, hash: string): void {
    const { checkpoint, genesis } = this.#network
    const wanted = height === 0 ? genesis : height === checkpoint?.height ? checkpoint.hash : hash
    if (wanted !== hash) throw new ChainRefusal('forged', `Block ${height} is not the one of the network`)
  }

  async #check(
    height: number,
    {
      bytes,
      header,
      blockAt
    }: {
      readonly bytes: Uint8Array
      readonly header: BlockHeader
      readonly blockAt: (height: number) => BlockDifficulty | undefined
    }
  ): Promise<void> {
    const { linking, work } = this.#network
    const refuse = (rule: string): ChainRefusal => refusalOf(height, rule)
    if (linking === undefined) throw refuse('is of a network whose headers are not linked here')
    const { time, bits } = header
    const earlier: number[] = []
    for (let at = height - 1; at >= height - MEDIAN_OF; at--) {
      const block = blockAt(at)
      if (block === undefined) break
      earlier.push(block.time)
    }
    if (earlier.length === MEDIAN_OF || earlier.length === height) {
      const median = earlier.sort((a, b) => a - b)[Math.floor(earlier.length / 2)] ?? 0
      if (time <= median) throw refuse('is older than the blocks before it')
    }
    const { difficulty } = linking
    const isOpening = difficulty.kind === 'period' && difficulty.isBip94 === true && height % 2016 === 0
    if (isOpening && time < (blockAt(height - 1)?.time ?? 0) - 600)
      throw refuse('goes further back in time than it may')
    const required = requiredBits(linking, blockAt, { height, time })
    const before = blockAt(height - 1)?.bits ?? bits
    if (required === undefined ? !canFollow(linking, before, bits) : required !== bits)
      throw refuse('has not the difficulty that it must have')
    await this.#checkWork(height, bytes, header)
    // A made-up clock may be far from that of a regtest, where nothing depends on it. Elsewhere nobody works for a block that is
    // refused: the clock is wrong. Such a block is no less refused, because its time makes the next ones easier.
    const ahead = time - this.#io.clock.now() / 1000
    if (work !== undefined && ahead > MAX_AHEAD)
      throw new ChainRefusal(
        'clock',
        `Block ${height} has its work, and is ${Math.round(ahead / 3600)} hours ahead of the clock of this device`
      )
  }

  async #checkWork(height: number, bytes: Uint8Array, header: BlockHeader): Promise<void> {
    const { work } = this.#network
    if (typeof work !== 'object') return
    try {
      await checkWork(bytes, header, { work, crypto: this.#io.crypto })
    } catch {
      throw refusalOf(height, 'has not the work that it claims')
    }
  }

  /** @throws ChainRefusal unless the branch has at least the work of what it would replace */
  #weigh(fork: number, branch: readonly BlockDifficulty[]): void {
    if (fork >= this.tip) return
    let lost = 0n
    for (let height = fork + 1; height <= this.tip; height++)
      lost += workOfBits(this.blockAt(height)?.bits ?? 0)
    const won = branch.reduce((sum, { bits }) => sum + workOfBits(bits), 0n)
    if (won < lost)
      throw new ChainRefusal(
        'weaker',
        `Another chain from block ${fork + 1} on has less work than the known one`
      )
  }

  #append(branch: readonly (BlockDifficulty & { readonly hash: string })[]): void {
    this.#grow(branch.length)
    for (const { hash, time, bits } of branch) {
      const at = this.#count++ * ENTRY
      this.#bytes.set(this.#io.crypto.fromHex(hash), at)
      const view = new DataView(this.#bytes.buffer, at + HASH, ENTRY - HASH)
      view.setUint32(0, time)
      view.setUint32(4, bits)
    }
  }

  #grow(more: number): void {
    const needed = (this.#count + more) * ENTRY
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes)
    this.#bytes = grown
  }

  #trim(): void {
    const excess = this.#count - MAX_LINKED
    if (excess <= 0) return
    const dropped = excess + Math.floor(MAX_LINKED / 10)
    this.#bytes = this.#bytes.slice(dropped * ENTRY)
    this.#base += dropped
    this.#count -= dropped
  }

  #placeOf(height: number): number | undefined {
    return height < this.#base || height > this.tip ? undefined : (height - this.#base) * ENTRY
  }
}

const refusalOf = (height: number, rule: string): ChainRefusal =>
  new ChainRefusal('forged', `Block ${height} ${rule}`)

interface ChainIo {
  readonly clock: Pick<Clock, 'monotonic' | 'now' | 'turn'>
  readonly crypto: Pick<CryptoPort, 'fromHex' | 'scrypt' | 'toHex'>
}

/** Most headers of one network that are kept, two years of blocks of ten minutes. */
export const MAX_LINKED = 120_000
const HASH = 32
const ENTRY = HASH + 8
const MEDIAN_OF = 11
/** Seconds that the time of a block may be ahead of the clock. */
const MAX_AHEAD = 7200
