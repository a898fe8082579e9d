import type { QuoteRequest } from '../../../kernel/plugin-api.ts'
import type { Answer, Ask, Question } from '../kit/client.ts'
import { belowLimit, unsupported } from '../kit/provider.ts'
import type { Affiliate } from './inquiry.ts'
import type { VaultNetwork } from './networks.ts'
import { toNative } from './units.ts'

/** A swap as a network is asked for it: names of assets, and the amount in its units. No address is in it. */
export interface QuoteWish {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly affiliate?: Affiliate | undefined
}

/** What a network expects, in its units. */
export interface NetworkQuote {
  readonly expected: bigint
  readonly inboundAddress: string
  /** Afterwards its vault may be gone. */
  readonly expirationDate: Date
  readonly seconds: number | undefined
}

/** How the quote is asked. `smallest`: the figure to name where the network says that an amount is too small. */
export interface QuotePort {
  readonly ask: Ask
  readonly network: VaultNetwork
  readonly request: QuoteRequest
  readonly smallest: bigint
  readonly signal?: Question['signal'] | undefined
}

/**
 * Asks a network what it would pay.
 *
 * @throws SWAP_BELOW_LIMIT in units of the paying asset, SWAP_CURRENCY
 */
export const askQuote = async (port: QuotePort, wish: QuoteWish): Promise<NetworkQuote> => {
  const { ask, signal } = port
  const { from, to, amount, affiliate } = wish
  const query = {
    amount: String(amount),
    from_asset: from,
    to_asset: to,
    streaming_interval: '1',
    streaming_quantity: '0',
    affiliate: affiliate?.name,
    affiliate_bps: affiliate?.basisPoints
  }
  const path = 'quote/swap'
  const answer = await ask(signal === undefined ? { path, query } : { path, query, signal })
  const { reply } = answer
  const least = reply.field('recommended_min_amount_in')
  if (least.isThere && amount < least.integer()) throw tooSmall(port, wish, least.integer())
  if (!answer.isOk || reply.field('error').isThere) throw refusal(port, wish, answer)
  const seconds = reply.field('total_swap_seconds')
  return {
    expected: reply.field('expected_amount_out').positiveInteger(),
    inboundAddress: reply.field('inbound_address').text(),
    expirationDate: reply.field('expiry').date(),
    seconds: seconds.isThere ? Number(seconds.integer()) : undefined
  }
}

const refusal = (port: QuotePort, wish: QuoteWish, { reply }: Answer): Error => {
  const words = ['error', 'message'].map(name => reply.field(name).optionalText() ?? '').join(' ')
  if (!/too small|not enough (?:asset|fee|to pay)|dust threshold|less than/i.test(words)) {
    return unsupported(port.network, port.request)
  }
  // The network names no figure; it has refused this amount, so the figure is above it.
  return tooSmall(port, wish, port.smallest > wish.amount ? port.smallest : wish.amount + 1n)
}

const tooSmall = ({ network, request }: QuotePort, { from }: QuoteWish, least: bigint): Error =>
  belowLimit(
    network,
    'from',
    toNative(least, { network, asset: from, multiplier: request.from.multiplier }, 'up')
  )
