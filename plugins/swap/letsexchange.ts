import { compact, type Reply, type SwapPlugin, toDenomination } from '../../kernel/plugin-api.ts'
import { type ChainTable, MAX_ASSETS, type ProviderAsset } from './kit/asset-list.ts'
import {
  type ExchangeOrder,
  type ExchangeRequest,
  exchangePlugin,
  type OrderAddresses,
  type Terms
} from './kit/exchange.ts'
import { checkLimits, orderRefused, type Provider, providerFailed, unsupported } from './kit/provider.ts'
import type { ProviderClient, ProviderReply } from './kit/provider-client.ts'

const PROVIDER: Provider = { pluginId: 'letsexchange', displayName: 'LetsExchange' }

const CHAINS: ChainTable = {
  arbitrum: { network: 'ARBITRUM', coin: 'ETH' },
  avalanche: { network: 'AVAXC', coin: 'AVAX' },
  binancesmartchain: { network: 'BEP20', coin: 'BNB' },
  bitcoin: { network: 'BTC', coin: 'BTC' },
  bitcoincash: { network: 'BCH', coin: 'BCH' },
  cardano: { network: 'ADA', coin: 'ADA' },
  cosmoshub: { network: 'ATOM', coin: 'ATOM' },
  dash: { network: 'DASH', coin: 'DASH' },
  digibyte: { network: 'DGB', coin: 'DGB' },
  dogecoin: { network: 'DOGE', coin: 'DOGE' },
  ethereum: { network: 'ERC20', coin: 'ETH' },
  litecoin: { network: 'LTC', coin: 'LTC' },
  monero: { network: 'XMR', coin: 'XMR' },
  optimism: { network: 'OPTIMISM', coin: 'ETH' },
  polkadot: { network: 'DOT', coin: 'DOT' },
  qtum: { network: 'QTUM', coin: 'QTUM' },
  ravencoin: { network: 'RVN', coin: 'RVN' },
  ripple: { network: 'XRP', coin: 'XRP' },
  solana: { network: 'SOL', coin: 'SOL' },
  stellar: { network: 'XLM', coin: 'XLM' },
  tron: { network: 'TRC20', coin: 'TRX' },
  zcoin: { network: 'FIRO', coin: 'FIRO' }
}

const MAX_NETWORKS = 100

const loadAssets = async (client: ProviderClient): Promise<readonly ProviderAsset[]> => {
  const { reply } = await client.request({ path: '/v2/coins' })
  return reply
    .readable(MAX_ASSETS, item => {
      const coin = item.field('code').text()
      return item
        .field('networks')
        .list(MAX_NETWORKS)
        .map(network => ({
          network: network.field('code').text(),
          coin,
          contract: network.field('contract_address').optionalText()
        }))
    })
    .flat()
}

const termsOf = async (input: ExchangeRequest): Promise<Terms> => {
  const { context, request, wanted, client, from, to } = input
  const { direction } = wanted
  const isFrom = direction === 'from'
  const multiplier = request[direction].multiplier
  const body = {
    from: from.coin,
    to: to.coin,
    network_from: from.network,
    network_to: to.network,
    amount: toDenomination(wanted.nativeAmount, multiplier),
    ...commonOf(input)
  }
  const path = isFrom ? '/v1/info' : '/v1/info-revert'
  const reply = accepted(
    input,
    await client.request({ path, headers: headersOf(input), body, signal: context.signal })
  )
  checkLimits(PROVIDER, wanted.nativeAmount, {
    direction,
    min: reply.field('min_amount').native(multiplier, 'up'),
    max: reply.field('max_amount').optionalNative(multiplier, 'down')
  })
  const other = reply.field('amount')
  const rateId = reply.field('rate_id').optionalText()
  const expirationDate = reply.field('rate_id_expired_at').optionalDate()
  return {
    from: isFrom ? wanted.nativeAmount : other.positive(request.from.multiplier, 'up'),
    to: isFrom ? other.positive(request.to.multiplier, 'down') : wanted.nativeAmount,
    isEstimate: false,
    expirationDate,
    async order(addresses) {
      return { expirationDate, ...(await order(input, addresses, rateId)) }
    }
  }
}

const order = async (
  input: ExchangeRequest,
  { depositTo, refundTo }: OrderAddresses,
  rateId: string | undefined
): Promise<ExchangeOrder> => {
  const { request, wanted, client, from, to } = input
  const isFrom = wanted.direction === 'from'
  const amount = toDenomination(wanted.nativeAmount, request[wanted.direction].multiplier)
  const body = {
    coin_from: from.coin,
    coin_to: to.coin,
    network_from: from.network,
    network_to: to.network,
    ...(isFrom ? { deposit_amount: amount } : { withdrawal_amount: amount }),
    withdrawal: depositTo,
    withdrawal_extra_id: '',
    return: refundTo,
    return_extra_id: '',
    rate_id: rateId,
    ...commonOf(input)
  }
  const path = isFrom ? '/v1/transaction' : '/v1/transaction-revert'
  const { isOk, reply } = await client.request({ path, headers: headersOf(input), body })
  if (!isOk) throw orderRefused(PROVIDER)
  const orderId = reply.field('transaction_id').text()
  const expirationDate = reply.field('expired_at').optionalDate()
  return {
    orderId,
    orderUri: `https://letsexchange.io/?transactionId=${encodeURIComponent(orderId)}`,
    payIn: reply.field('deposit').text(),
    payInMemo: reply.field('deposit_extra_id').optionalText(),
    from: reply.field('deposit_amount').positive(request.from.multiplier, 'up'),
    to: reply.field('withdrawal_amount').positive(request.to.multiplier, 'down'),
    ...compact({ expirationDate })
  }
}

const headersOf = ({ key }: Pick<ExchangeRequest, 'key'>): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${key}`
})

/** `float: false` asks for an amount that is promised. */
const commonOf = ({
  context,
  settingOf
}: ExchangeRequest): Readonly<Record<string, string | boolean | undefined>> => ({
  affiliate_id: settingOf('affiliateId'),
  promocode: context.promoCode,
  float: false
})

const accepted = ({ request }: ExchangeRequest, { status, isOk, reply }: ProviderReply): Reply => {
  if (isOk) return reply
  if (status === 422) throw unsupported(PROVIDER, request)
  throw providerFailed(PROVIDER, `answered with status ${status}`)
}

/**
 * Swaps through LetsExchange, with fixed rates. Needs the option or setting `apiKey`; takes `affiliateId`.
 */
export const letsexchange: SwapPlugin = exchangePlugin({
  provider: PROVIDER,
  supportEmail: 'support@letsexchange.io',
  address: 'https://api.letsexchange.io/api',
  chains: CHAINS,
  keyName: 'apiKey',
  loadAssets,
  termsOf,
  orders: {
    request: (id, access) => ({
      path: `/v1/transaction/${encodeURIComponent(id)}`,
      headers: headersOf(access)
    }),
    states: {
      wait: 'waiting',
      confirmation: 'seen',
      confirmed: 'seen',
      exchanging: 'exchanging',
      aml_check_failed: 'failed',
      sending: 'sending',
      sending_confirmation: 'sending',
      success: 'paidOut',
      refund: 'refunded',
      error: 'failed',
      overdue: 'late'
    },
    payoutTxid: 'hash_out',
    refundTxid: 'hash_out'
  }
})
