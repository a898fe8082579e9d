import type { ReactElement } from 'react'
import type { QuoteSnapshot } from '../../../kernel/index.ts'
import type { View } from '../../core/slices.ts'
import { usePanel, useView } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ChoiceField } from '../parts/fields.tsx'
import { FilterField, matches } from '../parts/filter-field.tsx'
import { QuoteState } from '../parts/quote-state.tsx'
import { amountText, countdownText, durationText } from '../texts.ts'
import { useNow } from '../use-now.ts'
import { AskQuotes } from './ask-quotes.tsx'
import { QuoteSide } from './quote-side.tsx'

/** Rounds of quotes: a lane for each provider, ranked, with what each says and how long it holds. */
export const QuotesPanel = (): ReactElement => {
  const view = useView()
  const { go, location } = usePanel()
  const now = useNow()
  const rounds = roundsOf(view)
  const [roundId, pluginId] = (location.id ?? '').split(' ')
  const round = rounds.find(([id]) => id === roundId) ?? rounds.at(-1)
  const lanes = (round?.[1] ?? []).filter(quote =>
    matches(location.filter, [quote.displayName, quote.pluginId, quote.state, quote.errorCode, quote.message])
  )
  const chosen = round?.[1].find(quote => quote.pluginId === pluginId)
  return (
    <>
      <AskQuotes onAsked={id => go({ id })} />
      {round === undefined ? (
        <NoQuotes view={view} />
      ) : (
        <>
          <div className="tools">
            <FilterField what="providers" />
            <RoundChoice rounds={rounds.map(([id]) => id)} roundId={round[0]} onChoose={id => go({ id })} />
            <ActButton name="swap.close" input={{ roundId: round[0] }}>
              Close the round
            </ActButton>
            <Outcome quotes={round[1]} />
          </div>
          <div className={chosen === undefined ? 'body' : 'body has-side'}>
            <div className="main">
              <DataTable
                label="Quotes"
                columns={columnsAt(now)}
                rows={lanes}
                keyOf={quote => quote.pluginId}
                chosen={pluginId}
                onOpen={quote => go({ id: `${quote.roundId} ${quote.pluginId}` })}
              />
            </div>
            {chosen === undefined ? null : <QuoteSide key={pluginId} quote={chosen} />}
          </div>
        </>
      )}
    </>
  )
}

type Round = readonly [roundId: string, quotes: readonly QuoteSnapshot[]]

const roundsOf = ({ quotes }: View): readonly Round[] => {
  const rounds = new Map<string, QuoteSnapshot[]>()
  for (const quote of quotes.values()) {
    const round = rounds.get(quote.roundId) ?? []
    round.push(quote)
    rounds.set(quote.roundId, round)
  }
  return [...rounds]
}

const columnsAt = (now: number): readonly Column<QuoteSnapshot>[] => [
  { title: 'Provider', width: '20%', cell: quote => quote.displayName, hint: quote => quote.pluginId },
  { title: 'State', width: '112px', cell: quote => <QuoteState quote={quote} now={now} /> },
  {
    title: 'You receive',
    width: '150px',
    isNumber: true,
    cell: quote =>
      quote.toNativeAmount === undefined
        ? '–'
        : `${quote.isEstimate === true ? '≈ ' : ''}${amountText(quote.toNativeAmount)}`
  },
  {
    title: 'Network fee',
    width: '96px',
    isNumber: true,
    rank: 'minor',
    cell: quote => (quote.networkFee === undefined ? '–' : amountText(quote.networkFee))
  },
  {
    title: 'Took',
    width: '76px',
    isNumber: true,
    rank: 'minor',
    cell: quote => (quote.durationMs === undefined ? '–' : durationText(quote.durationMs))
  },
  {
    title: 'Holds for',
    width: '80px',
    isNumber: true,
    rank: 'slight',
    cell: quote =>
      quote.state !== 'resolved' || quote.expiresAt === undefined ? '–' : countdownText(quote.expiresAt - now)
  },
  {
    title: 'Why',
    rank: 'spare',
    cell: quote =>
      quote.message === undefined ? (quote.rankReason ?? '') : <span className="bad">{quote.message}</span>,
    hint: quote => quote.message ?? quote.rankReason ?? ''
  }
]

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
      choices={props.rounds.map((id, at) => [id, `${at + 1} of ${props.rounds.length}`] as const).reverse()}
    />
  )

const Outcome = ({ quotes }: { readonly quotes: readonly QuoteSnapshot[] }): ReactElement => {
  const given = quotes.filter(({ state }) => state === 'resolved').length
  const pending = quotes.filter(({ state }) => state === 'pending').length
  return (
    <span className="soft">
      {given} of {quotes.length} gave a quote{pending === 0 ? '' : `, ${pending} still asked`}
    </span>
  )
}

const NoQuotes = ({ view }: { readonly view: View }): ReactElement => (
  <div className="body">
    <div className="main">
      <EmptyState title="No quotes yet">
        <p>
          {view.wallets.size < 2
            ? 'A swap goes from one wallet to another: create two wallets of different currencies, fund the first, and ask here.'
            : 'Choose two wallets above and ask. Each swap provider gets a lane of its own: what it offers, how long that holds, or why it refused.'}
        </p>
        <p>
          In the terminal: <code>holdfast swap quote</code>
        </p>
      </EmptyState>
    </div>
  </div>
)
