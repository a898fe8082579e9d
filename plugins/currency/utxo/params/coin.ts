import type { Denomination, PluginId } from '../../../../kernel/plugin-api.ts'

/** How the keys of a wallet are laid out; the wallet's keys name it under `format`. */
export type KeyFormat = 'bip32' | 'bip44' | 'bip49' | 'bip84' | 'bip86'

/** The kinds of output script that this core can pay. */
export type ScriptType = 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr'

/** Version bytes of extended keys (SLIP-132). */
interface ExtendedKeyVersions {
  readonly public: number
  readonly private: number
}

/** How blocks prove their work. */
export interface BlockWork {
  readonly hash: 'sha256' | 'scrypt'
  /** By this number blocks of another chain can name those of this one, and their work then counts here: Dogecoin. */
  readonly mergedChainId?: number
  /** The easiest target that a header may claim. */
  readonly easiest: bigint
}

/** How the target of a block follows from the blocks before it. */
export type DifficultyRule =
  | {
      /** Each 2016 blocks by the time that they took: Bitcoin, Litecoin and their test networks. */
      readonly kind: 'period'
      /** Litecoin measures from the block before the period. */
      readonly isFromBefore?: boolean
      /** BIP-94: the new target follows that of the first block of the period, whose time is checked, too. */
      readonly isBip94?: boolean
    }
  | {
      /** Each block by its distance from an anchor (aserti3-2d): Bitcoin Cash. */
      readonly kind: 'asert'
      readonly height: number
      readonly bits: number
      /** Of the block before the anchor, in Unix seconds. */
      readonly parentTime: number
      readonly halfLife: number
    }
  /** Each block by the time between the two before it, within three quarters and three halves of the last target: Dogecoin. */
  | { readonly kind: 'digishield' }
  /** Always the easiest target: regtest. */
  | { readonly kind: 'fixed' }

/** How the headers of a network are linked to each other. */
export interface LinkRules {
  readonly difficulty: DifficultyRule
  /** Seconds between two blocks that the difficulty aims at. */
  readonly spacing: number
  /** The easiest target, in the compact form of headers. */
  readonly easiestBits: number
  /** A block that comes later than twice the spacing may have the easiest target: test networks. */
  readonly hasLateBlocks?: boolean
  /** Linked headers prove nothing, because they cost next to nothing: regtest, and test networks, where a late block is easy. */
  readonly isWorthless?: boolean
}

/**
 * The form of block headers that are not 80 bytes long, or have more behind these: the work of another chain (Dogecoin),
 * the proof of stake (Qtum), or the fields of later proofs of work (Firo).
 */
export type HeaderForm = 'auxpow' | 'stake' | 'firo'

/** Fee rates in native units per 1000 virtual bytes. */
export interface FeeFigures {
  readonly low: bigint
  readonly standard: bigint
  readonly high: bigint
  /** Nothing above this is ever paid, whoever asks. */
  readonly cap: bigint
  /** The rate at which coins will be spent some quiet day; weighs change against waste. */
  readonly longTerm: bigint
  /** What nodes relay unless the server says otherwise. */
  readonly minRelay: bigint
}

/** One network of a coin, such as mainnet: every figure in which it differs from another. */
export interface NetworkRow {
  readonly name: string
  /** SLIP-44. */
  readonly coinType: number
  readonly p2pkh: number
  /** The first is written, all are read. */
  readonly p2sh: readonly number[]
  readonly wif: number
  /** Absent where there is no segwit. */
  readonly bech32?: string
  /** The prefix of the addresses of Bitcoin Cash, which are then written; the older form is read. */
  readonly cashaddr?: string
  /** What addresses of the MimbleWimble extension block begin with; they are recognised only to be refused. */
  readonly mwebPrefix?: string
  readonly xkeys: Readonly<Record<KeyFormat, ExtendedKeyVersions>>
  /** Versions that others write for the same keys: read, never written. */
  readonly xkeysReadAlso?: ExtendedKeyVersions
  /** The first is written, all are read. */
  readonly uriSchemes: readonly string[]
  /** Hash of block 0, as shown. */
  readonly genesis: string
  /** SHA-256 twice of the header of block 0, where blocks are named by another hash (Dash: X11). */
  readonly genesisDigest?: string
  /** A later block, where another chain has the same first blocks. */
  readonly checkpoint?: { readonly height: number; readonly hash: string }
  /**
   * Absent where blocks cost no work (regtest). `unchecked` where they prove themselves in a way that is not checked here,
   * such as by stake, a signature, or another hash. In both cases nothing but the server's word stands behind a block.
   */
  readonly work?: BlockWork | 'unchecked'
  readonly headerForm?: HeaderForm
  /** Absent where headers are not linked to each other here. */
  readonly linking?: LinkRules
  readonly servers: readonly string[]
  readonly defaultFees: FeeFigures
}

