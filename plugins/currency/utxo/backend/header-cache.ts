import type { Io, Json } from '../../../../kernel/plugin-api.ts'
import type { BlockWork } from '../params/coin-row.ts'
import { makeYielder } from '../scan/yielder.ts'
import { type BlockHeader, parseHeader } from '../tx/header.ts'
import type { ElectrumCall } from './electrum-connection.ts'
import { ElectrumFault } from './electrum-error.ts'
import { readHeaderHex } from './electrum-replies.ts'

/** The newest block a server knows. */
export interface ChainTip {
  readonly height: number
  readonly header: BlockHeader
}

/** Block headers by height, bounded, and forgotten near the tip when the chain turns out to be another one. */
export class HeaderCache {
  readonly #io: Pick<Io, 'clock' | 'crypto'>
  readonly #work: BlockWork | undefined
  readonly #headers = new Map<number, BlockHeader>()
  #reorgs = 0

  constructor(io: Pick<Io, 'clock' | 'crypto'>, work: BlockWork | undefined) {
    this.#io = io
    this.#work = work
  }

  /** Parses a header. @throws ElectrumFault if it is damaged or lacks work */
  read(hex: string): BlockHeader {
    try {
      return parseHeader(this.#io.crypto.fromHex(hex), this.#work)
    } catch (error) {
      throw new ElectrumFault(error instanceof Error ? error.message : 'The server sent a bad block header')
    }
  }

  /** Takes a new tip in. */
  extend(before: ChainTip | undefined, { height, header }: ChainTip): void {
    if (
      before !== undefined &&
      before.header.hash !== header.hash &&
      header.previous !== before.header.hash
    ) {
      // Another chain, or blocks missed: what is remembered near the tip may be of blocks that are gone.
      this.#reorgs += 1
      const safe = Math.min(before.height, height) - MAX_REORG
      for (const cached of this.#headers.keys()) if (cached > safe) this.#headers.delete(cached)
    }
    this.#headers.set(height, header)
  }

  /** Headers by height; what is not remembered is asked for. @throws ElectrumFault, NETWORK */
  async fetch(
    heights: readonly number[],
    callMany: (calls: readonly ElectrumCall[]) => readonly Promise<Json>[]
  ): Promise<ReadonlyMap<number, BlockHeader>> {
    const reorgs = this.#reorgs
    const found = new Map<number, BlockHeader>()
    const missing: number[] = []
    for (const height of new Set(heights)) {
      const header = this.#headers.get(height)
      if (header === undefined) missing.push(height)
      else found.set(height, header)
    }
    if (missing.length === 0) return found
    const replies = await Promise.all(
      callMany(missing.map(height => ({ method: 'blockchain.block.header', params: [height] })))
    )
    if (this.#headers.size > MAX_HEADERS) this.#headers.clear()
    const yielder = makeYielder(this.#io.clock)
    for (const [at, reply] of replies.entries()) {
      const height = missing[at] as number
      const header = this.read(readHeaderHex(reply))
      // Asked before a reorganisation, it may be of a block that is gone.
      if (reorgs === this.#reorgs) this.#headers.set(height, header)
      found.set(height, header)
      await yielder.breathe()
    }
    return found
  }
}

const MAX_HEADERS = 20_000
const MAX_REORG = 100
