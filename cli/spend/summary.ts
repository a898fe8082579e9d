import { reviewSpend } from '../../app/actions/payments.ts'
import type { SpendReview, TokenFee } from '../../app/actions/spend-review.ts'
import { type Asset, amountIn, amountJson } from '../../app/format/amounts.ts'
import { sweepRows, tokenFeeText } from '../../app/format/payment-texts.ts'
import {
  type CurrencyWallet,
  checkNoTokenFee,
  coinFeeOf,
  compare,
  type JsonObject,
  type NativeAmount,
  nativeAmount,
  type Transaction,
  WalletError
} from '../../kernel/index.ts'
import type { ReviewFacts } from '../screens/review.tsx'
import { coinOf } from '../session/assets.ts'
import { safeText } from '../terminal/safe-text.ts'
import { openLines, openPaymentJson } from './open-payments.ts'

/** The summary of a payment for its approval, as text and as JSON. Amounts are exact. */
export interface SpendSummary extends ReviewFacts {
  /** The txids of open payments that pay one of the payees the same amount. */
  readonly similar: readonly string[]
  /** What the network takes in tokens. */
  readonly tokenFees: readonly TokenFee[]
  readonly json: JsonObject
}

/**
 * Lays out the review of a payment for a terminal, and as JSON.
 *
 * @param review - that of the draft, if it was made already
 */
export const summaryOf = (
  wallet: CurrencyWallet,
  draft: Transaction,
  asset: Asset = coinOf(wallet),
  review: SpendReview = reviewSpend(wallet, draft)
): SpendSummary => {
  const { currencyInfo: info } = wallet
  const { nativeAmount: paid, networkFee, total, remaining, targets, similar = [], untrusted } = review
  const { tokenFees = [], sweep, bumps, coins = [] } = review
  const fee = amountIn(networkFee, info)
  const rate = rateOf(draft)
  const open = wallet.getSnapshot().openPayments.filter(({ txid }) => txid !== draft.txid)
  const jsonOf = (native: string) => amountJson(nativeAmount(native), asset)
  return {
    lines: [
      ['asset', `${asset.displayName} (${asset.currencyCode})${chainOf(info)}`],
      [sweep === undefined ? 'from' : 'into', wallet.name ?? wallet.id],
      [sweep === undefined ? 'amount' : 'arrives', amountIn(paid, asset)],
      ...coins.map(coin => ['pays with', coin] as const),
      ...(bumps === undefined ? [] : [['hastens', bumps] as const]),
      ['network fee', rate === undefined ? fee : `${fee} (${rate})`],
      ...tokenFeeLines(tokenFees),
      ...(sweep === undefined
        ? [['total', amountIn(total, asset)] as const]
        : sweepRows(sweep, native => amountIn(native, asset))),
      ['remaining', amountIn(remaining, asset)],
      ...(untrusted?.memos ?? []).map(memoLine),
      ...openLines(wallet, review)
    ],
    similar,
    tokenFees,
    recipients: targets.map(({ publicAddress, nativeAmount: part }, index) => ({
      place: index + 1,
      groups: groupsOf(safeText(publicAddress)),
      amount: amountIn(part, asset)
    })),
    json: {
      walletId: wallet.id,
      asset: { pluginId: info.pluginId, tokenId: asset.tokenId, code: asset.currencyCode },
      recipients: targets.map(({ publicAddress, nativeAmount: part }) => ({
        publicAddress,
        amount: jsonOf(part)
      })),
      amount: jsonOf(paid),
      networkFee: amountJson(nativeAmount(networkFee), info),
      tokenFees: tokenFees.map(paid => ({ ...paid })),
      feeRate: draft.feeRateUsed ?? null,
      feeOption: draft.networkFeeOption ?? 'standard',
      total: jsonOf(total),
      remaining: jsonOf(remaining),
      memos: draft.memos.map(memo => ({ ...memo })),
      replaces: draft.replaces ?? null,
      bumps: bumps ?? null,
      coins: [...coins],
      sweep:
        sweep === undefined
          ? null
          : {
              coinCount: sweep.coinCount,
              ...{ secondWord: sweep.secondWord, onlyHere: sweep.onlyHere, onlyThere: sweep.onlyThere },
              left: sweep.left.map(({ reason, nativeAmount: worth }) => ({ reason, amount: jsonOf(worth) }))
            },
      openPayments: open.map(payment => openPaymentJson(wallet, payment)),
      similarPayments: [...similar]
    }
  }
}

/** The rows of network fees in tokens, below that in the coin. */
export const tokenFeeLines = (fees: readonly TokenFee[] = []): readonly (readonly [string, string])[] =>
  fees.map(fee => ['and a fee', safeText(tokenFeeText(fee))])

/** Adds warnings to a summary. */
export const withWarnings = (
  { lines, json, ...rest }: SpendSummary,
  warnings: readonly string[]
): SpendSummary => ({
  ...rest,
  lines: [...lines, ...warnings.map(text => ['careful', text] as const)],
  json: { ...json, warnings: [...(Array.isArray(json.warnings) ? json.warnings : []), ...warnings] }
})

/** Checks the network fee, which is paid in the chain's coin, against the limit, which allows none in a token. @throws MAX_FEE */
export const checkMaxFee = (
  { currencyInfo: { currencyCode } }: CurrencyWallet,
  draft: Pick<Transaction, 'networkFee' | 'networkFees' | 'parentNetworkFee' | 'tokenId'>,
  maxFee: NativeAmount | undefined
): void => {
  const networkFee = coinFeeOf(draft)
  if (maxFee === undefined) return
  if (compare(networkFee, maxFee) > 0) throw new WalletError('MAX_FEE', { networkFee, maxFee, currencyCode })
  checkNoTokenFee([draft])
}

/** Formats a summary as lines of text. */
export const summaryLines = ({ lines, recipients }: SpendSummary): readonly string[] => [
  ...lines.map(([label, value]) => `${label.padEnd(LABEL)}${value}`),
  ...recipients.map(({ groups, amount }) => `${'to'.padEnd(LABEL)}${groups.join(' ')}  ${amount}`)
]

const memoLine = (memo: string, at: number): readonly [string, string] => [
  at === 0 ? 'memo' : `memo ${at + 1}`,
  `${safeText(memo)} (everyone can read it)`
]

/** Says on which chain a coin is, if that has another name. */
const chainOf = ({ chainDisplayName }: CurrencyWallet['currencyInfo']): string =>
  chainDisplayName === undefined ? '' : ` on ${safeText(chainDisplayName)}`

const LABEL = 13
const GROUP = 4

/** Splits an address into groups of four, its prefix included. */
const groupsOf = (address: string): readonly string[] => address.match(new RegExp(`.{1,${GROUP}}`, 'g')) ?? []

const rateOf = ({ feeRateUsed }: Transaction): string | undefined => {
  const rate = feeRateUsed?.satPerVByte
  return typeof rate === 'string' ? `${safeText(rate)} sat/vB` : undefined
}
