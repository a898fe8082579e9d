import { hex } from '@scure/base'
import { Address } from '@scure/btc-signer'
import { sha256 } from '@scure/btc-signer/utils.js'
import { WalletError } from '../../../kernel/base/errors.ts'
import { isRecord, type Json, type JsonObject } from '../../../kernel/base/json.ts'
import type { Clock } from '../../../kernel/io/io.ts'
import type { Txid } from '../../../kernel/types/ids.ts'
import type { ChainNetwork } from '../../chain/chain-params.ts'
import type { ChainId, FakeChains } from '../../chain/open-chain.ts'
import { scriptOf } from '../../chain/script.ts'
import type { FakeMarket } from '../market/market.ts'
import type { ProviderMemory } from '../market/provider.ts'
import { type FakeCoin, worldChainOf } from './exchange-api.ts'

/** The behaviour of a fake exchange; a test may change it at any time. */
export interface ExchangeBehaviour {
  /** Its share, in hundredths of a percent. */
  feeBasisPoints: number
  /** The smallest swap, by the price of what is paid, in USD as decimal text. */
  minUsd: string
  /** The largest swap. */
  maxUsd: string
  /** It does not serve this country. */
  isBlocked: boolean
  /** Codes of coins that it lists and does not swap. */
  readonly closed: Set<string>
  /** The loss of an order against its quote, as after a move of the price, in hundredths of a percent. */
  driftBasisPoints: number
  /** It asks to be paid at an address of another chain. */
  isPayInWrong: boolean
  /** The validity of a promised rate and of an order. */
  rateSeconds: number
  /** The time between a payment's block and the payout, in milliseconds. */
  exchangeMs: number
  /** It sends payments back, as after a check that failed. */
  isRefunding: boolean
}

/** The market, chains and clock that all fake exchanges share. */
export interface ExchangePorts {
  readonly market: FakeMarket
  readonly chains: FakeChains
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly random: (count: number) => Uint8Array
}

/** A swap of two amounts in native units. */
export interface Deal {
  readonly from: FakeCoin
  readonly to: FakeCoin
  readonly fromAmount: bigint
  readonly toAmount: bigint
}

/** A request for a deal: an amount to pay, or one to receive. */
export interface DealRequest {
  readonly from: FakeCoin
  readonly to: FakeCoin
  readonly direction: 'from' | 'to'
  readonly amount: bigint
}

/** A deal whose rate is promised for a while. */
export interface HeldDeal extends DealRequest {
  readonly deal: Deal
  readonly expiresAt: number
}

/** The business of one fake exchange: prices, promised rates and orders. Its provider dresses it in its API. */
export class FakeExchange {
  readonly behaviour: ExchangeBehaviour
  readonly ports: ExchangePorts
  readonly #orders = new Map<string, FakeOrder>()
  readonly #held = new Map<string, HeldDeal>()
  readonly #listeners = new Set<() => void>()

  constructor(ports: ExchangePorts, feeBasisPoints: number) {
    this.ports = ports
    this.behaviour = {
      feeBasisPoints,
      minUsd: '20',
      maxUsd: '50000',
      isBlocked: false,
      closed: new Set(),
      driftBasisPoints: 0,
      isPayInWrong: false,
      rateSeconds: 600,
      exchangeMs: 0,
      isRefunding: false
    }
  }

