import type { CurrencyHost, CurrencyInfo, CurrencyPlugin, JsonObject } from '../../../kernel/plugin-api.ts'
import { compact } from '../../../kernel/plugin-api.ts'
import { memoOptions } from './chain/transaction.ts'
import { type ChainServer, hostOf, readElectrumUrl } from './electrum/connection.ts'
import { LinkedHeaders } from './electrum/headers.ts'
import { ServerSpread } from './electrum/spread.ts'
import { queryWitness, type Witness } from './electrum/witness.ts'
import { openEngine, type UtxoEngineOptions } from './engine.ts'
import { readEsploraUrl } from './http/esplora.ts'
import { readNodeUrl } from './http/node.ts'
import { bitcoinRow, bitcoinTestnetRow } from './params/bitcoin.ts'
import type { CoinRow, NetworkRow } from './params/coin.ts'
import { litecoinRow } from './params/litecoin.ts'
import { makeTools } from './tools.ts'

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
  ...compact({ addressExplorer: coin.addressExplorer, transactionExplorer: coin.transactionExplorer })
})

/**
 * Makes the plugin of a coin of the UTXO family.
 *
 * Options: `network` (such as `regtest`; the row's first by default) and `servers`, a list of Electrum servers
 * (`tcp://host:port`, `tls://host:port`, `ws://…`, `wss://…`), of Esplora's (`esplora+https://host/api`) and of nodes of one's own
 * (`rpc+http://127.0.0.1:port`, whose login the io adds). The wallets of a coin share a connection,
 * and more of them than a server gives are spread over the others; through a proxy each has its own, on a circuit that no other wallet
 * uses, so that a server cannot tell that they belong together.
 */
export const utxoPlugin = (coin: CoinRow): CurrencyPlugin => ({
  kind: 'currency',
  id: coin.pluginId,
  info: infoOf(coin),
  apply(host: CurrencyHost): void {
    const { disk, hooks, io, log, options } = host
    const network = networkOf(coin, options)
    const servers = serversOf(network, options)
    const linked = new LinkedHeaders(io, network, disk)
    const spread = new ServerSpread(io, network, { servers, log, linked })
    /** The servers of one wallet: the one that it follows, and another that is compared with it. */
    const serversOfWallet = (): Pick<UtxoEngineOptions, 'seatOf' | 'witness'> => {
      const circuit = io.isProxied === true ? io.crypto.toHex(io.random(8)) : undefined
      const witness: Witness = (url, query) =>
        linked.witness(query, full => queryWitness({ io, network, circuit }, othersOf(servers, url), full))
      return {
        seatOf: client => spread.seat(client, circuit),
        ...compact({ witness: new Set(servers.map(hostOf)).size > 1 ? witness : undefined })
      }
    }
    const tools = makeTools(coin, network, io)
    hooks.makeTools.tapPromise(coin.pluginId, async () => tools)
    hooks.makeEngine.tapPromise(coin.pluginId, request =>
      openEngine({ coin, network, io, ...serversOfWallet() }, request)
    )
  }
})

/** Bitcoin, on mainnet unless the option `network` says `testnet`, `testnet4`, `signet` or `regtest`. */
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

const serversOf = (network: NetworkRow, options: JsonObject): readonly ChainServer[] => {
  const { servers = network.servers } = options
  if (!Array.isArray(servers) || servers.length > MAX_SERVERS) {
    throw new TypeError(`The option "servers" must be a list of at most ${MAX_SERVERS} URLs`)
  }
  return servers.map((url, at) => {
    const server = typeof url === 'string' ? readServerUrl(url) : undefined
    if (server === undefined)
      throw new TypeError(
        `The option "servers" has an entry that is no tcp, tls, ws, wss, esplora+http(s) or rpc+http(s) URL: number ${at + 1}`
      )
    // It gives the first 80 bytes of a header alone, and these headers are longer.
    if (String(url).startsWith('esplora+') && network.headerForm !== undefined)
      throw new TypeError(
        `The headers of this currency cannot be had from a server of Esplora: number ${at + 1}`
      )
    return server
  })
}

/** The other servers than one, those after it first, so that not all wallets ask the same one. Two ports of a host are one server's word. */
const othersOf = (servers: readonly ChainServer[], url: string): readonly ChainServer[] => {
  const at = servers.findIndex(server => server.url === url)
  const others = [...servers.slice(at + 1), ...servers.slice(0, Math.max(0, at))]
  return others.filter(server => hostOf(server) !== hostOf({ url }))
}

const readServerUrl = (url: string): ChainServer | undefined =>
  url.length > 300 ? undefined : (readElectrumUrl(url) ?? readEsploraUrl(url) ?? readNodeUrl(url))
