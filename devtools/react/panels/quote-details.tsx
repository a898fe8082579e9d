import type { ReactElement } from 'react'
import { countdownText, quoteTimeLeft } from '../../../app/format/quotes.ts'
import { ageText, durationText } from '../../../app/format/times.ts'
import type { AmountUnits, QuoteSnapshot } from '../../../kernel/index.ts'
import type { RoundRow } from '../../core/rows/quote-rows.ts'
import { ActionButton } from '../parts/action-forms.tsx'
import { Amount } from '../parts/amount.tsx'
import {
  CorrelationLink,
  Detail,
  DetailList,
  DetailsPane,
  Section,
  SentTransaction
} from '../parts/details.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { useNow } from '../state/panel-state.ts'

interface QuoteProps {
  readonly quote: QuoteSnapshot
  readonly units: RoundRow['units']
}

/** One quote, and the way to approve it. */
export const QuoteDetails = ({ quote, units }: QuoteProps): ReactElement => {
  const now = useNow()
  const { quoteId } = quote
  return (
    <DetailsPane title={quote.displayName}>
      <QuoteState quote={quote} now={now} />
      {quoteId === undefined || quote.state !== 'resolved' || quote.fate !== undefined ? null : (
        <div className="acts">
          <ActionButton name="swap.review" input={{ quoteId }} isMain>
            Review and approve…
          </ActionButton>
        </div>
      )}
      <SentTransaction of={quoteId} words="Paid in with" />
      <Section title="Quote">
        <QuoteDetailList quote={quote} units={units} now={now} />
        <CorrelationLink id={quote.roundId} />
      </Section>
    </DetailsPane>
  )
}

const QuoteDetailList = ({ quote, units, now }: QuoteProps & { readonly now: number }): ReactElement => (
  <DetailList>
    <Detail name="Plugin" look="mono">
      {quote.pluginId}
    </Detail>
    <Detail name="Kind">{quote.isDex ? 'decentralised exchange' : 'exchange'}</Detail>
    <Detail name="You send">{maybeAmount(quote.fromNativeAmount, units.from)}</Detail>
    <Detail name="You receive">{maybeAmount(quote.toNativeAmount, units.to)}</Detail>
    <Detail name="At least">{maybeAmount(quote.minReceiveAmount, units.to)}</Detail>
    <Detail name="Network fee">{maybeAmount(quote.networkFee, units.fee)}</Detail>
    <Detail name="Terms">
      {quote.isEstimate === undefined ? '' : quote.isEstimate ? 'an estimate' : 'fixed'}
    </Detail>
    <Detail name="In parts">{quote.canBePartial === true ? 'may be filled in part' : ''}</Detail>
    <Detail name="Promo code">{quote.hasPromoCode === true ? 'applied' : ''}</Detail>
    <Detail name="Valid for">{countdownOf(quote, now)}</Detail>
    <Detail name="Done within">
      {quote.maxFulfillmentSeconds === undefined ? '' : ageText(quote.maxFulfillmentSeconds)}
    </Detail>
    <Detail name="Rank">{quote.rankReason}</Detail>
    <Detail name="Reply time">{quote.durationMs === undefined ? '' : durationText(quote.durationMs)}</Detail>
    <Detail name="Error" look="mono">
      {quote.errorCode}
    </Detail>
    <Detail name="It says" look="bad">
      {quote.message}
    </Detail>
    <Detail name={quote.direction === 'to' ? 'Limit to receive' : 'Limit to send'}>
      {maybeAmount(quote.limit, quote.direction === 'to' ? units.to : units.from)}
    </Detail>
  </DetailList>
)

/** A quote that was approved, closed or refused holds no longer, so that nothing counts down. */
const countdownOf = (quote: QuoteSnapshot, now: number): string => {
  const left = quote.state === 'resolved' ? quoteTimeLeft(quote, now) : undefined
  return left === undefined ? '' : countdownText(left)
}

const maybeAmount = (native: string | undefined, units: AmountUnits): ReactElement | undefined =>
  native === undefined ? undefined : <Amount native={native} units={units} isFull />

/** Shows the state of a quote: requested, resolved, refused, late, or its fate. */
export const QuoteState = ({
  quote,
  now
}: {
  readonly quote: QuoteSnapshot
  readonly now: number
}): ReactElement => {
  if (quote.fate !== undefined) {
    return <StateMark tone={quote.fate === 'approved' ? 'good' : 'idle'}>{quote.fate}</StateMark>
  }
  if (quote.state === 'resolved' && quote.expiresAt !== undefined && quote.expiresAt <= now) {
    return <StateMark tone="idle">expired</StateMark>
  }
  return <StateMark tone={quoteTones[quote.state]}>{quote.state}</StateMark>
}

const quoteTones: Readonly<Record<QuoteSnapshot['state'], Tone>> = {
  pending: 'busy',
  resolved: 'good',
  failed: 'bad',
  'timed out': 'warn'
}
