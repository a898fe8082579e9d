import {
  compact,
  divideRounded,
  type NativeAmount,
  type QuoteContext,
  type SpendInfo,
  type SwapOrder,
  type SwapPlugin,
  WalletError
} from '../../kernel/plugin-api.ts'
import { cacheList } from './kit/asset-list.ts'
import { providerFailed, settingOf, type WantedAmount, wantedAmountOf } from './kit/provider.ts'
import { originOf, ProviderClient } from './kit/provider-client.ts'
import { watchPayment } from './thorchain/actions.ts'
import {
  fromNative,
  loadEnds,
  loadPools,
  MAYA,
  type SwapEnds,
  THORCHAIN,
  toNative,
  type VaultNetwork
} from './thorchain/network.ts'
import {
  findAssets,
  termsFor,
  termsOfAmount,
  type VaultRequest,
  type VaultServers,
  type VaultTerms
} from './thorchain/quote.ts'

/** The most bytes that a data output of Bitcoin and its relatives carries. */
const MAX_MEMO_BYTES = 80

const vaultPlugin = (network: VaultNetwork): SwapPlugin => ({
  kind: 'swap',
  id: network.pluginId,
  displayName: network.displayName,
  supportEmail: network.supportEmail,
  isDex: true,
  hosts: [network.nodeAddress, network.midgardAddress].map(originOf),
  apply({ hooks, io, options }) {
    const serverOf = (name: string, usual: string): string => settingOf(name, {}, options) ?? usual
    const client = new ProviderClient(io, network, serverOf('nodeServer', network.nodeAddress))
    const midgard = new ProviderClient(io, network, serverOf('midgardServer', network.midgardAddress))
    const pools = cacheList(io.clock, () => loadPools(midgard, network))
    hooks.fetchQuotes.tapPromise(network.pluginId, context =>
      quote({ network, client, pools, options }, context)
    )
    hooks.watchOrder.tapPromise(network.pluginId, order => watchPayment(midgard, order))
  }
})

/** A quote with what its order must keep. */
interface Offered {
  readonly wanted: WantedAmount
  readonly terms: VaultTerms
  /** The least that arrives, in units of the network and never 0, which would be no limit; it stands in the memo. */
  readonly limit: bigint
}

const quote = async (servers: VaultServers, context: QuoteContext): Promise<void> => {
  const input = await findAssets(servers, context)
  const [wanted, ends] = await Promise.all([wantedAmountOf(context, LONGEST), endsOf(input, context.signal)])
  const terms = await termsFor(input, ends, wanted)
  const { expected, expirationDate, seconds } = terms.quote
  const offered = {
    wanted,
    terms,
    limit: divideRounded(expected * (10_000n - input.slippage), 10_000n, 'up')
  }
  const amounts = amountsOf(input, offered, expected)
  context.offer({
    ...amounts,
    isEstimate: true,
    canBePartial: true,
    minReceiveAmount: lesserOf(toNative(offered.limit, input.to, 'down'), amounts.toNativeAmount),
    expirationDate,
    ...compact({ maxFulfillmentSeconds: seconds }),
    networkFee: await context.feeFor([await spendOf(input, offered, undefined)]),
    payment: { order: () => order(input, offered) }
  })
}

/** A quote that was searched for an amount to receive may bring a little more, and then the limit may lie above that amount. */
const lesserOf = (a: NativeAmount, b: NativeAmount): NativeAmount => (BigInt(a) < BigInt(b) ? a : b)

/** Fetches everything again: vaults move, chains halt, and the price may have gone below the limit. */
const order = async (input: VaultRequest, offered: Offered): Promise<SwapOrder> => {
  const { network } = input
  const ends = await endsOf(input)
  const { quote: now } = await termsOfAmount(input, ends, offered.terms.amount, false)
  if (now.inboundAddress !== ends.inbound.address) throw providerFailed(network, 'names two vaults')
  if (now.expected < offered.limit) {
    throw new WalletError('SWAP_CHANGED', {
      pluginId: network.pluginId,
      rule: 'would bring less than the offer promised'
    })
  }
  return {
    ...amountsOf(input, offered, now.expected),
    spends: [await spendOf(input, offered, ends.inbound.address)],
    expirationDate: now.expirationDate
  }
}

/** The vault must be paid soon: its address is good until the quote expires. */
const URGENT: Partial<SpendInfo> = { networkFeeOption: 'high' }

