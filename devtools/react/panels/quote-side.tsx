import type { ReactElement } from 'react'
import type { QuoteSnapshot } from '../../../kernel/index.ts'
import { usePanel } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { QuoteState } from '../parts/quote-state.tsx'
import { Section, Side } from '../parts/side.tsx'
import { amountText, countdownText, durationText, spanText } from '../texts.ts'
import { useNow } from '../use-now.ts'

/** One quote, and the way to approve it. */
export const QuoteSide = ({ quote }: { readonly quote: QuoteSnapshot }): ReactElement => {
  const now = useNow()
  const { sent: sentBy } = usePanel().memory
  const { quoteId } = quote
  const sent = quoteId === undefined ? undefined : sentBy.get(quoteId)
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
      {sent === undefined ? null : (
        <p role="status">
          Paid in with <span className="mono">{sent}</span>
        </p>
      )}
      <Section title="Quote">
        <QuoteFacts quote={quote} now={now} />
      </Section>
    </Side>
  )
}

const QuoteFacts = ({
  quote,
  now
}: {
  readonly quote: QuoteSnapshot
  readonly now: number
}): ReactElement => (
  <Facts>
    <Fact name="Plugin" look="mono">
      {quote.pluginId}
    </Fact>
    <Fact name="Kind">{quote.isDex ? 'decentralised exchange' : 'exchange'}</Fact>
    <Fact name="You send">{maybeAmount(quote.fromNativeAmount)}</Fact>
    <Fact name="You receive">{maybeAmount(quote.toNativeAmount)}</Fact>
    <Fact name="At least">{maybeAmount(quote.minReceiveAmount)}</Fact>
    <Fact name="Network fee">{maybeAmount(quote.networkFee)}</Fact>
    <Fact name="Terms">
      {quote.isEstimate === undefined ? '' : quote.isEstimate ? 'an estimate' : 'fixed'}
    </Fact>
    <Fact name="In parts">{quote.canBePartial === true ? 'may be filled in part' : ''}</Fact>
    <Fact name="Promo code">{quote.hasPromoCode === true ? 'taken into account' : ''}</Fact>
    <Fact name="Holds for">{quote.expiresAt === undefined ? '' : countdownText(quote.expiresAt - now)}</Fact>
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
    <Fact name="Limit">
      {quote.limit === undefined
        ? ''
        : `${amountText(quote.limit)} ${quote.direction === 'to' ? 'to receive' : 'to send'}`}
    </Fact>
  </Facts>
)

const maybeAmount = (native: string | undefined): string | undefined =>
  native === undefined ? undefined : `${amountText(native)} native units`
