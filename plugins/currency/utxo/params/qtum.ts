import { type CoinRow, keyVersions, type NetworkRow, xpub } from './coin.ts'

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 2301,
  p2pkh: 0x3a,
  p2sh: [0x32],
  wif: 0x80,
  bech32: 'qc',
  xkeys: keyVersions(xpub),
  uriSchemes: ['qtum'],
  genesis: '000075aef83cf2853580f8ae8ce6f8c3096cfa21d98334d6e3f95e5582ed986c',
  headerForm: 'stake',
  work: 'unchecked',
  servers: [],
  // What a wallet pays while no server has an estimate; rates per 1000 bytes.
  defaultFees: {
    low: 400_000n,
    standard: 450_000n,
    high: 1_000_000n,
    cap: 10_000_000n,
    longTerm: 400_000n,
    minRelay: 400_000n
  }
}

/** Qtum's mainnet: payments of the coin; contracts are not called. */
export const qtumRow: CoinRow = {
  pluginId: 'qtum',
  displayName: 'Qtum',
  walletType: 'wallet:qtum',
  keyName: 'qtumKey',
  code: 'QTUM',
  denominations: [
    { name: 'QTUM', multiplier: '100000000' },
    { name: 'mQTUM', multiplier: '100000' }
  ],
  formats: ['bip44', 'bip32'],
  newFormat: 'bip44',
  oldFormat: 'bip32',
  hasTaproot: true,
  messageMagic: 'Qtum Signed Message:\n',
  blockSeconds: 32,
  gapLimit: 10,
  coinbaseMaturity: 2000,
  maxSupply: 107_822_406n * 100_000_000n,
  requiredConfirmations: 1,
  dust: { p2pkh: 72800n, p2sh: 72000n, p2wpkh: 39200n, p2wsh: 44000n, p2tr: 44000n },
  isReplaceable: true,
  addressExplorer: 'https://qtum.info/address/%s',
  transactionExplorer: 'https://qtum.info/tx/%s',
  networks: [mainnet],
  foreignNetworks: []
}
