import { historyOf, stateOf } from '../../../app/actions/find-transactions.ts'
import { amountJson } from '../../../app/format/amounts.ts'
import {
  type AmountUnits,
  amountText,
  type CurrencyWallet,
  type JsonObject,
  nativeAmount,
  type SwapData,
  type Transaction,
  type Txid,
  type WalletId
} from '../../../kernel/index.ts'
import { localTime } from '../../output/texts.ts'
import { confirmationCell, type Effect } from '../../output/transaction-texts.ts'
import { type CellLike, cellOf, type TableView, type TextView } from '../../output/view.ts'
import { assetsOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallets, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import { filterOf } from '../../session/transaction-selection.ts'

/** Lists past swaps, newest first, as recorded with their payments. */
export const swapHistory: CommandRun = async session => {
  const one = session.text('wallet')
  const wallets = await findWallets(session, one === undefined ? [] : [one])
  const warnings = await syncWallets(session, wallets)
  const swaps = (await Promise.all(wallets.map(wallet => swapsOf(session, wallet))))
    .flat()
    .sort((a, b) => b.tx.date - a.tx.date)
  return {
    data: { swaps: swaps.map(swapJson) },
    warnings,
    view: session.terminal.stdout.isTTY === true ? textOf(swaps) : tableOf(swaps)
  }
}

interface PastSwap extends Effect {
  readonly swap: SwapData
  /** The units of the payout's amount. */
  readonly payout: AmountUnits
}

const EMPTY = 'There are no swaps yet.'

/** A terminal is too narrow for a table with links: each swap gets several lines. */
const textOf = (swaps: readonly PastSwap[]): TextView => ({
  kind: 'text',
  lines: swaps.length === 0 ? [{ text: EMPTY, tone: 'dim' }] : swaps.flatMap(linesOf)
})

const linesOf = (past: PastSwap): readonly CellLike[] => {
  const { tx, swap } = past
  const { text, tone = 'plain' } = cellOf(confirmationCell(tx.confirmations))
  return [
    { text: `${dateText(tx)}  ${givenText(past)} for ${paidText(past)}`, tone: 'strong' },
    { text: `  ${swap.plugin.displayName}${swap.orderId === undefined ? '' : `, order ${swap.orderId}`}` },
    ...(swap.orderUri === undefined ? [] : [{ text: `  ${swap.orderUri}`, tone: 'accent' } as const]),
    { text: `  txid ${tx.txid}`, tone: 'dim' },
    { text: `  ${text}`, tone }
  ]
}

const tableOf = (swaps: readonly PastSwap[]): TableView => ({
  kind: 'table',
  columns: ['DATE', 'PAID', 'FOR', 'PROVIDER', 'STATE', 'ORDER', 'LINK', 'TXID'].map(title => ({ title })),
  rows: swaps.map(past => [
    dateText(past.tx),
    paidText(past),
    givenText(past),
    past.swap.plugin.displayName,
    confirmationCell(past.tx.confirmations),
    past.swap.orderId ?? '',
    past.swap.orderUri ?? '',
    past.tx.txid
  ]),
  empty: EMPTY
})

const dateText = ({ date }: Transaction): string => localTime(new Date(date * 1000))

const paidText = ({ tx, asset }: PastSwap): string => amountText(paidOf(tx), asset)

const givenText = ({ swap, payout }: PastSwap): string =>
  `${swap.isEstimate ? '~' : ''}${amountText(nativeAmount(swap.payoutNativeAmount), payout)}`

const swapsOf = async (session: Session, wallet: CurrencyWallet): Promise<readonly PastSwap[]> => {
  const byTxid = new Map<Txid, PastSwap>()
  for (const asset of await assetsOf(session, wallet)) {
    for await (const batch of historyOf({ wallet, asset }, filterOf(session), {
      onBatch: () => session.signal.throwIfAborted()
    })) {
      for (const tx of batch) {
        const swap = tx.swapData
        // Of a token swap, the coin's transaction is the fee alone; it comes first.
        if (swap === undefined || (byTxid.has(tx.txid) && !tx.isSend)) continue
        byTxid.set(tx.txid, { wallet, asset, tx, swap, payout: await unitsOf(session, swap) })
      }
    }
  }
  return [...byTxid.values()]
}

/** Returns the units of the payout; native units if the receiving wallet is no longer in this account. */
const unitsOf = async (session: Session, swap: SwapData): Promise<AmountUnits> => {
  const { payoutWalletId, payoutCurrencyCode } = swap
  const account = await session.account()
  const listing = account.listWallets().find(({ walletId }) => walletId === payoutWalletId)
  const known = listing?.currencyInfo === undefined ? [] : await assetsHere(session, payoutWalletId)
  return (
    known.find(({ currencyCode }) => currencyCode === payoutCurrencyCode) ?? {
      currencyCode: payoutCurrencyCode,
      displayName: payoutCurrencyCode,
      denominations: [{ name: `native units of ${payoutCurrencyCode}`, multiplier: '1' }]
    }
  )
}

const assetsHere = async (session: Session, walletId: WalletId): Promise<readonly AmountUnits[]> => {
  const account = await session.account()
  return assetsOf(session, await account.openWallet(walletId, { isPaused: true }))
}

/** The amount that left the wallet, network fee included. */
const paidOf = ({ nativeAmount: amount }: Transaction) => nativeAmount(amount.replace(/^-/, ''))

const swapJson = ({ wallet, asset, tx, swap, payout }: PastSwap): JsonObject => ({
  date: new Date(tx.date * 1000).toISOString(),
  txid: tx.txid,
  walletId: wallet.id,
  tokenId: asset.tokenId,
  paid: amountJson(paidOf(tx), asset),
  payout: amountJson(nativeAmount(swap.payoutNativeAmount), payout),
  payoutWalletId: swap.payoutWalletId,
  payoutAddress: swap.payoutAddress,
  estimate: swap.isEstimate,
  plugin: { id: swap.plugin.pluginId, name: swap.plugin.displayName },
  supportEmail: swap.plugin.supportEmail ?? null,
  orderId: swap.orderId ?? null,
  orderUri: swap.orderUri ?? null,
  refundAddress: swap.refundAddress ?? null,
  state: stateOf(tx.confirmations)
})
