import { type Reply, type SwapPlugin, toDenomination } from '../../kernel/plugin-api.ts'
import { type ChainTable, MAX_ASSETS, type ProviderAsset } from './kit/asset-list.ts'
import {
  type ExchangeOrder,
  type ExchangeRequest,
  exchangePlugin,
  type OrderAddresses,
  type Terms
} from './kit/exchange.ts'
import { checkLimits, orderRefused, type Provider, unsupported } from './kit/provider.ts'
import type { ProviderClient, ProviderReply } from './kit/provider-client.ts'

const PROVIDER: Provider = { pluginId: 'changenow', displayName: 'ChangeNOW' }

const CHAINS: ChainTable = {
  arbitrum: { network: 'arbitrum', coin: 'eth' },
  avalanche: { network: 'avaxc', coin: 'avax' },
  binancesmartchain: { network: 'bsc', coin: 'bnb' },
  bitcoin: { network: 'btc', coin: 'btc' },
  bitcoincash: { network: 'bch', coin: 'bch' },
  cardano: { network: 'ada', coin: 'ada' },
  cosmoshub: { network: 'atom', coin: 'atom' },
  dash: { network: 'dash', coin: 'dash' },
  digibyte: { network: 'dgb', coin: 'dgb' },
  dogecoin: { network: 'doge', coin: 'doge' },
  ethereum: { network: 'eth', coin: 'eth' },
  litecoin: { network: 'ltc', coin: 'ltc' },
  monero: { network: 'xmr', coin: 'xmr' },
  optimism: { network: 'op', coin: 'eth' },
  polkadot: { network: 'dot', coin: 'dot' },
  qtum: { network: 'qtum', coin: 'qtum' },
  ravencoin: { network: 'rvn', coin: 'rvn' },
  ripple: { network: 'xrp', coin: 'xrp' },
  solana: { network: 'sol', coin: 'sol' },
  stellar: { network: 'xlm', coin: 'xlm' },
  tron: { network: 'trx', coin: 'trx' },
  zcoin: { network: 'firo', coin: 'firo' }
}

/** `fixed-rate` promises the amount; `standard` estimates it. */
type Flow = 'fixed-rate' | 'standard'

const loadAssets = async (client: ProviderClient): Promise<readonly ProviderAsset[]> => {
  const { reply } = await client.request({
    path: '/exchange/currencies',
    query: { active: 'true', isFiat: 'false' }
  })
  return reply.readable(MAX_ASSETS, item => ({
    network: item.field('network').text(),
    coin: item.field('ticker').text(),
    contract: item.field('tokenContract').optionalText()
  }))
}

/** A promised amount where there is one, else an estimate; of two refusals, that of the promise counts. */
const bestTerms = async (input: ExchangeRequest): Promise<Terms> => {
  try {
    return await termsOf(input, 'fixed-rate')
  } catch (error) {
    // There are no estimates of what must be paid for so much.
    if (input.wanted.direction === 'to' || input.context.signal.aborted) throw error
    return termsOf(input, 'standard').catch(() => {
      throw error
    })
  }
}

const termsOf = async (input: ExchangeRequest, flow: Flow): Promise<Terms> => {
  const { context, request, wanted, client } = input
  const { signal } = context
  const isFixed = flow === 'fixed-rate'
  const headers = headersOf(input)
  const rangeQuery = { ...pairOf(input), flow }
  const range = accepted(
    input,
    await client.request({ path: '/exchange/range', query: rangeQuery, headers, signal })
  )
  const limits = {
    direction: 'from',
    min: range.field('minAmount').optionalNative(request.from.multiplier, 'up'),
    max: range.field('maxAmount').optionalNative(request.from.multiplier, 'down')
  } as const
  if (wanted.direction === 'from') checkLimits(PROVIDER, wanted.nativeAmount, limits)
  const query = { ...rangeQuery, ...amountOf(input), useRateId: isFixed ? 'true' : undefined }
  const reply = accepted(
    input,
    await client.request({ path: '/exchange/estimated-amount', query, headers, signal })
  )
  const amounts =
    wanted.direction === 'from'
      ? { from: wanted.nativeAmount, to: reply.field('toAmount').positive(request.to.multiplier, 'down') }
      : { from: reply.field('fromAmount').positive(request.from.multiplier, 'up'), to: wanted.nativeAmount }
  checkLimits(PROVIDER, amounts.from, limits)
  const rateId = reply.field('rateId').optionalText()
  const expirationDate = isFixed ? reply.field('validUntil').optionalDate() : undefined
  return {
    ...amounts,
    isEstimate: !isFixed,
    expirationDate,
    async order(addresses) {
      return { ...(await order(input, addresses, { flow, rateId })), expirationDate }
    }
  }
}

