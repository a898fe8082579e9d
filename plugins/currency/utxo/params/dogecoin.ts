import { type CoinRow, keyVersions, type NetworkRow } from './coin.ts'

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 3,
  p2pkh: 0x1e,
  p2sh: [0x16],
  wif: 0x9e,
  xkeys: keyVersions({ public: 0x02facafd, private: 0x02fac398 }),
  uriSchemes: ['dogecoin'],
  genesis: '1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691',
  // From chainparams.cpp of Dogecoin Core 1.14.9.
  checkpoint: { height: 5_050_000, hash: 'e7d4577405223918491477db725a393bcfc349d8ee63b0a4fde23cbfbfd81dea' },
  headerForm: 'auxpow',
  // Mostly that of a block of Litecoin, whose coinbase names the block.
  work: { hash: 'scrypt', mergedChainId: 98, easiest: (1n << 236n) - 1n },
  linking: { difficulty: { kind: 'digishield' }, spacing: 60, easiestBits: 0x1e0fffff },
  servers: [],
  // What a wallet pays while no server has an estimate; rates per 1000 bytes.
  defaultFees: {
    low: 1_000_000n,
    standard: 1_000_000n,
    high: 2_000_000n,
    cap: 100_000_000n,
    longTerm: 1_000_000n,
    minRelay: 100_000n
  }
}

/** Dogecoin's mainnet. */
export const dogecoinRow: CoinRow = {
  pluginId: 'dogecoin',
  displayName: 'Dogecoin',
  walletType: 'wallet:dogecoin',
  keyName: 'dogecoinKey',
  code: 'DOGE',
  denominations: [
    { name: 'DOGE', multiplier: '100000000', symbol: 'Ð' },
    { name: 'mDOGE', multiplier: '100000', symbol: 'mÐ' }
  ],
  formats: ['bip44', 'bip32'],
  newFormat: 'bip44',
  oldFormat: 'bip32',
  hasTaproot: false,
  messageMagic: 'Dogecoin Signed Message:\n',
  blockSeconds: 60,
  gapLimit: 10,
  coinbaseMaturity: 240,
  // It has no end; at five billion a year these are not reached in this century.
  maxSupply: 1_000_000_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  // Nodes refuse less than 100,000, and charge 1,000,000 more for each output below 1,000,000.
  dust: { p2pkh: 1000000n, p2sh: 1000000n },
  isReplaceable: false,
  addressExplorer: 'https://blockchair.com/dogecoin/address/%s',
  transactionExplorer: 'https://blockchair.com/dogecoin/transaction/%s',
  networks: [mainnet],
  foreignNetworks: []
}
