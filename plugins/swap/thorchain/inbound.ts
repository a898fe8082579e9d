import type { QuoteRequest } from '../../../kernel/plugin-api.ts'
import type { Answer, Ask, Question } from '../kit/client.ts'
import { unsupported } from '../kit/provider.ts'
import type { Reply } from '../kit/reply.ts'
import type { VaultNetwork } from './networks.ts'

/** Where a network takes payments of one chain now, in units of the network. */
export interface Inbound {
  readonly address: string
  readonly dustThreshold: bigint
}

/** What a network takes of a payout on one chain, in units of the network. */
export interface Outbound {
  readonly fee: bigint
}

/** Both ends of a swap; undefined for the network's own chain, which has no vault. */
export interface Ends {
  readonly inbound: Inbound
  readonly outbound: Outbound | undefined
}

/**
 * Looks up both chains of a swap and obeys what is halted.
 *
 * @throws SWAP_CURRENCY if the network takes nothing from the one now, or pays nothing to the other
 */
export const loadEnds = async (
  { ask, network, signal }: { ask: Ask; network: VaultNetwork; signal?: Question['signal'] | undefined },
  { request, from, to }: { request: QuoteRequest; from: string; to: string }
): Promise<Ends> => {
  const path = 'inbound_addresses'
  const answer: Answer = await ask(signal === undefined ? { path } : { path, signal })
  if (!answer.isOk) throw unsupported(network, request)
  const rows = new Map(answer.reply.readable(MAX_CHAINS, row => [row.field('chain').text(), row]))
  const open = (chain: string): Reply => {
    const row = rows.get(chain)
    if (row === undefined || HALTS.some(name => isHalt(row.field(name)))) throw unsupported(network, request)
    return row
  }
  const inbound = open(from)
  const isOwn = `${to}.` === network.native.slice(0, to.length + 1)
  return {
    inbound: {
      address: inbound.field('address').text(),
      dustThreshold: inbound.field('dust_threshold').integer()
    },
    outbound: isOwn ? undefined : { fee: open(to).field('outbound_fee').integer() }
  }
}

/** Anything but a clear no; a network leaves out what it does not have. */
const isHalt = (flag: Reply): boolean => flag.isThere && !flag.isFalse()

const MAX_CHAINS = 100
const HALTS = ['halted', 'global_trading_paused', 'chain_trading_paused'] as const
