import {
  decimalsOf,
  divideRounded,
  type HttpRequest,
  type NativeAmount,
  nativeAmount,
  type QuoteRequest,
  type Reply,
  type Rounding,
  rescale
} from '../../../kernel/plugin-api.ts'
import {
  type AssetList,
  type ChainTable,
  MAX_ASSETS,
  makeAssetList,
  type ProviderAsset
} from '../kit/asset-list.ts'
import { type Provider, unsupported } from '../kit/provider.ts'
import type { ProviderClient } from '../kit/provider-client.ts'

/** A network of vaults that swaps by the memo of a payment: THORChain, or one that came from it. */
export interface VaultNetwork extends Provider {
  readonly supportEmail: string
  /** Of its node API, with the part of the path that names the network. */
  readonly nodeAddress: string
  /** Of its Midgard API. */
  readonly midgardAddress: string
  readonly chains: ChainTable
  /** The asset that all pools are priced in: `THOR.RUNE`. */
  readonly native: string
  /** Decimals of amounts of this asset; those of all others have 8. */
  readonly nativeDecimals: number
  /** Short names that the network knows, for memos. */
  readonly shortNames: Readonly<Record<string, string>>
  /** Currency plugins that can carry a memo of 80 bytes to a vault. From other chains it can only be received. */
  readonly payable: ReadonlySet<string>
}

/** THORChain. */
export const THORCHAIN: VaultNetwork = {
  pluginId: 'thorchain',
  displayName: 'THORChain',
  supportEmail: 'support@thorchain.org',
  nodeAddress: 'https://thornode.ninerealms.com/thorchain',
  midgardAddress: 'https://midgard.ninerealms.com',
  chains: {
    avalanche: { network: 'AVAX', coin: 'AVAX' },
    base: { network: 'BASE', coin: 'ETH' },
    binancesmartchain: { network: 'BSC', coin: 'BNB' },
    bitcoin: { network: 'BTC', coin: 'BTC' },
    bitcoincash: { network: 'BCH', coin: 'BCH' },
    cosmoshub: { network: 'GAIA', coin: 'ATOM' },
    dogecoin: { network: 'DOGE', coin: 'DOGE' },
    ethereum: { network: 'ETH', coin: 'ETH' },
    litecoin: { network: 'LTC', coin: 'LTC' },
    ripple: { network: 'XRP', coin: 'XRP' },
    thorchainrune: { network: 'THOR', coin: 'RUNE' }
  },
  native: 'THOR.RUNE',
  nativeDecimals: 8,
  shortNames: {
    'AVAX.AVAX': 'a',
    'BCH.BCH': 'c',
    'BSC.BNB': 's',
    'BTC.BTC': 'b',
    'DOGE.DOGE': 'd',
    'ETH.ETH': 'e',
    'GAIA.ATOM': 'g',
    'LTC.LTC': 'l',
    'THOR.RUNE': 'r'
  },
  payable: new Set(['bitcoin', 'bitcoincash', 'dogecoin', 'litecoin'])
}

/** Maya Protocol: the same machinery, other chains, and a coin of its own. */
export const MAYA: VaultNetwork = {
  pluginId: 'mayaprotocol',
  displayName: 'Maya Protocol',
  supportEmail: 'support@mayaprotocol.com',
  nodeAddress: 'https://mayanode.mayachain.info/mayachain',
  midgardAddress: 'https://midgard.mayachain.info',
  chains: {
    arbitrum: { network: 'ARB', coin: 'ETH' },
    bitcoin: { network: 'BTC', coin: 'BTC' },
    dash: { network: 'DASH', coin: 'DASH' },
    ethereum: { network: 'ETH', coin: 'ETH' },
    mayachain: { network: 'MAYA', coin: 'CACAO' },
    thorchainrune: { network: 'THOR', coin: 'RUNE' },
    zcash: { network: 'ZEC', coin: 'ZEC' }
  },
  native: 'MAYA.CACAO',
  nativeDecimals: 10,
  shortNames: {},
  payable: new Set(['bitcoin', 'dash'])
}

/** Writes an asset as a network does: `BTC.BTC`, `ETH.USDC-0XA0B8…`. */
export const assetName = ({
  network,
  coin,
  contract
}: {
  readonly network: string
  readonly coin: string
  readonly contract?: string | undefined
}): string => `${network}.${coin}${contract === undefined ? '' : `-${contract}`}`

/** The assets that a network has pools for, with their prices. */
export interface Pools {
  readonly assets: AssetList
  /** Converts an amount at the prices of the pools, in units of the network; undefined without a price. */
  convert(amount: bigint, from: string, to: string): bigint | undefined
}

