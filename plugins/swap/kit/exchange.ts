import type {
  NativeAmount,
  QuoteDesk,
  SpendInfo,
  SwapHost,
  SwapOrder,
  SwapPlugin,
  SwapRequest
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
  readonly desk: QuoteDesk
  readonly request: SwapRequest
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
  /** What tells this payment from others to the same address, on chains that have such a thing. */
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

const quote = async ({ exchange, options, ask, assets }: Door, desk: QuoteDesk): Promise<void> => {
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
    payment: { order: () => order(desk, terms) }
  })
}

const order = async (desk: QuoteDesk, terms: Terms): Promise<SwapOrder> => {
  const [depositTo, refundTo] = await Promise.all([desk.depositTo(), desk.refundTo()])
  const found = await terms.order({ depositTo, refundTo })
  return {
    spends: [spendOf(desk.request, found)],
    fromNativeAmount: found.from,
    toNativeAmount: found.to,
    orderId: found.orderId,
    orderUri: found.orderUri,
    ...expiry(found.expirationDate)
  }
}

const spendOf = (
  { from }: SwapRequest,
  { payIn, payInMemo, from: nativeAmount }: ExchangeOrder
): SpendInfo => ({
  tokenId: from.tokenId,
  spendTargets: [{ publicAddress: payIn, nativeAmount }],
  ...(payInMemo === undefined ? {} : { memos: [{ type: 'text', value: payInMemo }] })
})

const expiry = (expirationDate: Date | undefined): { readonly expirationDate?: Date } =>
  expirationDate === undefined ? {} : { expirationDate }