/** While the amount is not known, the memo is taken for as long as can be. */
const LONGEST: Partial<SpendInfo> = {
  ...URGENT,
  memos: [{ type: 'text', value: 'x'.repeat(MAX_MEMO_BYTES) }]
}

const endsOf = (
  { client, network, context, chains }: VaultRequest,
  signal?: QuoteContext['signal']
): Promise<SwapEnds> => loadEnds({ client, network, signal }, { request: context.request, ...chains })

const amountsOf = (
  { from, to }: VaultRequest,
  { wanted, terms }: Offered,
  expected: bigint
): Pick<SwapOrder, 'fromNativeAmount' | 'toNativeAmount'> => {
  const isEnough = wanted.direction === 'to' && expected >= fromNative(wanted.nativeAmount, to, 'up')
  return {
    fromNativeAmount: wanted.direction === 'from' ? wanted.nativeAmount : toNative(terms.amount, from, 'up'),
    toNativeAmount: isEnough ? wanted.nativeAmount : toNative(expected, to, 'down')
  }
}

/** The payment to a vault; without an address, for its fee. */
const spendOf = async (
  input: VaultRequest,
  offered: Offered,
  publicAddress: string | undefined
): Promise<SpendInfo> => {
  const { network, context, to, affiliate } = input
  const { asset } = to
  const shortName = Object.hasOwn(network.shortNames, asset) ? network.shortNames[asset] : undefined
  const destination = await context.depositTo()
  const memo = writeMemo({ asset, shortName, destination, limit: offered.limit, affiliate })
  const nativeAmount = amountsOf(input, offered, offered.terms.quote.expected).fromNativeAmount
  return {
    ...URGENT,
    tokenId: null,
    spendTargets: [publicAddress === undefined ? { nativeAmount } : { publicAddress, nativeAmount }],
    memos: [{ type: 'text', value: memo }]
  }
}

/**
 * Swaps through THORChain. Takes the options or settings `slippageBasisPoints`, `affiliate` and `affiliateBasisPoints`, and
 * the options `nodeServer` and `midgardServer` for servers of one's own.
 *
 * It can be paid from the chains whose currencies carry a memo; to the others it pays out only.
 */
export const thorchain: SwapPlugin = vaultPlugin(THORCHAIN)

/** Swaps through Maya Protocol; the options are those of {@link thorchain}. */
export const mayaprotocol: SwapPlugin = vaultPlugin(MAYA)

/** The fields that a vault needs to swap a payment. */
interface SwapMemo {
  /** Full name of what is paid out: `LTC.LTC`. */
  readonly asset: string
  readonly shortName: string | undefined
  readonly destination: string
  /** The least that arrives, in units of the network; for less, the vault sends the money back. */
  readonly limit: bigint
  readonly affiliate?: { readonly name: string; readonly basisPoints: string } | undefined
}

/**
 * Writes the memo of a swap (THORChain documentation, "Transaction Memos").
 *
 * `=:ASSET:DESTINATION:LIMIT/INTERVAL/QUANTITY:AFFILIATE:BASISPOINTS`, with the short name of the asset where there is
 * one. An interval of one block and a quantity of 0 let the network choose how it streams. What does not fit leaves out,
 * in this order, the streaming and the affiliate; the limit always stays.
 *
 * @throws MEMO_INVALID if it still does not fit
 */
export const writeMemo = ({ asset, shortName, destination: full, limit, affiliate }: SwapMemo): string => {
  // The network knows these addresses without the name of their chain, whose colon would end the part.
  const destination = full.replace(/^bitcoincash:/, '')
  const start = `=:${shortName ?? shortToken(asset)}:${destination}:${limit}`
  const end = affiliate === undefined ? '' : `:${affiliate.name}:${affiliate.basisPoints}`
  const fitting = [`${start}${STREAMING}${end}`, `${start}${end}`, start].find(
    memo => memo.length <= MAX_MEMO_BYTES
  )
  // Anything but these letters could end a part of the memo early, or be more than a byte.
  if (fitting === undefined || !/^[\w.:=/+-]+$/.test(fitting) || /[:/]/.test(destination)) {
    throw new WalletError('MEMO_INVALID', { rule: `does not fit into ${MAX_MEMO_BYTES} bytes` })
  }
  return fitting
}

const STREAMING = '/1/0'

/** A token by the end of its contract, which the network understands. */
const shortToken = (asset: string): string => asset.replace(/-.*(?=.{6}$)/, '-')
