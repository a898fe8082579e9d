import { type SwapPlugin, toDenomination } from '../../kernel/plugin-api.ts'
import { type ChainTable, MAX_ASSETS, type ProviderAsset } from './kit/assets.ts'
import type { Answer, Ask } from './kit/client.ts'
import {
  type ExchangeOrder,
  exchangePlugin,
  type Inquiry,
  type OrderAddresses,
  type Terms
} from './kit/exchange.ts'
import { checkLimits, orderRefused, type Provider, unsupported } from './kit/provider.ts'
import type { Reply } from './kit/reply.ts'

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

const loadAssets = async (ask: Ask): Promise<readonly ProviderAsset[]> => {
  const { reply } = await ask({ path: 'exchange/currencies', query: { active: 'true', isFiat: 'false' } })
  return reply.readable(MAX_ASSETS, item => ({
    network: item.field('network').text(),
    coin: item.field('ticker').text(),
    contract: item.field('tokenContract').optionalText()
  }))
}

/** A promised amount where there is one, else an estimate; of two refusals, that of the promise counts. */
const bestTerms = async (inquiry: Inquiry): Promise<Terms> => {
  try {
    return await termsOf(inquiry, 'fixed-rate')
  } catch (error) {
    // There are no estimates of what must be paid for so much.
    if (inquiry.wish.direction === 'to' || inquiry.desk.signal.aborted) throw error
    return termsOf(inquiry, 'standard').catch(() => {
      throw error
    })
  }
}

const termsOf = async (inquiry: Inquiry, flow: Flow): Promise<Terms> => {
  const { desk, request, wish, ask } = inquiry
  const { signal } = desk
  const isFixed = flow === 'fixed-rate'
  const headers = headersOf(inquiry)
  const rangeQuery = { ...pairOf(inquiry), flow }
  const range = accepted(inquiry, await ask({ path: 'exchange/range', query: rangeQuery, headers, signal }))
  const limits = {
    direction: 'from',
    min: range.field('minAmount').optionalNative(request.from.multiplier, 'up'),
    max: range.field('maxAmount').optionalNative(request.from.multiplier, 'down')
  } as const
  if (wish.direction === 'from') checkLimits(PROVIDER, wish.nativeAmount, limits)
  const query = { ...rangeQuery, ...amountOf(inquiry), useRateId: isFixed ? 'true' : undefined }
  const reply = accepted(inquiry, await ask({ path: 'exchange/estimated-amount', query, headers, signal }))
  const amounts =
    wish.direction === 'from'
      ? { from: wish.nativeAmount, to: reply.field('toAmount').positive(request.to.multiplier, 'down') }
      : { from: reply.field('fromAmount').positive(request.from.multiplier, 'up'), to: wish.nativeAmount }
  checkLimits(PROVIDER, amounts.from, limits)
  const rateId = reply.field('rateId').optionalText()
  const expirationDate = isFixed ? reply.field('validUntil').optionalDate() : undefined
  return {
    ...amounts,
    isEstimate: !isFixed,
    expirationDate,
    async order(addresses) {
      return { ...(await order(inquiry, addresses, { flow, rateId })), expirationDate }
    }
  }
}

const order = async (
  inquiry: Inquiry,
  { depositTo, refundTo }: OrderAddresses,
  terms: { readonly flow: Flow; readonly rateId: string | undefined }
): Promise<ExchangeOrder> => {
  const { desk, request, ask } = inquiry
  const body = {
    ...pairOf(inquiry),
    ...amountOf(inquiry),
    ...terms,
    address: depositTo,
    refundAddress: refundTo,
    // The API has no field for a promo code; what stands here is shown to the partner whose key it is.
    payload: desk.promoCode === undefined ? undefined : { promoCode: desk.promoCode }
  }
  const { isOk, reply } = await ask({ path: 'exchange', headers: headersOf(inquiry), body })
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

const headersOf = ({ key }: Inquiry): Readonly<Record<string, string>> => ({ 'x-changenow-api-key': key })

const pairOf = ({ from, to }: Inquiry): Readonly<Record<string, string>> => ({
  fromCurrency: from.coin,
  toCurrency: to.coin,
  fromNetwork: from.network,
  toNetwork: to.network
})

const amountOf = ({ request, wish }: Inquiry): Readonly<Record<string, string>> =>
  wish.direction === 'from'
    ? { fromAmount: toDenomination(wish.nativeAmount, request.from.multiplier), type: 'direct' }
    : { toAmount: toDenomination(wish.nativeAmount, request.to.multiplier), type: 'reverse' }

/** Any refusal of the range or the estimate is one of this pair. */
const accepted = ({ request }: Inquiry, { isOk, reply }: Answer): Reply => {
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
  termsOf: bestTerms
})
