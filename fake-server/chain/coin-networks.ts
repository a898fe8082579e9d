import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { RawTx } from '@scure/btc-signer'
import { concatBytes, pubECDSA, sha256x2 } from '@scure/btc-signer/utils.js'
import { BITCOIN_REGTEST, type BlockForm, type ChainNetwork, LITECOIN_REGTEST } from './chain-params.ts'
import { pubkeyHashScript } from './script.ts'
import { digestsOf, SIGHASH_ALL, SIGHASH_FORKID } from './signature-digests.ts'
import { decodeTransaction } from './transaction.ts'

/** The currencies that a fake chain can be of. */
export type FakeCoinId =
  | 'bitcoin'
  | 'bitcoincash'
  | 'dash'
  | 'dogecoin'
  | 'feathercoin'
  | 'litecoin'
  | 'qtum'
  | 'ufo'
  | 'zcoin'

/** Signs with one key, independently of the signer of a wallet. */
const signWith =
  (hashType: typeof SIGHASH_ALL | typeof SIGHASH_FORKID): NonNullable<ChainNetwork['signLegacy']> =>
  (key, coins, outputs) => {
    const encode = (scripts: readonly Uint8Array[]): string =>
      bytesToHex(
        RawTx.encode({
          ...{ version: 2, segwitFlag: false, lockTime: 0, outputs: [...outputs] },
          inputs: coins.map(({ txid, index }, at) => ({
            ...{ txid: hexToBytes(txid), index, sequence: 0xfffffffd },
            finalScriptSig: scripts[at] ?? new Uint8Array()
          }))
        })
      )
    const digests = digestsOf(decodeTransaction(encode([])), coins)
    const digest = hashType === SIGHASH_FORKID ? digests.witness : digests.legacy
    const pubkey = pubECDSA(key)
    return encode(
      coins.map(({ script }, at) => {
        const options = { prehash: false, lowS: true, format: 'der' } as const
        const der = secp256k1.sign(digest(at, script, hashType), key, options)
        return concatBytes(
          ...[Uint8Array.of(der.length + 1), der, Uint8Array.of(hashType)],
          ...[Uint8Array.of(pubkey.length), pubkey]
        )
      })
    )
  }

const noSegwit = { hasSegwit: false, signLegacy: signWith(SIGHASH_ALL) } as const

/** What most main networks have in common. */
const mainNetwork = {
  name: 'mainnet',
  oldScriptHashes: [],
  coinbaseMaturity: 100,
  relayPerKvB: 1000n,
  dustRelayPerKvB: 3000n
} as const

/** In place of the prefix of segwit addresses, where there are none. */
const NO_SEGWIT = 'none'

/** The id of the block before the first one. */
const NO_BLOCK = '00'.repeat(32)

/** Reads an address of Bitcoin Cash, with its prefix or without (spec/cashaddr.md). @throws Error for anything else */
export const readCashaddr = (address: string, prefix: string): Uint8Array => {
  const text = address === address.toUpperCase() ? address.toLowerCase() : address
  const payload = text.startsWith(`${prefix}:`) ? text.slice(prefix.length + 1) : text
  const letters = [...payload].map(letter => CASHADDR_LETTERS.indexOf(letter))
  const stem = [...prefix].map(letter => letter.charCodeAt(0) & 31)
  if (letters.length !== 42 || letters.includes(-1) || cashaddrSum([...stem, 0, ...letters]) !== 0n)
    throw new Error('is no cashaddr')
  const bits = letters.slice(0, -8).reduce((sum, letter) => (sum << 5n) | BigInt(letter), 0n)
  // A byte of the kind, twenty of the hash, and two bits to spare.
  const [kind, ...hash] = hexToBytes((bits >> 2n).toString(16).padStart(42, '0'))
  if ((bits & 3n) !== 0n || (kind !== 0 && kind !== 8)) throw new Error('is no cashaddr of a known kind')
  const pubkeyHash = Uint8Array.from(hash)
  return kind === 0
    ? pubkeyHashScript(pubkeyHash)
    : concatBytes(Uint8Array.of(0xa9, 20), pubkeyHash, Uint8Array.of(0x87))
}

const CASHADDR_LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const CASHADDR_GENERATORS = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]

/** The checksum of five-bit values, which is 0 for a sound address. */
const cashaddrSum = (values: readonly number[]): bigint => {
  let sum = 1n
  for (const value of values) {
    const top = sum >> 35n
    sum = ((sum & 0x07ffffffffn) << 5n) ^ BigInt(value)
    CASHADDR_GENERATORS.forEach((generator, at) => {
      if (((top >> BigInt(at)) & 1n) === 1n) sum ^= generator
    })
  }
  return sum ^ 1n
}

