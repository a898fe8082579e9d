import { FIXED_LINKS, SHA256_WORK } from './bitcoin.ts'
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

// What a wallet pays while no server has an estimate; rates per 1000 bytes.
const fees: FeeFigures = {
  low: 3_000n,
  standard: 5_000n,
  high: 20_000n,
  cap: 2_000_000n,
  longTerm: 1_000n,
  minRelay: 1_000n
}

// aserti3-2d; the anchors of each network are in chainparams.cpp of Bitcoin Cash Node.
const asert = (height: number, bits: number, parentTime: number, halfLife: number): LinkRules => ({
  difficulty: { kind: 'asert', height, bits, parentTime, halfLife },
  spacing: 600,
  easiestBits: 0x1d00ffff
})

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 145,
  p2pkh: 0,
  p2sh: [5],
  wif: 128,
  cashaddr: 'bitcoincash',
  xkeys: keyVersions(xpub),
  uriSchemes: ['bitcoincash'],
  genesis: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  // Bitcoin has the same first blocks; from chainparams.cpp of Bitcoin Cash Node.
  checkpoint: { height: 878_660, hash: '000000000000000000c166d5661c13195722ae6fbee90f0ab2407ae60b71c2e6' },
  work: SHA256_WORK,
  linking: asert(661_647, 0x1804dafe, 1_605_447_844, 172_800),
  servers: [],
  defaultFees: fees
}

const testnet: NetworkRow = {
  name: 'testnet',
  coinType: 1,
  p2pkh: 111,
  p2sh: [196],
  wif: 239,
  cashaddr: 'bchtest',
  xkeys: testKeyVersions,
  uriSchemes: ['bchtest', 'bitcoincash'],
  genesis: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
  work: SHA256_WORK,
  linking: { ...asert(1_421_481, 0x1d00ffff, 1_605_445_400, 3_600), hasLateBlocks: true, isWorthless: true },
  servers: [],
  defaultFees: fees
}

const { work: _work, ...testFigures } = testnet

const regtest: NetworkRow = {
  ...testFigures,
  name: 'regtest',
  cashaddr: 'bchreg',
  uriSchemes: ['bchreg', 'bitcoincash'],
  genesis: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
  linking: FIXED_LINKS,
  defaultFees: testFees(fees)
}

/** Bitcoin Cash: mainnet, testnet and regtest, chosen by the plugin option `network`. Tokens on it are neither shown nor spent. */
export const bitcoinCashRow: CoinRow = {
  pluginId: 'bitcoincash',
  displayName: 'Bitcoin Cash',
  walletType: 'wallet:bitcoincash',
  keyName: 'bitcoincashKey',
  code: 'BCH',
  denominations: [
    { name: 'BCH', multiplier: '100000000', symbol: '₿' },
    { name: 'mBCH', multiplier: '100000', symbol: 'm₿' },
    { name: 'sats', multiplier: '1', symbol: 's' }
  ],
  formats: ['bip44', 'bip32'],
  newFormat: 'bip44',
  oldFormat: 'bip32',
  hasTaproot: false,
  messageMagic: 'Bitcoin Signed Message:\n',
  usesForkId: true,
  blockSeconds: 600,
  gapLimit: 10,
  coinbaseMaturity: 100,
  maxSupply: 21_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  dust: { p2pkh: 546n, p2sh: 540n },
  isReplaceable: false,
  addressExplorer: 'https://blockchair.com/bitcoin-cash/address/%s',
  transactionExplorer: 'https://blockchair.com/bitcoin-cash/transaction/%s',
  networks: [mainnet, testnet, regtest],
  foreignNetworks: []
}

/** The test network of Bitcoin Cash as a currency of its own, as the deployed system has it. */
export const bitcoinCashTestnetRow: CoinRow = {
  ...bitcoinCashRow,
  pluginId: 'bitcoincashtestnet',
  displayName: 'Bitcoin Cash Testnet',
  walletType: 'wallet:bitcoincashtestnet',
  keyName: 'bitcoincashtestnetKey',
  code: 'TESTBCH',
  denominations: [{ name: 'TESTBCH', multiplier: '100000000', symbol: '₿' }],
  addressExplorer: 'https://tbch.loping.net/address/%s',
  transactionExplorer: 'https://tbch.loping.net/tx/%s',
  networks: [testnet, regtest],
  foreignNetworks: [mainnet]
}
