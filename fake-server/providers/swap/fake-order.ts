import { WalletError } from '../../../kernel/base/errors.ts'
import { isRecord, type Json, type JsonObject } from '../../../kernel/base/json.ts'
import type { ChainId } from '../../world-chain.ts'

/** Where an order stands. `exchanging`: it is paid, and the payout is on its way. */
export type OrderStatus =
  | 'waiting'
  | 'confirming'
  | 'exchanging'
  | 'finished'
  | 'refunded'
  | 'expired'
  | 'failed'

/** An order of a fake exchange. Amounts are native units. */
export interface FakeOrder {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly fromAmount: string
  readonly toAmount: string
  /** The chain that the exchange looks for the payment on. */
  readonly payInChain: ChainId
  readonly payInAddress: string
  readonly payoutChain: ChainId
  readonly payoutAddress: string
  readonly refundAddress: string
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Who pays later gets the money back. */
  readonly expiresAt: number
  readonly status: OrderStatus
  readonly isLate: boolean
  readonly payInTxid?: string
  /** Of the payout, or of what went back. */
  readonly payoutTxid?: string
}

/** Reads an order of a saved world. @throws BAD_REPLY */
export const parseOrder = (saved: Json): FakeOrder => {
  if (!isRecord(saved)) return odd('is no order')
  for (const name of TEXTS) if (typeof saved[name] !== 'string') return odd(`has no ${name}`)
  for (const name of ['payInTxid', 'payoutTxid']) {
    if (saved[name] !== undefined && typeof saved[name] !== 'string') return odd(`has a bad ${name}`)
  }
  if (![saved.createdAt, saved.expiresAt].every(Number.isSafeInteger)) return odd('has no dates')
  if (typeof saved.isLate !== 'boolean') return odd('has no isLate')
  if (!STATUSES.has(String(saved.status))) return odd('has no status')
  if (![saved.payInChain, saved.payoutChain].every(chain => chain === 'bitcoin' || chain === 'litecoin')) {
    return odd('is of no chain')
  }
  return saved as unknown as FakeOrder
}

/** An order for a saved world. */
export const saveOrder = (order: FakeOrder): JsonObject => ({ ...order })

const TEXTS = [
  'id',
  'from',
  'to',
  'fromAmount',
  'toAmount',
  'payInAddress',
  'payoutAddress',
  'refundAddress'
] as const

const STATUSES: ReadonlySet<string> = new Set<OrderStatus>([
  'waiting',
  'confirming',
  'exchanging',
  'finished',
  'refunded',
  'expired',
  'failed'
])

const odd = (rule: string): never => {
  throw new WalletError('BAD_REPLY', { source: 'saved order', path: '', rule })
}
