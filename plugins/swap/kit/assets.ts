import type { SwapAsset } from '../../../kernel/plugin-api.ts'

/** How a provider calls a chain, and the coin of that chain. */
export interface ChainCodes {
  readonly network: string
  readonly coin: string
}

/** Chains by the id of the currency plugin. */
export type ChainTable = Readonly<Record<string, ChainCodes>>

/** How a provider calls an asset. `contract`: only of a token. */
export interface ProviderAsset {
  readonly network: string
  readonly coin: string
  readonly contract?: string | undefined
}

/** Finds the assets that a provider has. */
export interface AssetList {
  /** undefined: the provider does not have it. */
  find(asset: SwapAsset): ProviderAsset | undefined
}

/** The most assets that a list may name. */
export const MAX_ASSETS = 20_000

/** Joins a provider's table of chains with the assets that it says it has. Codes are compared without case. */
export const makeAssetList = (chains: ChainTable, assets: Iterable<ProviderAsset>): AssetList => {
  const known = new Map<string, ProviderAsset>()
  for (const asset of assets) {
    const key = asset.contract === undefined ? coinKey(asset) : tokenKey(asset.network, asset.contract)
    // The first one counts, so that a list cannot replace a coin by a later copy of its name.
    if (!known.has(key)) known.set(key, asset)
  }
  return {
    find({ pluginId, tokenId, networkLocation }) {
      const chain = Object.hasOwn(chains, pluginId) ? chains[pluginId] : undefined
      if (chain === undefined) return undefined
      if (tokenId === null) return known.get(coinKey(chain))
      const contract = networkLocation?.contractAddress
      return typeof contract === 'string' ? known.get(tokenKey(chain.network, contract)) : undefined
    }
  }
}

const coinKey = ({ network, coin }: ChainCodes): string => `${network} ${coin}`.toLowerCase()

// Some chains write contracts in letters that count. Two that differ in case alone do not occur, and the first one counts.
const tokenKey = (network: string, contract: string): string => `${network}/${contract}`.toLowerCase()
