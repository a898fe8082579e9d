import { historyOf, stateOf } from '../../../app/actions/find-transactions.ts'
import { amountJson } from '../../../app/format/amounts.ts'
import {
  type AmountUnits,
  amountText,
  type CurrencyWallet,
  isWalletError,
  type JsonObject,
  nativeAmount,
  type OrderSnapshot,
  type OrderState,
  type SwapData,
  type Transaction,
  type Txid,
  type WalletId
} from '../../../kernel/index.ts'
import { localTime } from '../../output/texts.ts'
import { confirmationCell, type Effect } from '../../output/transaction-texts.ts'
import { type Cell, type CellLike, cellOf, type TableView, type TextView } from '../../output/view.ts'
import { assetsOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallets, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import { filterOf } from '../../session/transaction-selection.ts'

/** Lists past swaps, newest first, as recorded with their payments, with what their exchanges say of them now. */
export const swapHistory: CommandRun = async session => {
  const one = session.text('wallet')
  const wallets = await findWallets(session, one === undefined ? [] : [one])
  const warnings = await syncWallets(session, wallets)
  const recorded = (await Promise.all(wallets.map(wallet => swapsOf(session, wallet)))).flat()
  const { swaps: found, failures } = await withOrders(session, recorded)
  // Payments in one block have one date: then what counts is when they were paid, where this device knows it.
  const swaps = found.toSorted(
    (a, b) => b.tx.date - a.tx.date || (b.order?.paidAt ?? 0) - (a.order?.paidAt ?? 0)
  )
  return {
    data: { swaps: swaps.map(swapJson) },
    warnings: [...warnings, ...failures],
    view: session.terminal.stdout.isTTY === true ? textOf(swaps) : tableOf(swaps)
  }
}

/** A swap as its payment records it. */
interface RecordedSwap extends Effect {
  readonly swap: SwapData
  /** The units of the payout's amount. */
  readonly payout: AmountUnits
}

interface PastSwap extends RecordedSwap {
  /** Undefined if the plugin of its exchange cannot follow orders, or if it is too old. */
  readonly order: OrderSnapshot | undefined
  /** False if the payout that the exchange names is not in its wallet; undefined unless it names one. */
  readonly hasArrived: boolean | undefined
}

/** Asks the exchanges of open orders. */
const withOrders = async (
  session: Session,
  recorded: readonly RecordedSwap[]
): Promise<{ readonly swaps: readonly PastSwap[]; readonly failures: readonly string[] }> => {
  const { swapOrders } = await session.account()
  for (const { tx } of recorded) await swapOrders.follow(tx)
  const failures: string[] = []
  const refreshing = session.withTimeout('The exchange of an open order', () =>
    swapOrders.refresh(recorded.map(({ tx }) => tx.txid))
  )
  await refreshing.catch((error: unknown) => {
    if (!isWalletError(error, 'DEADLINE')) throw error
    failures.push(`${error.message}; its order is shown as it was last`)
  })
  const swaps: PastSwap[] = []
  for (const past of recorded) {
    const order = swapOrders.find(past.tx.txid)
    if (order?.failure !== undefined)
      failures.push(`${order.displayName}: ${order.failure}; its order is shown as it was last`)
    swaps.push({ ...past, order, hasArrived: await hasArrived(session, order) })
  }
  return { swaps, failures: [...new Set(failures)] }
}

/** An exchange may say what it likes: what counts is the wallet. */
const hasArrived = async (
  session: Session,
  order: OrderSnapshot | undefined
): Promise<boolean | undefined> => {
  if (order?.payoutTxid === undefined) return undefined
  const account = await session.account()
  const { payoutWalletId, payoutTxid } = order
  const isHere = account
    .listWallets()
    .some(({ walletId, failure }) => walletId === payoutWalletId && !failure)
  if (!isHere) return undefined
  const wallet = await account.openWallet(payoutWalletId, { isPaused: true })
  return wallet.getTransaction(payoutTxid).then(
    () => true,
    (error: unknown) => {
      if (isWalletError(error, 'TX_NOT_FOUND')) return false
      throw error
    }
  )
}

/** What an exchange says of an order, in words. */
const orderCell = ({ order, swap, hasArrived: isHere }: PastSwap): Cell | undefined => {
  if (order === undefined) return undefined
  const { state, payoutTxid, refundTxid } = order
  const { supportEmail } = swap.plugin
  const contact = `: ask ${swap.plugin.displayName}${supportEmail === undefined ? '' : `, ${supportEmail}`}`
  const [text, tone, isStuck] = ORDER_TEXTS[state]
  const parts = [
    `${text}${isStuck === true ? contact : ''}`,
    ...(payoutTxid === undefined ? [] : [`txid ${payoutTxid}`]),
    ...(refundTxid === undefined ? [] : [`txid ${refundTxid}`]),
    ...(isHere === false ? ['not in the wallet yet'] : [])
  ]
  return { text: parts.join(', '), tone: isHere === false ? 'warn' : tone }
}

const ORDER_TEXTS: Readonly<
  Record<OrderState, readonly [text: string, tone: NonNullable<Cell['tone']>, isStuck?: true]>
> = {
  waiting: ['the exchange waits for the payment', 'plain'],
  seen: ['the exchange has seen the payment', 'plain'],
  exchanging: ['being exchanged', 'plain'],
  sending: ['the payout is on its way', 'plain'],
  paidOut: ['paid out', 'good'],
  refunded: ['sent back', 'warn'],
  failed: ['failed', 'bad', true],
  late: ['ended before it was paid', 'bad', true],
  unknown: ['the exchange does not know the order', 'bad', true]
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
  const order = orderCell(past)
  return [
    { text: `${dateText(tx)}  ${givenText(past)} for ${paidText(past)}`, tone: 'strong' },
    { text: `  ${swap.plugin.displayName}${swap.orderId === undefined ? '' : `, order ${swap.orderId}`}` },
    ...(swap.orderUri === undefined ? [] : [{ text: `  ${swap.orderUri}`, tone: 'accent' } as const]),
    { text: `  txid ${tx.txid}`, tone: 'dim' },
    { text: `  ${text}`, tone },
    ...(order === undefined ? [] : [{ ...order, text: `  ${order.text}` }])
  ]
}

const tableOf = (swaps: readonly PastSwap[]): TableView => ({
  kind: 'table',
  columns: ['DATE', 'PAID', 'FOR', 'PROVIDER', 'STATE', 'ORDER', 'LINK', 'TXID', 'PAYOUT'].map(title => ({
    title
  })),
  rows: swaps.map(past => [
    dateText(past.tx),
    paidText(past),
    givenText(past),
    past.swap.plugin.displayName,
    confirmationCell(past.tx.confirmations),
    past.swap.orderId ?? '',
    past.swap.orderUri ?? '',
    past.tx.txid,
    orderCell(past) ?? ''
  ]),
  empty: EMPTY
})

const dateText = ({ date }: Transaction): string => localTime(new Date(date * 1000))

const paidText = ({ tx, asset }: PastSwap): string => amountText(paidOf(tx), asset)

const givenText = ({ swap, payout }: PastSwap): string =>
  `${swap.isEstimate ? '~' : ''}${amountText(nativeAmount(swap.payoutNativeAmount), payout)}`

const swapsOf = async (session: Session, wallet: CurrencyWallet): Promise<readonly RecordedSwap[]> => {
  const byTxid = new Map<Txid, RecordedSwap>()
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

const swapJson = ({ wallet, asset, tx, swap, payout, order, hasArrived: isHere }: PastSwap): JsonObject => ({
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
  state: stateOf(tx.confirmations),
  order: order === undefined ? null : orderJson(order, isHere)
})

const orderJson = (order: OrderSnapshot, isHere: boolean | undefined): JsonObject => ({
  state: order.state,
  since: new Date(order.since).toISOString(),
  checkedAt: order.checkedAt === undefined ? null : new Date(order.checkedAt).toISOString(),
  payoutTxid: order.payoutTxid ?? null,
  hasArrived: isHere ?? null,
  refundTxid: order.refundTxid ?? null,
  isFollowed: order.isFollowed,
  failure: order.failure ?? null
})