const order = async (
  input: ExchangeRequest,
  { depositTo, refundTo }: OrderAddresses,
  terms: { readonly flow: Flow; readonly rateId: string | undefined }
): Promise<ExchangeOrder> => {
  const { context, request, client } = input
  const body = {
    ...pairOf(input),
    ...amountOf(input),
    ...terms,
    address: depositTo,
    refundAddress: refundTo,
    // The API has no field for a promo code; what stands here is shown to the partner whose key it is.
    payload: context.promoCode === undefined ? undefined : { promoCode: context.promoCode }
  }
  const { isOk, reply } = await client.request({ path: '/exchange', headers: headersOf(input), body })
  if (!isOk || reply.field('error').isThere) throw orderRefused(PROVIDER)
  const orderId = reply.field('id').text()
  return {
    orderId,
    orderUri: `https://changenow.io/exchange/txs/${encodeURIComponent(orderId)}`,
    payIn: reply.field('payinAddress').text(),
    payInMemo: reply.field('payinExtraId').optionalText(),
    from: reply.field('fromAmount').positive(request.from.multiplier, 'up'),
    to: reply.field('toAmount').positive(request.to.multiplier, 'down')
  }
}

const headersOf = ({ key }: Pick<ExchangeRequest, 'key'>): Readonly<Record<string, string>> => ({
  'x-changenow-api-key': key
})

const pairOf = ({ from, to }: ExchangeRequest): Readonly<Record<string, string>> => ({
  fromCurrency: from.coin,
  toCurrency: to.coin,
  fromNetwork: from.network,
  toNetwork: to.network
})

const amountOf = ({ request, wanted }: ExchangeRequest): Readonly<Record<string, string>> =>
  wanted.direction === 'from'
    ? { fromAmount: toDenomination(wanted.nativeAmount, request.from.multiplier), type: 'direct' }
    : { toAmount: toDenomination(wanted.nativeAmount, request.to.multiplier), type: 'reverse' }

/** Any refusal of the range or the estimate is one of this pair. */
const accepted = ({ request }: ExchangeRequest, { isOk, reply }: ProviderReply): Reply => {
  if (!isOk || reply.field('error').isThere) throw unsupported(PROVIDER, request)
  return reply
}

/** Swaps through ChangeNOW, API version 2. Needs the option or setting `apiKey`. */
export const changenow: SwapPlugin = exchangePlugin({
  provider: PROVIDER,
  supportEmail: 'support@changenow.io',
  address: 'https://api.changenow.io/v2',
  chains: CHAINS,
  keyName: 'apiKey',
  loadAssets,
  termsOf: bestTerms,
  orders: {
    request: (id, access) => ({ path: '/exchange/by-id', query: { id }, headers: headersOf(access) }),
    states: {
      new: 'waiting',
      waiting: 'waiting',
      confirming: 'seen',
      exchanging: 'exchanging',
      verifying: 'exchanging',
      sending: 'sending',
      finished: 'paidOut',
      refunded: 'refunded',
      failed: 'failed',
      expired: 'late'
    },
    payoutTxid: 'payoutHash',
    refundTxid: 'refundHash'
  }
})
