import {
  type BlockWork,
  type CoinRow,
  type FeeFigures,
  keyVersions,
  type LinkRules,
  type NetworkRow,
  testFees,
  testKeyVersions,
  xpub
} from './coin.ts'

/** The work of Bitcoin's blocks; `powLimit` in chainparams.cpp of Bitcoin Core. */
export const SHA256_WORK: BlockWork = { hash: 'sha256', easiest: 0xffffn << 208n }

// What a wallet pays while no server has an estimate; rates per 1000 virtual bytes.
const fees: FeeFigures = {
  low: 20_000n,
  standard: 50_000n,
  high: 150_000n,
  cap: 2_000_000n,
  longTerm: 10_000n,
  minRelay: 1_000n
}

const period: LinkRules = { difficulty: { kind: 'period' }, spacing: 600, easiestBits: 0x1d00ffff }

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 0,
  p2pkh: 0,
  p2sh: [5],
  wif: 128,
  bech32: 'bc',
  xkeys: keyVersions(xpub),
  uriSchemes: ['bitcoin'],
  genesis: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  // After the split of Bitcoin Cash; from the checkpoints of Electrum 4.8.1 (2026-07-01).
  checkpoint: { height: 953_567, hash: '00000000000000000001b315e72169bef4867bf780527aa97c625ee9c001dc5d' },
  work: SHA256_WORK,
  linking: period,
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
  // From the checkpoints of Electrum 4.8.1.
  checkpoint: { height: 5_011_775, hash: '000000000000041b511bf0b926371d5045f70bbc30d36b66f1c84ed30d765886' },
  work: SHA256_WORK,
  // A miner of today makes a thousand blocks of its easiest target in a second.
  linking: { ...period, hasLateBlocks: true, isWorthless: true },
  servers: ['tls://electrum.blockstream.info:60002', 'tls://testnet.aranguren.org:51002'],
  defaultFees: fees
}

// Their addresses are those of the older test network.
const testnet4: NetworkRow = {
  ...testnet,
  name: 'testnet4',
  genesis: '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
  // From the checkpoints of Electrum 4.8.1.
  checkpoint: { height: 139_103, hash: '000000000001fa52cf7346a418640560743e051f8096a21ca452f3569bfe4f9e' },
  linking: {
    ...period,
    difficulty: { kind: 'period', isBip94: true },
    hasLateBlocks: true,
    isWorthless: true
  },
  servers: []
}

const signet: NetworkRow = {
  ...testnet4,
  name: 'signet',
  genesis: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
  // From the checkpoints of Electrum 4.8.1.
  checkpoint: { height: 308_447, hash: '0000000fce481bd689af96794ea36ad8e80bc4635f068104aeff53bc17326ecf' },
  work: { hash: 'sha256', easiest: 0x377aen << 216n },
  // A signature in the coinbase makes a block valid (BIP-325); a header does not hold it, and its work is easy.
  linking: { ...period, easiestBits: 0x1e0377ae, isWorthless: true }
}

const { work: _work, checkpoint: _testnet, ...testFigures } = testnet

/** The links of regtest: work costs nothing there, so that it is not weighed, and proves nothing. */
export const FIXED_LINKS: LinkRules = {
  difficulty: { kind: 'fixed' },
  spacing: 600,
  easiestBits: 0x207fffff,
  isWorthless: true
}

const regtest: NetworkRow = {
  ...testFigures,
  name: 'regtest',
  bech32: 'bcrt',
  uriSchemes: ['bitcoin'],
  genesis: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
  linking: FIXED_LINKS,
  servers: [],
  defaultFees: testFees(fees)
}

/** Bitcoin: mainnet, testnet, testnet4, signet and regtest, chosen by the plugin option `network`. */
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
  messageMagic: 'Bitcoin Signed Message:\n',
  blockSeconds: 600,
  gapLimit: 25,
  coinbaseMaturity: 100,
  maxSupply: 21_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  // Bitcoin Core: (output bytes + bytes to spend it) * 3000 / 1000.
  dust: { p2pkh: 546n, p2sh: 540n, p2wpkh: 294n, p2wsh: 330n, p2tr: 330n },
  isReplaceable: true,
  addressExplorer: 'https://mempool.space/address/%s',
  transactionExplorer: 'https://mempool.space/tx/%s',
  networks: [mainnet, testnet, regtest, testnet4, signet],
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
  networks: [testnet, regtest, testnet4, signet],
  foreignNetworks: [mainnet]
}
