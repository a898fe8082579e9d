import type { ReactElement } from 'react'
import type { Actions } from '../../core/actions.ts'
import { usePanel } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ALTERNATIVES } from './ask-route.tsx'

/** What stands where no route is: how to get one. `asked`: the pair to which none was found. */
export const NoRoute = (props: {
  readonly pairCount: number
  readonly asked: string | undefined
  readonly onAnswer: (answer: Actions['rates.route']['out']) => void
}): ReactElement => {
  const { run } = usePanel()
  const [from = '', to = ''] = props.asked?.split(' ') ?? []
  const findAgain = async (): Promise<void> => {
    if (props.asked === undefined) return
    const answer = await run('rates.route', { from, to, alternatives: ALTERNATIVES })
    if (answer !== undefined) props.onAnswer(answer)
  }
  return (
    <EmptyState title={props.asked === undefined ? 'No route yet' : 'No route leads there'}>
      {props.asked === undefined ? (
        <p>
          {props.pairCount === 0
            ? 'No source has given a rate yet. Ask the sources, then ask for a pair above.'
            : `${props.pairCount} rates are known. Ask for a pair above, such as BTC to iso:EUR, and see by which of them it is reached.`}
        </p>
      ) : (
        <p>
          The known rates do not connect <code>{props.asked.replace(' ', ' → ')}</code>. Ask the sources for
          newer ones, or look below whether one failed.
        </p>
      )}
      <div className="acts">
        <ActButton name="rates.refresh" input={{}} onDone={() => void findAgain()}>
          Ask the sources
        </ActButton>
      </div>
      <p>
        In the terminal: <code>holdfast rates route BTC iso:EUR --explain</code>
      </p>
    </EmptyState>
  )
}
