import { type CurrencyTools, type Io, WalletError } from '../../../kernel/plugin-api.ts'
import { addressOf } from './address/address.ts'
import { encodeUri, parseUri } from './address/uri.ts'
import { derivePublicKeys, extendedPublicKeyOf, readPublicKeys } from './keys/account-keys.ts'
import { purposesOf } from './keys/branches.ts'
import { importWalletKeys, makeWalletKeys } from './keys/make-keys.ts'
import type { CoinRow, NetworkRow } from './params/coin-row.ts'

/** Makes what a coin can do without a wallet. */
export const makeTools = (coin: CoinRow, network: NetworkRow, io: Io): CurrencyTools => ({
  async createPrivateKey(walletType, options = {}) {
    if (walletType !== coin.walletType) throw new WalletError('PLUGIN_FOR_TYPE', { walletType })
    return makeWalletKeys(coin, network, io, options)
  },
  async importPrivateKey(text, options = {}) {
    return importWalletKeys(coin, network, text, { io, options })
  },
  derivePublicKey: async walletInfo => derivePublicKeys(coin, network, walletInfo.keys, io.crypto),
  async checkPublicKey(keys) {
    const read = readPublicKeys(network, keys)
    // An imported account key covers one purpose of its format; everything else covers all.
    return read !== undefined && read.accounts.size <= purposesOf[read.format].length
  },
  async getDisplayPrivateKey({ keys }) {
    const text = keys[coin.keyName]
    if (typeof text !== 'string') throw new WalletError('KEY_INTEGRITY', { rule: `no ${coin.keyName}` })
    return text
  },
  getDisplayPublicKey: async ({ keys }) => extendedPublicKeyOf(network, keys),
  // No script hashes to zeros.
  sampleAddress: async () => addressOf(network, { type: 'p2wsh', data: new Uint8Array(32) }),
  parseUri: async uri => parseUri(coin, network, uri),
  encodeUri: async request => encodeUri(coin, network, request)
})
