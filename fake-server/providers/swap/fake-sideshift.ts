import { compact } from '../../../kernel/index.ts'
import { type FakeReply, jsonReply } from '../../base/replies.ts'
import type { FakeProvider, ProviderRequest } from '../market/provider.ts'
import {
  bodyOf,
  coinNamed,
  type ExchangeCoins,
  FAKE_COINS,
  type FakeCoin,
  fromCoins,
  toCoins
} from './exchange-api.ts'
import type { DealRequest, FakeExchange, FakeOrder, OrderStatus } from './fake-exchange.ts'

const COINS: ExchangeCoins = {
  BTC: { coin: 'BTC', network: 'bitcoin' },
  LTC: { coin: 'LTC', network: 'litecoin' },
  BCH: { coin: 'BCH', network: 'bitcoincash' },
  DOGE: { coin: 'DOGE', network: 'doge' },
  ETH: { coin: 'ETH', network: 'ethereum' },
  USDC: { coin: 'USDC', network: 'ethereum' }
}

/** SideShift, API version 2, as its documentation shows it. */
export const fakeSideshift = (exchange: FakeExchange, checkPayments: () => void): FakeProvider => ({
  id: 'sideshift',
  hosts: ['sideshift.ai'],
  memory: exchange.memory,
  answer(request) {
    const [first = '', second = '', third = ''] = request.pathname.split('/').slice(3)
    const path = `${request.method} ${first}`
    if (path === 'GET coins') return jsonReply(200, coins(exchange))
    if (path === 'GET permissions') return jsonReply(200, { createShift: !exchange.behaviour.isBlocked })
    if (path === 'GET pair') return pair(exchange, second, third)
    if (path === 'POST quotes') return quote(exchange, request)
    if (path === 'POST shifts' && second === 'fixed') return shift(exchange, request)
    if (path === 'GET shifts') return status(exchange, second, checkPayments)
    return refuse(404, 'Endpoint not found')
  }
})

/** The words of its documentation. `settling`: the payout is on its way. */
const STATUSES: Readonly<Record<OrderStatus, string>> = {
  waiting: 'waiting',
  confirming: 'pending',
  exchanging: 'settling',
  finished: 'settled',
  refunded: 'refunded',
  expired: 'expired',
  failed: 'refund'
}

const refuse = (status: number, message: string): FakeReply => jsonReply(status, { error: { message } })

const coins = ({ behaviour }: FakeExchange): unknown =>
  FAKE_COINS.filter(({ code }) => !behaviour.closed.has(code)).map(({ code, contract, decimals }) => {
    const { coin = code, network = '' } = COINS[code] ?? {}
    return {
      coin,
      name: code,
      networks: [network],
      hasMemo: false,
      fixedOnly: false,
      variableOnly: false,
      ...compact({
        tokenDetails:
          contract === undefined ? undefined : { [network]: { contractAddress: contract, decimals } }
      })
    }
  })

const methodNamed = (text: string): FakeCoin | undefined => {
  const [coin = '', network = ''] = text.split('-')
  return coinNamed(COINS, coin, network)
}

const pair = (exchange: FakeExchange, first: string, second: string): FakeReply => {
  const [from, to] = [methodNamed(first), methodNamed(second)]
  if (from === undefined || to === undefined) return refuse(400, 'Invalid coin or network')
  if (!exchange.swaps(from, to)) return refuse(400, 'Deposit method is disabled')
  const { minUsd, maxUsd } = exchange.behaviour
  const one = exchange.deal({ from, to, direction: 'from', amount: 10n ** BigInt(from.decimals) })
  return jsonReply(200, {
    min: toCoins(exchange.worthOf(minUsd, from), from),
    max: toCoins(exchange.worthOf(maxUsd, from), from),
    rate: toCoins(one?.toAmount ?? 0n, to),
    depositCoin: from.code,
    settleCoin: to.code,
    depositNetwork: COINS[from.code]?.network,
    settleNetwork: COINS[to.code]?.network
  })
}

const quote = (exchange: FakeExchange, request: ProviderRequest): FakeReply => {
  const fields = bodyOf(request)
  if (typeof fields.affiliateId !== 'string') return refuse(400, 'Affiliate not found')
  if (exchange.behaviour.isBlocked) return refuse(403, 'country-blocked')
  const from = coinNamed(COINS, fields.depositCoin, fields.depositNetwork)
  const to = coinNamed(COINS, fields.settleCoin, fields.settleNetwork)
  if (from === undefined || to === undefined || !exchange.swaps(from, to)) {
    return refuse(400, 'Deposit method is disabled')
  }
  const direction = fields.depositAmount === undefined ? 'to' : 'from'
  const amount =
    direction === 'from' ? fromCoins(fields.depositAmount, from) : fromCoins(fields.settleAmount, to)
  if (amount === undefined) return refuse(400, 'Invalid amount')
  const dealRequest: DealRequest = { from, to, direction, amount }
  const deal = exchange.deal(dealRequest)
  if (deal === undefined) return refuse(500, 'Internal error')
  const { minUsd, maxUsd } = exchange.behaviour
  if (deal.fromAmount < exchange.worthOf(minUsd, from)) return refuse(400, 'Amount too low')
  if (deal.fromAmount > exchange.worthOf(maxUsd, from)) return refuse(400, 'Amount too high')
  const id = exchange.hold(dealRequest, deal)
  return jsonReply(201, {
    id,
    createdAt: new Date(exchange.ports.clock.now()).toISOString(),
    expiresAt: new Date(exchange.held(id)?.expiresAt ?? 0).toISOString(),
    depositCoin: from.code,
    settleCoin: to.code,
    depositNetwork: fields.depositNetwork,
    settleNetwork: fields.settleNetwork,
    depositAmount: toCoins(deal.fromAmount, from),
    settleAmount: toCoins(deal.toAmount, to),
    affiliateId: fields.affiliateId
  })
}

const shift = (exchange: FakeExchange, request: ProviderRequest): FakeReply => {
  const fields = bodyOf(request)
  const held = exchange.held(String(fields.quoteId))
  if (held === undefined) return refuse(400, 'Quote not found or expired')
  const taken = exchange.takeOrder(exchange.drifted(held.deal, held.direction), {
    payoutAddress: String(fields.settleAddress),
    refundAddress: String(fields.refundAddress)
  })
  if (taken === undefined) return refuse(400, 'Invalid settleAddress')
  return jsonReply(201, { ...shownShift(taken, held), quoteId: fields.quoteId, type: 'fixed' })
}

const shownShift = (order: FakeOrder, { from, to }: Pick<DealRequest, 'from' | 'to'>): object => ({
  id: order.id,
  createdAt: new Date(order.createdAt).toISOString(),
  expiresAt: new Date(order.expiresAt).toISOString(),
  depositCoin: from.code,
  settleCoin: to.code,
  depositAddress: order.payInAddress,
  settleAddress: order.payoutAddress,
  refundAddress: order.refundAddress,
  depositAmount: toCoins(BigInt(order.fromAmount), from),
  settleAmount: toCoins(BigInt(order.toAmount), to),
  status: STATUSES[order.status]
})

const status = (exchange: FakeExchange, id: string, checkPayments: () => void): FakeReply => {
  checkPayments()
  const order = exchange.order(id)
  const [from, to] = [order?.from, order?.to].map(code => FAKE_COINS.find(coin => coin.code === code))
  if (order === undefined || from === undefined || to === undefined) return refuse(404, 'Order not found')
  return jsonReply(200, {
    ...shownShift(order, { from, to }),
    ...compact({ depositHash: order.payInTxid, settleHash: order.payoutTxid })
  })
}
