import { type CoinRow, keyVersions, type NetworkRow, xpub } from './coin.ts'

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 136,
  p2pkh: 0x52,
  p2sh: [0x07],
  wif: 0xd2,
  xkeys: keyVersions(xpub),
  uriSchemes: ['firo'],
  genesis: '4381deb85b1b2c9843c222944b616d997516dcbd6a964e1eaf0def0830695233',
  headerForm: 'firo',
  // FiroPoW, which needs a gigabyte of memory.
  work: 'unchecked',
  servers: [],
  // What a wallet pays while no server has an estimate; rates per 1000 bytes.
  defaultFees: {
    low: 20_000n,
    standard: 50_000n,
    high: 150_000n,
    cap: 2_000_000n,
    longTerm: 10_000n,
    minRelay: 1_000n
  }
}

/** Firo, once Zcoin: transparent payments on the mainnet. */
export const zcoinRow: CoinRow = {
  pluginId: 'zcoin',
  displayName: 'Firo',
  walletType: 'wallet:zcoin',
  keyName: 'zcoinKey',
  code: 'FIRO',
  denominations: [
    { name: 'FIRO', multiplier: '100000000' },
    { name: 'mFIRO', multiplier: '100000' }
  ],
  formats: ['bip44', 'bip32'],
  newFormat: 'bip44',
  oldFormat: 'bip32',
  hasTaproot: false,
  messageMagic: 'Zcoin Signed Message:\n',
  blockSeconds: 150,
  gapLimit: 10,
  coinbaseMaturity: 100,
  maxSupply: 21_400_000n * 100_000_000n,
  requiredConfirmations: 1,
  // Nodes have no limit; other wallets keep this one.
  dust: { p2pkh: 546n, p2sh: 540n },
  isReplaceable: true,
  addressExplorer: 'https://explorer.firo.org/address/%s',
  transactionExplorer: 'https://explorer.firo.org/tx/%s',
  networks: [mainnet],
  foreignNetworks: []
}
