import type { FakeReply } from '../../base/replies.ts'
import type { FakeProvider, ProviderRequest } from '../market/provider.ts'
import {
  asNumber,
  bodyOf,
  coinNamed,
  type ExchangeCoins,
  FAKE_COINS,
  fromCoins,
  numberReply,
  toCoins
} from './exchange-api.ts'
import type { Deal, DealRequest, FakeExchange } from './fake-exchange.ts'

const COINS: ExchangeCoins = {
  BTC: { coin: 'btc', network: 'btc' },
  LTC: { coin: 'ltc', network: 'ltc' },
  BCH: { coin: 'bch', network: 'bch' },
  DOGE: { coin: 'doge', network: 'doge' },
  ETH: { coin: 'eth', network: 'eth' },
  USDC: { coin: 'usdc', network: 'eth' }
}

/** ChangeNOW, API version 2, as its documentation shows it. */
export const fakeChangenow = (exchange: FakeExchange, checkPayments: () => void): FakeProvider => ({
  id: 'changenow',
  hosts: ['api.changenow.io'],
  memory: exchange.memory,
  answer(request) {
    const path = `${request.method} ${request.pathname}`
    if (path === 'GET /v2/exchange/currencies') return numberReply(200, currencies(exchange))
    if (exchange.behaviour.isBlocked) return numberReply(451, { error: 'forbidden_country' })
    if ((request.headers['x-changenow-api-key'] ?? '') === '') {
      return numberReply(401, { error: 'unauthorized', message: 'Unauthorized' })
    }
    if (path === 'GET /v2/exchange/range') return range(exchange, request)
    if (path === 'GET /v2/exchange/estimated-amount') return estimate(exchange, request)
    if (path === 'GET /v2/exchange/by-id') return status(exchange, request, checkPayments)
    if (path === 'POST /v2/exchange') return order(exchange, request)
    return numberReply(404, { error: 'not_found', message: 'Not found' })
  }
})

const STATUSES = {
  waiting: 'waiting',
  confirming: 'confirming',
  exchanging: 'exchanging',
  finished: 'finished',
  refunded: 'refunded',
  expired: 'expired',
  failed: 'failed'
} as const

const currencies = ({ behaviour }: FakeExchange): unknown =>
  FAKE_COINS.filter(({ code }) => !behaviour.closed.has(code)).map(({ code, contract }) => ({
    ticker: COINS[code]?.coin,
    network: COINS[code]?.network,
    name: code,
    tokenContract: contract ?? null,
    isFiat: false,
    buy: true,
    sell: true
  }))

type Fields = Readonly<Record<string, unknown>>

const pairOf = (exchange: FakeExchange, fields: Fields): Pick<DealRequest, 'from' | 'to'> | undefined => {
  const from = coinNamed(COINS, fields.fromCurrency, fields.fromNetwork)
  const to = coinNamed(COINS, fields.toCurrency, fields.toNetwork)
  return from !== undefined && to !== undefined && exchange.swaps(from, to) ? { from, to } : undefined
}

const dealRequestOf = (exchange: FakeExchange, fields: Fields): DealRequest | undefined => {
  const pair = pairOf(exchange, fields)
  if (pair === undefined) return undefined
  const direction = fields.type === 'reverse' ? 'to' : 'from'
  const amount = fromCoins(direction === 'from' ? fields.fromAmount : fields.toAmount, pair[direction])
  return amount === undefined ? undefined : { ...pair, direction, amount }
}

const inactive = (): FakeReply =>
  numberReply(400, { error: 'pair_is_inactive', message: 'Pair is inactive', payload: null })

const limitsOf = (exchange: FakeExchange, { from }: Pick<DealRequest, 'from'>) => ({
  min: exchange.worthOf(exchange.behaviour.minUsd, from),
  max: exchange.worthOf(exchange.behaviour.maxUsd, from)
})

const range = (exchange: FakeExchange, { query }: ProviderRequest): FakeReply => {
  const fields = Object.fromEntries(query)
  const pair = pairOf(exchange, fields)
  if (pair === undefined) return inactive()
  const { min, max } = limitsOf(exchange, pair)
  return numberReply(200, {
    fromCurrency: fields.fromCurrency,
    fromNetwork: fields.fromNetwork,
    toCurrency: fields.toCurrency,
    toNetwork: fields.toNetwork,
    flow: fields.flow,
    minAmount: asNumber(toCoins(min, pair.from)),
    // Estimates have no largest amount.
    maxAmount: fields.flow === 'standard' ? null : asNumber(toCoins(max, pair.from))
  })
}

