import { type ReactElement, useEffect, useRef, useState } from 'react'
import { amountIn, readAmount } from '../../../app/format/amounts.ts'
import { countdownText, quoteTimeLeft } from '../../../app/format/quotes.ts'
import type { QuoteSnapshot } from '../../../kernel/index.ts'
import { unitsOf } from '../../core/model/amounts.ts'
import { matchesText } from '../../core/model/derive.ts'
import type { View } from '../../core/model/slices.ts'
import { orderRows, type RoundRow, roundRows } from '../../core/rows/quote-rows.ts'
import { ActionButton, ActionForm, useCanRun } from '../parts/action-forms.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { AmountField, ChoiceField, FilterField } from '../parts/fields.tsx'
import { DurationBar, EmptyState, StateMark } from '../parts/marks.tsx'
import { countText, visibleText } from '../parts/texts.ts'
import { walletName } from '../parts/wallet.tsx'
import { useNow, usePanel, useView } from '../state/panel-state.ts'
import { OrderDetails, OrderTable } from './order-table.tsx'
import { QuoteDetails, QuoteState } from './quote-details.tsx'

/** Rounds of quotes: a quote for each provider, ranked, with what each says and how long it holds. */
export const QuotesPanel = (): ReactElement => {
  const view = useView()
  const { go, location } = usePanel()
  const now = useNow()
  const rounds = roundRows(view)
  const orders = orderRows(view)
  const order = orders.find(({ orderKey }) => orderKey === location.id)
  const [roundId, pluginId] = (order === undefined ? (location.id ?? '') : '').split(' ')
  const round = roundId === '' ? rounds[0] : rounds.find(row => row.roundId === roundId)
  const quotes = (round?.quotes ?? []).filter(quote =>
    matchesText(location.filter, [
      quote.displayName,
      quote.pluginId,
      quote.state,
      quote.errorCode,
      quote.message
    ])
  )
  const chosen = round?.quotes.find(quote => quote.pluginId === pluginId)
  const orderTable = (
    <OrderTable
      orders={orders.filter(({ displayName, pluginId: id, state, txid }) =>
        matchesText(location.filter, [displayName, id, state, txid])
      )}
      chosen={order?.orderKey}
    />
  )
  const orderDetails = order === undefined ? null : <OrderDetails key={order.orderKey} order={order} />
  return (
    <>
      <QuoteForm />
      {round === undefined ? (
        <NoQuotes
          view={view}
          orders={orderTable}
          side={orderDetails}
          onNewest={roundId === '' || rounds.length === 0 ? undefined : () => go({ panel: 'quotes' })}
        />
      ) : (
        <>
          <div className="tools">
            <FilterField what="providers" />
            <RoundChoice
              rounds={rounds.map(row => row.roundId)}
              roundId={round.roundId}
              onChoose={id => go({ id })}
            />
            <ActionButton key={round.roundId} name="swap.close" input={{ roundId: round.roundId }}>
              Close the round
            </ActionButton>
            <Outcome round={round} />
          </div>
          {round.chosen === undefined ? null : <AllFailed quote={round.chosen} units={round.units} />}
          <div className={chosen === undefined && order === undefined ? 'body' : 'body has-side'}>
            <div className="main">
              <DataTable
                label="Quotes"
                columns={columnsAt(now, round)}
                rows={quotes}
                keyOf={quote => quote.pluginId}
                chosen={pluginId}
                onOpen={quote => go({ id: `${quote.roundId} ${quote.pluginId}` })}
              />
              {orderTable}
            </div>
            {orderDetails}
            {chosen === undefined ? null : (
              <QuoteDetails key={`${chosen.roundId} ${chosen.pluginId}`} quote={chosen} units={round.units} />
            )}
          </div>
        </>
      )}
    </>
  )
}

