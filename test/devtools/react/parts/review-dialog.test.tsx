import test from 'ava'
import { renderToString } from 'react-dom/server'
import type { SpendReview } from '../../../../app/actions/spend-review.ts'
import { ReviewDialog } from '../../../../devtools/react/parts/review-dialog.tsx'
import { PanelContext, type PanelState } from '../../../../devtools/react/state/panel-state.ts'
import type { OpenPaymentSnapshot } from '../../../../kernel/index.ts'
import { makeSampleClient, SAMPLE_NOW, sampleView } from '../sample-client.ts'

const [walletId = ''] = [...sampleView.wallets.keys()]
const review: SpendReview = {
  walletId,
  currencyCode: 'BTC',
  nativeAmount: '1000000',
  networkFee: '282000',
  total: '1282000',
  remaining: '0',
  targets: [{ publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', nativeAmount: '1000000' }]
}

const draw = (changes: Partial<SpendReview> = {}): string => {
  const client = makeSampleClient({ view: sampleView })
  const state: Partial<PanelState> = {
    client,
    live: client,
    now: () => SAMPLE_NOW,
    clock: () => SAMPLE_NOW,
    failure: undefined,
    dismiss: () => {},
    memory: { rounds: new Map(), drafts: new Map(), sent: new Map() }
  }
  const action = {
    name: 'spend.draft' as const,
    input: { walletId, publicAddress: 'a', nativeAmount: '1000000' }
  }
  const draft = { draftId: 'draft', action, review: { ...review, ...changes } }
  return renderToString(
    <PanelContext value={state as PanelState}>
      <ReviewDialog draft={draft} onClose={() => {}} />
    </PanelContext>
  ).replaceAll('<!-- -->', '')
}

const isApprovable = (markup: string): boolean =>
  !/<button[^>]*main-act[^>]* disabled=""[^>]*>Sign and send/.test(markup)

test('the review of a fee far above the usual one warns, and nothing can be signed before a typed yes', t => {
  const dear = draw({ usualNetworkFee: '1410' })
  t.regex(
    dear,
    /role="alert"[^>]*>The network fee of .*0\.00282.* is more than ten times the usual .*0\.0000141/
  )
  t.regex(dear, /Type yes to pay this fee/)
  t.false(isApprovable(dear))
  const usual = draw()
  t.notRegex(usual, /Type yes/)
  t.true(isApprovable(usual))
})

test('the total of a payment in a token names what the network takes in other assets', t => {
  const fee = { tokenId: 'toll', currencyCode: 'TOLL', nativeAmount: '5', display: '0.5' }
  const totalOf = (changes: Partial<SpendReview>): string => {
    const [, text = ''] = /<dt>Total<\/dt><dd>(.*?)<\/dd>/.exec(draw(changes)) ?? []
    return text.replaceAll(/<span class="soft">.*?<\/span>|<[^>]*>/g, '')
  }
  t.is(totalOf({}), '0.01282 BTC')
  t.is(totalOf({ tokenFees: [fee] }), '0.01282 BTC, and 0.5 TOLL')
  const ofToken = { tokenId: 'usdx', total: '1000000' }
  t.is(totalOf(ofToken), '1000000 native, and 0.00282 BTC')
  const both = [{ ...fee, tokenId: 'usdx', currencyCode: 'USDX' }, fee]
  t.is(totalOf({ ...ofToken, tokenFees: both }), '1000000 native, and 0.00282 BTC, and 0.5 TOLL')
})

const openPayment: OpenPaymentSnapshot = {
  ...{
    txid: 'ab'.repeat(32),
    tokenId: null,
    currencyCode: 'BTC',
    nativeAmount: '-1000282',
    networkFee: '282'
  },
  ...{ at: SAMPLE_NOW - 60_000, state: 'refused', reason: 'min relay\u202e fee' },
  targets: [{ publicAddress: 'bcrt1qshop', nativeAmount: '1000000' }]
}

test('a review lists open payments with their states, as many as fit, and the payment that it replaces', t => {
  const listed = draw({ openPayments: [openPayment] })
  t.regex(
    listed,
    /<dt>Open<\/dt><dd><span[^>]*>0\.01 BTC<\/span> to <span class="mono">bcrt1qshop<\/span>: a server refused it, others may have it: min relay\ufffd fee</
  )
  t.true(isApprovable(listed))
  const many = [...Array(7).keys()].map(at => ({ ...openPayment, txid: String(at) }))
  const cut = draw({ openPayments: many, openCount: 30 })
  t.true(cut.includes('<dt>Open 5</dt>') && !cut.includes('<dt>Open 6</dt>'))
  t.true(cut.includes('<dt>Open</dt><dd>and 25 more</dd>'))
  const replacing = draw({ openPayments: [openPayment], replaces: openPayment.txid })
  t.regex(replacing, /bcrt1qshop<\/span>: this payment replaces it</)
  t.true(replacing.includes(`<dt>Replaces</dt><dd class="mono">${openPayment.txid}</dd>`))
})

test('the review of a possible second payment warns, and nothing can be signed before a typed yes', t => {
  const again = draw({ openPayments: [openPayment], similar: [openPayment.txid, 'other'] })
  t.true(
    again.includes(
      `The open payment ${openPayment.txid} pays the same amount to the same payee, and may still be mined. There are 1 more.`
    )
  )
  t.regex(again, /Type yes to pay a second time/)
  t.false(isApprovable(again))
})

test('the review of a swap shows the remaining allowance and its spender, and that not all own addresses were compared', t => {
  const swap = draw({
    allowances: [{ spender: '0xrouter', nativeAmount: '1000000' }],
    isOwnCheckComplete: false
  })
  t.regex(swap, /<dt>Allows<\/dt><dd><span class="mono">0xrouter<\/span> to take <span[^>]*>0\.01 BTC</)
  t.true(swap.includes('the payee was compared only with own addresses that were shown, saved or paid'))
  t.notRegex(draw({ isOwnCheckComplete: true }), /own addresses/)
})
