// A currency like Bitcoin: holdfast has the engine, and a coin is a table of its figures. The figures below are those of the
// test chain of the fake world; replace them with those of your coin, which stand in its node's chainparams.cpp.
import type { CurrencyPlugin } from 'holdfast/plugin'
import { utxoPlugin } from 'holdfast/plugins/currency/utxo/plugin'

type Coin = Parameters<typeof utxoPlugin>[0]
type Network = Coin['networks'][number]

/** Electrum servers: `tls://host:port`, `wss://…`, and `tcp://…` for one of your own. The plugin reaches these, and no other. */
const SERVERS = ['tcp://localhost:50001']

/** The version bytes of extended keys (SLIP-132): xpub and xprv, ypub, zpub of this network. */
const LEGACY = { public: 0x043587cf, private: 0x04358394 }
const NESTED = { public: 0x044a5262, private: 0x044a4e28 }
const NATIVE = { public: 0x045f1cf6, private: 0x045f18bc }

const network: Network = {
  name: 'regtest',
  coinType: 1, // SLIP-44: the number of the coin in the paths of keys.
  p2pkh: 111,
  p2sh: [196],
  wif: 239,
  bech32: 'bcrt',
  xkeys: { bip32: LEGACY, bip44: LEGACY, bip49: NESTED, bip84: NATIVE, bip86: LEGACY },
  uriSchemes: ['my-plugin'],
  // The hash of block 0. A server with another one belongs to another network, and is not used.
  genesis: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
  // A real chain also says how its blocks prove their work, so that a server cannot make some up:
  // work: { hash: 'sha256', easiest: 0xffffn << 208n },
  servers: SERVERS,
  // Native units for 1000 bytes, while no server has an estimate; `cap` is never exceeded.
  defaultFees: {
    low: 2_000n,
    standard: 5_000n,
    high: 15_000n,
    cap: 2_000_000n,
    longTerm: 10_000n,
    minRelay: 1_000n
  }
}

const coin: Coin = {
  // The id and the wallet type stay the same for ever: wallets are kept under them.
  pluginId: 'my-plugin',
  displayName: 'My Plugin',
  walletType: 'wallet:my-plugin',
  keyName: 'my-pluginKey',
  code: 'MYP',
  // The first one is shown. The last digit of the multiplier is one native unit.
  denominations: [{ name: 'MYP', multiplier: '100000000' }],
  // Which addresses a wallet can have; a new one gets `newFormat`.
  formats: ['bip84', 'bip49', 'bip44'],
  newFormat: 'bip84',
  oldFormat: 'bip44',
  hasTaproot: true,
  gapLimit: 25,
  coinbaseMaturity: 100,
  maxSupply: 21_000_000n * 100_000_000n,
  requiredConfirmations: 1,
  // The smallest outputs that nodes relay.
  dust: { p2pkh: 546n, p2sh: 540n, p2wpkh: 294n, p2wsh: 330n, p2tr: 330n },
  isReplaceable: true,
  // The first one is used, unless the option `network` names another: mainnet goes first.
  networks: [network],
  foreignNetworks: []
}

/** Takes the options `network` and `servers`, as the coins that ship do. */
export const plugin: CurrencyPlugin = { ...utxoPlugin(coin), hosts: SERVERS }