  /** All orders, the oldest first. */
  get orders(): readonly FakeOrder[] {
    return [...this.#orders.values()]
  }

  order(id: string): FakeOrder | undefined {
    return this.#orders.get(id)
  }

  /** Writes down a new or changed order. */
  put(order: FakeOrder): void {
    this.#orders.set(order.id, order)
    for (const listener of [...this.#listeners]) listener()
  }

  /** True if it swaps these two at all. */
  swaps(from: FakeCoin, to: FakeCoin): boolean {
    const { closed } = this.behaviour
    return from !== to && !closed.has(from.code) && !closed.has(to.code)
  }

  /** Converts an amount of USD to native units of a coin, rounded up; 0 without a price. */
  worthOf(usd: string, coin: FakeCoin): bigint {
    const price = this.ports.market.ratioOf('iso:USD', coin.code)
    if (price === undefined) return 0n
    const cents = BigInt(Math.round(Number(usd) * 100))
    const divisor = price.denominator * 100n
    return (cents * price.numerator * 10n ** BigInt(coin.decimals) + divisor - 1n) / divisor
  }

  /** Quotes a deal at present prices; undefined without a price. */
  deal({ from, to, direction, amount }: DealRequest): Deal | undefined {
    const { feeBasisPoints } = this.behaviour
    const price = this.ports.market.ratioOf(from.code, to.code)
    if (price === undefined) return undefined
    const above = price.numerator * 10n ** BigInt(to.decimals) * BigInt(10_000 - feeBasisPoints)
    const below = price.denominator * 10n ** BigInt(from.decimals) * 10_000n
    return direction === 'from'
      ? { from, to, fromAmount: amount, toAmount: (amount * above) / below }
      : { from, to, fromAmount: (amount * below + above - 1n) / above, toAmount: amount }
  }

  /** Promises a deal. @returns the name of the promise */
  hold(dealRequest: DealRequest, deal: Deal): string {
    const id = hex.encode(this.ports.random(10))
    for (const known of this.#held.keys()) if (this.held(known) === undefined) this.#held.delete(known)
    this.#held.set(id, {
      ...dealRequest,
      deal,
      expiresAt: this.ports.clock.now() + this.behaviour.rateSeconds * 1000
    })
    return id
  }

  /** A promise that still holds. */
  held(id: string): HeldDeal | undefined {
    const found = this.#held.get(id)
    return found !== undefined && found.expiresAt > this.ports.clock.now() ? found : undefined
  }

  /** A deal as it is when it is ordered: worse, if the price has drifted. */
  drifted(deal: Deal, direction: 'from' | 'to'): Deal {
    const drift = BigInt(this.behaviour.driftBasisPoints)
    return direction === 'from'
      ? { ...deal, toAmount: (deal.toAmount * (10_000n - drift)) / 10_000n }
      : { ...deal, fromAmount: (deal.fromAmount * (10_000n + drift)) / 10_000n }
  }

  /** Takes an order; undefined if the world lacks a chain, or an address is none of its chain. */
  takeOrder(
    deal: Deal,
    { payoutAddress, refundAddress }: Pick<FakeOrder, 'payoutAddress' | 'refundAddress'>
  ): FakeOrder | undefined {
    const [payIn, payout] = [worldChainOf(deal.from), worldChainOf(deal.to)]
    if (payIn === undefined || payout === undefined) return undefined
    if (!this.#isAddress(payout, payoutAddress) || !this.#isAddress(payIn, refundAddress)) return undefined
    const { clock, random, chains } = this.ports
    const payInChain = this.behaviour.isPayInWrong ? OTHER[payIn] : payIn
    const createdAt = clock.now()
    const order: FakeOrder = {
      id: hex.encode(random(7)),
      from: deal.from.code,
      to: deal.to.code,
      fromAmount: String(deal.fromAmount),
      toAmount: String(deal.toAmount),
      payInChain,
      payInAddress: sinkAddress(random(32), chains[payInChain].network),
      payoutChain: payout,
      payoutAddress,
      refundAddress,
      createdAt,
      expiresAt: createdAt + this.behaviour.rateSeconds * 1000,
      status: 'waiting',
      isLate: false
    }
    this.put(order)
    return order
  }

  /** Keeps the orders. */
  get memory(): ProviderMemory {
    return {
      save: () => (this.#orders.size === 0 ? undefined : this.orders.map(saveOrder)),
      load: (saved: Json) => {
        for (const order of (Array.isArray(saved) ? saved : [saved]) as Json[]) {
          const parsed = parseOrder(order)
          this.#orders.set(parsed.id, parsed)
        }
      },
      onChange: listener => void this.#listeners.add(listener)
    }
  }

  #isAddress(chain: ChainId, address: string): boolean {
    try {
      scriptOf(this.ports.chains[chain].network, address)
      return true
    } catch {
      return false
    }
  }
}

const OTHER: Readonly<Record<ChainId, ChainId>> = { bitcoin: 'litecoin', litecoin: 'bitcoin' }

/** The status of an order. `exchanging`: it is paid, and the payout is due. */
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
  /** A later payment is refunded. */
  readonly expiresAt: number
  readonly status: OrderStatus
  readonly isLate: boolean
  readonly payInTxid?: Txid
  /** Of the payout, or of what went back. */
  readonly payoutTxid?: Txid
}

/** Reads an order of a saved world. @throws BAD_REPLY */
const parseOrder = (saved: Json): FakeOrder => {
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
const saveOrder = (order: FakeOrder): JsonObject => ({ ...order })

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

/**
 * Makes an address that is paid to and never spent from: payouts come from the faucet, so it needs no key.
 *
 * @param seed - any bytes; the same ones give the same address on each network
 */
export const sinkAddress = (seed: Uint8Array, { prefixes }: ChainNetwork): string =>
  Address(prefixes).encode({ type: 'wpkh', hash: sha256(seed).subarray(0, 20) })
