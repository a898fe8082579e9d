import type { AmountUnits, Confirmations, JsonObject, Transaction } from '../../kernel/index.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { amountJson } from './amounts.ts'
import { decimalText } from './decimals.ts'
import type { Cell } from './view.ts'

/** A transaction for scripts. */
export const txJson = (tx: Transaction, units: AmountUnits): JsonObject => ({
  txid: tx.txid,
  walletId: tx.walletId,
  tokenId: tx.tokenId,
  date: new Date(tx.date * 1000).toISOString(),
  direction: tx.isSend ? 'out' : 'in',
  amount: amountJson(tx.nativeAmount, units),
  networkFee: amountJson(tx.networkFee, units),
  blockHeight: tx.blockHeight,
  state: stateOf(tx.confirmations),
  confirmations: tx.confirmations,
  metadata: metadataJson(tx)
})

/** Everything there is on one transaction, for scripts. */
export const txDetailsJson = (tx: Transaction, units: AmountUnits): JsonObject => ({
  ...txJson(tx, units),
  memos: tx.memos.map(memo => ({ ...memo })),
  feeOption: tx.networkFeeOption ?? null,
  requestedCustomFee: tx.requestedCustomFee ?? null,
  feeRateUsed: tx.feeRateUsed ?? null,
  ourReceiveAddresses: [...tx.ourReceiveAddresses],
  spendTargets: (tx.spendTargets ?? []).map(({ publicAddress, nativeAmount: amount }) => ({
    publicAddress,
    amount: amountJson(nativeAmount(amount), units)
  })),
  swap: tx.swapData === undefined ? null : { ...tx.swapData, plugin: { ...tx.swapData.plugin } },
  device: tx.deviceDescription ?? null
})

/** What is noted on a transaction; null where nothing is. */
export const metadataJson = ({ metadata }: Pick<Transaction, 'metadata'>): JsonObject => ({
  name: metadata.name ?? null,
  category: metadata.category ?? null,
  notes: metadata.notes ?? null,
  bizId: metadata.bizId ?? null,
  fiat: Object.fromEntries(
    Object.entries(metadata.exchangeAmount ?? {}).map(([code, amount]) => [code, decimalText(amount)])
  )
})

/** Where a transaction stands, in the words of `--state`; one that is not deep enough yet is unconfirmed. */
export type TxState = Exclude<Confirmations, number>

/** The word for a depth. */
export const stateOf = (confirmations: Confirmations): TxState =>
  typeof confirmations === 'number' ? 'unconfirmed' : confirmations

/** How deep a transaction lies, for people. */
export const confirmationCell = (confirmations: Confirmations): Cell => {
  if (confirmations === 'confirmed') return { text: 'confirmed', tone: 'good' }
  if (confirmations === 'dropped') return { text: 'dropped', tone: 'bad' }
  if (typeof confirmations === 'number') return { text: `${confirmations} deep`, tone: 'warn' }
  return { text: confirmations, tone: 'warn' }
}
