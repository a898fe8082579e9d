import type { Clock, SwapAsset } from '../../../kernel/plugin-api.ts'

/** A provider's names of a chain and of its coin. */
export interface ChainCodes {
  readonly network: string
  readonly coin: string
}

/** Chains by the id of the currency plugin. */
export type ChainTable = Readonly<Record<string, ChainCodes>>

/** A provider's names of an asset. `contract`: only of a token. */
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

/**
 * Caches the result of `load`; concurrent calls share one load.
 *
 * A result older than an hour is still returned at once while it is loaded again, so that no call waits for a slow server.
 * One older than a day is not returned.
 */
export const cacheList = <T>(clock: Pick<Clock, 'monotonic'>, load: () => Promise<T>): (() => Promise<T>) => {
  let cached: { readonly value: T; readonly at: number } | undefined
  let running: Promise<T> | undefined
  const loadNow = async (): Promise<T> => {
    try {
      const value = await load()
      cached = { value, at: clock.monotonic() }
      return value
    } finally {
      running = undefined
    }
  }
  return () => {
    const age = cached === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - cached.at
    if (cached !== undefined && age < HOUR_MS) return Promise.resolve(cached.value)
    running ??= loadNow()
    if (cached === undefined || age > DAY_MS) return running
    running.catch(() => {})
    return Promise.resolve(cached.value)
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
