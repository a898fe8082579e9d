import { compact, fromDecimal, type Reply, type SwapPlugin, toDenomination } from '../../kernel/plugin-api.ts'
import { type ChainTable, MAX_ASSETS, type ProviderAsset } from './kit/asset-list.ts'
import {
  type ExchangeOrder,
  type ExchangeRequest,
  exchangePlugin,
  type OrderAddresses,
  type Terms
} from './kit/exchange.ts'
import {
  aboveLimit,
  belowLimit,
  checkLimits,
  forbidden,
  orderRefused,
  type Provider,
  unsupported
} from './kit/provider.ts'
import type { ProviderClient, ProviderReply } from './kit/provider-client.ts'

const PROVIDER: Provider = { pluginId: 'sideshift', displayName: 'SideShift.ai' }

const CHAINS: ChainTable = {
  arbitrum: { network: 'arbitrum', coin: 'eth' },
  avalanche: { network: 'avax', coin: 'avax' },
  binancesmartchain: { network: 'bsc', coin: 'bnb' },
  bitcoin: { network: 'bitcoin', coin: 'btc' },
  bitcoincash: { network: 'bitcoincash', coin: 'bch' },
  cardano: { network: 'cardano', coin: 'ada' },
  cosmoshub: { network: 'cosmos', coin: 'atom' },
  dash: { network: 'dash', coin: 'dash' },
  dogecoin: { network: 'doge', coin: 'doge' },
  ethereum: { network: 'ethereum', coin: 'eth' },
  litecoin: { network: 'litecoin', coin: 'ltc' },
  monero: { network: 'monero', coin: 'xmr' },
  optimism: { network: 'optimism', coin: 'eth' },
  polkadot: { network: 'polkadot', coin: 'dot' },
  polygon: { network: 'polygon', coin: 'pol' },
  ripple: { network: 'ripple', coin: 'xrp' },
  solana: { network: 'solana', coin: 'sol' },
  stellar: { network: 'stellar', coin: 'xlm' },
  tron: { network: 'tron', coin: 'trx' },
  zcash: { network: 'zcash', coin: 'zec' }
}

const MAX_NETWORKS = 100

const loadAssets = async (client: ProviderClient): Promise<readonly ProviderAsset[]> => {
  const { reply } = await client.request({ path: '/coins' })
  return reply.readable(MAX_ASSETS, assetsOf).flat()
}

const assetsOf = (item: Reply): readonly ProviderAsset[] => {
  const coin = item.field('coin').text()
  const tokens = item.field('tokenDetails')
  return item
    .field('networks')
    .list(MAX_NETWORKS)
    .map(entry => {
      const network = entry.text()
      return { network, coin, contract: tokens.field(network).field('contractAddress').optionalText() }
    })
}

const termsOf = async (input: ExchangeRequest): Promise<Terms> => {
  const { context, request, wanted, client } = input
  const { signal } = context
  const headers = headersOf(input)
  const { reply: permissions } = await client.request({ path: '/permissions', headers, signal })
  if (!permissions.field('createShift').isTrue()) throw forbidden(PROVIDER, 'geoRestriction')
  const limits = await limitsOf(input)
  checkLimits(PROVIDER, wanted.nativeAmount, limits)
  const body = { ...pairOf(input), ...amountOf(input), affiliateId: input.key }
  const reply = accepted(input, await client.request({ path: '/quotes', headers, body, signal }), limits)
  const isFrom = wanted.direction === 'from'
  const quoteId = reply.field('id').text()
  const expirationDate = reply.field('expiresAt').optionalDate()
  return {
    from: isFrom ? wanted.nativeAmount : reply.field('depositAmount').positive(request.from.multiplier, 'up'),
    to: isFrom ? reply.field('settleAmount').positive(request.to.multiplier, 'down') : wanted.nativeAmount,
    isEstimate: false,
    expirationDate,
    async order(addresses) {
      return { expirationDate, ...(await order(input, addresses, quoteId)) }
    }
  }
}

interface KnownLimits {
  readonly direction: 'from' | 'to'
  readonly min: ReturnType<typeof fromDecimal>
  readonly max: ReturnType<typeof fromDecimal>
}

