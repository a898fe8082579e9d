import type { ReactElement } from 'react'
import { usePanel } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ALTERNATIVES, placeOfAsked } from './ask-route.tsx'

/** What stands where no route is: how to get one. `place`: the pair to which none was found. */
export const NoRoute = (props: {
  readonly pairCount: number
  readonly place: string | undefined
}): ReactElement => {
  const { place } = props
  const { memory, run } = usePanel()
  const findAgain = async (): Promise<void> => {
    if (place === undefined) return
    const [from = '', to = ''] = place.split(' ')
    // What was typed is asked again, biases and all. The answer stands in the panel's memory, which is what is drawn.
    const { asked } = memory
    const isSame = asked !== undefined && placeOfAsked(asked) === place
    await run('rates.route', isSame ? asked.input : { from, to, alternatives: ALTERNATIVES })
  }
  return (
    <EmptyState title={place === undefined ? 'No route yet' : 'No route leads there'}>
      {place === undefined ? (
        <p>
          {props.pairCount === 0
            ? 'No source has given a rate yet. Ask the sources, then ask for a pair above.'
            : `${props.pairCount} rates are known. Ask for a pair above, such as BTC to iso:EUR, and see by which of them it is reached.`}
        </p>
      ) : (
        <p>
          The known rates do not connect <code>{place.replace(' ', ' → ')}</code>. Ask the sources for newer
          ones, or look below whether one failed.
        </p>
      )}
      <div className="acts">
        <ActButton name="rates.refresh" input={{}} onDone={findAgain}>
          Ask the sources
        </ActButton>
      </div>
      <p>
        In the terminal: <code>holdfast rates route BTC iso:EUR --explain</code>
      </p>
    </EmptyState>
  )
}
