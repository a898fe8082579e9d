import test from 'ava'
import { reviewSwap } from '../../../app/actions/swap-review.ts'
import { type SpendSummary, summaryLines } from '../../../cli/spend/summary.ts'
import { reviewSummary } from '../../../cli/swap/approve-quote.ts'
import { quoteLines } from '../../../cli/swap/quote-texts.ts'
import type { SwapSides } from '../../../cli/swap/read-swap.ts'
import {
  type CurrencyWallet,
  nativeAmount,
  type SpendInfo,
  type SwapReview,
  type Transaction
} from '../../../kernel/index.ts'
import { toyTransaction } from '../../helpers/toy-currency.ts'

const asset = (code: string, tokenId: string | null = null) => ({
  tokenId,
  currencyCode: code,
  displayName: code,
  denominations: [{ name: code, multiplier: '100' }]
})
const walletOf = (code: string): CurrencyWallet =>
  ({
    id: `${code}-wallet`,
    name: `My ${code}`,
    currencyInfo: { ...asset(code), pluginId: code.toLowerCase() },
    balanceOf: () => nativeAmount('100000'),
    similarPayments: () => [],
    getSnapshot: () => ({ openPayments: [], tokens: [] })
  }) as unknown as CurrencyWallet
const places: SwapSides = {
  from: { wallet: walletOf('ALP'), asset: asset('GLD', 'gold') },
  to: { wallet: walletOf('BET'), asset: asset('BET') }
}
const draftOf = (tokenId: string | null, amount: string): Transaction => ({
  ...toyTransaction('', {
    tokenId,
    nativeAmount: nativeAmount(`-${amount}`),
    networkFee: nativeAmount('0'),
    parentNetworkFee: nativeAmount('7')
  }),
  walletId: 'ALP-wallet',
  currencyCode: 'GLD',
  confirmations: 'unconfirmed',
  isSend: true,
  memos: [],
  metadata: {},
  spendTargets: [{ currencyCode: 'GLD', nativeAmount: nativeAmount(amount), publicAddress: 'router-address' }]
})
const approval: SpendInfo = {
  tokenId: null,
  spendTargets: [{ publicAddress: 'gold-contract', nativeAmount: nativeAmount('0') }],
  memos: [{ type: 'hex', value: '095ea7b3' }],
  otherParams: { data: '0xffff', note: '\u001b[2J' }
}
const payment: SpendInfo = {
  tokenId: 'gold',
  spendTargets: [
    {
      publicAddress: 'router-address',
      nativeAmount: nativeAmount('1000'),
      otherParams: { data: 'x'.repeat(5000) }
    }
  ]
}
const review: SwapReview = {
  swapInfo: { pluginId: 'shop', displayName: 'Shop\u001b[2J', isDex: true },
  fromNativeAmount: nativeAmount('1000'),
  toNativeAmount: nativeAmount('900'),
  minReceive: nativeAmount('891'),
  isEstimate: true,
  networkFee: { currencyCode: 'ALP', nativeAmount: nativeAmount('14') },
  unusualFees: [],
  allowances: [],
  isOwnCheckComplete: true,
  drafts: [draftOf(null, '0'), draftOf('gold', '1000')],
  spends: [approval, payment],
  destinationAddress: 'router-address',
  payoutAddress: 'beta'
}
const summaryWith = (given: SwapReview): SpendSummary => {
  const { from, to } = places
  const request = {
    ...{ fromWalletId: from.wallet.id, fromTokenId: 'gold', fromCurrencyCode: 'GLD' },
    ...{ toWalletId: to.wallet.id, toTokenId: null, toCurrencyCode: 'BET' }
  }
  return reviewSummary(places, given, reviewSwap(from.wallet, request, given))
}
const linesOf = (changes: Partial<SwapReview> = {}): readonly string[] =>
  summaryLines(summaryWith({ ...review, ...changes }))

test('the review shows the contract calls of the approval and the payment, and the sum of all fees', t => {
  const lines = linesOf()
  t.true(
    lines.includes('approval 1   calls gold-contract hex:095ea7b3 {"data":"0xffff","note":"\\u001b[2J"}'),
    lines.join('\n')
  )
  const params = lines.find(line => line.startsWith('calls with')) ?? ''
  t.regex(params, /^calls with {3}\{"data":"x{191}… \(5011 characters\)$/)
  t.true(lines.includes('all fees     0.14 ALP'))
  t.true(lines.includes('swap with    Shop [2J (DEX)'))
  const { swap } = summaryWith(review).json as { swap: Record<string, unknown> }
  t.deepEqual(swap.approvals, [
    {
      tokenId: null,
      calls: [{ publicAddress: 'gold-contract', params: null }],
      memos: [{ type: 'hex', value: '095ea7b3' }],
      params: { data: '0xffff', note: '\u001b[2J' }
    }
  ])
})

test('a payment of a coin without parameters has no line about them', t => {
  const lines = linesOf({
    spends: [{ tokenId: null, spendTargets: payment.spendTargets.map(({ otherParams: _, ...rest }) => rest) }]
  })
  t.false(lines.some(line => /^(approval|calls|all fees)/.test(line)))
})

test('the review of an estimate promises only what the provider promises', t => {
  const receiveOf = (changes: Partial<SwapReview>): string | undefined =>
    linesOf(changes).find(line => line.startsWith('receive'))
  t.is(receiveOf({}), 'receive      ~9 BET, an estimate: less may arrive')
  t.is(receiveOf({ minReceiveAmount: nativeAmount('850') }), 'receive      ~9 BET, at least 8.5 BET')
  t.is(receiveOf({ isEstimate: false }), 'receive      9 BET')
})

test('the name and texts of a provider cannot redraw the quote list', t => {
  const said = {
    roundId: 'r',
    request: {} as never,
    pluginId: 'shop',
    displayName: 'Shop\u001b[2J\n',
    isDex: false,
    state: 'failed' as const
  }
  const { title, main } = quoteLines({ ...said, message: 'no\n\u001b[31mmore' }, places, 0)
  t.deepEqual([title, main], ['Shop [2J  (CEX)', 'no  [31mmore'])
})

test('the review shows the fees that the payments cost in tokens, each and in all', t => {
  const withToll = (draft: Transaction): Transaction => ({
    ...draft,
    networkFees: [
      { tokenId: null, nativeAmount: nativeAmount('7') },
      { tokenId: 'toll', nativeAmount: nativeAmount('5') }
    ]
  })
  const lines = linesOf({ drafts: review.drafts.map(withToll) })
  t.true(lines.includes('and a fee    5 native units of toll'), lines.join('\n'))
  t.true(lines.includes('all fees     0.14 ALP, 10 native units of toll'))
  const { tokenFees } = summaryWith({ ...review, drafts: review.drafts.map(withToll) }).json
  t.deepEqual(tokenFees, [{ tokenId: 'toll', currencyCode: '?', nativeAmount: '5', display: '5' }])
})
