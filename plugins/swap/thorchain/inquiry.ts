import type { JsonObject, QuoteContext } from '../../../kernel/plugin-api.ts'
import type { Ask } from '../kit/client.ts'
import { unsupported } from '../kit/provider.ts'
import { settingOf } from '../kit/wish.ts'
import { assetName, type VaultNetwork } from './networks.ts'
import type { Pools } from './pools.ts'
import type { Units } from './units.ts'

/** A network with its servers, as one plugin has it. */
export interface Door {
  readonly network: VaultNetwork
  /** Asks its node. */
  readonly ask: Ask
  /** Asks its Midgard, now and then. */
  readonly pools: () => Promise<Pools>
  readonly options: JsonObject
}

/** Who gets a share of the swap, by the name that the network knows. */
export interface Affiliate {
  readonly name: string
  readonly basisPoints: string
}

/** A request of assets that the network has. */
export interface Inquiry extends Door {
  readonly desk: QuoteContext
  readonly known: Pools
  readonly from: Units
  readonly to: Units
  /** What the network calls the two chains. */
  readonly chains: { readonly from: string; readonly to: string }
  readonly affiliate: Affiliate | undefined
  /** What the price may lose between the quote and the swap, in hundredths of a percent. */
  readonly slippage: bigint
}

/** Finds both assets. @throws SWAP_CURRENCY if the network has no pool of one, or takes no payment from the other */
export const inquire = async (door: Door, desk: QuoteContext): Promise<Inquiry> => {
  const { network, options } = door
  const { request, userSettings } = desk
  if (!network.payable.has(request.from.pluginId) || request.from.tokenId !== null) {
    throw unsupported(network, request)
  }
  const known = await door.pools()
  const [from, to] = [known.assets.find(request.from), known.assets.find(request.to)]
  if (from === undefined || to === undefined || assetName(from) === assetName(to)) {
    throw unsupported(network, request)
  }
  const find = (name: string): string | undefined => settingOf(name, userSettings, options)
  return {
    ...door,
    desk,
    known,
    from: { network, asset: assetName(from), multiplier: request.from.multiplier },
    to: { network, asset: assetName(to), multiplier: request.to.multiplier },
    chains: { from: from.network, to: to.network },
    affiliate: affiliateOf(find('affiliate'), find('affiliateBasisPoints')),
    slippage: slippageOf(find('slippageBasisPoints'))
  }
}

const SLIPPAGE = 200n
const MOST_SLIPPAGE = 5000n

const slippageOf = (text: string | undefined): bigint => {
  const wanted = text !== undefined && /^\d{1,5}$/.test(text) ? BigInt(text) : SLIPPAGE
  return wanted > MOST_SLIPPAGE ? MOST_SLIPPAGE : wanted
}

const affiliateOf = (name: string | undefined, basisPoints: string | undefined): Affiliate | undefined =>
  name !== undefined && /^[a-z0-9_+-]{1,30}$/.test(name) && /^\d{1,4}$/.test(basisPoints ?? '')
    ? { name, basisPoints: basisPoints ?? '0' }
    : undefined
