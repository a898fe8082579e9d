import type { ReactElement } from 'react'
import type { AmountUnits, QuoteSnapshot } from '../../../kernel/index.ts'
import { quoteTimeLeft, type RoundRow } from '../../core/rows/quote-rows.ts'
import { ActButton } from '../parts/action-forms.tsx'
import { Amount } from '../parts/amount.tsx'
import { Everything, Fact, Facts, Section, SentLine, Side } from '../parts/details.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { countdownText, durationText, spanText } from '../parts/texts.ts'
import { useNow } from '../state/panel-state.ts'

interface QuoteProps {
  readonly quote: QuoteSnapshot
  readonly units: RoundRow['units']
}

/** One quote, and the way to approve it. */
export const QuoteSide = ({ quote, units }: QuoteProps): ReactElement => {
  const now = useNow()
  const { quoteId } = quote
  return (
    <Side title={quote.displayName}>
      <QuoteState quote={quote} now={now} />
      {quoteId === undefined || quote.state !== 'resolved' || quote.fate !== undefined ? null : (
        <div className="acts">
          <ActButton name="swap.review" input={{ quoteId }} isMain>
            Review and approve…
          </ActButton>
        </div>
      )}
      <SentLine of={quoteId} words="Paid in with" />
      <Section title="Quote">
        <QuoteFacts quote={quote} units={units} now={now} />
        <Everything id={quote.roundId} />
      </Section>
    </Side>
  )
}

const QuoteFacts = ({ quote, units, now }: QuoteProps & { readonly now: number }): ReactElement => (
  <Facts>
    <Fact name="Plugin" look="mono">
      {quote.pluginId}
    </Fact>
    <Fact name="Kind">{quote.isDex ? 'decentralised exchange' : 'exchange'}</Fact>
    <Fact name="You send">{maybeAmount(quote.fromNativeAmount, units.from)}</Fact>
    <Fact name="You receive">{maybeAmount(quote.toNativeAmount, units.to)}</Fact>
    <Fact name="At least">{maybeAmount(quote.minReceiveAmount, units.to)}</Fact>
    <Fact name="Network fee">{maybeAmount(quote.networkFee, units.fee)}</Fact>
    <Fact name="Terms">
      {quote.isEstimate === undefined ? '' : quote.isEstimate ? 'an estimate' : 'fixed'}
    </Fact>
    <Fact name="In parts">{quote.canBePartial === true ? 'may be filled in part' : ''}</Fact>
    <Fact name="Promo code">{quote.hasPromoCode === true ? 'taken into account' : ''}</Fact>
    <Fact name="Holds for">{countdownOf(quote, now)}</Fact>
    <Fact name="Done within">
      {quote.maxFulfillmentSeconds === undefined ? '' : spanText(quote.maxFulfillmentSeconds)}
    </Fact>
    <Fact name="Ranks here">{quote.rankReason}</Fact>
    <Fact name="Answered in">{quote.durationMs === undefined ? '' : durationText(quote.durationMs)}</Fact>
    <Fact name="Error" look="mono">
      {quote.errorCode}
    </Fact>
    <Fact name="It says" look="bad">
      {quote.message}
    </Fact>
    <Fact name={quote.direction === 'to' ? 'Limit to receive' : 'Limit to send'}>
      {maybeAmount(quote.limit, quote.direction === 'to' ? units.to : units.from)}
    </Fact>
  </Facts>
)

/** A quote that was approved, closed or refused holds no longer, so that nothing counts down. */
const countdownOf = (quote: QuoteSnapshot, now: number): string => {
  const left = quote.state === 'resolved' ? quoteTimeLeft(quote, now) : undefined
  return left === undefined ? '' : countdownText(left)
}

const maybeAmount = (native: string | undefined, units: AmountUnits): ReactElement | undefined =>
  native === undefined ? undefined : <Amount native={native} units={units} isFull />

/** Where a quote stands: asked, given, refused, late, or what became of it. */
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
