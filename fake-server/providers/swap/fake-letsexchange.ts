import { type FakeReply, jsonReply } from '../../base/replies.ts'
import type { FakeProvider, ProviderRequest } from '../market/provider.ts'
import { bodyOf, coinNamed, type ExchangeCoins, FAKE_COINS, fromCoins, toCoins } from './exchange-api.ts'
import type { DealRequest, FakeExchange, OrderStatus } from './fake-exchange.ts'

const COINS: ExchangeCoins = {
  BTC: { coin: 'BTC', network: 'BTC' },
  LTC: { coin: 'LTC', network: 'LTC' },
  BCH: { coin: 'BCH', network: 'BCH' },
  DOGE: { coin: 'DOGE', network: 'DOGE' },
  ETH: { coin: 'ETH', network: 'ERC20' },
  USDC: { coin: 'USDC', network: 'ERC20' }
}

/** LetsExchange, as its documentation shows it. */
export const fakeLetsexchange = (exchange: FakeExchange, checkPayments: () => void): FakeProvider => ({
  id: 'letsexchange',
  hosts: ['api.letsexchange.io'],
  memory: exchange.memory,
  answer(request) {
    if (request.pathname === '/api/v2/coins') return jsonReply(200, coins(exchange))
    if (exchange.behaviour.isBlocked) return jsonReply(451, { error: 'Unavailable for legal reasons' })
    if (!/^Bearer \S+$/.test(request.headers.authorization ?? '')) {
      return jsonReply(401, { error: 'Unauthenticated.' })
    }
    const path = `${request.method} ${request.pathname.replace('/api/v1/', '')}`
    if (path === 'POST info') return info(exchange, request, 'from')
    if (path === 'POST info-revert') return info(exchange, request, 'to')
    if (path === 'POST transaction') return transaction(exchange, request, 'from')
    if (path === 'POST transaction-revert') return transaction(exchange, request, 'to')
    if (path.startsWith('GET transaction/')) return status(exchange, request, checkPayments)
    return jsonReply(404, { error: 'Not found' })
  }
})

/** The words of its documentation. */
const STATUSES: Readonly<Record<OrderStatus, string>> = {
  waiting: 'wait',
  confirming: 'confirmation',
  exchanging: 'exchanging',
  finished: 'success',
  refunded: 'refund',
  expired: 'overdue',
  failed: 'error'
}

const coins = ({ behaviour }: FakeExchange): unknown =>
  FAKE_COINS.filter(({ code }) => !behaviour.closed.has(code)).map(({ code, contract }) => ({
    code: COINS[code]?.coin,
    name: code,
    is_active: 1,
    disabled: 0,
    networks: [
      {
        code: COINS[code]?.network,
        name: COINS[code]?.network,
        is_active: 1,
        has_extra: 0,
        contract_address: contract ?? null
      }
    ]
  }))

const unprocessable = (): FakeReply =>
  jsonReply(422, { success: false, error: { validation: { from: ['The selected pair is not available.'] } } })

interface Names {
  readonly from: unknown
  readonly to: unknown
  readonly networkFrom: unknown
  readonly networkTo: unknown
  readonly amount: unknown
}

const dealRequestOf = (
  exchange: FakeExchange,
  names: Names,
  direction: 'from' | 'to'
): DealRequest | undefined => {
  const from = coinNamed(COINS, names.from, names.networkFrom)
  const to = coinNamed(COINS, names.to, names.networkTo)
  if (from === undefined || to === undefined || !exchange.swaps(from, to)) return undefined
  const amount = fromCoins(names.amount, direction === 'from' ? from : to)
  return amount === undefined ? undefined : { from, to, direction, amount }
}

const info = (exchange: FakeExchange, request: ProviderRequest, direction: 'from' | 'to'): FakeReply => {
  const { from, to, network_from, network_to, amount } = bodyOf(request)
  const names = { from, to, networkFrom: network_from, networkTo: network_to, amount }
  const dealRequest = dealRequestOf(exchange, names, direction)
  const deal = dealRequest === undefined ? undefined : exchange.deal(dealRequest)
  if (dealRequest === undefined || deal === undefined) return unprocessable()
  const side = dealRequest[direction]
  const [min, max] = [exchange.behaviour.minUsd, exchange.behaviour.maxUsd].map(usd =>
    exchange.worthOf(usd, side)
  )
  const isWithin = dealRequest.amount >= (min ?? 0n) && dealRequest.amount <= (max ?? 0n)
  const id = isWithin ? exchange.hold(dealRequest, deal) : ''
  const other = direction === 'from' ? toCoins(deal.toAmount, deal.to) : toCoins(deal.fromAmount, deal.from)
  return jsonReply(200, {
    min_amount: toCoins(min ?? 0n, side),
    max_amount: toCoins(max ?? 0n, side),
    // Outside of the limits it has no price.
    amount: isWithin ? other : '0',
    fee: '0',
    profit: '0',
    withdrawal_fee: '0',
    rate_id: id,
    rate_id_expired_at: isWithin ? String(exchange.held(id)?.expiresAt ?? 0) : null
  })
}

const transaction = (
  exchange: FakeExchange,
  request: ProviderRequest,
  direction: 'from' | 'to'
): FakeReply => {
  const fields = bodyOf(request)
  const dealRequest = dealRequestOf(
    exchange,
    {
      from: fields.coin_from,
      to: fields.coin_to,
      networkFrom: fields.network_from,
      networkTo: fields.network_to,
      amount: direction === 'from' ? fields.deposit_amount : fields.withdrawal_amount
    },
    direction
  )
  const held = exchange.held(String(fields.rate_id))
  if (dealRequest === undefined || held === undefined || held.amount !== dealRequest.amount)
    return unprocessable()
  const taken = exchange.takeOrder(exchange.drifted(held.deal, direction), {
    payoutAddress: String(fields.withdrawal),
    refundAddress: String(fields.return)
  })
  if (taken === undefined) return unprocessable()
  return jsonReply(200, {
    transaction_id: taken.id,
    status: STATUSES[taken.status],
    coin_from: fields.coin_from,
    coin_to: fields.coin_to,
    deposit_amount: toCoins(BigInt(taken.fromAmount), dealRequest.from),
    deposit: taken.payInAddress,
    deposit_extra_id: null,
    withdrawal: taken.payoutAddress,
    withdrawal_amount: toCoins(BigInt(taken.toAmount), dealRequest.to),
    withdrawal_extra_id: null,
    return: taken.refundAddress,
    return_extra_id: null,
    created_at: new Date(taken.createdAt).toISOString(),
    expired_at: Math.floor(taken.expiresAt / 1000)
  })
}

const status = (
  exchange: FakeExchange,
  { pathname }: ProviderRequest,
  checkPayments: () => void
): FakeReply => {
  checkPayments()
  const order = exchange.order(pathname.split('/').at(-1) ?? '')
  if (order === undefined) return jsonReply(404, { error: 'Not found' })
  return jsonReply(200, {
    transaction_id: order.id,
    status: STATUSES[order.status],
    deposit: order.payInAddress,
    hash_in: order.payInTxid ?? null,
    hash_out: order.payoutTxid ?? null
  })
}
