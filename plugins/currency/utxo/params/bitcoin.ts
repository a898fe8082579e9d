import { type CoinRow, type FeeFigures, keyVersions, type NetworkRow, testKeyVersions } from './coin.ts'

// powLimit in chainparams.cpp of Bitcoin Core.
const SHA256_WORK = { hash: 'sha256', easiest: 0xffffn << 208n } as const

// What a wallet pays while no server has an estimate; rates per 1000 virtual bytes.
const fees: FeeFigures = {
  low: 20_000n,
  standard: 50_000n,
  high: 150_000n,
  cap: 2_000_000n,
  longTerm: 10_000n,
  minRelay: 1_000n
}

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 0,
  p2pkh: 0,
  p2sh: [5],
  wif: 128,
  bech32: 'bc',
  xkeys: keyVersions(
    { public: 0x0488b21e, private: 0x0488ade4 },
    { public: 0x049d7cb2, private: 0x049d7878 },
    { public: 0x04b24746, private: 0x04b2430c }
  ),
  uriSchemes: ['bitcoin'],
  genesis: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  work: SHA256_WORK,
  servers: [
    'tls://electrum.blockstream.info:50002',
    'tls://bitcoin.lu.ke:50002',
    'tls://electrum.emzy.de:50002',
    'tls://electrum.bitaroo.net:50002',
    'wss://bitcoin.lukechilds.co:50004'
  ],
  defaultFees: fees
}

const testnet: NetworkRow = {
  name: 'testnet',
  coinType: 1,
  p2pkh: 111,
  p2sh: [196],
  wif: 239,
  bech32: 'tb',
  xkeys: testKeyVersions,
  uriSchemes: ['bitcoin', 'bitcointestnet'],
  genesis: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
  work: SHA256_WORK,
  servers: ['tls://electrum.blockstream.info:60002', 'tls://testnet.aranguren.org:51002'],
  defaultFees: fees
}

const { work: _work, ...testFigures } = testnet

const regtest: NetworkRow = {
  ...testFigures,
  name: 'regtest',
  bech32: 'bcrt',
  uriSchemes: ['bitcoin'],
  genesis: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
  servers: [],
  defaultFees: { ...fees, low: 2_000n, standard: 5_000n, high: 15_000n }
}

/** Bitcoin: mainnet, testnet and regtest, chosen by the plugin option `network`. */
export const bitcoinRow: CoinRow = {
  pluginId: 'bitcoin',
  displayName: 'Bitcoin',
  walletType: 'wallet:bitcoin',
  keyName: 'bitcoinKey',
  code: 'BTC',
  denominations: [
    { name: 'BTC', multiplier: '100000000', symbol: '₿' },
    { name: 'mBTC', multiplier: '100000', symbol: 'm₿' },
    { name: 'bits', multiplier: '100', symbol: 'ƀ' },
    { name: 'sats', multiplier: '1', symbol: 's' }
  ],
  formats: ['bip49', 'bip84', 'bip44', 'bip86', 'bip32'],
  newFormat: 'bip84',
  oldFormat: 'bip32',
  hasTaproot: true,
  gapLimit: 25,
  coinbaseMaturity: 100,
  maxSupply: 21_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  // Bitcoin Core: (output bytes + bytes to spend it) * 3000 / 1000.
  dust: { p2pkh: 546n, p2sh: 540n, p2wpkh: 294n, p2wsh: 330n, p2tr: 330n },
  isReplaceable: true,
  addressExplorer: 'https://mempool.space/address/%s',
  transactionExplorer: 'https://mempool.space/tx/%s',
  networks: [mainnet, testnet, regtest],
  foreignNetworks: []
}

/** Bitcoin's test network as a currency of its own, as the deployed system has it. */
export const bitcoinTestnetRow: CoinRow = {
  ...bitcoinRow,
  pluginId: 'bitcointestnet',
  displayName: 'Bitcoin Testnet',
  walletType: 'wallet:bitcointestnet',
  keyName: 'bitcointestnetKey',
  code: 'TESTBTC',
  denominations: [
    { name: 'TESTBTC', multiplier: '100000000', symbol: '₿' },
    { name: 'mTESTBTC', multiplier: '100000', symbol: 'm₿' }
  ],
  addressExplorer: 'https://mempool.space/testnet/address/%s',
  transactionExplorer: 'https://mempool.space/testnet/tx/%s',
  networks: [testnet, regtest],
  foreignNetworks: [mainnet]
}
