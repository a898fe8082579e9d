import {
  type HttpRequest,
  type Memo,
  type NativeAmount,
  type OrderReport,
  type OrderState,
  type QuoteContext,
  type QuoteRequest,
  type SpendInfo,
  type SwapHost,
  type SwapOrder,
  type SwapPlugin,
  WalletError,
  type WatchedOrder
} from '../../../kernel/plugin-api.ts'
import {
  type AssetList,
  type ChainTable,
  cacheList,
  makeAssetList,
  type ProviderAsset
} from './asset-list.ts'
import {
  forbidden,
  type Provider,
  providerFailed,
  settingOf,
  spendWithoutAddress,
  unsupported,
  type WantedAmount,
  wantedAmountOf
} from './provider.ts'
import { originOf, ProviderClient } from './provider-client.ts'

/** An exchange with a server: it quotes terms, and takes an order once the user has approved. */
export interface Exchange {
  readonly provider: Provider
  readonly supportEmail: string
  /** Of its API, without a final slash. */
  readonly address: string
  readonly chains: ChainTable
  /** The option or setting without which it gets no request. */
  readonly keyName: string
  loadAssets(client: ProviderClient): Promise<Iterable<ProviderAsset>>
  termsOf(input: ExchangeRequest): Promise<Terms>
  readonly orders: OrderRoute
}

/** How an exchange is asked for an order. */
export interface OrderRoute {
  request(orderId: string, access: Pick<ExchangeRequest, 'key' | 'settingOf'>): HttpRequest
  /** What its words for the state of an order mean. */
  readonly states: Readonly<Record<string, OrderState>>
  /** The fields of its reply that name the payout, and what went back. */
  readonly payoutTxid: string
  readonly refundTxid: string
}

/** A request of assets that the exchange has. */
export interface ExchangeRequest {
  readonly context: QuoteContext
  readonly request: QuoteRequest
  readonly wanted: WantedAmount
  readonly client: ProviderClient
  readonly from: ProviderAsset
  readonly to: ProviderAsset
  /** The option or setting that {@link Exchange.keyName} names. */
  readonly key: string
  /** Another option or setting. */
  settingOf(name: string): string | undefined
}

/** The terms of an exchange. It learns addresses with the order, not before. */
export interface Terms {
  readonly from: NativeAmount
  readonly to: NativeAmount
  readonly isEstimate: boolean
  /** Undefined where the exchange names none. */
  readonly expirationDate?: Date | undefined
  order(addresses: OrderAddresses): Promise<ExchangeOrder>
}

/** The addresses of the payout, and of the refund if the swap fails. */
export interface OrderAddresses {
  readonly depositTo: string
  readonly refundTo: string
}

/** An order that an exchange has taken. */
export interface ExchangeOrder {
  readonly orderId: string
  readonly orderUri: string
  readonly payIn: string
  /** Distinguishes payments to the same address; the order is refused where the chain has no such memo. */
  readonly payInMemo: string | undefined
  readonly from: NativeAmount
  readonly to: NativeAmount
  readonly expirationDate?: Date | undefined
}

/** Makes the plugin of an exchange. */
export const exchangePlugin = (exchange: Exchange): SwapPlugin => {
  const { provider, supportEmail } = exchange
  return {
    kind: 'swap',
    id: provider.pluginId,
    displayName: provider.displayName,
    supportEmail,
    hosts: [originOf(exchange.address)],
    apply(host) {
      const client = new ProviderClient(host.io, provider, exchange.address)
      const assets = cacheList(host.io.clock, async () =>
        makeAssetList(exchange.chains, await exchange.loadAssets(client))
      )
      const server = { exchange, options: host.options, client, assets }
      host.hooks.fetchQuotes.tapPromise(provider.pluginId, context => quote(server, context))
      host.hooks.watchOrder.tapPromise(provider.pluginId, order => watch(server, order))
    }
  }
}

interface ExchangeServer extends Pick<SwapHost, 'options'> {
  readonly exchange: Exchange
  readonly client: ProviderClient
  readonly assets: () => Promise<AssetList>
}

