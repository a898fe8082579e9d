import { amountText, type CurrencyWallet, type Transaction } from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import type { Asset } from '../output/assets.ts'
import { txDetailsJson } from '../output/tx-facts.ts'
import { coinOf } from '../session/wallet-assets.ts'
import type { SpendSummary } from './spend-summary.ts'

/** What would be approved, for `--dry-run`. */
export const dryResult = (summary: SpendSummary): CommandResult => ({
  data: { dryRun: true, summary: summary.json },
  view: {
    kind: 'record',
    fields: [
      ...summary.lines,
      ...summary.recipients.map(({ groups, amount }) => ['to', `${groups.join('')} ${amount}`] as const)
    ]
  }
})

/** A payment that has left, in units of its asset. */
export const sentResult = (
  wallet: CurrencyWallet,
  tx: Transaction,
  { warnings, asset = coinOf(wallet) }: { readonly warnings: readonly string[]; readonly asset?: Asset }
): CommandResult => ({
  data: { dryRun: false, txid: tx.txid, tx: txDetailsJson(tx, asset) },
  warnings,
  view: {
    kind: 'record',
    fields: [
      ['txid', tx.txid],
      ['network fee', amountText(tx.parentNetworkFee ?? tx.networkFee, wallet.currencyInfo)],
      ['state', { text: 'sent', tone: 'good' }]
    ]
  }
})
