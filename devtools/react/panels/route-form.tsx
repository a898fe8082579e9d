import { type ReactElement, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import { compact, type RateProviderSnapshot, type RouteSnapshot } from '../../../kernel/index.ts'
import { ActionButton, ActionForm, useCanRun } from '../parts/action-forms.tsx'
import { TextField } from '../parts/fields.tsx'
import { EmptyState } from '../parts/marks.tsx'
import { type RequestedRoute, usePanel } from '../state/panel-state.ts'

type Answer = Actions['rates.route']['out']

/** The number of alternatives beside the cheapest route. */
const ALTERNATIVES = 4

/** Returns the id of a route: `from to`; empty without a route. */
export const routeIdOf = (route: RouteSnapshot | undefined): string =>
  route === undefined ? '' : `${route.fromCurrency} ${route.toCurrency}`

/** Returns the id of an answer: of its route, or of the request if there is no route. */
export const requestedRouteIdOf = ({ input, answer }: RequestedRoute): string =>
  answer.route === null ? `${input.from} ${input.to}` : routeIdOf(answer.route)

/** Asks how one currency turns into another, maybe with other biases than the kernel's. */
export const RouteForm = (props: {
  readonly sources: readonly RateProviderSnapshot[]
  /** The initial values of the fields: `from to`. */
  readonly place: string
  readonly onAnswer: (requested: RequestedRoute) => void
}): ReactElement | null => {
  const { memory, run } = usePanel()
  const canPrompt = useCanRun('rates.refresh')
  const [fromBefore = '', toBefore = ''] = props.place.split(' ')
  const [from, setFrom] = useState(fromBefore)
  const [to, setTo] = useState(toBefore)
  const [biases, setBiases] = useState(() => typedBiases(memory.requested, props.place))
  const changed = Object.entries(biases)
    .filter(([, text]) => isBias(text))
    .map(([source, text]) => [source, Number(text)] as const)
  const places = { from: from.trim(), to: to.trim() }
  const input = {
    ...places,
    alternatives: ALTERNATIVES,
    ...compact({ biases: changed.length === 0 ? undefined : Object.fromEntries(changed) })
  }
  const take = async (known: Answer, isHere: () => boolean): Promise<void> => {
    let answer = known
    if (known.route === null && canPrompt) {
      // From now on the sources are asked for this pair, too, as the command asks them.
      await run('rates.refresh', {})
      answer = (await run('rates.route', input)) ?? known
    }
    if (isHere()) props.onAnswer({ input, answer })
  }
  return (
    <ActionForm
      name="rates.route"
      input={input}
      label="Find the route"
      isReady={
        places.from !== '' &&
        places.to !== '' &&
        Object.values(biases).every(text => text === '' || isBias(text))
      }
      onDone={take}
    >
      <TextField label="From" value={from} onChange={setFrom} placeholder="BTC" />
      <TextField label="To" value={to} onChange={setTo} placeholder="iso:EUR" />
      {props.sources.length === 0 ? null : (
        <details className="biases">
          <summary className="button">Biases{changed.length === 0 ? '' : ` (${changed.length})`}</summary>
          <div className="fields">
            {props.sources.map(({ pluginId, displayName, bias }) => (
              <TextField
                key={pluginId}
                label={displayName}
                value={biases[pluginId] ?? ''}
                placeholder={String(bias)}
                inputMode="decimal"
                onChange={text => setBiases({ ...biases, [pluginId]: text })}
              />
            ))}
          </div>
        </details>
      )}
    </ActionForm>
  )
}

/** The biases that the last answer for a place was asked with, as they are typed. */
const typedBiases = (
  requested: RequestedRoute | undefined,
  place: string
): Readonly<Record<string, string>> =>
  requested === undefined || requestedRouteIdOf(requested) !== place
    ? {}
    : Object.fromEntries(
        Object.entries(requested.input.biases ?? {}).map(([source, bias]) => [source, String(bias)])
      )

const isBias = (text: string): boolean => /^\d+(\.\d+)?$/.test(text)

/** Explains how to get a route where there is none. `place`: the pair without a route. */
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
    const { requested } = memory
    const isSame = requested !== undefined && requestedRouteIdOf(requested) === place
    await run('rates.route', isSame ? requested.input : { from, to, alternatives: ALTERNATIVES })
  }
  return (
    <EmptyState title={place === undefined ? 'No route yet' : 'No route found'}>
      {place === undefined ? (
        <p>
          {props.pairCount === 0
            ? 'No source has given a rate yet. Ask the sources, then ask for a pair above.'
            : `${props.pairCount} rates are known. Ask for a pair above, such as BTC to iso:EUR, and see its route.`}
        </p>
      ) : (
        <p>
          The known rates do not connect <code>{place.replace(' ', ' → ')}</code>. Ask the sources for newer
          ones, or look below whether one failed.
        </p>
      )}
      <div className="acts">
        <ActionButton name="rates.refresh" input={{}} onDone={findAgain}>
          Ask the sources
        </ActionButton>
      </div>
      <p>
        In the terminal: <code>holdfast rates route BTC iso:EUR --explain</code>
      </p>
    </EmptyState>
  )
}
