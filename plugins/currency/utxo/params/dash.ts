import { type CoinRow, keyVersions, type NetworkRow, xpub } from './coin.ts'

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 5,
  p2pkh: 0x4c,
  p2sh: [0x10],
  wif: 0xcc,
  xkeys: keyVersions({ public: 0x02fe52cc, private: 0x02fe52f8 }),
  // What the node and other wallets write.
  xkeysReadAlso: xpub,
  uriSchemes: ['dash'],
  genesis: '00000ffd590b1485b3caadc19b22e6379c733355108f107a430458cdf3407ab6',
  genesisDigest: '089fc444b06edd0f70d9fda85f9a3b2e22e549b354a1bdb210ce7804c69eb0a4',
  // X11, also for the names of blocks.
  work: 'unchecked',
  servers: [],
  // What a wallet pays while no server has an estimate; rates per 1000 bytes.
  defaultFees: {
    low: 100_000n,
    standard: 150_000n,
    high: 300_000n,
    cap: 2_000_000n,
    longTerm: 10_000n,
    minRelay: 1_000n
  }
}

/** Dash's mainnet. */
export const dashRow: CoinRow = {
  pluginId: 'dash',
  displayName: 'Dash',
  walletType: 'wallet:dash',
  keyName: 'dashKey',
  code: 'DASH',
  denominations: [
    { name: 'DASH', multiplier: '100000000' },
    { name: 'mDASH', multiplier: '100000' }
  ],
  formats: ['bip44', 'bip32'],
  newFormat: 'bip44',
  oldFormat: 'bip32',
  hasTaproot: false,
  messageMagic: 'DarkCoin Signed Message:\n',
  blockSeconds: 150,
  gapLimit: 10,
  coinbaseMaturity: 100,
  maxSupply: 21_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  dust: { p2pkh: 546n, p2sh: 540n },
  isReplaceable: false,
  addressExplorer: 'https://blockchair.com/dash/address/%s',
  transactionExplorer: 'https://blockchair.com/dash/transaction/%s',
  networks: [mainnet],
  foreignNetworks: []
}
