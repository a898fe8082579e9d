import { amountJson } from '../../app/format/amounts.ts'
import { shellWord } from '../../app/format/safe-text.ts'
import {
  amountText,
  compare,
  type JsonObject,
  minimumOf,
  type NativeAmount,
  type SwapQuote,
  WalletError,
  ZERO
} from '../../kernel/index.ts'
import { AdvisedError } from '../errors/cli-error.ts'
import { coinOf } from '../session/assets.ts'
import type { Session } from '../session/session.ts'
import type { KeptQuote } from './kept-quotes.ts'
import type { SwapLimits, SwapSides } from './read-swap.ts'

/** The terms of an approval: the kept quote, and the limits of the user. */
export interface KeptTerms {
  readonly kept: KeptQuote
  readonly sides: SwapSides
  readonly limits: SwapLimits
}

/** The amounts of a kept quote, a new one, or an order. */
type Figures = Pick<SwapQuote, 'fromNativeAmount' | 'isEstimate' | 'minReceiveAmount' | 'toNativeAmount'>

/**
 * Compares a new quote, or its order, with the kept one. It may not cost more. It has to give `--min-receive`, or else
 * the quoted and promised amounts; of an estimate one percent less of each.
 *
 * @throws AdvisedError SWAP_CHANGED with the figures of both, and the command that accepts it
 */
export const checkTerms = (session: Session, terms: KeptTerms, fresh: Figures): void => {
  const { kept, sides, limits } = terms
  const { from, to } = sides
  if (compare(fresh.fromNativeAmount, kept.fromNativeAmount) > 0) {
    const [cost, most] = [fresh, kept].map(figures => amountText(figures.fromNativeAmount, from.asset))
    throw changed(terms, fresh, `would cost ${cost} instead of ${most}`)
  }
  if (limits.minReceive === undefined) {
    if (!isLess(kept, fresh)) return
    const least = amountText(fresh.minReceiveAmount ?? fresh.toNativeAmount, to.asset)
    const rule = `would give ${givesText(fresh, sides)} instead of ${givesText(kept, sides)}`
    throw changed(terms, fresh, rule, `${session.commandLine} --min-receive ${shellWord(least)}`)
  }
  if (compare(fresh.minReceiveAmount ?? fresh.toNativeAmount, limits.minReceive) >= 0) return
  const rule = `would give ${givesText(fresh, sides)}, less than ${amountText(limits.minReceive, to.asset)}`
  throw changed(terms, fresh, rule)
}

/** Checks the network fee before anything is ordered. @throws MAX_FEE */
export const checkFee = ({ limits, sides }: KeptTerms, { networkFee }: SwapQuote): void => {
  const { maxNetworkFee: maxFee } = limits
  if (maxFee === undefined || compare(networkFee.nativeAmount, maxFee) <= 0) return
  const { currencyCode } = coinOf(sides.from.wallet)
  throw new WalletError('MAX_FEE', { networkFee: networkFee.nativeAmount, maxFee, currencyCode })
}

const isLess = (kept: Figures, fresh: Figures): boolean => {
  const isShort = (shown: NativeAmount | undefined, now: NativeAmount = ZERO): boolean =>
    shown !== undefined && compare(now, minimumOf(shown, kept.isEstimate)) < 0
  return isShort(kept.toNativeAmount, fresh.toNativeAmount) || isShort(sureOf(kept), sureOf(fresh))
}

/** Returns the guaranteed payout: the amount of a firm quote; of an estimate the promised minimum, if any. */
const sureOf = ({ isEstimate, toNativeAmount, minReceiveAmount }: Figures): NativeAmount | undefined =>
  isEstimate ? minReceiveAmount : toNativeAmount

const givesText = ({ isEstimate, toNativeAmount, minReceiveAmount }: Figures, { to }: SwapSides): string => {
  const amount = amountText(toNativeAmount, to.asset)
  if (!isEstimate) return amount
  return minReceiveAmount === undefined
    ? `~${amount}`
    : `~${amount} (at least ${amountText(minReceiveAmount, to.asset)})`
}

const changed = (
  { kept, sides }: KeptTerms,
  fresh: Figures,
  rule: string,
  acceptance?: string
): AdvisedError =>
  new AdvisedError(new WalletError('SWAP_CHANGED', { pluginId: kept.pluginId, rule }), {
    details: { shown: figuresJson(kept, sides), now: figuresJson(fresh, sides) },
    ...(acceptance === undefined
      ? {}
      : {
          hint: 'Nothing was signed or sent. Accept the new terms with --min-receive, or get new quotes.',
          next: [{ command: acceptance, why: 'accept the new terms' }]
        })
  })

const figuresJson = (figures: Figures, { from, to }: SwapSides): JsonObject => ({
  from: amountJson(figures.fromNativeAmount, from.asset),
  to: amountJson(figures.toNativeAmount, to.asset),
  minReceive: figures.minReceiveAmount === undefined ? null : amountJson(figures.minReceiveAmount, to.asset),
  estimate: figures.isEstimate
})