const estimate = (exchange: FakeExchange, { query }: ProviderRequest): FakeReply => {
  const fields = Object.fromEntries(query)
  const dealRequest = dealRequestOf(exchange, fields)
  const deal = dealRequest === undefined ? undefined : exchange.deal(dealRequest)
  if (dealRequest === undefined || deal === undefined) return inactive()
  const isFixed = fields.flow === 'fixed-rate'
  const { min } = limitsOf(exchange, dealRequest)
  if (dealRequest.direction === 'from' && deal.fromAmount < min) {
    return numberReply(400, { error: 'deposit_too_small', message: 'Out of min amount' })
  }
  const rateId = isFixed && fields.useRateId === 'true' ? exchange.hold(dealRequest, deal) : null
  return numberReply(200, {
    ...amountsOf(deal),
    type: fields.type,
    flow: fields.flow,
    rateId,
    validUntil: rateId === null ? null : new Date(exchange.held(rateId)?.expiresAt ?? 0).toISOString(),
    transactionSpeedForecast: '10-60',
    warningMessage: null,
    depositFee: 0,
    withdrawalFee: 0
  })
}

const amountsOf = (deal: Deal): Fields => ({
  fromAmount: asNumber(toCoins(deal.fromAmount, deal.from)),
  toAmount: asNumber(toCoins(deal.toAmount, deal.to))
})

const order = (exchange: FakeExchange, request: ProviderRequest): FakeReply => {
  const fields = bodyOf(request)
  const dealRequest = dealRequestOf(exchange, fields)
  if (dealRequest === undefined) return inactive()
  const held = fields.flow === 'fixed-rate' ? exchange.held(String(fields.rateId)) : undefined
  if (fields.flow === 'fixed-rate' && (held === undefined || !isSame(dealRequest, held))) {
    return numberReply(400, { error: 'rate_id_not_found_or_expired', message: 'Rate id is not valid' })
  }
  const deal = held?.deal ?? exchange.deal(dealRequest)
  if (deal === undefined) return inactive()
  const taken = exchange.takeOrder(exchange.drifted(deal, dealRequest.direction), {
    payoutAddress: String(fields.address),
    refundAddress: String(fields.refundAddress)
  })
  if (taken === undefined) {
    return numberReply(400, { error: 'not_valid_address', message: 'Address is not valid' })
  }
  return numberReply(200, {
    id: taken.id,
    fromAmount: asNumber(toCoins(BigInt(taken.fromAmount), deal.from)),
    toAmount: asNumber(toCoins(BigInt(taken.toAmount), deal.to)),
    flow: fields.flow,
    type: fields.type,
    payinAddress: taken.payInAddress,
    payinExtraId: null,
    payoutAddress: taken.payoutAddress,
    payoutExtraId: null,
    refundAddress: taken.refundAddress,
    fromCurrency: fields.fromCurrency,
    fromNetwork: fields.fromNetwork,
    toCurrency: fields.toCurrency,
    toNetwork: fields.toNetwork
  })
}

const isSame = (a: DealRequest, b: DealRequest): boolean =>
  a.from === b.from && a.to === b.to && a.direction === b.direction && a.amount === b.amount

const status = (exchange: FakeExchange, { query }: ProviderRequest, checkPayments: () => void): FakeReply => {
  checkPayments()
  const found = exchange.order(query.get('id') ?? '')
  if (found === undefined) return numberReply(404, { error: 'not_found', message: 'Not found' })
  const isPaidOut = found.status === 'finished'
  return numberReply(200, {
    id: found.id,
    status: STATUSES[found.status],
    payinAddress: found.payInAddress,
    payoutAddress: found.payoutAddress,
    payinHash: found.payInTxid ?? null,
    payoutHash: isPaidOut ? (found.payoutTxid ?? null) : null,
    refundHash: isPaidOut ? null : (found.payoutTxid ?? null),
    createdAt: new Date(found.createdAt).toISOString(),
    validUntil: new Date(found.expiresAt).toISOString()
  })
}
