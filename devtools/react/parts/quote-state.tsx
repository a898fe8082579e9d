import type { ReactElement } from 'react'
import type { QuoteSnapshot } from '../../../kernel/index.ts'
import { StateMark, type Tone } from './state-mark.tsx'

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
