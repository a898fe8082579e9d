import type { NETWORK } from '@scure/btc-signer'

/** Address prefixes of Bitcoin's regression test network, in the form btc-signer takes. */
export const REGTEST: typeof NETWORK = { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef }

/** The compact proof-of-work target of every regtest block: half of all hashes meet it. */
export const REGTEST_BITS = 0x207fffff

/** The first block of regtest: `[80 byte header, its only transaction]`, in hex (Bitcoin Core, chainparams.cpp). */
export const GENESIS: { readonly header: string; readonly transaction: string; readonly hash: string } = {
  header:
    '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e' +
    '67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000',
  transaction:
    '01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d01' +
    '04455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f6620736563' +
    '6f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a671' +
    '30b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d' +
    '5fac00000000',
  hash: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'
}

/** Blocks that must be on top of a coinbase before it can be spent, its own included. */
export const COINBASE_MATURITY = 100

/** Native units that can ever exist; no output may be larger. */
export const MAX_MONEY = 2_100_000_000_000_000n

/** Blocks between two halvings of the subsidy on regtest. */
const HALVING_INTERVAL = 150

/** Most weight units of a block, less what Bitcoin Core keeps free for the coinbase. */
export const MAX_BLOCK_WEIGHT = 3_996_000

/** What Bitcoin Core's default policy asks of a transaction it relays (policy.h). */
export const POLICY = {
  maxWeight: 400_000,
  minBaseSize: 65,
  maxInputScript: 1650,
  maxDataScript: 83,
  dustRelayPerKvB: 3000n,
  relayPerKvB: 1000n,
  maxAncestors: 25,
  maxReplaced: 100
} as const

/** The new native units that the block at `height` may create. */
export const subsidyAt = (height: number): bigint => {
  const halvings = Math.floor(height / HALVING_INTERVAL)
  return halvings >= 64 ? 0n : 5_000_000_000n >> BigInt(halvings)
}
