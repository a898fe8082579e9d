import { type EffectIn, stateOf } from '../../app/actions/find-transactions.ts'
import { type Asset, amountJson, decimalText } from '../../app/format/amounts.ts'
import {
  type AmountUnits,
  amountText,
  type Confirmations,
  type CurrencyWallet,
  type JsonObject,
  nativeAmount,
  networkFeesOf,
  type SentState,
  type Transaction
} from '../../kernel/index.ts'
import { localTime } from './texts.ts'
import { type Cell, type CellLike, type Column, type CommandResult, cellOf, type TableView } from './view.ts'

/** A transaction as JSON. */
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
  grade: tx.grade ?? null,
  sentState: tx.sentState ?? null,
  replacedBy: tx.replacedBy ?? null,
  metadata: metadataJson(tx)
})

/** All facts of a transaction as JSON. */
export const txDetailsJson = (tx: Transaction, units: AmountUnits): JsonObject => ({
  ...txJson(tx, units),
  memos: tx.memos.map(memo => ({ ...memo })),
  networkFees: networkFeesOf(tx).map(({ tokenId, nativeAmount: native }) => ({ tokenId, native })),
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

/** The metadata of a transaction as JSON; null for missing fields. */
export const metadataJson = ({ metadata }: Pick<Transaction, 'metadata'>): JsonObject => ({
  name: metadata.name ?? null,
  category: metadata.category ?? null,
  notes: metadata.notes ?? null,
  bizId: metadata.bizId ?? null,
  fiat: Object.fromEntries(
    Object.entries(metadata.exchangeAmount ?? {}).map(([code, amount]) => [code, decimalText(amount)])
  )
})

const LOST: Readonly<Partial<Record<SentState, string>>> = {
  notInMempool: 'in no mempool',
  replaced: 'replaced',
  expired: 'expired',
  dropped: 'dropped'
}

/** Formats the confirmations of a transaction, or the state of one sent from here that the network has lost. */
export const confirmationCell = (confirmations: Confirmations, sentState?: SentState): Cell => {
  const said = sentState === undefined ? undefined : LOST[sentState]
  if (said !== undefined) return { text: said, tone: 'bad' }
  if (confirmations === 'confirmed') return { text: 'confirmed', tone: 'good' }
  if (confirmations === 'dropped') return { text: 'dropped', tone: 'bad' }
  if (typeof confirmations === 'number') return { text: `${confirmations} deep`, tone: 'warn' }
  return { text: confirmations, tone: 'warn' }
}

/** One effect of a transaction on one asset of a wallet. */
export type Effect = EffectIn<{ readonly wallet: CurrencyWallet; readonly asset: Asset }>

const COLUMNS: readonly Column[] = [
  { title: 'DATE' },
  { title: 'AMOUNT', align: 'right' },
  { title: 'STATE' },
  { title: 'GRADE' },
  { title: 'NAME', canShrink: true },
  { title: 'NOTES', canShrink: true },
  { title: 'TXID', canShrink: true },
  { title: 'WALLET', canShrink: true }
]

/** Transactions as a table; with the wallet's name if there are several wallets. */
export const txTable = (effects: readonly Effect[], empty: string): TableView => {
  const hasSeveral = new Set(effects.map(({ wallet }) => wallet.id)).size > 1
  return {
    kind: 'table',
    columns: COLUMNS,
    rows: effects.map(effect => {
      const { id, name } = effect.wallet
      return [...txCells(effect), hasSeveral ? (name ?? id) : '']
    }),
    empty
  }
}

/** The cells of a transaction. */
const txCells = ({ tx, asset }: Omit<Effect, 'wallet'>): readonly CellLike[] => [
  localTime(new Date(tx.date * 1000)),
  amountText(tx.nativeAmount, asset),
  confirmationCell(tx.confirmations, tx.sentState),
  (tx.blockHeight > 0 ? tx.grade : undefined) ?? '',
  tx.metadata.name ?? '',
  tx.metadata.notes ?? '',
  tx.txid
]

/** A transaction as a line after the word for its event; for commands that continue. */
export const txLine = (word: string | undefined, effect: Omit<Effect, 'wallet'>): CommandResult => {
  const cells = txCells(effect).map(cell => cellOf(cell).text)
  const line = [...(word === undefined ? [] : [word.padEnd(WORD)]), ...cells].filter(text => text !== '')
  return { data: {}, view: { kind: 'text', lines: [line.join('  ')] } }
}

const WORD = 7