/**
 * Of Dogecoin: the header is followed by the work of a block of Litecoin that names this one (AuxPoW, `CAuxPow` of Dogecoin Core), with
 * its coinbase, where that and this block stand, and its header. It has the form alone: that header proves nothing.
 */
const mergedForm: BlockForm = {
  // The number among merged chains, and the bit that says that another chain's work follows.
  version: 0x00620104,
  tailOf(plain) {
    const name = sha256x2(plain).reverse()
    // The mark of merged mining, the root, a tree of one chain, and the nonce that places it.
    const script = concatBytes(hexToBytes('fabe6d6d'), name, hexToBytes('0100000000000000'))
    const input = concatBytes(hexToBytes(`${NO_BLOCK}ffffffff`), Uint8Array.of(script.length), script)
    const coinbase = concatBytes(hexToBytes('0100000001'), input, hexToBytes('ffffffff0000000000'))
    const parent = concatBytes(
      hexToBytes(`00000020${NO_BLOCK}`),
      sha256x2(coinbase),
      hexToBytes('00000000ffff7f2000000000')
    )
    const noBranch = new Uint8Array(5)
    return concatBytes(coinbase, sha256x2(parent), noBranch, noBranch, parent)
  },
  namedBytes: header => header.subarray(0, 80)
}

/** Of Dash: X11 itself is not needed, only that the SHA-256 of a header names no block. */
const x11Form: BlockForm = { namedBytes: header => concatBytes(Uint8Array.of(11), header) }

/** Of Qtum: two roots of the state of contracts, the coin that is staked, and a signature with its length. */
const stakeForm: BlockForm = {
  tailOf: plain =>
    concatBytes(
      ...[sha256x2(plain), sha256x2(plain), new Uint8Array(36)],
      ...[Uint8Array.of(71), new Uint8Array(71)]
    )
}

/** Of Firo: a nonce of eight bytes and the hash of FiroPoW. */
const firoForm: BlockForm = {
  hasHeight: true,
  tailOf: plain => concatBytes(new Uint8Array(8), sha256x2(plain))
}

/** Bitcoin Cash's regression test network (Bitcoin Cash Node, chainparams.cpp), which begins with Bitcoin's block. */
const bitcoinCashNetwork: ChainNetwork = {
  ...BITCOIN_REGTEST,
  pluginId: 'bitcoincash',
  currencyCode: 'BCH',
  prefixes: { ...BITCOIN_REGTEST.prefixes, bech32: NO_SEGWIT },
  readAddress: address => readCashaddr(address, 'bchreg'),
  hasSegwit: false,
  signLegacy: signWith(SIGHASH_FORKID),
  usesForkId: true,
  isReplaceable: false
}

const dogecoinNetwork: ChainNetwork = {
  ...mainNetwork,
  pluginId: 'dogecoin',
  currencyCode: 'DOGE',
  prefixes: { bech32: NO_SEGWIT, pubKeyHash: 0x1e, scriptHash: 0x16, wif: 0x9e },
  genesis: {
    header:
      `01000000${NO_BLOCK}696ad20e2dd4365c7459b4a4a5af743d5e92c6da3229e6532cd605f6533f2a5b` +
      '24a6a152f0ff0f1e67860100',
    hash: '1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691'
  },
  blockForm: mergedForm,
  ...noSegwit,
  blockSeconds: 60,
  coinbaseMaturity: 240,
  subsidy: 1_000_000_000_000n,
  // It has no end.
  halvingInterval: Number.POSITIVE_INFINITY,
  maxMoney: 1_000_000_000_000_000_000n,
  relayPerKvB: 100_000n,
  fixedDust: { least: 100_000n, small: 1_000_000n },
  isReplaceable: false
}

const dashNetwork: ChainNetwork = {
  ...mainNetwork,
  pluginId: 'dash',
  currencyCode: 'DASH',
  prefixes: { bech32: NO_SEGWIT, pubKeyHash: 0x4c, scriptHash: 0x10, wif: 0xcc },
  genesis: {
    header:
      `01000000${NO_BLOCK}c762a6567f3cc092f0684bb62b7e00a84890b990f07cc71a6bb58d64b98e02e0` +
      '022ddb52f0ff0f1ec23fb901',
    hash: '00000ffd590b1485b3caadc19b22e6379c733355108f107a430458cdf3407ab6'
  },
  blockForm: x11Form,
  ...noSegwit,
  blockSeconds: 150,
  subsidy: 500_000_000n,
  halvingInterval: 210_240,
  maxMoney: 2_100_000_000_000_000n,
  isReplaceable: false
}

