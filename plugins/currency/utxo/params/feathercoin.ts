import { type CoinRow, keyVersions, type NetworkRow } from './coin.ts'

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 8,
  p2pkh: 0x0e,
  p2sh: [0x05],
  wif: 0x8e,
  bech32: 'fc',
  xkeys: keyVersions({ public: 0x0488bc26, private: 0x0488daee }),
  uriSchemes: ['feathercoin'],
  genesis: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
  // Litecoin begins with the same block; from chainparams.cpp of Feathercoin Core.
  checkpoint: { height: 3_275_900, hash: 'e29c854a0a54ac2c3f6b97e0416a0a7f17df6f80ecf4fa6eb3faa7ec1fceffb6' },
  // NeoScrypt.
  work: 'unchecked',
  servers: [],
  // What a wallet pays while no server has an estimate; rates per 1000 bytes.
  defaultFees: {
    low: 400_000n,
    standard: 600_000n,
    high: 1_200_000n,
    cap: 10_000_000n,
    longTerm: 100_000n,
    minRelay: 1_000n
  }
}

/** Feathercoin's mainnet. */
export const feathercoinRow: CoinRow = {
  pluginId: 'feathercoin',
  displayName: 'Feathercoin',
  walletType: 'wallet:feathercoin',
  keyName: 'feathercoinKey',
  code: 'FTC',
  denominations: [
    { name: 'FTC', multiplier: '100000000' },
    { name: 'mFTC', multiplier: '100000' }
  ],
  formats: ['bip49', 'bip84', 'bip44', 'bip32'],
  newFormat: 'bip49',
  oldFormat: 'bip32',
  hasTaproot: false,
  messageMagic: 'Feathercoin Signed Message:\n',
  blockSeconds: 60,
  gapLimit: 10,
  coinbaseMaturity: 100,
  maxSupply: 336_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  dust: { p2pkh: 546n, p2sh: 540n, p2wpkh: 294n, p2wsh: 330n },
  isReplaceable: true,
  networks: [mainnet],
  foreignNetworks: []
}
