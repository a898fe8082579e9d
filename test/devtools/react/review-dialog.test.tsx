import test from 'ava'
import { renderToString } from 'react-dom/server'
import type { SpendReview } from '../../../devtools/core/actions.ts'
import { PanelContext, type PanelState } from '../../../devtools/react/panel-state.ts'
import { ReviewDialog } from '../../../devtools/react/parts/review-dialog.tsx'
import { makeSampleClient, SAMPLE_NOW, sampleView } from './sample-client.ts'

const [walletId = ''] = [...sampleView.wallets.keys()]
const review: SpendReview = {
  walletId,
  currencyCode: 'BTC',
  nativeAmount: '1000000',
  networkFee: '282000',
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
  const made = {
    name: 'spend.draft' as const,
    input: { walletId, publicAddress: 'a', nativeAmount: '1000000' }
  }
  const draft = { draftId: 'draft', made, review: { ...review, ...changes } }
  return renderToString(
    <PanelContext value={state as PanelState}>
      <ReviewDialog draft={draft} onClose={() => {}} />
    </PanelContext>
  ).replaceAll('<!-- -->', '')
}

const isApprovable = (markup: string): boolean =>
  !/<button[^>]*main-act[^>]* disabled=""[^>]*>Sign and send/.test(markup)

test('the review of a fee far above the usual one says so, and nothing can be signed before a yes is typed', t => {
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
