import {
  type NativeAmount,
  type QuoteContext,
  type SpendInfo,
  type SwapOrder,
  type SwapPlugin,
  WalletError
} from '../../kernel/plugin-api.ts'
import { makeAsk } from './kit/client.ts'
import { quotient } from './kit/decimal.ts'
import { keepList } from './kit/kept-list.ts'
import { troubled } from './kit/provider.ts'
import { settingOf, type Wish, wishOf } from './kit/wish.ts'
import { type Ends, loadEnds } from './thorchain/inbound.ts'
import { type Door, type Inquiry, inquire } from './thorchain/inquiry.ts'
import { MAX_MEMO_BYTES, writeMemo } from './thorchain/memo.ts'
import { MAYA, THORCHAIN, type VaultNetwork } from './thorchain/networks.ts'
import { loadPools } from './thorchain/pools.ts'
import { termsFor, termsOfAmount, type VaultTerms } from './thorchain/terms.ts'
import { fromNative, toNative } from './thorchain/units.ts'

const vaultPlugin = (network: VaultNetwork): SwapPlugin => ({
  kind: 'swap',
  id: network.pluginId,
  displayName: network.displayName,
  supportEmail: network.supportEmail,
  isDex: true,
  apply({ hooks, io, options }) {
    const serverOf = (name: string, usual: string): string => settingOf(name, {}, options) ?? usual
    const ask = makeAsk(io, network, serverOf('nodeServer', network.nodeAddress))
    const askMidgard = makeAsk(io, network, serverOf('midgardServer', network.midgardAddress))
    const pools = keepList(io.clock, () => loadPools(askMidgard, network))
    hooks.fetchQuotes.tapPromise(network.pluginId, desk => quote({ network, ask, pools, options }, desk))
  }
})

/** A quote with what its order must keep. */
interface Offered {
  readonly wish: Wish
  readonly terms: VaultTerms
  /** The least that arrives, in units of the network and never 0, which would be no limit; it stands in the memo. */
  readonly limit: bigint
}

const quote = async (door: Door, desk: QuoteContext): Promise<void> => {
  const inquiry = await inquire(door, desk)
  const [wish, ends] = await Promise.all([wishOf(desk, LONGEST), endsOf(inquiry, desk.signal)])
  const terms = await termsFor(inquiry, ends, wish)
  const { expected, expirationDate, seconds } = terms.quote
  const offered = { wish, terms, limit: quotient(expected * (10_000n - inquiry.slippage), 10_000n, 'up') }
  const amounts = amountsOf(inquiry, offered, expected)
  desk.offer({
    ...amounts,
    isEstimate: true,
    canBePartial: true,
    minReceiveAmount: lesserOf(toNative(offered.limit, inquiry.to, 'down'), amounts.toNativeAmount),
    expirationDate,
    ...(seconds === undefined ? {} : { maxFulfillmentSeconds: seconds }),
    networkFee: await desk.feeFor([await spendOf(inquiry, offered, undefined)]),
    payment: { order: () => order(inquiry, offered) }
  })
}

/** What is searched for an amount to receive may bring a little more, and then the limit may lie above that amount. */
const lesserOf = (a: NativeAmount, b: NativeAmount): NativeAmount => (BigInt(a) < BigInt(b) ? a : b)

/** Looks at everything again: vaults move, chains halt, and the price may have gone below the limit. */
const order = async (inquiry: Inquiry, offered: Offered): Promise<SwapOrder> => {
  const { network } = inquiry
  const ends = await endsOf(inquiry)
  const { quote: now } = await termsOfAmount(inquiry, ends, offered.terms.amount, false)
  if (now.inboundAddress !== ends.inbound.address) throw troubled(network, 'names two vaults')
  if (now.expected < offered.limit) {
    throw new WalletError('SWAP_CHANGED', {
      pluginId: network.pluginId,
      rule: 'would bring less than the offer promised'
    })
  }
  return {
    ...amountsOf(inquiry, offered, now.expected),
    spends: [await spendOf(inquiry, offered, ends.inbound.address)],
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

const endsOf = ({ ask, network, desk, chains }: Inquiry, signal?: QuoteContext['signal']): Promise<Ends> =>
  loadEnds({ ask, network, signal }, { request: desk.request, ...chains })

const amountsOf = (
  { from, to }: Inquiry,
  { wish, terms }: Offered,
  expected: bigint
): Pick<SwapOrder, 'fromNativeAmount' | 'toNativeAmount'> => {
  const isEnough = wish.direction === 'to' && expected >= fromNative(wish.nativeAmount, to, 'up')
  return {
    fromNativeAmount: wish.direction === 'from' ? wish.nativeAmount : toNative(terms.amount, from, 'up'),
    toNativeAmount: isEnough ? wish.nativeAmount : toNative(expected, to, 'down')
  }
}

/** The payment to a vault; without an address, for its fee. */
const spendOf = async (
  inquiry: Inquiry,
  offered: Offered,
  publicAddress: string | undefined
): Promise<SpendInfo> => {
  const { network, desk, to, affiliate } = inquiry
  const { asset } = to
  const shortName = Object.hasOwn(network.shortNames, asset) ? network.shortNames[asset] : undefined
  const destination = await desk.depositTo()
  const memo = writeMemo({ asset, shortName, destination, limit: offered.limit, affiliate })
  const nativeAmount = amountsOf(inquiry, offered, offered.terms.quote.expected).fromNativeAmount
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
