import type { NETWORK } from '@scure/btc-signer'

/** The first block of a network: the 80 bytes of its header and its only transaction in hex, and its hash as shown. */
export interface GenesisBlock {
  readonly header: string
  readonly transaction: string
  readonly hash: string
}

/** One network that a fake chain can be: every figure in which it differs from the others. */
export interface ChainNetwork {
  /** The currency that lives on it, as its plugin is called. */
  readonly pluginId: string
  /** Of its main unit; for messages. */
  readonly currencyCode: string
  /** Address prefixes as they are written, in the form btc-signer takes. */
  readonly prefixes: typeof NETWORK
  /** Version bytes of script hash addresses that are read besides the one that is written. */
  readonly oldScriptHashes: readonly number[]
  readonly genesis: GenesisBlock
  /** Seconds between two blocks, on average, where they are mined for real. */
  readonly blockSeconds: number
  /** Blocks between two halvings of the subsidy. */
  readonly halvingInterval: number
  /** Native units that can ever exist; no output may be larger. */
  readonly maxMoney: bigint
  /** Native units for 1000 bytes below which an output is dust. */
  readonly dustRelayPerKvB: bigint
  /** False where nodes keep the first of two payments of a coin, whatever it signals. */
  readonly isReplaceable: boolean
}

/** The compact proof-of-work target of every regtest block: half of all hashes meet it. */
export const REGTEST_BITS = 0x207fffff

/** Blocks that must be on top of a coinbase before it can be spent, its own included. */
export const COINBASE_MATURITY = 100

/** Most weight units of a block, less what nodes keep free for the coinbase. */
export const MAX_BLOCK_WEIGHT = 3_996_000

/** What the default policy of nodes asks of a transaction they relay (Bitcoin Core and its heirs, policy.h). */
export const POLICY = {
  maxWeight: 400_000,
  minBaseSize: 65,
  maxInputScript: 1650,
  maxDataScript: 83,
  relayPerKvB: 1000n,
  maxAncestors: 25,
  maxReplaced: 100
} as const

/** The new native units that the block at `height` may create. */
export const subsidyAt = ({ halvingInterval }: ChainNetwork, height: number): bigint => {
  const halvings = Math.floor(height / halvingInterval)
  return halvings >= 64 ? 0n : 5_000_000_000n >> BigInt(halvings)
}
