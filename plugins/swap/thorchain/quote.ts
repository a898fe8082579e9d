import {
  compact,
  divideRounded,
  type HttpRequest,
  type JsonObject,
  type QuoteContext,
  type QuoteRequest
} from '../../../kernel/plugin-api.ts'
import { belowLimit, settingOf, unsupported, type WantedAmount } from '../kit/provider.ts'
import type { ProviderClient, ProviderReply } from '../kit/provider-client.ts'
import {
  assetName,
  fromNative,
  type Pools,
  type SwapEnds,
  toNative,
  type Units,
  type VaultNetwork
} from './network.ts'

/** A network with its servers, as one plugin has it. */
export interface VaultServers {
  readonly network: VaultNetwork
  /** Of its node. */
  readonly client: ProviderClient
  /** Loads the pools from its Midgard, or gives the cached ones. */
  readonly pools: () => Promise<Pools>
  readonly options: JsonObject
}

/** The receiver of a share of the swap, by the name that the network knows. */
interface Affiliate {
  readonly name: string
  readonly basisPoints: string
}

/** A request of assets that the network has. */
export interface VaultRequest extends VaultServers {
  readonly context: QuoteContext
  readonly known: Pools
  readonly from: Units
  readonly to: Units
  /** The network's names of the two chains. */
  readonly chains: { readonly from: string; readonly to: string }
  readonly affiliate: Affiliate | undefined
  /** How far the price may fall between the quote and the swap, in hundredths of a percent. */
  readonly slippage: bigint
}

/** Finds both assets. @throws SWAP_CURRENCY if the network has no pool of one, or takes no payment from the other */
export const findAssets = async (servers: VaultServers, context: QuoteContext): Promise<VaultRequest> => {
  const { network, options } = servers
  const { request, userSettings } = context
  if (!network.payable.has(request.from.pluginId) || request.from.tokenId !== null) {
    throw unsupported(network, request)
  }
  const known = await servers.pools()
  const [from, to] = [known.assets.find(request.from), known.assets.find(request.to)]
  if (from === undefined || to === undefined || assetName(from) === assetName(to)) {
    throw unsupported(network, request)
  }
  const find = (name: string): string | undefined => settingOf(name, userSettings, options)
  return {
    ...servers,
    context,
    known,
    from: { network, asset: assetName(from), multiplier: request.from.multiplier },
    to: { network, asset: assetName(to), multiplier: request.to.multiplier },
    chains: { from: from.network, to: to.network },
    affiliate: affiliateOf(find('affiliate'), find('affiliateBasisPoints')),
    slippage: slippageOf(find('slippageBasisPoints'))
  }
}

const USUAL_SLIPPAGE = 200n
const MOST_SLIPPAGE = 5000n

const slippageOf = (text: string | undefined): bigint => {
  const wanted = text !== undefined && /^\d{1,5}$/.test(text) ? BigInt(text) : USUAL_SLIPPAGE
  return wanted > MOST_SLIPPAGE ? MOST_SLIPPAGE : wanted
}

const affiliateOf = (name: string | undefined, basisPoints: string | undefined): Affiliate | undefined =>
  name !== undefined && /^[a-z0-9_+-]{1,30}$/.test(name) && /^\d{1,4}$/.test(basisPoints ?? '')
    ? { name, basisPoints: basisPoints ?? '0' }
    : undefined

/** The quote of a network for an amount in its units. */
export interface VaultTerms {
  readonly amount: bigint
  readonly quote: NetworkQuote
}

/** Asks for a quote of what is paid, or searches for little more than must be paid, for the wanted amount. @throws SWAP_BELOW_LIMIT, SWAP_CURRENCY */
export const termsFor = async (
  input: VaultRequest,
  ends: SwapEnds,
  wanted: WantedAmount
): Promise<VaultTerms> => {
  if (wanted.direction === 'from') {
    return termsOfAmount(input, ends, fromNative(wanted.nativeAmount, input.from, 'down'))
  }
  const target = fromNative(wanted.nativeAmount, input.to, 'up')
  const { asset: from } = input.from
  const { asset: to } = input.to
  // The pools say what it costs without fees; each quote says how far that was off.
  let amount = input.known.convert(target + (ends.outbound?.fee ?? 0n), to, from)
  let best: VaultTerms | undefined
  for (let tries = 0; tries < TRIES && amount !== undefined; tries += 1) {
    const terms: VaultTerms = await termsOfAmount(input, ends, amount)
    const { expected } = terms.quote
    if (expected >= target && (best === undefined || amount < best.amount)) best = terms
    if (expected >= target && expected * 100n <= target * 101n) break
    // A little more than it seems, since the price gets worse with the amount.
    amount = divideRounded(amount * target * 1001n, expected * 1000n, 'up')
  }
  if (best === undefined) throw unsupported(input.network, input.context.request)
  return best
}