const columnsAt = (now: number, { units, quotes }: RoundRow): readonly Column<QuoteSnapshot>[] => [
  {
    title: 'Provider',
    isProse: true,
    width: '20%',
    cell: quote => quote.displayName,
    hint: quote => quote.pluginId
  },
  { title: 'State', width: '112px', cell: quote => <QuoteState quote={quote} now={now} /> },
  {
    title: 'You receive',
    width: '150px',
    isNumber: true,
    cell: quote =>
      quote.toNativeAmount === undefined
        ? '–'
        : `${quote.isEstimate === true ? '≈ ' : ''}${amountIn(quote.toNativeAmount, units.to)}`,
    hint: quote => nativeHint(quote.toNativeAmount)
  },
  {
    title: 'Network fee',
    width: '132px',
    isNumber: true,
    rank: 'spare',
    cell: quote => (quote.networkFee === undefined ? '–' : amountIn(quote.networkFee, units.fee)),
    hint: quote => nativeHint(quote.networkFee)
  },
  {
    title: 'Took',
    width: '140px',
    isNumber: true,
    rank: 'minor',
    cell: quote => <QuoteDuration quote={quote} quotes={quotes} />
  },
  {
    title: 'Valid for',
    width: '80px',
    isNumber: true,
    rank: 'slight',
    cell: quote => {
      const left = quote.state === 'resolved' ? quoteTimeLeft(quote, now) : undefined
      return left === undefined ? '–' : countdownText(left)
    }
  },
  {
    title: 'Why',
    isProse: true,
    rank: 'spare',
    cell: quote =>
      quote.message === undefined ? (
        reasonOf(quote)
      ) : (
        <span className="bad">{visibleText(quote.message)}</span>
      ),
    hint: quote => visibleText(quote.message ?? reasonOf(quote))
  }
]

/** Why a quote stands where it does, where its provider says nothing. */
const reasonOf = ({ state, rankReason = '' }: QuoteSnapshot): string =>
  state === 'timed out' ? 'gave no reply in time' : rankReason

/**
 * Shows a provider's response time beside the others', on a square-root scale, so that a slow one leaves room for the
 * quick ones.
 */
const QuoteDuration = (props: {
  readonly quote: QuoteSnapshot
  readonly quotes: readonly QuoteSnapshot[]
}): ReactElement => {
  const { durationMs, state } = props.quote
  const slowest = Math.max(1, ...props.quotes.map(quote => quote.durationMs ?? 0))
  return (
    <DurationBar
      durationMs={durationMs}
      share={Math.sqrt((durationMs ?? 0) / slowest)}
      isGoing={state === 'pending'}
      tone={durationTones[state]}
    />
  )
}

const durationTones = { pending: 'good', resolved: 'good', failed: 'bad', 'timed out': 'warn' } as const

const nativeHint = (native: string | undefined): string =>
  native === undefined ? '' : `${countText(native)} native`

const RoundChoice = (props: {
  readonly rounds: readonly string[]
  readonly roundId: string
  readonly onChoose: (roundId: string) => void
}): ReactElement | null =>
  props.rounds.length < 2 ? null : (
    <ChoiceField
      label="Round"
      value={props.roundId}
      onChange={props.onChoose}
      choices={props.rounds.map((id, at) => [id, at === 0 ? 'the newest' : `${at} before it`] as const)}
    />
  )

const Outcome = ({ round }: { readonly round: RoundRow }): ReactElement => {
  const given = round.quotes.filter(({ state }) => state === 'resolved').length
  const pending = round.quotes.filter(({ state }) => state === 'pending').length
  return (
    <span className="soft">
      {requestText(round)}: {given} of {round.quotes.length} gave a quote
      {pending === 0 ? '' : `, ${pending} pending`}
    </span>
  )
}

/** Describes the request of a round, such as `0.01 BTC → LTC`; the amount stands where it is fixed. */
const requestText = ({ request, units }: RoundRow): string => {
  const { fromCurrencyCode, toCurrencyCode, nativeAmount, quoteFor } = request
  const from = quoteFor === 'from' ? amountIn(nativeAmount, units.from) : fromCurrencyCode
  const to = quoteFor === 'to' ? amountIn(nativeAmount, units.to) : toCurrencyCode
  return visibleText(`${quoteFor === 'max' ? 'all ' : ''}${from} → ${to}`)
}

