import {
  amountText,
  type CurrencyWallet,
  type NativeAmount,
  sum,
  type UnusualFee,
  WalletError
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { promptText } from '../secrets/prompt.ts'
import { confirm } from '../session/confirm.ts'
import type { Session } from '../session.ts'
import { canAsk } from '../terminal.ts'
import { allowSecondPayment } from './open-payments.ts'
import { type SpendSummary, summaryLines } from './spend-summary.ts'

/**
 * Shows what is to be approved and asks, with no as the default. `question`: what a yes does.
 *
 * @throws CliError CONFIRMATION_REQUIRED, DECLINED, INTERRUPTED
 */
export const approveSpend = async (
  session: Session,
  summary: SpendSummary,
  question: string
): Promise<void> => {
  if (session.globals.yes) for (const line of summaryLines(summary)) session.talk.say(line)
  await confirm(session, {
    question,
    summary: summary.json,
    async ask() {
      const { showSendReview } = await import('../screens/show.tsx')
      return showSendReview(session.terminal, summary, question)
    }
  })
  await allowSecondPayment(session, summary)
}

/** What a review says of network fees that are not usual. */
export const unusualFeeWarnings = (
  { currencyInfo }: CurrencyWallet,
  fees: readonly UnusualFee[]
): readonly string[] =>
  fees.map(
    ({ networkFee, usualNetworkFee }) =>
      `the network fee of ${amountText(networkFee, currencyInfo)} is more than ten times the usual ${amountText(usualNetworkFee, currencyInfo)}`
  )

/**
 * Has an unusual network fee allowed by a typed yes, and returns what the network may take then; undefined if every fee
 * is usual. `--yes` does not answer this, only `--max-fee` does.
 *
 * @throws FEE_UNUSUAL where nobody can be asked; CliError DECLINED, INTERRUPTED
 */
export const allowUnusualFees = async (
  { globals, terminal }: Session,
  { currencyInfo }: CurrencyWallet,
  fees: readonly UnusualFee[]
): Promise<NativeAmount | undefined> => {
  const [first] = fees
  if (first === undefined) return undefined
  const { currencyCode } = currencyInfo
  if (globals.yes || !globals.input || !canAsk(terminal))
    throw new WalletError('FEE_UNUSUAL', { ...first, currencyCode })
  const networkFee = sum(fees.map(fee => fee.networkFee))
  const typed = await promptText(
    terminal,
    `Pay ${amountText(networkFee, currencyInfo)} to the network, more than ten times the usual? Type "yes":`
  )
  if (typed.trim() === 'yes') return networkFee
  throw new CliError('DECLINED', 'The network fee was not allowed; nothing was signed')
}