const quote = async (
  { exchange, options, client, assets }: ExchangeServer,
  context: QuoteContext
): Promise<void> => {
  const { provider, keyName } = exchange
  const { request } = context
  const find = (name: string): string | undefined => settingOf(name, context.userSettings, options)
  const key = find(keyName)
  if (key === undefined) throw forbidden(provider, 'needsActivation')
  const list = await assets()
  const [from, to] = [list.find(request.from), list.find(request.to)]
  if (from === undefined || to === undefined) throw unsupported(provider, request)
  const wanted = await wantedAmountOf(context)
  const terms = await exchange.termsOf({
    context,
    request,
    wanted,
    client,
    from,
    to,
    key,
    settingOf: find
  })
  context.offer({
    fromNativeAmount: terms.from,
    toNativeAmount: terms.to,
    isEstimate: terms.isEstimate,
    ...expiry(terms.expirationDate),
    networkFee: await context.feeFor(spendWithoutAddress(context, terms.from)),
    payment: { order: () => order(provider, context, terms) }
  })
}

const order = async (provider: Provider, context: QuoteContext, terms: Terms): Promise<SwapOrder> => {
  const [depositTo, refundTo] = await Promise.all([context.depositTo(), context.refundTo()])
  const found = await terms.order({ depositTo, refundTo })
  return {
    spends: [spendOf(provider, context.request, found)],
    fromNativeAmount: found.from,
    toNativeAmount: found.to,
    orderId: found.orderId,
    orderUri: found.orderUri,
    ...expiry(found.expirationDate)
  }
}

/** Asks an exchange for an order. @throws BAD_REPLY for a state that it should not have, and what {@link ProviderClient} throws */
const watch = async (
  { exchange, options, client }: ExchangeServer,
  { orderId, userSettings, signal }: WatchedOrder
): Promise<OrderReport> => {
  const { provider, keyName, orders } = exchange
  const find = (name: string): string | undefined => settingOf(name, userSettings, options)
  const key = find(keyName)
  if (key === undefined) throw forbidden(provider, 'needsActivation')
  if (orderId === undefined) return { state: 'unknown' }
  const answer = await client.request({ ...orders.request(orderId, { key, settingOf: find }), signal })
  const { reply, isOk, status } = answer
  if (status === 404) return { state: 'unknown' }
  if (!isOk) throw providerFailed(provider, `answered with status ${status}`)
  const word = reply.field('status')
  const name = word.text().toLowerCase()
  const state = Object.hasOwn(orders.states, name) ? orders.states[name] : undefined
  if (state === undefined) return word.fail('is no state of an order')
  return {
    state,
    payoutTxid:
      state === 'sending' || state === 'paidOut' ? reply.field(orders.payoutTxid).optionalText() : undefined,
    refundTxid: state === 'refunded' ? reply.field(orders.refundTxid).optionalText() : undefined
  }
}

/** @throws SWAP_CHANGED if the exchange would not know the payment by anything that the chain can carry */
const spendOf = (
  { pluginId }: Provider,
  { from }: QuoteRequest,
  { payIn, payInMemo, from: nativeAmount }: ExchangeOrder
): SpendInfo => {
  const spend = { tokenId: from.tokenId, spendTargets: [{ publicAddress: payIn, nativeAmount }] }
  if (payInMemo === undefined) return spend
  const type = MEMO_TYPES.get(from.pluginId)
  if (type === undefined) {
    throw new WalletError('SWAP_CHANGED', {
      pluginId,
      rule: 'wants a memo, which this currency does not have'
    })
  }
  return { ...spend, memos: [{ type, value: payInMemo }] }
}

/** Chains on which many are paid at one address, with the kind of memo that separates them; no exchange reads data outputs. */
const MEMO_TYPES: ReadonlyMap<string, Memo['type']> = new Map([
  ['cosmoshub', 'text'],
  ['ripple', 'number'],
  ['stellar', 'text']
])

const expiry = (expirationDate: Date | undefined): { readonly expirationDate?: Date } =>
  expirationDate === undefined ? {} : { expirationDate }