/** When all have failed: the failure that an application receives. */
const AllFailed = ({
  quote,
  units
}: {
  readonly quote: QuoteSnapshot
  readonly units: RoundRow['units']
}): ReactElement => (
  <div className="notice" role="status">
    <StateMark tone="bad">All failed</StateMark>
    <span>
      The application receives{' '}
      {quote.errorCode === undefined ? 'the failure' : <code>{quote.errorCode}</code>} from{' '}
      {quote.displayName}: {quote.message ?? 'it gave no reason'}
      {quote.limit === undefined
        ? ''
        : ` (limit ${amountIn(quote.limit, quote.direction === 'to' ? units.to : units.from)})`}
      . Of several failures, the one that helps most is chosen.
    </span>
  </div>
)

/** `onNewest`: there are rounds, but not the one that was asked for. */
const NoQuotes = (props: {
  readonly view: View
  readonly orders: ReactElement
  readonly side: ReactElement | null
  readonly onNewest: (() => void) | undefined
}): ReactElement => (
  <div className={props.side === null ? 'body' : 'body has-side'}>
    <div className="main">
      {props.onNewest === undefined ? (
        <EmptyState title="No quotes yet">
          <p>
            {props.view.wallets.size < 2
              ? 'A swap goes from one wallet to another: create two wallets of different currencies, fund the first, and ask here.'
              : 'Choose two wallets above and ask. The table then has a row for each swap provider with its offer and its expiry, or the reason of its refusal.'}
          </p>
          <p>
            In the terminal: <code>holdfast swap quote</code>
          </p>
        </EmptyState>
      ) : (
        <EmptyState title="No quotes of this round">
          <p>
            Quotes appear here as they arrive. The panel no longer has a round that was closed long ago, or
            before the kernel restarted.
          </p>
          <button type="button" className="button" onClick={props.onNewest}>
            Show the newest round
          </button>
        </EmptyState>
      )}
      {props.orders}
    </div>
    {props.side}
  </div>
)

type Direction = 'from' | 'max' | 'to'

const directions: readonly (readonly [Direction, string])[] = [
  ['from', 'send exactly'],
  ['to', 'receive exactly'],
  ['max', 'send all']
]

/** Asks for quotes from one wallet to another. */
const QuoteForm = (): ReactElement | null => {
  const { go, location } = usePanel()
  const idNow = useRef(location.id)
  useEffect(() => {
    idNow.current = location.id
  }, [location.id])
  const view = useView()
  const wallets = [...view.wallets.values()]
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [quoteFor, setQuoteFor] = useState<Direction>('from')
  const [amount, setAmount] = useState('')
  if (!useCanRun('swap.ask') || wallets.length < 2) return null
  const choices = wallets.map(
    wallet => [wallet.walletId, `${walletName(wallet)} · ${wallet.pluginId}`] as const
  )
  // A wallet that was chosen may have left with its account.
  const ids = choices.map(([id]) => id)
  const fromWalletId = ids.find(id => id === from) ?? ids[0] ?? ''
  const toWalletId = ids.find(id => id === to) ?? ids.find(id => id !== fromWalletId) ?? ''
  const units = unitsOf(view, { walletId: quoteFor === 'to' ? toWalletId : fromWalletId })
  const native = quoteFor === 'max' ? '0' : readAmount(amount, units).native
  return (
    <div className="tools">
      <ActionForm
        name="swap.ask"
        input={{ fromWalletId, toWalletId, nativeAmount: native ?? '0', quoteFor }}
        label="Ask for quotes"
        isReady={fromWalletId !== toWalletId && native !== undefined}
        // Quotes can be shown before the answer, and one that was chosen meanwhile stays chosen.
        onDone={({ roundId }) => {
          if (idNow.current === location.id) go({ id: roundId })
        }}
      >
        <ChoiceField label="From" value={fromWalletId} onChange={setFrom} choices={choices} />
        <ChoiceField label="To" value={toWalletId} onChange={setTo} choices={choices} />
        <ChoiceField
          label="Amount is"
          value={quoteFor}
          choices={directions}
          onChange={value => setQuoteFor(directions.find(([known]) => known === value)?.[0] ?? 'from')}
        />
        {quoteFor === 'max' ? null : (
          <AmountField label="Amount" units={units} value={amount} onChange={setAmount} />
        )}
      </ActionForm>
    </div>
  )
}
