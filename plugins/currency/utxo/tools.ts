import { type CurrencyTools, type Io, type JsonObject, WalletError } from '../../../kernel/plugin-api.ts'
import { addressOf, parseAddress, programOf, scriptTypeOf, writeScript } from './chain/address.ts'
import { encodeUri, parseUri } from './chain/payment-link.ts'
import { hexOf } from './chain/transaction.ts'
import { branchNodeOf, childKeys } from './keys/child-keys.ts'
import { importWalletKeys } from './keys/import-keys.ts'
import {
  branchesOf,
  derivePublicKeys,
  extendedPublicKeyOf,
  keyPathsOf,
  makeWalletKeys,
  purposesOf,
  readPublicKeys
} from './keys/keys.ts'
import { verifyUtxoMessage } from './messages.ts'
import type { CoinRow, NetworkRow } from './params/coin.ts'

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
  // No key or script hashes to zeros.
  sampleAddress: async () =>
    addressOf(
      network,
      network.bech32 === undefined
        ? { type: 'p2pkh', data: new Uint8Array(20) }
        : { type: 'p2wsh', data: new Uint8Array(32) }
    ),
  getKeyPaths: async keys => keyPathsOf(network, keys),
  verifyMessage: async signed => verifyUtxoMessage(coin, network, signed),
  findOwnAddresses: makeOwnAddressFinder(coin, network, io),
  parseUri: async uri => parseUri(coin, network, uri),
  encodeUri: async request => encodeUri(coin, network, request)
})

/** Finds own addresses by the scripts of all branches; what was derived of a wallet is kept for the next question. */
const makeOwnAddressFinder = (
  coin: CoinRow,
  network: NetworkRow,
  { clock }: Pick<Io, 'clock'>
): NonNullable<CurrencyTools['findOwnAddresses']> => {
  const kept = new Map<string, ReadonlySet<string>>()
  const scriptsOf = async (keys: JsonObject): Promise<ReadonlySet<string>> => {
    const name = JSON.stringify(keys)
    const known = kept.get(name)
    if (known !== undefined) return known
    const read = readPublicKeys(network, keys)
    if (read === undefined)
      throw new WalletError('KEY_INTEGRITY', { rule: 'the public keys are of another form' })
    const scripts = new Set<string>()
    for (const { purpose, change } of branchesOf[read.format]) {
      const account = read.accounts.get(purpose)
      if (account === undefined) continue
      const node = branchNodeOf(account, change)
      for (let from = 0; from < SEARCHED; from += BATCH) {
        for (const key of childKeys(node, from, BATCH))
          if (key !== undefined)
            scripts.add(hexOf(writeScript({ type: scriptTypeOf[purpose], data: programOf(purpose, key) })))
        await clock.turn()
      }
    }
    const [oldest] = kept.keys()
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
    kept.set(name, scripts)
    return scripts
  }
  return async (publicKeys, addresses) => {
    const scripts = await scriptsOf(publicKeys)
    return addresses.filter(address => scripts.has(scriptHexOf(coin, network, address)))
  }
}

/** How many addresses of each branch are derived; a wallet that is open knows those behind them. */
const SEARCHED = 250
const BATCH = 25
const MAX_KEPT = 100

/** '' for what is no address of this network. */
const scriptHexOf = (coin: CoinRow, network: NetworkRow, address: string): string => {
  try {
    return hexOf(parseAddress(coin, network, address).script)
  } catch {
    return ''
  }
}
