import {
  type Memo,
  type NativeAmount,
  type QuoteContext,
  type QuoteRequest,
  type SpendInfo,
  type SwapHost,
  type SwapOrder,
  type SwapPlugin,
  WalletError
} from '../../../kernel/plugin-api.ts'
import { type AssetList, type ChainTable, makeAssetList, type ProviderAsset } from './assets.ts'
import { type Ask, makeAsk } from './client.ts'
import { keepList } from './kept-list.ts'
import { forbidden, type Provider, unsupported } from './provider.ts'
import { payLater, settingOf, type Wish, wishOf } from './wish.ts'

/** An exchange with a server: it is asked for terms, and for an order when the user has said yes. */
export interface Exchange {
  readonly provider: Provider
  readonly supportEmail: string
  /** Of its API, without a final slash. */
  readonly address: string
  readonly chains: ChainTable
  /** The option or setting without which it is not asked. */
  readonly keyName: string
  loadAssets(ask: Ask): Promise<Iterable<ProviderAsset>>
  termsOf(inquiry: Inquiry): Promise<Terms>
}

/** A request of assets that the exchange has. */
export interface Inquiry {
  readonly desk: QuoteContext
  readonly request: QuoteRequest
  readonly wish: Wish
  readonly ask: Ask
  readonly from: ProviderAsset
  readonly to: ProviderAsset
  /** What {@link Exchange.keyName} names. */
  readonly key: string
  /** Another option or setting. */
  settingOf(name: string): string | undefined
}

/** What an exchange offers. It learns addresses with the order, not before. */
export interface Terms {
  readonly from: NativeAmount
  readonly to: NativeAmount
  readonly isEstimate: boolean
  /** As the exchange says; undefined where it says nothing. */
  readonly expirationDate?: Date | undefined
  order(addresses: OrderAddresses): Promise<ExchangeOrder>
}

/** Where the swap is paid out, and where the money goes back to if it fails. */
export interface OrderAddresses {
  readonly depositTo: string
  readonly refundTo: string
}

/** What an exchange says about an order. */
export interface ExchangeOrder {
  readonly orderId: string
  readonly orderUri: string
  readonly payIn: string
  /** What tells this payment from others to the same address; the order is refused where the chain has no such thing. */
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
    apply(host) {
      const ask = makeAsk(host.io, provider, exchange.address)
      const assets = keepList(host.io.clock, async () =>
        makeAssetList(exchange.chains, await exchange.loadAssets(ask))
      )
      const door = { exchange, options: host.options, ask, assets }
      host.hooks.fetchQuotes.tapPromise(provider.pluginId, desk => quote(door, desk))
    }
  }
}

interface Door extends Pick<SwapHost, 'options'> {
  readonly exchange: Exchange
  readonly ask: Ask
  readonly assets: () => Promise<AssetList>
}

const quote = async ({ exchange, options, ask, assets }: Door, desk: QuoteContext): Promise<void> => {
  const { provider, keyName } = exchange
  const { request } = desk
  const find = (name: string): string | undefined => settingOf(name, desk.userSettings, options)
  const key = find(keyName)
  if (key === undefined) throw forbidden(provider, 'needsActivation')
  const list = await assets()
  const [from, to] = [list.find(request.from), list.find(request.to)]
  if (from === undefined || to === undefined) throw unsupported(provider, request)
  const wish = await wishOf(desk)
  const terms = await exchange.termsOf({ desk, request, wish, ask, from, to, key, settingOf: find })
  desk.offer({
    fromNativeAmount: terms.from,
    toNativeAmount: terms.to,
    isEstimate: terms.isEstimate,
    ...expiry(terms.expirationDate),
    networkFee: await desk.feeFor(payLater(desk, terms.from)),
    payment: { order: () => order(provider, desk, terms) }
  })
}

const order = async (provider: Provider, desk: QuoteContext, terms: Terms): Promise<SwapOrder> => {
  const [depositTo, refundTo] = await Promise.all([desk.depositTo(), desk.refundTo()])
  const found = await terms.order({ depositTo, refundTo })
  return {
    spends: [spendOf(provider, desk.request, found)],
    fromNativeAmount: found.from,
    toNativeAmount: found.to,
    orderId: found.orderId,
    orderUri: found.orderUri,
    ...expiry(found.expirationDate)
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

/** Chains on which many are paid at one address, and what tells them apart there. A data output is read by nobody. */
const MEMO_TYPES: ReadonlyMap<string, Memo['type']> = new Map([
  ['cosmoshub', 'text'],
  ['ripple', 'number'],
  ['stellar', 'text']
])

const expiry = (expirationDate: Date | undefined): { readonly expirationDate?: Date } =>
  expirationDate === undefined ? {} : { expirationDate }
