import type { ReactElement } from 'react'
import { amountIn } from '../../../app/format/amounts.ts'
import { ageText } from '../../../app/format/times.ts'
import type { OrderState } from '../../../kernel/index.ts'
import type { OrderRow } from '../../core/rows/quote-rows.ts'
import { Amount } from '../parts/amount.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { CorrelationLink, Detail, DetailList, DetailsPane, Section } from '../parts/details.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { countText } from '../parts/texts.ts'
import { nameOfId } from '../parts/wallet.tsx'
import { useNow, usePanel, useView } from '../state/panel-state.ts'

/** The orders of swaps that were paid for, the newest first; nothing before the first. */
export const OrderTable = (props: {
  readonly orders: readonly OrderRow[]
  readonly chosen: string | undefined
}): ReactElement | null => {
  const { go } = usePanel()
  const view = useView()
  const now = useNow()
  if (props.orders.length === 0) return null
  return (
    <>
      <h2 className="tools">Orders</h2>
      <DataTable
        label="Orders"
        isShort
        columns={columnsOf(id => nameOfId(view, id), now)}
        rows={props.orders}
        keyOf={({ orderKey }) => orderKey}
        chosen={props.chosen}
        onOpen={({ orderKey }) => go({ id: orderKey })}
      />
    </>
  )
}

const columnsOf = (nameOf: (walletId: string) => string, now: number): readonly Column<OrderRow>[] => [
  {
    title: 'Provider',
    isProse: true,
    width: '20%',
    cell: order => order.displayName,
    hint: order => order.pluginId
  },
  { title: 'State', width: '128px', cell: order => <OrderStateView order={order} /> },
  { title: 'From', isProse: true, cell: order => nameOf(order.walletId), hint: order => order.walletId },
  {
    title: 'To',
    isProse: true,
    cell: order => nameOf(order.payoutWalletId),
    hint: order => order.payoutWalletId
  },
  {
    title: 'You receive',
    width: '150px',
    isNumber: true,
    cell: order => amountIn(order.payoutNativeAmount, order.payoutUnits),
    hint: order => `${countText(order.payoutNativeAmount)} native`
  },
  {
    title: 'Paid',
    width: '96px',
    isNumber: true,
    rank: 'slight',
    cell: order => `${ageText(Math.max(0, (now - order.paidAt) / 1000))} ago`
  }
]

/** One order, with what its exchange says of it. */
export const OrderDetails = ({ order }: { readonly order: OrderRow }): ReactElement => {
  const view = useView()
  const now = useNow()
  const ageOf = (at: number | undefined): string =>
    at === undefined ? '' : `${ageText(Math.max(0, (now - at) / 1000))} ago`
  return (
    <DetailsPane title={`Order of ${order.displayName}`}>
      <OrderStateView order={order} />
      <Section title="Order">
        <DetailList>
          <Detail name="Plugin" look="mono">
            {order.pluginId}
          </Detail>
          <Detail name="From">{nameOfId(view, order.walletId)}</Detail>
          <Detail name="To">{nameOfId(view, order.payoutWalletId)}</Detail>
          <Detail name="You receive">
            <Amount native={order.payoutNativeAmount} units={order.payoutUnits} />
          </Detail>
          <Detail name="Paid">{ageOf(order.paidAt)}</Detail>
          <Detail name="In this state since">{ageOf(order.since)}</Detail>
          <Detail name="Asked last">{ageOf(order.checkedAt)}</Detail>
          <Detail name="Asked again">{order.isFollowed ? 'yes' : 'no'}</Detail>
          <Detail name="Order id" look="mono">
            {order.orderId}
          </Detail>
          <Detail name="Paid with" look="mono">
            {order.txid}
          </Detail>
          <Detail name="Paid out with" look="mono">
            {order.payoutTxid}
          </Detail>
          <Detail name="Sent back with" look="mono">
            {order.refundTxid}
          </Detail>
          <Detail name="Failure" look="bad">
            {order.failure}
          </Detail>
        </DetailList>
        <CorrelationLink id={order.walletId} />
      </Section>
    </DetailsPane>
  )
}

const OrderStateView = ({ order: { state } }: { readonly order: OrderRow }): ReactElement => (
  <StateMark tone={states[state][1]}>{states[state][0]}</StateMark>
)

const states: Readonly<Record<OrderState, readonly [text: string, tone: Tone]>> = {
  waiting: ['waiting', 'busy'],
  seen: ['payment seen', 'busy'],
  exchanging: ['exchanging', 'busy'],
  sending: ['paying out', 'busy'],
  paidOut: ['paid out', 'good'],
  refunded: ['sent back', 'warn'],
  failed: ['failed', 'bad'],
  late: ['paid too late', 'bad'],
  unknown: ['not known', 'bad']
}