/** The limits are amounts of what is paid; where an amount to receive is wanted, the rate converts them. */
const limitsOf = async (input: ExchangeRequest): Promise<KnownLimits> => {
  const { context, request, wanted, client, from, to } = input
  const reply = accepted(
    input,
    await client.request({
      path: `/pair/${methodOf(from)}/${methodOf(to)}`,
      query: { affiliateId: input.key },
      headers: headersOf(input),
      signal: context.signal
    })
  )
  const { direction } = wanted
  const rate = direction === 'from' ? '1' : reply.field('rate').decimal()
  const { multiplier } = request[direction]
  return {
    direction,
    min: fromDecimal(reply.field('min').decimal(), multiplier, 'up', rate),
    max: fromDecimal(reply.field('max').decimal(), multiplier, 'down', rate)
  }
}

const order = async (
  input: ExchangeRequest,
  { depositTo, refundTo }: OrderAddresses,
  quoteId: string
): Promise<ExchangeOrder> => {
  const { request, client, key } = input
  const body = { quoteId, affiliateId: key, settleAddress: depositTo, refundAddress: refundTo }
  const answer = await client.request({ path: '/shifts/fixed', headers: headersOf(input), body })
  const { reply } = answer
  if (!answer.isOk || reply.field('error').isThere) {
    throw isAboutCountry(reply) ? forbidden(PROVIDER, 'geoRestriction') : orderRefused(PROVIDER)
  }
  const orderId = reply.field('id').text()
  const expirationDate = reply.field('expiresAt').optionalDate()
  return {
    orderId,
    orderUri: `https://sideshift.ai/orders/${encodeURIComponent(orderId)}`,
    payIn: reply.field('depositAddress').text(),
    payInMemo: reply.field('depositMemo').optionalText(),
    from: reply.field('depositAmount').positive(request.from.multiplier, 'up'),
    to: reply.field('settleAmount').positive(request.to.multiplier, 'down'),
    ...compact({ expirationDate })
  }
}

const headersOf = ({ settingOf }: Pick<ExchangeRequest, 'settingOf'>): Readonly<Record<string, string>> => {
  const secret = settingOf('secret')
  return secret === undefined ? {} : { 'x-sideshift-secret': secret }
}

const pairOf = ({ from, to }: ExchangeRequest): Readonly<Record<string, string>> => ({
  depositCoin: from.coin,
  depositNetwork: from.network,
  settleCoin: to.coin,
  settleNetwork: to.network
})

const amountOf = ({ request, wanted }: ExchangeRequest): Readonly<Record<string, string>> =>
  wanted.direction === 'from'
    ? { depositAmount: toDenomination(wanted.nativeAmount, request.from.multiplier) }
    : { settleAmount: toDenomination(wanted.nativeAmount, request.to.multiplier) }

const methodOf = ({ coin, network }: ProviderAsset): string =>
  encodeURIComponent(`${coin}-${network}`.toLowerCase())

const isAboutCountry = (reply: Reply): boolean =>
  /country|blocked|jurisdiction|region/i.test(reply.field('error').field('message').optionalText() ?? '')

const accepted = (
  { request }: ExchangeRequest,
  { isOk, reply }: ProviderReply,
  limits?: KnownLimits
): Reply => {
  const error = reply.field('error')
  if (isOk && !error.isThere) return reply
  const message = error.field('message').optionalText() ?? ''
  if (isAboutCountry(reply)) throw forbidden(PROVIDER, 'geoRestriction')
  // The limits may have moved since they were read; the earlier ones are the best figures there are.
  if (limits !== undefined && /too low/i.test(message))
    throw belowLimit(PROVIDER, limits.direction, limits.min)
  if (limits !== undefined && /too high/i.test(message))
    throw aboveLimit(PROVIDER, limits.direction, limits.max)
  throw unsupported(PROVIDER, request)
}

/** Swaps through SideShift, API version 2. Needs the option or setting `affiliateId`; takes `secret`. */
export const sideshift: SwapPlugin = exchangePlugin({
  provider: PROVIDER,
  supportEmail: 'help@sideshift.ai',
  address: 'https://sideshift.ai/api/v2',
  chains: CHAINS,
  keyName: 'affiliateId',
  loadAssets,
  termsOf,
  orders: {
    request: (id, access) => ({ path: `/shifts/${encodeURIComponent(id)}`, headers: headersOf(access) }),
    states: {
      waiting: 'waiting',
      pending: 'seen',
      processing: 'exchanging',
      review: 'exchanging',
      multiple: 'exchanging',
      settling: 'sending',
      settled: 'paidOut',
      refund: 'failed',
      refunding: 'failed',
      refunded: 'refunded',
      expired: 'late'
    },
    payoutTxid: 'settleHash',
    refundTxid: 'settleHash'
  }
})
