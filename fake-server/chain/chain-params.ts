import type { NETWORK } from '@scure/btc-signer'
import type { PluginId, Txid } from '../../kernel/types/ids.ts'

/** The first block of a network: its header in hex, its only transaction where that is known, and its hash as shown. */
export interface GenesisBlock {
  readonly header: string
  readonly transaction?: string
  readonly hash: string
}

/** How the blocks of a network differ from Bitcoin's. */
export interface BlockForm {
  readonly version?: number
  /** True where the header has the height in place of the nonce. */
  readonly hasHeight?: boolean
  /** What stands behind the first 80 bytes of a header. */
  tailOf?(plain: Uint8Array): Uint8Array
  /** The bytes of a header whose hash names the block. */
  namedBytes?(header: Uint8Array): Uint8Array
}

/** An amount in native units and the script that gets it. */
export interface Payment {
  readonly script: Uint8Array
  readonly amount: bigint
}

/** A coin that is spent: what it pays, and where it stands. */
export interface SpentCoin extends Payment {
  readonly txid: Txid
  readonly index: number
}

/** One network that a fake chain can be: every figure in which it differs from the others. */
export interface ChainNetwork {
  /** The currency that lives on it, as its plugin is called. */
  readonly pluginId: PluginId
  /** Which network of the currency it is like; on `mainnet`, whose blocks cost too much work, they are made without any. */
  readonly name: 'mainnet' | 'regtest'
  /** Of its main unit; for messages. */
  readonly currencyCode: string
  /** Address prefixes as they are written, in the form btc-signer takes. */
  readonly prefixes: typeof NETWORK
  /** Version bytes of script hash addresses that are read besides the one that is written. */
  readonly oldScriptHashes: readonly number[]
  /** Reads the script of an address in a form that only this network has. @throws Error for any other address */
  readAddress?(address: string): Uint8Array
  readonly genesis: GenesisBlock
  readonly blockForm?: BlockForm
  /** False where nodes know no witnesses, and no addresses of theirs. */
  readonly hasSegwit: boolean
  /** Signs payments of p2pkh coins, all of one key, where there is no segwit. @returns the transaction in hex */
  signLegacy?(key: Uint8Array, coins: readonly SpentCoin[], outputs: readonly Payment[]): string
  /** True where signatures have the digest of Bitcoin Cash, and blocks its order of transactions. */
  readonly usesForkId?: boolean
  /** Seconds between two blocks, on average, where they are mined for real. */
  readonly blockSeconds: number
  /** Blocks that must be on top of a coinbase before it can be spent, its own included. */
  readonly coinbaseMaturity: number
  /** The new native units of a block before the first halving. */
  readonly subsidy: bigint
  /** Blocks between two halvings of the subsidy. */
  readonly halvingInterval: number
  /** Native units that can ever exist; no output may be larger. */
  readonly maxMoney: bigint
  /** The least native units for 1000 virtual bytes that nodes relay. */
  readonly relayPerKvB: bigint
  /** Native units for 1000 bytes below which an output is dust. */
  readonly dustRelayPerKvB: bigint
  /** Limits of Dogecoin that follow no fee: less than `least` is dust, and each output below `small` costs so much more. */
  readonly fixedDust?: { readonly least: bigint; readonly small: bigint }
  /** False where nodes keep the first of two payments of a coin, whatever it signals. */
  readonly isReplaceable: boolean
}

/** The compact proof-of-work target of every regtest block: half of all hashes meet it. */
export const REGTEST_BITS = 0x207fffff

/** Most weight units of a block, less what nodes keep free for the coinbase. */
export const MAX_BLOCK_WEIGHT = 3_996_000

/** The default policy of nodes for transactions they relay (Bitcoin Core and its heirs, policy.h). */
export const POLICY = {
  maxWeight: 400_000,
  minBaseSize: 65,
  maxInputScript: 1650,
  maxDataScript: 83,
  maxAncestors: 25,
  maxReplaced: 100
} as const

/** The new native units that the block at `height` may create. */
export const subsidyAt = ({ subsidy, halvingInterval }: ChainNetwork, height: number): bigint => {
  const halvings = Math.floor(height / halvingInterval)
  return halvings >= 64 ? 0n : subsidy >> BigInt(halvings)
}

/** Bitcoin's regression test network (Bitcoin Core, chainparams.cpp). */
export const BITCOIN_REGTEST: ChainNetwork = {
  pluginId: 'bitcoin',
  name: 'regtest',
  currencyCode: 'BTC',
  prefixes: { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
  oldScriptHashes: [],
  genesis: {
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
  },
  hasSegwit: true,
  blockSeconds: 600,
  coinbaseMaturity: 100,
  subsidy: 5_000_000_000n,
  halvingInterval: 150,
  maxMoney: 2_100_000_000_000_000n,
  relayPerKvB: 1000n,
  dustRelayPerKvB: 3000n,
  isReplaceable: true
}

/**
 * Litecoin's regression test network (Litecoin Core 0.21, chainparams.cpp), without the extension blocks of MWEB.
 *
 * The work of its blocks is counted by SHA-256 as on Bitcoin, not by scrypt: wallets do not check it on a network
 * where it costs nothing, and scrypt would make every start of a world slow.
 */
export const LITECOIN_REGTEST: ChainNetwork = {
  pluginId: 'litecoin',
  name: 'regtest',
  currencyCode: 'LTC',
  prefixes: { bech32: 'rltc', pubKeyHash: 0x6f, scriptHash: 0x3a, wif: 0xef },
  oldScriptHashes: [0xc4],
  genesis: {
    header:
      '010000000000000000000000000000000000000000000000000000000000000000000000d9ced4ed1130f7b7faad9be2' +
      '5323ffafa33232a17c3edf6cfd97bee6bafbdd97dae5494dffff7f2000000000',
    transaction:
      '01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4804ffff001d01' +
      '04404e592054696d65732030352f4f63742f32303131205374657665204a6f62732c204170706c65e28099732056697369' +
      '6f6e6172792c2044696573206174203536ffffffff0100f2052a010000004341040184710fa689ad5023690c80f3a49c8f' +
      '13f8d45b8c857fbcbc8bc4a8e4d3eb4b10f4d4604fa08dce601aaf0f470216fe1b51850b4acf21b179c45070ac7b03a9ac' +
      '00000000',
    hash: '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9'
  },
  hasSegwit: true,
  blockSeconds: 150,
  coinbaseMaturity: 100,
  subsidy: 5_000_000_000n,
  halvingInterval: 150,
  maxMoney: 8_400_000_000_000_000n,
  relayPerKvB: 1000n,
  dustRelayPerKvB: 30_000n,
  isReplaceable: false
}