/** Reads the pools that are open. @throws BAD_REPLY and what {@link ProviderClient} throws */
export const loadPools = async (client: ProviderClient, network: VaultNetwork): Promise<Pools> => {
  const { reply } = await client.request({ path: '/v2/pools', query: { status: 'available' } })
  const prices = new Map([[network.native, PRICE_ONE]])
  const assets: ProviderAsset[] = [assetOf(network.native)]
  // The price of an empty pool is NaN.
  const pools = reply.readable(MAX_ASSETS, pool => ({
    name: pool.field('asset').text(),
    status: pool.field('status').optionalText() ?? 'available',
    price: BigInt(pool.field('assetPrice').native(PRICE_MULTIPLIER, 'down'))
  }))
  for (const { name, status, price } of pools) {
    if (status.toLowerCase() !== 'available' || !ASSET.test(name)) continue
    prices.set(name, price)
    assets.push(assetOf(name))
  }
  return {
    assets: makeAssetList(network.chains, assets),
    convert(amount, from, to) {
      const [above, below] = [prices.get(from), prices.get(to)]
      if (above === undefined || below === undefined || below === 0n) return undefined
      return rescale(
        divideRounded(amount * above, below, 'up'),
        decimalsAt(network, from),
        decimalsAt(network, to),
        'up'
      )
    }
  }
}

const ASSET = /^[A-Z]+\.[A-Z0-9]+(?:-[A-Za-z0-9]+)?$/
const PRICE_MULTIPLIER = '1000000000000000000'
const PRICE_ONE = BigInt(PRICE_MULTIPLIER)

const assetOf = (name: string): ProviderAsset => {
  const [network = '', rest = ''] = name.split('.')
  const [coin = '', contract] = rest.split('-')
  return { network, coin, contract }
}

/** The vault that takes payments of one chain now, with amounts in units of the network. */
export interface Inbound {
  readonly address: string
  readonly dustThreshold: bigint
}

/** The fee of a payout on one chain, in units of the network. */
export interface Outbound {
  readonly fee: bigint
}

/** Both ends of a swap; undefined for the network's own chain, which has no vault. */
export interface SwapEnds {
  readonly inbound: Inbound
  readonly outbound: Outbound | undefined
}

/**
 * Looks up both chains of a swap; a halted one is not swapped.
 *
 * @throws SWAP_CURRENCY if the network takes nothing from the one now, or pays nothing to the other
 */
export const loadEnds = async (
  {
    client,
    network,
    signal
  }: { client: ProviderClient; network: VaultNetwork; signal?: HttpRequest['signal'] | undefined },
  { request, from, to }: { request: QuoteRequest; from: string; to: string }
): Promise<SwapEnds> => {
  const path = '/inbound_addresses'
  const answer = await client.request(signal === undefined ? { path } : { path, signal })
  if (!answer.isOk) throw unsupported(network, request)
  const rows = new Map(answer.reply.readable(MAX_CHAINS, row => [row.field('chain').text(), row]))
  const open = (chain: string): Reply => {
    const row = rows.get(chain)
    if (row === undefined || HALTS.some(name => isHalt(row.field(name)))) throw unsupported(network, request)
    return row
  }
  const inbound = open(from)
  const isOwn = `${to}.` === network.native.slice(0, to.length + 1)
  return {
    inbound: {
      address: inbound.field('address').text(),
      dustThreshold: inbound.field('dust_threshold').integer()
    },
    outbound: isOwn ? undefined : { fee: open(to).field('outbound_fee').integer() }
  }
}

/** Anything but a clear no; a network leaves out what it does not have. */
const isHalt = (flag: Reply): boolean => flag.isThere && !flag.isFalse()

const MAX_CHAINS = 100
const HALTS = ['halted', 'global_trading_paused', 'chain_trading_paused'] as const

/** Decimals of the amounts that the API of a network names for an asset. */
const decimalsAt = (network: VaultNetwork, asset: string): number =>
  asset === network.native ? network.nativeDecimals : 8

/** The two units of an asset: those of a network, and the native ones of its currency. */
export interface Units {
  readonly network: VaultNetwork
  readonly asset: string
  readonly multiplier: string
}

/** An amount of a network in native units. */
export const toNative = (
  amount: bigint,
  { network, asset, multiplier }: Units,
  rounding: Rounding
): NativeAmount =>
  nativeAmount(String(rescale(amount, decimalsAt(network, asset), decimalsOf(multiplier), rounding)))

/** An amount in native units as a network counts it. */
export const fromNative = (
  amount: NativeAmount,
  { network, asset, multiplier }: Units,
  rounding: Rounding
): bigint => rescale(BigInt(amount), decimalsOf(multiplier), decimalsAt(network, asset), rounding)
