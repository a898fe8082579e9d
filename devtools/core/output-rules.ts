import type { OpenPaymentSnapshot } from '../../kernel/index.ts'
import type { ActionName, Actions, SpendReview } from './actions.ts'
import { type FieldsOf, rowRules } from './redaction-table.ts'

const openPayment: FieldsOf<OpenPaymentSnapshot> = {
  txid: 'plain',
  tokenId: 'plain',
  currencyCode: 'plain',
  nativeAmount: 'plain',
  networkFee: 'plain',
  targets: { each: { publicAddress: 'plain', nativeAmount: 'plain' } },
  at: 'plain',
  state: 'plain',
  // A node's own words.
  reason: 'text',
  replaces: 'plain',
  replacedBy: 'plain'
}

/** Nobody can approve what they cannot read: its addresses are shown even where addresses are hidden. */
const review: FieldsOf<SpendReview> = {
  provider: 'plain',
  walletId: 'plain',
  tokenId: 'plain',
  currencyCode: 'plain',
  nativeAmount: 'plain',
  networkFee: 'plain',
  usualNetworkFee: 'plain',
  targets: { each: { publicAddress: 'plain', nativeAmount: 'plain' } },
  toWalletId: 'plain',
  toTokenId: 'plain',
  legacyAddress: 'plain',
  memos: 'plain',
  params: 'plain',
  openPayments: { each: openPayment },
  openCount: 'plain',
  similar: 'plain',
  replaces: 'plain',
  allowances: { each: { spender: 'plain', nativeAmount: 'plain' } },
  isOwnCheckComplete: 'plain',
  toCurrencyCode: 'plain',
  toNativeAmount: 'plain',
  minReceive: 'plain',
  payoutAddress: 'plain',
  isEstimate: 'plain',
  expiresAt: 'plain',
  orderId: 'plain'
}

const drafted: FieldsOf<Actions['spend.draft']['out']> = { draftId: 'plain', review: { object: review } }
const paid: FieldsOf<Actions['swap.approve']['out']> = { txid: 'chain', orderId: 'plain' }

/** What may be shown of the result of each action. */
export const outputRules: { readonly [K in ActionName]: FieldsOf<Actions[K]['out']> } = {
  'account.create': { accountId: 'plain' },
  'account.login': { accountId: 'plain' },
  'account.logout': {},
  'wallet.create': { walletId: 'plain' },
  'wallet.receive': { publicAddress: 'chain', uri: 'chain' },
  'engine.pause': {},
  'engine.resume': {},
  'engine.resync': {},
  'repo.sync': {},
  'spend.draft': drafted,
  'spend.max': { nativeAmount: 'plain' },
  'spend.approve': { txid: 'chain' },
  'spend.discard': {},
  'spend.resend': { txid: 'chain' },
  'spend.replace': drafted,
  'spend.forget': {},
  'swap.ask': { roundId: 'plain' },
  'swap.close': {},
  'swap.review': drafted,
  'swap.approve': paid,
  'swap.discard': {},
  'swap.enable': {},
  'rates.route': { route: { object: rowRules.routes }, alternatives: { each: rowRules.routes } },
  'rates.refresh': {},
  'world.fund': { txid: 'chain' },
  'world.mine': { height: 'plain' },
  'world.network': { isOnline: 'plain' }
}
