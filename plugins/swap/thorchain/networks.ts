import type { ChainTable } from '../kit/assets.ts'
import type { Provider } from '../kit/provider.ts'

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

/** How a network writes an asset: `BTC.BTC`, `ETH.USDC-0XA0B8…`. */
export const assetName = ({
  network,
  coin,
  contract
}: {
  readonly network: string
  readonly coin: string
  readonly contract?: string | undefined
}): string => `${network}.${coin}${contract === undefined ? '' : `-${contract}`}`
