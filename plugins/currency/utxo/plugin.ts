import {
  type CurrencyHost,
  type CurrencyInfo,
  type CurrencyPlugin,
  type CurrencyTools,
  type Io,
  type JsonObject,
  WalletError
} from '../../../kernel/plugin-api.ts'
import {
  addressOf,
  encodeUri,
  parseAddress,
  parseUri,
  programOf,
  scriptTypeOf,
  writeScript
} from './chain/address.ts'
import { hexOf, memoOptions } from './chain/transaction.ts'
import { type ElectrumServer, readServerUrl } from './electrum/connection.ts'
import { ElectrumPool } from './electrum/pool.ts'
import { openEngine } from './engine.ts'
import { branchNodeOf, childKeys } from './keys/child-keys.ts'
import {
  branchesOf,
  derivePublicKeys,
  extendedPublicKeyOf,
  importWalletKeys,
  makeWalletKeys,
  purposesOf,
  readPublicKeys
} from './keys/keys.ts'
import { bitcoinRow, bitcoinTestnetRow } from './params/bitcoin.ts'
import type { CoinRow, NetworkRow } from './params/coin.ts'
import { litecoinRow } from './params/litecoin.ts'

/** What the kernel and its interfaces know of a coin. */
const infoOf = (coin: CoinRow): CurrencyInfo => ({
  pluginId: coin.pluginId,
  displayName: coin.displayName,
  walletType: coin.walletType,
  currencyCode: coin.code,
  denominations: coin.denominations,
  requiredConfirmations: coin.requiredConfirmations,
  memoOptions,
  maxSupply: String(coin.maxSupply),
  canImportKeys: true,
  customFeeTemplate: [{ key: 'satPerByte', displayName: 'Fee rate', unit: 'sat/vB' }],
  ...(coin.addressExplorer === undefined ? {} : { addressExplorer: coin.addressExplorer }),
  ...(coin.transactionExplorer === undefined ? {} : { transactionExplorer: coin.transactionExplorer })
})

/**
 * Makes the plugin of a coin of the UTXO family.
 *
 * Options: `network` (such as `regtest`; the row's first by default) and `servers`, a list of
 * `tcp://host:port`, `tls://host:port`, `ws://…` or `wss://…`. All wallets of a coin share one connection.
 */
export const utxoPlugin = (coin: CoinRow): CurrencyPlugin => ({
  kind: 'currency',
  id: coin.pluginId,
  info: infoOf(coin),
  apply(host: CurrencyHost): void {
    const { hooks, io, log, options } = host
    const network = networkOf(coin, options)
    const pool = new ElectrumPool(io, network, { servers: serversOf(network, options), log })
    const tools = makeTools(coin, network, io)
    hooks.makeTools.tapPromise(coin.pluginId, async () => tools)
    hooks.makeEngine.tapPromise(coin.pluginId, request => openEngine({ coin, network, io, pool }, request))
  }
})

/** Bitcoin, on mainnet unless the option `network` says `testnet` or `regtest`. */
export const bitcoin: CurrencyPlugin = utxoPlugin(bitcoinRow)

/** Bitcoin's test network. */
export const bitcoinTestnet: CurrencyPlugin = utxoPlugin(bitcoinTestnetRow)

/** Litecoin, on mainnet unless the option `network` says `testnet` or `regtest`. */
export const litecoin: CurrencyPlugin = utxoPlugin(litecoinRow)

const MAX_SERVERS = 50

const networkOf = (coin: CoinRow, options: JsonObject): NetworkRow => {
  const name = options.network ?? coin.networks[0].name
  const network = coin.networks.find(row => row.name === name)
  if (network === undefined) {
    const names = coin.networks.map(row => row.name).join(', ')
    throw new TypeError(`${coin.pluginId}: the option "network" must be one of ${names}`)
  }
  return network
}

const serversOf = (network: NetworkRow, options: JsonObject): readonly ElectrumServer[] => {
  const { servers = network.servers } = options
  if (!Array.isArray(servers) || servers.length > MAX_SERVERS) {
    throw new TypeError(`The option "servers" must be a list of at most ${MAX_SERVERS} URLs`)
  }
  return servers.map((url, at) => {
    const server = typeof url === 'string' ? readServerUrl(url) : undefined
    if (server === undefined)
      throw new TypeError(
        `The option "servers" has an entry that is no tcp, tls, ws or wss URL: number ${at + 1}`
      )
    return server
  })
}

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
  findOwnAddresses: makeOwnAddressFinder(coin, network, io),
  parseUri: async uri => parseUri(coin, network, uri),
  encodeUri: async request => encodeUri(coin, network, request)
})

/** How many addresses of each branch are derived; a wallet that is open knows those behind them. */
const SEARCHED = 250
const BATCH = 25
const MAX_KEPT = 100

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

/** '' for what is no address of this network. */
const scriptHexOf = (coin: CoinRow, network: NetworkRow, address: string): string => {
  try {
    return hexOf(parseAddress(coin, network, address).script)
  } catch {
    return ''
  }
}
