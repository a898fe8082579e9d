import type { ActionName, Actions, SpendReview } from './actions.ts'
import { chainText, type FieldsOf, maybe, orNull } from './field.ts'
import { openPaymentFields, rowFields } from './snapshot-fields.ts'

/** A review must be readable to be approved: its addresses are shown even where addresses are hidden. */
const review: FieldsOf<SpendReview> = {
  provider: maybe('text'),
  walletId: 'text',
  tokenId: maybe('text'),
  currencyCode: 'text',
  nativeAmount: 'text',
  networkFee: 'text',
  usualNetworkFee: maybe('text'),
  targets: { each: { publicAddress: 'text', nativeAmount: 'text' } },
  toWalletId: maybe('text'),
  toTokenId: maybe('text'),
  legacyAddress: maybe('text'),
  memos: maybe('texts'),
  params: maybe('texts'),
  openPayments: maybe({
    each: {
      ...openPaymentFields,
      txid: 'text',
      targets: { each: { publicAddress: 'text', nativeAmount: 'text' } },
      replaces: maybe('text'),
      replacedBy: maybe('text')
    }
  }),
  openCount: maybe('number'),
  similar: maybe('texts'),
  replaces: maybe('text'),
  allowances: maybe({ each: { spender: 'text', nativeAmount: 'text' } }),
  isOwnCheckComplete: maybe('flag'),
  toCurrencyCode: maybe('text'),
  toNativeAmount: maybe('text'),
  minReceive: maybe('text'),
  payoutAddress: maybe('text'),
  isEstimate: maybe('flag'),
  expiresAt: maybe('number'),
  orderId: maybe('text')
}

const drafted: FieldsOf<Actions['spend.draft']['out']> = { draftId: 'text', review: { object: review } }
const paid: FieldsOf<Actions['swap.approve']['out']> = { txid: chainText, orderId: maybe('text') }

/** The fields of each action's result. */
export const outputFields: { readonly [K in ActionName]: FieldsOf<Actions[K]['out']> } = {
  'account.create': { accountId: 'text' },
  'account.login': { accountId: 'text' },
  'account.logout': {},
  'wallet.create': { walletId: 'text' },
  'wallet.receive': { publicAddress: chainText, uri: chainText },
  'engine.pause': {},
  'engine.resume': {},
  'engine.resync': {},
  'repo.sync': {},
  'spend.draft': drafted,
  'spend.max': { nativeAmount: 'text' },
  'spend.approve': { txid: chainText },
  'spend.discard': {},
  'spend.resend': { txid: chainText },
  'spend.replace': drafted,
  'spend.forget': {},
  'swap.ask': { roundId: 'text' },
  'swap.close': {},
  'swap.review': drafted,
  'swap.approve': paid,
  'swap.discard': {},
  'swap.enable': {},
  'rates.route': { route: orNull({ object: rowFields.routes }), alternatives: { each: rowFields.routes } },
  'rates.refresh': {},
  'world.fund': { txid: chainText },
  'world.mine': { height: 'number' },
  'world.network': { isOnline: 'flag' }
}

/** The names of all actions; a message may name any of them and nothing else. */
export const actionNames: ReadonlySet<string> = new Set(Object.keys(outputFields))
