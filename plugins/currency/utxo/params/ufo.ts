import { type CoinRow, keyVersions, type NetworkRow, xpub } from './coin.ts'

const mainnet: NetworkRow = {
  name: 'mainnet',
  coinType: 202,
  p2pkh: 0x1b,
  p2sh: [0x44, 0x05],
  wif: 0x9b,
  bech32: 'uf',
  xkeys: keyVersions(xpub),
  uriSchemes: ['ufo'],
  genesis: 'ba1d39b4928ab03d813d952daf65fb7797fcf538a9c1b8274f4edc8557722d13',
  // NeoScrypt.
  work: 'unchecked',
  servers: [],
  // What a wallet pays while no server has an estimate; rates per 1000 bytes.
  defaultFees: {
    low: 1_000_000n,
    standard: 1_100_000n,
    high: 2_250_000n,
    cap: 20_000_000n,
    longTerm: 100_000n,
    minRelay: 1_000n
  }
}

/** The mainnet of UFO (Uniform Fiscal Object). */
export const ufoRow: CoinRow = {
  pluginId: 'ufo',
  displayName: 'UFO',
  walletType: 'wallet:ufo',
  keyName: 'uniformfiscalobjectKey',
  code: 'UFO',
  denominations: [
    { name: 'UFO', multiplier: '100000000' },
    { name: 'mUFO', multiplier: '100000' }
  ],
  formats: ['bip49', 'bip84', 'bip44', 'bip32'],
  newFormat: 'bip49',
  oldFormat: 'bip32',
  hasTaproot: false,
  messageMagic: 'UFO Signed Message:\n',
  blockSeconds: 90,
  gapLimit: 10,
  coinbaseMaturity: 15,
  maxSupply: 4_000_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  dust: { p2pkh: 546n, p2sh: 540n, p2wpkh: 294n, p2wsh: 330n },
  isReplaceable: false,
  networks: [mainnet],
  foreignNetworks: []
}
