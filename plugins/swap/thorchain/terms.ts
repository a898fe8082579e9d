import { quotient } from '../kit/decimal.ts'
import { belowLimit, unsupported } from '../kit/provider.ts'
import type { Wish } from '../kit/wish.ts'
import type { Ends } from './inbound.ts'
import type { Inquiry } from './inquiry.ts'
import { askQuote, type NetworkQuote } from './quote.ts'
import { fromNative, toNative } from './units.ts'

/** What a network would swap; amounts in its units. */
export interface VaultTerms {
  readonly amount: bigint
  readonly quote: NetworkQuote
}

/** Asks for what is paid, or searches what must be paid and not much more, for a wish. @throws SWAP_BELOW_LIMIT, SWAP_CURRENCY */
export const termsFor = async (inquiry: Inquiry, ends: Ends, wish: Wish): Promise<VaultTerms> => {
  if (wish.direction === 'from') {
    return termsOfAmount(inquiry, ends, fromNative(wish.nativeAmount, inquiry.from, 'down'))
  }
  const wanted = fromNative(wish.nativeAmount, inquiry.to, 'up')
  const { asset: from } = inquiry.from
  const { asset: to } = inquiry.to
  // The pools say what it costs without fees; each answer says how far that was off.
  let amount = inquiry.known.convert(wanted + (ends.outbound?.fee ?? 0n), to, from)
  let best: VaultTerms | undefined
  for (let tries = 0; tries < TRIES && amount !== undefined; tries += 1) {
    const terms: VaultTerms = await termsOfAmount(inquiry, ends, amount)
    const { expected } = terms.quote
    if (expected >= wanted && (best === undefined || amount < best.amount)) best = terms
    if (expected >= wanted && expected * 100n <= wanted * 101n) break
    // A little more than it seems, since the price gets worse with the amount.
    amount = quotient(amount * wanted * 1001n, expected * 1000n, 'up')
  }
  if (best === undefined) throw unsupported(inquiry.network, inquiry.desk.request)
  return best
}

/** Asks what would be paid for an amount. `isAbortable`: false when the user has said yes already. */
export const termsOfAmount = async (
  inquiry: Inquiry,
  ends: Ends,
  amount: bigint,
  isAbortable = true
): Promise<VaultTerms> => {
  const { network, ask, desk, from, to, affiliate } = inquiry
  const { dustThreshold } = ends.inbound
  if (amount <= dustThreshold) {
    const least = smallestOf(inquiry, ends)
    throw belowLimit(
      network,
      'from',
      toNative(least > dustThreshold ? least : dustThreshold + 1n, from, 'up')
    )
  }
  const port = {
    ask,
    network,
    request: desk.request,
    smallest: smallestOf(inquiry, ends),
    ...(isAbortable ? { signal: desk.signal } : {})
  }
  const quote = await askQuote(port, { from: from.asset, to: to.asset, amount, affiliate })
  return { amount, quote }
}

const TRIES = 4

/** The network recommends to swap at least four times what a payout costs (its documentation, "Quickstart Guide"). */
const FEES_IN_LEAST = 4n

const smallestOf = ({ known, chains, from }: Inquiry, { outbound }: Ends): bigint => {
  const gas = GAS_ASSETS[chains.to] ?? chains.to
  return known.convert(FEES_IN_LEAST * (outbound?.fee ?? 0n), `${chains.to}.${gas}`, from.asset) ?? 0n
}

/** The coins of chains that are called otherwise than their chain. */
const GAS_ASSETS: Readonly<Record<string, string>> = { ARB: 'ETH', BASE: 'ETH', BSC: 'BNB', GAIA: 'ATOM' }
