import { type AssetList, MAX_ASSETS, makeAssetList, type ProviderAsset } from '../kit/assets.ts'
import type { Ask } from '../kit/client.ts'
import { quotient, rescale } from '../kit/decimal.ts'
import type { VaultNetwork } from './networks.ts'
import { decimalsAt } from './units.ts'

/** The assets that a network has pools for, and what they cost. */
export interface Pools {
  readonly assets: AssetList
  /** About so much of one asset for so much of another, in units of the network; undefined without a price. */
  convert(amount: bigint, from: string, to: string): bigint | undefined
}

/** Reads the pools that are open. @throws BAD_REPLY and what {@link Ask} throws */
export const loadPools = async (ask: Ask, network: VaultNetwork): Promise<Pools> => {
  const { reply } = await ask({ path: 'v2/pools', query: { status: 'available' } })
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
        quotient(amount * above, below, 'up'),
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
