import {
  type CurrencyWallet,
  type JsonObject,
  nativeAmount,
  type SwapData,
  type Transaction
} from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { amountJson, amountText } from '../output/amounts.ts'
import type { AmountUnits } from '../output/assets.ts'
import { localTime } from '../output/times.ts'
import { confirmationCell, stateOf } from '../output/tx-facts.ts'
import { findWallets } from '../session/find-wallet.ts'
import { type Effect, historyOf, selectionOf } from '../session/history.ts'
import { syncWallets } from '../session/sync-wallets.ts'
import { assetsOf } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'

/** Lists what was swapped, newest first, as the paying transactions say. */
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
    view: {
      kind: 'table',
      columns: [
        { title: 'DATE' },
        { title: 'PAID', align: 'right' },
        { title: 'FOR', align: 'right' },
        { title: 'PROVIDER' },
        { title: 'STATE' },
        { title: 'ORDER', canShrink: true },
        { title: 'LINK', canShrink: true },
        { title: 'TXID', canShrink: true }
      ],
      rows: swaps.map(({ tx, asset, swap, payout }) => [
        localTime(new Date(tx.date * 1000)),
        amountText(paidOf(tx), asset),
        `${swap.isEstimate ? '~' : ''}${amountText(nativeAmount(swap.payoutNativeAmount), payout)}`,
        swap.plugin.displayName,
        confirmationCell(tx.confirmations),
        swap.orderId ?? '',
        swap.orderUri ?? '',
        tx.txid
      ]),
      empty: 'Nothing was swapped yet.'
    }
  }
}

interface PastSwap extends Effect {
  readonly swap: SwapData
  /** What the payout's amount is written in. */
  readonly payout: AmountUnits
}

const swapsOf = async (session: Session, wallet: CurrencyWallet): Promise<readonly PastSwap[]> => {
  const byTxid = new Map<string, PastSwap>()
  for (const asset of await assetsOf(session, wallet)) {
    for await (const batch of historyOf(session, { wallet, asset }, selectionOf(session))) {
      for (const tx of batch) {
        const swap = tx.swapData
        // The transaction of a token also took a fee from the coin, which comes first and was not swapped.
        if (swap === undefined || (byTxid.has(tx.txid) && !tx.isSend)) continue
        byTxid.set(tx.txid, { wallet, asset, tx, swap, payout: await unitsOf(session, swap) })
      }
    }
  }
  return [...byTxid.values()]
}

/** The units of what was paid out; native ones where the receiving wallet is not in this account any more. */
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

const assetsHere = async (session: Session, walletId: string): Promise<readonly AmountUnits[]> => {
  const account = await session.account()
  return assetsOf(session, await account.openWallet(walletId, { isPaused: true }))
}

/** What left the wallet, with the network's fee. */
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
