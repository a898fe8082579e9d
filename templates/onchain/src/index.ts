// An on-chain exchange: a network swaps what is paid to its vault as the memo of the payment says. There is no order and no
// account; the memo has the address and the least that may arrive, and the network keeps to it or pays back.
import {
  compare,
  HttpClient,
  type HttpRequest,
  type NativeAmount,
  nativeAmount,
  type QuoteContext,
  Reply,
  type SpendInfo,
  type SwapPlugin,
  WalletError
} from 'holdfast/plugin'

/** The server. A plugin reaches the servers in its `hosts` and no other; they are shown before it is added. */
const HOST = 'thornode.ninerealms.com'
/** The id stays the same for ever: it stands in the history of wallets. */
const SHOP = { pluginId: 'my-plugin', displayName: 'My Plugin' }

/** The network's names of the coins that can be paid with a memo, by currency plugin. It counts each in 10^-8, as they do. */
const ASSETS: ReadonlyMap<string, string> = new Map([
  ['bitcoin', 'BTC.BTC'],
  ['litecoin', 'LTC.LTC']
])

/** The share of the quote that must arrive, in percent: below it the network pays back. */
const LEAST_PERCENT = 98n

type Call = (request: HttpRequest) => Promise<Reply>

/** Swaps through a node of THORChain. Put your own network in its place. */
export const plugin: SwapPlugin = {
  kind: 'swap',
  id: SHOP.pluginId,
  displayName: SHOP.displayName,
  isDex: true,
  hosts: [HOST],
  apply({ hooks, io }) {
    // Sends requests, gives up in time, and leaves a server alone that answers 429. Never use the global fetch.
    const client = new HttpClient(io, {
      name: SHOP.displayName,
      origins: [`https://${HOST}/thorchain`],
      deadlineMs: 20_000,
      maxReplyBytes: 1_000_000,
      rateLimit: { statuses: [429], firstMs: 30_000, maxMs: 3_600_000, retryAfter: 'secondsOrDate' }
    })
    const call: Call = async request => {
      const { isOk, status, text } = await client.request(request)
      if (!isOk) throw new WalletError('SERVER', { message: `${SHOP.displayName} answered ${status}` })
      // Keeps every figure as it is written: amounts are decimal text, never numbers.
      return Reply.exact(text, `reply of ${SHOP.displayName}`)
    }
    hooks.fetchQuotes.tapPromise(SHOP.pluginId, context => quote(call, context))
  }
}

const quote = async (call: Call, context: QuoteContext): Promise<void> => {
  const { request, signal } = context
  const [from, to] = [ASSETS.get(request.from.pluginId), ASSETS.get(request.to.pluginId)]
  const isServed = request.from.tokenId === null && request.to.tokenId === null && request.quoteFor !== 'to'
  if (from === undefined || to === undefined || from === to || !isServed)
    throw new WalletError('SWAP_CURRENCY', {
      ...SHOP,
      from: request.from.currencyCode,
      to: request.to.currencyCode
    })
  // Without an address, and with the longest memo: for the fee of a payment that is not known yet.
  const blank: SpendInfo = { tokenId: null, spendTargets: [{}], memos: [memoOf('x'.repeat(80))] }
  const amount = request.quoteFor === 'max' ? await context.maxFrom(blank) : request.nativeAmount

  // No address in it: an exchange learns one once the user has approved.
  const path = `/quote/swap?from_asset=${from}&to_asset=${to}&amount=${amount}`
  const reply = await call({ path, signal })
  const least = nativeAmount(String(reply.field('recommended_min_amount_in').positiveInteger()))
  if (compare(amount, least) < 0) {
    const { pluginId } = SHOP
    throw new WalletError('SWAP_BELOW_LIMIT', { pluginId, nativeMin: least, direction: 'from' })
  }
  const expected = reply.field('expected_amount_out').positiveInteger()
  const toNativeAmount = nativeAmount(String(expected))
  const minReceiveAmount = nativeAmount(String((expected * LEAST_PERCENT) / 100n))
  context.offer({
    fromNativeAmount: amount,
    toNativeAmount,
    isEstimate: true,
    minReceiveAmount,
    expirationDate: reply.field('expiry').date(),
    networkFee: await context.feeFor([{ ...blank, spendTargets: [{ nativeAmount: amount }] }]),
    payment: {
      // Called once the user has approved. Vaults move, so the address is fetched again; `signal` may have ended by now.
      async order() {
        const now = await call({ path })
        if (now.field('expected_amount_out').positiveInteger() < BigInt(minReceiveAmount))
          throw new WalletError('SWAP_CHANGED', { ...SHOP, rule: 'would bring less than the offer promised' })
        const spend = await payment(context, {
          vault: now.field('inbound_address').text(),
          to,
          amount,
          minReceiveAmount
        })
        return { spends: [spend], fromNativeAmount: amount, toNativeAmount }
      }
    }
  })
}

/** The payment to the vault. The network reads its memo, and nothing else says what it is for. */
const payment = async (
  context: QuoteContext,
  {
    vault,
    to,
    amount,
    minReceiveAmount
  }: {
    readonly vault: string
    readonly to: string
    readonly amount: NativeAmount
    readonly minReceiveAmount: NativeAmount
  }
): Promise<SpendInfo> => {
  const payout = await context.depositTo()
  // A colon would end this part of the memo.
  if (!/^\w+$/.test(payout)) throw new WalletError('MEMO_INVALID', { rule: 'cannot hold the address' })
  return {
    tokenId: null,
    spendTargets: [{ publicAddress: vault, nativeAmount: amount }],
    memos: [memoOf(`=:${to}:${payout}:${minReceiveAmount}`)],
    networkFeeOption: 'high'
  }
}

const memoOf = (value: string): NonNullable<SpendInfo['memos']>[number] => ({ type: 'text', value })
