import { FIXED_LINKS } from './bitcoin.ts'
import {
  type CoinRow,
  type FeeFigures,
  keyVersions,
  type LinkRules,
  type NetworkRow,
  testFees,
  testKeyVersions,
  xpub
} from './coin.ts'

// What a wallet pays while no server has an estimate; rates per 1000 virtual bytes.
const fees: FeeFigures = {
  low: 100_000n,
  standard: 150_000n,
  high: 300_000n,
  cap: 2_000_000n,
  longTerm: 10_000n,
  minRelay: 1_000n
}

// powLimit in chainparams.cpp of Litecoin Core, as its compact form 1e0fffff rounds it.
const SCRYPT_WORK = { hash: 'scrypt', easiest: 0xfffffn << 216n } as const

const period: LinkRules = {
  difficulty: { kind: 'period', isFromBefore: true },
  spacing: 150,
  easiestBits: 0x1e0fffff
}

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 2,
  p2pkh: 0x30,
  p2sh: [0x32, 0x05],
  wif: 0xb0,
  bech32: 'ltc',
  mwebPrefix: 'ltcmweb',
  xkeys: keyVersions(xpub, { public: 0x01b26ef6, private: 0x01b26792 }),
  // Ltub and Ltpv, which Trezor and Blockbook write for legacy keys.
  xkeysReadAlso: { public: 0x019da462, private: 0x019d9cfe },
  uriSchemes: ['litecoin'],
  genesis: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
  // Feathercoin begins with the same block; from the checkpoints of Electrum-LTC.
  checkpoint: { height: 3_050_207, hash: '8f7104c231597a64c964ad5b20830508d09025fe473241d802ca2d589c0f1ba2' },
  work: SCRYPT_WORK,
  linking: period,
  servers: [
    'tls://electrum-ltc.bysh.me:50002',
    'tls://electrum.ltc.xurious.com:50002',
    'tls://backup.electrum-ltc.org:443',
    'wss://electrum-ltc.bysh.me:50004'
  ],
  defaultFees: fees
}

const testnet: NetworkRow = {
  name: 'testnet',
  coinType: 1,
  p2pkh: 0x6f,
  p2sh: [0x3a, 0xc4],
  wif: 0xef,
  bech32: 'tltc',
  mwebPrefix: 'tmweb',
  xkeys: testKeyVersions,
  uriSchemes: ['litecoin'],
  genesis: '4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0',
  work: SCRYPT_WORK,
  linking: { ...period, hasLateBlocks: true, isWorthless: true },
  servers: ['tls://electrum-ltc.bysh.me:51002', 'tls://electrum.ltc.xurious.com:51002'],
  defaultFees: fees
}

const { work: _work, ...testFigures } = testnet

const regtest: NetworkRow = {
  ...testFigures,
  name: 'regtest',
  bech32: 'rltc',
  genesis: '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9',
  linking: FIXED_LINKS,
  servers: [],
  defaultFees: testFees(fees)
}

/** Litecoin: mainnet, testnet and regtest, chosen by the plugin option `network`. MWEB addresses are not paid. */
export const litecoinRow: CoinRow = {
  pluginId: 'litecoin',
  displayName: 'Litecoin',
  walletType: 'wallet:litecoin',
  keyName: 'litecoinKey',
  code: 'LTC',
  denominations: [
    { name: 'LTC', multiplier: '100000000', symbol: 'Ł' },
    { name: 'mLTC', multiplier: '100000', symbol: 'mŁ' },
    { name: 'litoshi', multiplier: '1', symbol: 'ł' }
  ],
  formats: ['bip49', 'bip84', 'bip44', 'bip32'],
  newFormat: 'bip84',
  oldFormat: 'bip32',
  hasTaproot: true,
  messageMagic: 'Litecoin Signed Message:\n',
  blockSeconds: 150,
  gapLimit: 10,
  coinbaseMaturity: 100,
  maxSupply: 84_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  // Ten times Bitcoin's rate: (output bytes + bytes to spend it) * 30000 / 1000; measured on Litecoin Core 0.21.
  dust: { p2pkh: 5460n, p2sh: 5400n, p2wpkh: 2940n, p2wsh: 3300n, p2tr: 3300n },
  // Litecoin Core keeps the first payment of a coin unless set otherwise.
  isReplaceable: false,
  addressExplorer: 'https://litecoinspace.org/address/%s',
  transactionExplorer: 'https://litecoinspace.org/tx/%s',
  networks: [mainnet, testnet, regtest],
  foreignNetworks: []
}