const feathercoinNetwork: ChainNetwork = {
  ...mainNetwork,
  pluginId: 'feathercoin',
  currencyCode: 'FTC',
  prefixes: { bech32: 'fc', pubKeyHash: 0x0e, scriptHash: 0x05, wif: 0x8e },
  // Litecoin's.
  genesis: {
    header:
      `01000000${NO_BLOCK}d9ced4ed1130f7b7faad9be25323ffafa33232a17c3edf6cfd97bee6bafbdd97` +
      'b9aa8e4ef0ff0f1ecd513f7c',
    hash: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2'
  },
  hasSegwit: true,
  blockSeconds: 60,
  subsidy: 20_000_000_000n,
  halvingInterval: 2_100_000,
  maxMoney: 33_600_000_000_000_000n,
  isReplaceable: true
}

const qtumNetwork: ChainNetwork = {
  ...mainNetwork,
  pluginId: 'qtum',
  currencyCode: 'QTUM',
  prefixes: { bech32: 'qc', pubKeyHash: 0x3a, scriptHash: 0x32, wif: 0x80 },
  genesis: {
    header:
      `01000000${NO_BLOCK}6db905142382324db417761891f2d2f355ea92f27ab0fc35e59e90b50e0534ed` +
      'f5d2af59ffff001ff9787a00' +
      'e965ffd002cd6ad0e2dc402b8044de833e06b23127ea8c3d80aec91410771495' +
      `56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421${NO_BLOCK}ffffffff00`,
    hash: '000075aef83cf2853580f8ae8ce6f8c3096cfa21d98334d6e3f95e5582ed986c'
  },
  blockForm: stakeForm,
  hasSegwit: true,
  blockSeconds: 32,
  coinbaseMaturity: 2000,
  // Of the first 5000 blocks, which were mined.
  subsidy: 2_000_000_000_000n,
  halvingInterval: 985_500,
  maxMoney: 10_782_240_625_000_000n,
  relayPerKvB: 400_000n,
  dustRelayPerKvB: 400_000n,
  isReplaceable: true
}

const ufoNetwork: ChainNetwork = {
  ...mainNetwork,
  pluginId: 'ufo',
  currencyCode: 'UFO',
  prefixes: { bech32: 'uf', pubKeyHash: 0x1b, scriptHash: 0x44, wif: 0x9b },
  oldScriptHashes: [0x05],
  // Made up: of the real one only the hash is known here.
  genesis: {
    header:
      `01000000${NO_BLOCK}cf3fc477a42ab12d5a2d34873d2c8e4c6af3853bba78df038d9c7ff2e4aed428` +
      '8067c552f0ff0f1e00000000',
    hash: 'eac1ad9db1f72321dd7162df3207d6fd05c137bec909078c26979bf4d8e9b7ce'
  },
  hasSegwit: true,
  blockSeconds: 90,
  coinbaseMaturity: 15,
  subsidy: 500_000_000_000n,
  halvingInterval: 400_000,
  maxMoney: 400_000_000_000_000_000n,
  isReplaceable: false
}

const zcoinNetwork: ChainNetwork = {
  ...mainNetwork,
  pluginId: 'zcoin',
  currencyCode: 'FIRO',
  prefixes: { bech32: NO_SEGWIT, pubKeyHash: 0x52, scriptHash: 0x07, wif: 0xd2 },
  genesis: {
    header:
      `02000000${NO_BLOCK}8327a4aae5254fd54eafc4b74b3b1e6b718539acabfdaec97013065da72a5d36` +
      'dec55354f0ff0f1e382c0200',
    hash: '4381deb85b1b2c9843c222944b616d997516dcbd6a964e1eaf0def0830695233'
  },
  blockForm: firoForm,
  ...noSegwit,
  blockSeconds: 150,
  subsidy: 5_000_000_000n,
  halvingInterval: 420_000,
  maxMoney: 2_140_000_000_000_000n,
  // Its nodes call nothing dust.
  dustRelayPerKvB: 0n,
  isReplaceable: true
}

/**
 * The networks that a fake chain can be, by the currency. Bitcoin, Litecoin and Bitcoin Cash are regtest; the others have the addresses,
 * headers and rules of relay of their main network (chainparams.cpp of each node), and blocks that cost nothing.
 */
export const COIN_NETWORKS: Readonly<Record<FakeCoinId, ChainNetwork>> = {
  bitcoin: BITCOIN_REGTEST,
  bitcoincash: bitcoinCashNetwork,
  dash: dashNetwork,
  dogecoin: dogecoinNetwork,
  feathercoin: feathercoinNetwork,
  litecoin: LITECOIN_REGTEST,
  qtum: qtumNetwork,
  ufo: ufoNetwork,
  zcoin: zcoinNetwork
}
