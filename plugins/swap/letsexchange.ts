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
import { checkLimits, orderRefused, type Provider, troubled, unsupported } from './kit/provider.ts'
import type { Reply } from './kit/reply.ts'

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

const loadAssets = async (ask: Ask): Promise<readonly ProviderAsset[]> => {
  const { reply } = await ask({ path: 'v2/coins' })
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

const termsOf = async (inquiry: Inquiry): Promise<Terms> => {
  const { desk, request, wish, ask, from, to } = inquiry
  const { direction } = wish
  const isFrom = direction === 'from'
  const multiplier = request[direction].multiplier
  const body = {
    from: from.coin,
    to: to.coin,
    network_from: from.network,
    network_to: to.network,
    amount: toDenomination(wish.nativeAmount, multiplier),
    ...commonOf(inquiry)
  }
  const path = isFrom ? 'v1/info' : 'v1/info-revert'
  const reply = accepted(inquiry, await ask({ path, headers: headersOf(inquiry), body, signal: desk.signal }))
  checkLimits(PROVIDER, wish.nativeAmount, {
    direction,
    min: reply.field('min_amount').native(multiplier, 'up'),
    max: reply.field('max_amount').optionalNative(multiplier, 'down')
  })
  const other = reply.field('amount')
  const rateId = reply.field('rate_id').optionalText()
  const expirationDate = reply.field('rate_id_expired_at').optionalDate()
  return {
    from: isFrom ? wish.nativeAmount : other.positive(request.from.multiplier, 'up'),
    to: isFrom ? other.positive(request.to.multiplier, 'down') : wish.nativeAmount,
    isEstimate: false,
    expirationDate,
    async order(addresses) {
      return { expirationDate, ...(await order(inquiry, addresses, rateId)) }
    }
  }
}

const order = async (
  inquiry: Inquiry,
  { depositTo, refundTo }: OrderAddresses,
  rateId: string | undefined
): Promise<ExchangeOrder> => {
  const { request, wish, ask, from, to } = inquiry
  const isFrom = wish.direction === 'from'
  const amount = toDenomination(wish.nativeAmount, request[wish.direction].multiplier)
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
    ...commonOf(inquiry)
  }
  const path = isFrom ? 'v1/transaction' : 'v1/transaction-revert'
  const { isOk, reply } = await ask({ path, headers: headersOf(inquiry), body })
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
    ...(expirationDate === undefined ? {} : { expirationDate })
  }
}

const headersOf = ({ key }: Inquiry): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` })

/** `float: false` asks for an amount that is promised. */
const commonOf = ({ desk, settingOf }: Inquiry): Readonly<Record<string, string | boolean | undefined>> => ({
  affiliate_id: settingOf('affiliateId'),
  promocode: desk.promoCode,
  float: false
})

const accepted = ({ request }: Inquiry, { status, isOk, reply }: Answer): Reply => {
  if (isOk) return reply
  if (status === 422) throw unsupported(PROVIDER, request)
  throw troubled(PROVIDER, `answered with status ${status}`)
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
  termsOf
})
