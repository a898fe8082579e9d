import type { Clock } from '../../../kernel/io/io.ts'
import { chainIds, type FakeChains } from '../../chain/open-chain.ts'
import { scriptHashOf, scriptOf } from '../../chain/script.ts'
import type { FakeExchange, FakeOrder } from './fake-exchange.ts'

/** The chains that the worker watches and pays from, and its clock. */
export interface SettlementPorts {
  readonly chains: FakeChains
  readonly clock: Pick<Clock, 'now' | 'after'>
}

/** Settles the orders of fake exchanges. */
export interface SettlementWorker {
  /** Updates the orders of an exchange from the chains, such as before a request for the status of one. */
  checkPayments(exchange: FakeExchange): void
}

/**
 * Starts the settlement of orders: it sees the deposit of each order on its chain, waits for a block, and pays out on the
 * other chain from the faucet there. A late or small deposit is refunded, and any while the exchange wants so; the surplus of a large one is kept.
 */
export const startSettlement = (
  { chains, clock }: SettlementPorts,
  exchanges: readonly FakeExchange[]
): SettlementWorker => {
  const settling = new Set<string>()
  const settle = (exchange: FakeExchange, id: string): void => {
    settling.delete(id)
    const order = exchange.order(id)
    if (order?.status === 'exchanging') exchange.put(settled(chains, order, exchange.behaviour))
  }
  const checkPayments = (exchange: FakeExchange): void => {
    for (const order of exchange.orders) {
      const next = seen(chains, order, clock.now())
      if (next !== order) exchange.put(next)
      if (next.status !== 'exchanging' || settling.has(next.id)) continue
      settling.add(next.id)
      clock.after(exchange.behaviour.exchangeMs, () => settle(exchange, next.id))
    }
  }
  for (const id of chainIds) chains[id].onChange(() => exchanges.forEach(checkPayments))
  return { checkPayments }
}

const ENDED: ReadonlySet<string> = new Set(['finished', 'refunded', 'failed'])

/** The order as its deposit shows it; the same one if nothing has changed (pure). */
const seen = (chains: FakeChains, order: FakeOrder, now: number): FakeOrder => {
  if (ENDED.has(order.status)) return order
  const coins = depositsOf(chains, order)
  const [first] = coins
  if (first === undefined) {
    // A deposit that a reorganisation or a replacement took away is waited for again, as if there had been none.
    const status = now > order.expiresAt ? 'expired' : 'waiting'
    const { payInTxid, ...rest } = order
    return order.status === status && payInTxid === undefined ? order : { ...rest, status }
  }
  const status = coins.every(({ height }) => height > 0) ? 'exchanging' : 'confirming'
  if (order.status === status && order.payInTxid === first.txid) return order
  const isLate = order.isLate || (order.payInTxid === undefined && now > order.expiresAt)
  return { ...order, status, payInTxid: first.txid, isLate }
}

const depositsOf = (chains: FakeChains, { payInChain, payInAddress }: FakeOrder) => {
  const { view, network } = chains[payInChain]
  return view.scripts.utxosOf(scriptHashOf(scriptOf(network, payInAddress)))
}

/** Pays an order out, or back. */
const settled = (
  chains: FakeChains,
  order: FakeOrder,
  { isRefunding }: FakeExchange['behaviour']
): FakeOrder => {
  const paid = depositsOf(chains, order).reduce((sum, { amount }) => sum + amount, 0n)
  const isGood = !isRefunding && !order.isLate && paid >= BigInt(order.fromAmount)
  const payoutTxid = isGood
    ? tryFund(chains, order.payoutChain, order.payoutAddress, order.toAmount)
    : undefined
  if (payoutTxid !== undefined) return { ...order, status: 'finished', payoutTxid }
  const refundTxid = tryFund(chains, order.payInChain, order.refundAddress, String(paid))
  return refundTxid === undefined
    ? { ...order, status: 'failed' }
    : { ...order, status: 'refunded', payoutTxid: refundTxid }
}

const tryFund = (
  chains: FakeChains,
  chain: keyof FakeChains,
  address: string,
  amount: string
): string | undefined => {
  try {
    return chains[chain].fund(address, amount)
  } catch {
    return undefined
  }
}