/** Fetches the quote for an amount. `isAbortable`: false once the user has approved. */
export const termsOfAmount = async (
  input: VaultRequest,
  ends: SwapEnds,
  amount: bigint,
  isAbortable = true
): Promise<VaultTerms> => {
  const { network, client, context, from, to, affiliate } = input
  const { dustThreshold } = ends.inbound
  if (amount <= dustThreshold) {
    const least = smallestOf(input, ends)
    throw belowLimit(
      network,
      'from',
      toNative(least > dustThreshold ? least : dustThreshold + 1n, from, 'up')
    )
  }
  const options = {
    client,
    network,
    request: context.request,
    smallest: smallestOf(input, ends),
    ...compact({ signal: isAbortable ? context.signal : undefined })
  }
  const quote = await fetchQuote(options, { from: from.asset, to: to.asset, amount, affiliate })
  return { amount, quote }
}

const TRIES = 4

/** The network recommends to swap at least four times what a payout costs (its documentation, "Quickstart Guide"). */
const FEES_IN_LEAST = 4n

const smallestOf = ({ known, chains, from }: VaultRequest, { outbound }: SwapEnds): bigint => {
  const gas = GAS_ASSETS[chains.to] ?? chains.to
  return known.convert(FEES_IN_LEAST * (outbound?.fee ?? 0n), `${chains.to}.${gas}`, from.asset) ?? 0n
}

/** The coins of chains that are called otherwise than their chain. */
const GAS_ASSETS: Readonly<Record<string, string>> = { ARB: 'ETH', BASE: 'ETH', BSC: 'BNB', GAIA: 'ATOM' }

/** A quote's query: names of assets, and the amount in the network's units. It holds no address. */
export interface VaultQuoteQuery {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly affiliate?: Affiliate | undefined
}

/** A network's expectation of a swap, in its units. */
interface NetworkQuote {
  readonly expected: bigint
  readonly inboundAddress: string
  /** Afterwards its vault may be gone. */
  readonly expirationDate: Date
  readonly seconds: number | undefined
}

/** How to fetch a quote. `smallest`: the figure for the error where the network refuses an amount as too small. */
export interface QuoteOptions {
  readonly client: ProviderClient
  readonly network: VaultNetwork
  readonly request: QuoteRequest
  readonly smallest: bigint
  readonly signal?: HttpRequest['signal'] | undefined
}

/**
 * Fetches a quote from a network.
 *
 * @throws SWAP_BELOW_LIMIT in units of the paying asset, SWAP_CURRENCY
 */
const fetchQuote = async (options: QuoteOptions, query: VaultQuoteQuery): Promise<NetworkQuote> => {
  const { client, signal } = options
  const { from, to, amount, affiliate } = query
  const search = {
    amount: String(amount),
    from_asset: from,
    to_asset: to,
    streaming_interval: '1',
    streaming_quantity: '0',
    affiliate: affiliate?.name,
    affiliate_bps: affiliate?.basisPoints
  }
  const path = '/quote/swap'
  const answer = await client.request(
    signal === undefined ? { path, query: search } : { path, query: search, signal }
  )
  const { reply } = answer
  const least = reply.field('recommended_min_amount_in')
  if (least.isThere && amount < least.integer()) throw tooSmall(options, query, least.integer())
  if (!answer.isOk || reply.field('error').isThere) throw refusal(options, query, answer)
  const seconds = reply.field('total_swap_seconds')
  return {
    expected: reply.field('expected_amount_out').positiveInteger(),
    inboundAddress: reply.field('inbound_address').text(),
    expirationDate: reply.field('expiry').date(),
    seconds: seconds.isThere ? Number(seconds.integer()) : undefined
  }
}

const refusal = (options: QuoteOptions, query: VaultQuoteQuery, { reply }: ProviderReply): Error => {
  const words = ['error', 'message'].map(name => reply.field(name).optionalText() ?? '').join(' ')
  if (!/too small|not enough (?:asset|fee|to pay)|dust threshold|less than/i.test(words)) {
    return unsupported(options.network, options.request)
  }
  // The network names no figure; it has refused this amount, so the figure is above it.
  return tooSmall(options, query, options.smallest > query.amount ? options.smallest : query.amount + 1n)
}

const tooSmall = ({ network, request }: QuoteOptions, { from }: VaultQuoteQuery, least: bigint): Error =>
  belowLimit(
    network,
    'from',
    toNative(least, { network, asset: from, multiplier: request.from.multiplier }, 'up')
  )