/** A coin of the UTXO family, as data (`coins.json` of the project's research). */
export interface CoinRow {
  readonly pluginId: PluginId
  readonly displayName: string
  readonly walletType: string
  /** The name of the secret in a wallet's keys. */
  readonly keyName: string
  readonly code: string
  readonly denominations: readonly Denomination[]
  readonly formats: readonly KeyFormat[]
  /** What a wallet is made with, and what a wallet without a format has. */
  readonly newFormat: KeyFormat
  readonly oldFormat: KeyFormat
  readonly hasTaproot: boolean
  /** What a signed message begins with. */
  readonly messageMagic?: string
  /** Keeps signatures apart from those of the chain that this one was split from (Bitcoin Cash). */
  readonly usesForkId?: boolean
  /** The mean time between blocks, in seconds. */
  readonly blockSeconds?: number
  readonly gapLimit: number
  readonly coinbaseMaturity: number
  /** No more native units than these can ever be. */
  readonly maxSupply: bigint
  readonly requiredConfirmations: number
  /** The smallest output that nodes relay, for each script type that the chain has. */
  readonly dust: Readonly<Partial<Record<ScriptType, bigint>>>
  readonly isReplaceable: boolean
  readonly addressExplorer?: string
  readonly transactionExplorer?: string
  /** The first is the default of the option `network`. */
  readonly networks: readonly [NetworkRow, ...NetworkRow[]]
  /** Networks whose addresses are recognised only to say that they belong elsewhere. */
  readonly foreignNetworks: readonly NetworkRow[]
}

/** The versions of legacy keys that Bitcoin and several of its relatives share: xpub and xprv. */
export const xpub: ExtendedKeyVersions = { public: 0x0488b21e, private: 0x0488ade4 }

/** Those of nested and native segwit keys: ypub and zpub. */
const ypub: ExtendedKeyVersions = { public: 0x049d7cb2, private: 0x049d7878 }
const zpub: ExtendedKeyVersions = { public: 0x04b24746, private: 0x04b2430c }

/** The versions of each format, from those of legacy, nested and native segwit keys. */
export const keyVersions = (
  legacy: ExtendedKeyVersions,
  nested: ExtendedKeyVersions = ypub,
  native: ExtendedKeyVersions = zpub
): Record<KeyFormat, ExtendedKeyVersions> => ({
  bip32: legacy,
  bip44: legacy,
  bip49: nested,
  bip84: native,
  // BIP-86 keeps the plain xpub bytes.
  bip86: legacy
})

/** The versions that test networks of Bitcoin and its relatives share: tpub, upub and vpub. */
export const testKeyVersions: Record<KeyFormat, ExtendedKeyVersions> = keyVersions(
  { public: 0x043587cf, private: 0x04358394 },
  { public: 0x044a5262, private: 0x044a4e28 },
  { public: 0x045f1cf6, private: 0x045f18bc }
)

/** Lower figures for a network whose coins are worth nothing. */
export const testFees = (fees: FeeFigures): FeeFigures => ({
  ...fees,
  low: 2_000n,
  standard: 5_000n,
  high: 15_000n
})

/** Fee rates of a server, in native units per 1000 bytes; absent where it has none. */
export interface FeeEstimates {
  readonly relay?: bigint
  readonly high?: bigint
  readonly standard?: bigint
  readonly low?: bigint
}

/** The path family of a script; BIP number, and 32 for the old m/0/0/i wallets. */
export type Purpose = 32 | 44 | 49 | 84 | 86
